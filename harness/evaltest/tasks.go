package evaltest

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/report"
	"github.com/proctor-evals/proctor/harness/task"
)

// Tasks checks every task of the evals root as `proctor check` does, one subtest a task: its files,
// and then in the sandbox that the solution passes and that what is none does not. Under -short it
// keeps to the files.
func Tasks(t *testing.T) {
	opts, err := harness.Environ(os.Getenv)
	if err := errors.Join(err, harness.UnknownVariables(os.Environ())); err != nil {
		t.Fatal(say(err))
	}
	if opts.Evals, err = harness.FindEvals(opts.Evals); err != nil {
		t.Fatal(say(err))
	}
	names, err := task.Names(opts.Evals)
	if err != nil {
		t.Fatal(say(err))
	}
	ctx, stop := examContext(t)
	defer stop()
	checked := 0
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			checked++
			checks, err := harness.CheckTasks(ctx, harness.CheckOptions{Options: opts, Tasks: []string{name}, Static: testing.Short()})
			for _, c := range checks {
				for _, p := range c.All() {
					t.Error(say(report.Clean(p.String())))
				}
				for _, p := range c.Proofs {
					t.Log(sayf("%s: passed: %v %s", p.Submission, p.Passed, report.Clean(p.Reason)))
				}
				if c.NotProved != "" {
					t.Error(say(c.NotProved))
				}
			}
			if err != nil {
				t.Fatal(say(err))
			}
		})
	}
	if checked == 0 {
		t.Fatal(sayf("no task matches -run; the tasks are: %s", strings.Join(names, ", ")))
	}
}
