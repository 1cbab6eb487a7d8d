package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/report"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/scaffold"
	"github.com/proctor-evals/proctor/harness/suite"
	"github.com/proctor-evals/proctor/internal/setup"
)

// A step is a command to type next, and why.
type step struct{ command, why string }

// next prints how far this folder is, and what to do next in it.
func next(ctx context.Context, stdout io.Writer) error {
	o, err := environ()
	if err != nil {
		return err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	root, err := harness.FindEvals(o.Evals)
	if err != nil {
		if o.Evals != "" {
			return err // it is named, and not there
		}
		fmt.Fprintln(stdout, "no evals here, nor further up")
		return printSteps(stdout, beginning(cwd))
	}
	o.Evals = root
	e, err := harness.Open(o)
	if err != nil {
		return err
	}
	p, err := suite.Load(root)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "evals  %s: %s, %s\n", report.Clean(relativeTo(cwd, root)), count(len(e.Tasks()), "task"), count(len(p.Suites), "suite"))
	if len(e.Tasks())+len(p.Suites) == 0 {
		return printSteps(stdout, beginning(cwd))
	}
	missing, err := missingNeeds(ctx, e)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		fmt.Fprintf(stdout, "tools  missing for a run: %s\n", strings.Join(missing, ", "))
		return printSteps(stdout, []step{
			{"setup " + strings.Join(missing, " "), "install them, pinned, into your cache"},
			{"doctor", "what is missing, each with its fix"},
		})
	}
	fmt.Fprintln(stdout, "tools  ready")
	dir, err := harness.RunsDir(o)
	if err != nil {
		return err
	}
	list, err := report.Runs(dir)
	if err != nil {
		return err
	}
	name := first(e, p)
	if len(list) == 0 {
		fmt.Fprintln(stdout, "runs   none so far")
		return printSteps(stdout, []step{
			{"run -dry-run " + name, "the plan, and what it would take; runs nothing"},
			{"run " + name, "hold the exam; on the scripted model it is free"},
			{"list", "all tasks, and the suites' tasks"},
		})
	}
	state, steps := afterRun(list[0], name)
	fmt.Fprintf(stdout, "runs   %d; the latest, %s, %s\n", len(list), report.Clean(list[0].RunID), state)
	return printSteps(stdout, steps)
}

// afterRun says of the latest run how it stands, and what comes after it.
func afterRun(latest report.RunInfo, name string) (state string, steps []step) {
	look := []step{{"show", "how each trial of it ended"}, {"report", "all of it as one HTML page"}}
	again := step{"run " + name, "one more run"}
	switch {
	case latest.Unreadable != "":
		return "cannot be read: " + report.Clean(latest.Unreadable), []step{{"runs", "all runs"}, again}
	case latest.State != result.Finished:
		return "is going on", look
	case latest.Cause == "":
		return "is finished", append(look, again)
	}
	state = "was interrupted: " + report.Clean(latest.Cause)
	if latest.Cause == result.CauseLost {
		state = "was cut off: its runner died"
	}
	if latest.Kind == report.KindTasks {
		look = append([]step{{"run -resume latest", "go on with it; what was finished stays"}}, look...)
	} else {
		look = append(look, again)
	}
	return state, look
}

// beginning is what to do where there are no evals.
func beginning(dir string) []step {
	if skill, err := scaffold.Find(dir); err == nil {
		return []step{{"init", "make evals for " + filepath.ToSlash(relativeTo(dir, skill))}, {"help", "all commands"}}
	}
	return []step{{"init PATH/SKILL.md", "make evals for a skill; they run at once without a key"}, {"help", "all commands"}}
}

// first is a task to run, or a suite where there is no task.
func first(e *harness.Engine, p *suite.Project) string {
	if tasks := e.Tasks(); len(tasks) > 0 {
		return tasks[0].Name
	}
	return p.Suites[0].Name
}

// missingNeeds are what a run of the evals root needs and the machine does not have, as setup names them.
func missingNeeds(ctx context.Context, e *harness.Engine) (out []string, err error) {
	o := e.Options()
	needs := []setup.Need{setup.NeedSandbox}
	if len(e.Tasks()) > 0 {
		needs = append(needs, setup.NeedRust)
	}
	if o.ClientPath == "" {
		for _, c := range o.Clients {
			needs = append(needs, setup.Need(c))
		}
	}
	if len(e.Tasks()) > 0 && o.CargoAgents == "" && slices.Contains(o.Configurations, plan.WithSymposium) {
		needs = append(needs, setup.NeedCargoAgents)
	}
	for _, need := range needs {
		var missing *setup.MissingError
		if _, err := setup.Locate(ctx, setup.Options{Cache: o.Cache}, need); errors.As(err, &missing) {
			out = append(out, string(need))
		} else if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func printSteps(w io.Writer, steps []step) error {
	fmt.Fprintln(w, "\nNext:")
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, s := range steps {
		fmt.Fprintf(tw, "  proctor %s\t# %s\n", report.Clean(s.command), report.Clean(s.why))
	}
	return tw.Flush()
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
