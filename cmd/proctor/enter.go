package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/report"
)

// enter runs a command in the place of a trial's client, to look at what an agent would see.
func enter(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, names, err := options("enter", args, stdout)
	if err != nil {
		return exit(stderr, err, exitUsage)
	}
	if len(names) < 2 || len(o.Configurations) > 1 {
		return exit(stderr, errors.New("usage: proctor enter [-configurations NAME] TASK COMMAND..., with one configuration"), exitUsage)
	}
	if len(o.Configurations) == 0 {
		o.Configurations = []string{"without-symposium"}
	}
	e, err := harness.Open(o)
	if err != nil {
		return exit(stderr, err, exitUsage)
	}
	if n := len(e.Options().Clients); n > 1 {
		return exit(stderr, fmt.Errorf("enter takes one client, not %d: give -client", n), exitUsage)
	}
	tasks, err := e.Task(names[0])
	if err != nil {
		return exit(stderr, err, exitUsage)
	}
	run, err := e.Rehearse(ctx, tasks)
	if err != nil {
		return exit(stderr, err, exitRunner)
	}
	code, err := visit(ctx, run, harness.Visit{
		Configuration: o.Configurations[0], Argv: names[1:], Stdin: os.Stdin, Stdout: report.Raw(stdout), Stderr: report.Raw(stderr),
	})
	err = errors.Join(err, run.Close(nil))
	if err != nil {
		return exit(stderr, err, exitRunner)
	}
	return code
}

func visit(ctx context.Context, run *harness.Run, v harness.Visit) (int, error) {
	b := run.Batches()[0]
	if err := b.Prepare(ctx); err != nil {
		return 0, err
	}
	ended, err := b.Enter(ctx, v)
	switch {
	case err != nil:
		return 0, err
	case ended.Cause != nil:
		return 0, ended.Cause
	case !ended.Started:
		return 0, fmt.Errorf("the sandbox did not start: %s", ended.Diagnosis)
	}
	return ended.ExitCode, nil
}
