package evaltest

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/report"
)

// Tasks checks every task of the evals root as `proctor check` does, one subtest a task: its files,
// and then in the sandbox that the solution passes and that what is none does not. Under -short it
// keeps to the files.
func Tasks(t *testing.T) {
	opts, err := harness.Environ(os.Getenv)
	if err := errors.Join(err, harness.UnknownVariables(os.Environ())); err != nil {
		t.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if end, ok := t.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, end.Add(-grace(end)), errAlarm)
		defer cancel()
	}
	checks, err := harness.CheckTasks(ctx, harness.CheckOptions{Options: opts, Static: testing.Short()})
	for _, c := range checks {
		t.Run(c.Task.Name, func(t *testing.T) {
			for _, p := range c.All() {
				t.Error(report.Clean(p.String()))
			}
			if c.NotProved != "" {
				t.Error(c.NotProved)
			}
			for _, p := range c.Proofs {
				t.Logf("%s: passed %v %s", p.Submission, p.Passed, report.Clean(p.Reason))
			}
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}
