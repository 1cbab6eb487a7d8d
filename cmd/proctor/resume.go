package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/report"
	"github.com/proctor-evals/proctor/harness/task"
)

// fixedByRun are the flags that a resumed run's own record answers.
var fixedByRun = []string{"client", "configurations", "exploratory", "jobs", "k", "model"}

// resumption is the run that is to go on, or none.
type resumption struct {
	name string // as given
	dir  string // its folder
	fs   *flag.FlagSet
}

func (r *resumption) flag(fs *flag.FlagSet) {
	r.fs = fs
	fs.StringVar(&r.name, "resume", "", "go on with this `run` (a name, or latest) that was interrupted; what it was planned with stays")
}

// options are o for the run that goes on, and its tasks; o and names as they are where none does.
func (r *resumption) options(o harness.Options, names []string) (harness.Options, []string, error) {
	if r.name == "" {
		return o, names, nil
	}
	if len(names) > 0 {
		return o, nil, errors.New("-resume goes on with the tasks of its run; name none")
	}
	var given []string
	r.fs.Visit(func(f *flag.Flag) {
		if slices.Contains(fixedByRun, f.Name) {
			given = append(given, "-"+f.Name)
		}
	})
	if len(given) > 0 {
		return o, nil, fmt.Errorf("a resumed run keeps what it was planned with; leave out %s", strings.Join(given, ", "))
	}
	runs, err := harness.RunsDir(o)
	if err != nil {
		return o, nil, err
	}
	info, err := report.FindRun(runs, r.name)
	if err != nil {
		return o, nil, err
	}
	if info.Kind != report.KindTasks {
		return o, nil, fmt.Errorf("%s is a run of suites, which cannot be resumed: run it again", info.RunID)
	}
	r.dir = info.Dir
	return harness.ResumeOptions(o, r.dir)
}

func (r *resumption) start(ctx context.Context, e *harness.Engine, tasks []*task.Task) (*harness.Run, error) {
	if r.dir == "" {
		return e.Start(ctx, tasks)
	}
	return e.Resume(ctx, r.dir)
}
