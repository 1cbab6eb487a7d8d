package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/report"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/suite"
)

func keys(m map[string]bool) []string { return slices.Sorted(maps.Keys(m)) }

// runs lists the runs of tasks and of suites.
func runs(args []string, stdout, stderr io.Writer) error {
	var asJSON bool
	var limit int
	o, names, err := options("runs", args, stdout, func(fs *flag.FlagSet) {
		fs.BoolVar(&asJSON, "json", false, "print JSON")
		fs.IntVar(&limit, "limit", 20, "how many, the newest first")
	})
	if err != nil {
		return err
	}
	if len(names) > 0 {
		return fmt.Errorf("runs takes no names, got %q", names)
	}
	dir, err := harness.RunsDir(o)
	if err != nil {
		return err
	}
	list, err := report.Runs(dir)
	if err != nil {
		return err
	}
	list = list[:min(limit, len(list))]
	for i := range list {
		list[i].Count()
	}
	if asJSON {
		return encode(stdout, append([]report.RunInfo{}, list...))
	}
	return report.RunsText(stdout, list, time.Now())
}

// history prints what the runs say of a task, a suite or a suite's task.
func history(args []string, stdout, stderr io.Writer) error {
	var asJSON, all bool
	var limit int
	o, names, err := options("history", args, stdout, func(fs *flag.FlagSet) {
		fs.BoolVar(&asJSON, "json", false, "print JSON")
		fs.IntVar(&limit, "limit", 10, "how many runs, the newest first")
		fs.BoolVar(&all, "all", false, "all runs")
	})
	if err != nil {
		return err
	}
	if len(names) != 1 {
		return fmt.Errorf("history takes a task, a SUITE or a SUITE::TASK, got %q", names)
	}
	dir, err := harness.RunsDir(o)
	if err != nil {
		return err
	}
	list, err := report.Runs(dir)
	if err != nil {
		return err
	}
	if all {
		limit = 0
	}
	rows := report.History(list, names[0], limit)
	if len(rows) == 0 {
		return fmt.Errorf("no run in %s has %s", dir, names[0])
	}
	if asJSON {
		return encode(stdout, rows)
	}
	return report.HistoryText(stdout, rows, time.Now())
}

// diff prints what changed from one run to another.
func diff(args []string, stdout, stderr io.Writer) error {
	var asJSON bool
	var reports report.Reports
	var scope string
	o, names, err := options("diff", args, stdout, func(fs *flag.FlagSet) {
		fs.BoolVar(&asJSON, "json", false, "print JSON")
		fs.StringVar(&reports.Before, "report-a", "", "suites: the first run's report, by its `time`, in place of its latest")
		fs.StringVar(&reports.After, "report-b", "", "suites: the second run's report, by its `time`, in place of its latest")
		fs.StringVar(&scope, "scope", "", "only this `name`: a task, SUITE or SUITE::TASK")
	})
	if err != nil {
		return err
	}
	if len(names) == 0 {
		names = []string{report.Prev, report.Latest}
	}
	if len(names) != 2 {
		return fmt.Errorf("diff takes two runs, the earlier first, or none for prev and latest; got %q", names)
	}
	before, err := findRun(o, names[0])
	if err != nil {
		return err
	}
	after, err := findRun(o, names[1])
	if err != nil {
		return err
	}
	d, err := report.Diff(before, after, reports, scope)
	if err != nil {
		return err
	}
	if asJSON {
		return encode(stdout, d)
	}
	return report.DiffText(stdout, d)
}

// rescore judges a run of suites again. Its exit code is a run's.
func rescore(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var asJSON bool
	o, names, err := options("rescore", args, stdout, func(fs *flag.FlagSet) {
		fs.BoolVar(&asJSON, "json", false, "print JSON")
	})
	if err == nil && len(names) != 1 {
		err = fmt.Errorf("rescore takes one run, RUN::SUITE or RUN::SUITE::TASK, got %q", names)
	}
	if err != nil {
		return exit(stderr, err, exitUsage)
	}
	spec, err := parseRunSpec(names[0])
	if err == nil && spec.attempt > 0 {
		err = errors.New("rescore judges whole tasks; leave the attempt out")
	}
	if err != nil {
		return exit(stderr, err, exitUsage)
	}
	info, err := findRun(o, spec.run)
	if err != nil {
		return exit(stderr, err, exitUsage)
	}
	root, err := harness.FindEvals(o.Evals)
	if err != nil {
		return exit(stderr, err, exitUsage)
	}
	p, err := suite.Load(root)
	if err != nil {
		return exit(stderr, err, exitUsage)
	}
	e, err := harness.OpenForSuites(o, p)
	if err != nil {
		return exit(stderr, err, exitUsage)
	}
	var scope *result.Scope
	if spec.suite != "" {
		scope = &result.Scope{Suite: spec.suite, Task: spec.task}
	}
	run, rep, err := e.Rescore(ctx, p, info.Dir, scope)
	if err != nil {
		return exit(stderr, err, exitRunner)
	}
	if asJSON {
		err = encode(stdout, rep)
	} else {
		err = report.Suite(stdout, run, rep, report.AttemptsOf(info.Dir))
	}
	if err != nil {
		return exit(stderr, err, exitRunner)
	}
	return suiteGate(run.RunMode, rep, stderr)
}
