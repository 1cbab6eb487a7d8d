package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/report"
	"github.com/proctor-evals/proctor/harness/task"
)

// check prints every problem of the named tasks, one a line, then what was tried in the sandbox.
func check(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, envErr := environ()
	fs := newFlags("check", stdout)
	evalsFlag(fs.FlagSet, &o)
	fs.StringVar(&o.Scratch, "scratch", o.Scratch, "`folder` submissions are graded in")
	static := fs.Bool("static", false, "look at the files alone; needs no sandbox and no Rust")
	verbose := fs.Bool("v", false, "print each submission that was tried, and why it did not pass")
	names, err := fs.names(args, false)
	if err := cmp.Or(err, envErr); err != nil {
		return exit(stderr, err, exitUsage)
	}
	checks, err := harness.CheckTasks(ctx, harness.CheckOptions{Options: o, Tasks: names, Static: *static})
	var usage *harness.UsageError
	if errors.As(err, &usage) {
		return exit(stderr, err, exitUsage)
	}
	leaks, leakErr := harness.CheckCassettes(o)
	for _, p := range leaks {
		fmt.Fprintln(stdout, report.Clean(p.String()))
	}
	err = errors.Join(err, leakErr)
	problems := printChecks(stdout, checks, *static, *verbose) + len(leaks)
	switch {
	case err != nil:
		return exit(stderr, err, exitRunner)
	case problems > 0:
		return exitGated
	}
	return exitOK
}

// printChecks returns how many problems there are.
func printChecks(w io.Writer, checks []*harness.TaskCheck, static, verbose bool) int {
	var all task.Problems
	for _, c := range checks {
		all = append(all, c.All()...)
	}
	for _, p := range all.Sorted() {
		fmt.Fprintln(w, report.Clean(p.String()))
	}
	bad := 0
	for _, c := range checks {
		if len(c.All()) > 0 {
			bad++
		}
		switch {
		case c.NotProved != "" && len(c.All()) == 0:
			fmt.Fprintf(w, "untried   %s: %s\n", report.Clean(c.Task.Name), report.Clean(c.NotProved))
		case c.NotProved != "":
			fmt.Fprintf(w, "problems  %s: %s\n", report.Clean(c.Task.Name), report.Clean(c.NotProved))
		case !c.Good():
			fmt.Fprintf(w, "problems  %s\n", report.Clean(c.Task.Name))
		case static:
			fmt.Fprintf(w, "ok        %s: its files; nothing was run\n", report.Clean(c.Task.Name))
		default:
			fmt.Fprintf(w, "ok        %s: %s\n", report.Clean(c.Task.Name), tried(c))
		}
		if verbose {
			for _, p := range c.Proofs {
				fmt.Fprintf(w, "          %s\n", report.Clean(outcome(p)))
			}
		}
	}
	fmt.Fprintf(w, "%d tasks, %d with problems, %d problems\n", len(checks), bad, len(all))
	return len(all)
}

// tried says what was shown in the sandbox.
func tried(c *harness.TaskCheck) string {
	stopped := 0
	said := "no solution, so nothing shows that it can be passed"
	for _, p := range c.Proofs {
		if p.MustPass {
			said = "the solution passes"
		} else {
			stopped++
		}
	}
	return fmt.Sprintf("%s; the untouched starter and %d other submissions do not", said, stopped-1)
}

func outcome(p harness.Proof) string {
	switch {
	case p.Infrastructure != "":
		return p.Submission + ": not graded: " + p.Infrastructure
	case p.Passed:
		return p.Submission + ": passes"
	}
	return p.Submission + ": does not pass: " + p.Reason
}
