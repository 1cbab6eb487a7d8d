package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/report"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/suite"
)

// suiteFlags are the options of `proctor run` for suites.
type suiteFlags struct {
	parallel               int
	withoutSkill, noSkills bool
	compare                string
	selection              suite.Selection
	used                   func() []string // those that were given
}

func (f *suiteFlags) add(fs *flag.FlagSet) {
	fs.IntVar(&f.parallel, "n", min(10, runtime.NumCPU()), "suites: attempts at once (default: the processors, at most 10)")
	fs.BoolVar(&f.withoutSkill, "without-skill", false, "suites: reality check without the skills the suites evaluate")
	fs.BoolVar(&f.noSkills, "no-skills", false, "suites: reality check without any skill")
	fs.StringVar(&f.compare, "compare", "", "suites: also make the reality check, of this `name`, interleaved, and compare: "+plan.WithoutSkill+" or "+plan.NoSkills)
	fs.BoolVar(&f.selection.NoTriggers, "no-triggers", false, "suites: leave trigger tasks out")
	fs.BoolVar(&f.selection.AllTags, "all-tags", false, "suites: also tasks with tags that are excluded by default")
	list := func(to *[]string) func(string) error {
		return func(s string) error { *to = append(*to, harness.SplitList(s)...); return nil }
	}
	fs.Func("tag", "suites: also tasks with this `tag`; may be given again", list(&f.selection.Tags))
	fs.Func("exclude-tag", "suites: leave tasks with this `tag` out; may be given again", list(&f.selection.ExcludeTags))
	f.used = func() (given []string) {
		fs.Visit(func(x *flag.Flag) {
			if strings.HasPrefix(x.Usage, "suites: ") {
				given = append(given, "-"+x.Name)
			}
		})
		return given
	}
}

// mode is what the flags ask for.
func (f *suiteFlags) mode() (result.RunMode, error) {
	asked := 0
	mode := result.ModeRun
	for m, on := range map[result.RunMode]bool{
		result.ModeWithoutSkill: f.withoutSkill, result.ModeNoSkills: f.noSkills, result.ModeCompare: f.compare != "",
	} {
		if on {
			asked++
			mode = m
		}
	}
	switch {
	case asked > 1:
		return "", errors.New("give one of -without-skill, -no-skills and -compare")
	case f.compare != "" && f.compare != plan.WithoutSkill && f.compare != plan.NoSkills:
		return "", fmt.Errorf("-compare %q: compare with %s or %s", f.compare, plan.WithoutSkill, plan.NoSkills)
	}
	return mode, nil
}

// areSuites says whether the names are suites' specs. Suites and tasks run by different rules, so one
// run has the one or the other.
func areSuites(evals string, names []string) (bool, error) {
	root, err := harness.FindEvals(evals)
	if err != nil {
		return false, err
	}
	suites := 0
	for _, name := range names {
		first, _, named := strings.Cut(name, "::")
		info, err := os.Stat(filepath.Join(root, "suites", first))
		isSuite := err == nil && info.IsDir() && first == filepath.Base(first) && first != "." && first != ".."
		if named || first == "*" || isSuite {
			suites++
		}
	}
	if suites > 0 && suites < len(names) {
		return false, fmt.Errorf("%s: tasks and suites are run apart, since they are judged by different rules", strings.Join(names, " "))
	}
	return suites > 0, nil
}

// loadSuites reads the project and selects what the specs name.
func loadSuites(ctx context.Context, evals string, names []string, sel suite.Selection) (*suite.Project, suite.Selected, error) {
	root, err := harness.FindEvals(evals)
	if err != nil {
		return nil, suite.Selected{}, err
	}
	specs, err := suite.ParseSpecs(names)
	if err != nil {
		return nil, suite.Selected{}, err
	}
	p, err := suite.Load(root, suite.SuiteNames(specs)...)
	if err != nil {
		return nil, suite.Selected{}, err
	}
	selected, err := p.Select(specs, sel)
	if err != nil {
		return nil, selected, err
	}
	problems, err := p.Hygiene(ctx, selected.Cases)
	if err == nil && len(problems) > 0 {
		err = problems
	}
	return p, selected, err
}

// runSuites runs suites and prints their report.
func runSuites(ctx context.Context, o harness.Options, names []string, f suiteFlags, live *progress, ci *ciRun, dry bool, stdout, stderr io.Writer) int {
	mode, err := f.mode()
	if err != nil {
		return exit(stderr, err, exitUsage)
	}
	if mode != result.ModeRun {
		f.selection.NoTriggers = true // what a trigger task asks is about the skill that is not there
	}
	p, selected, err := loadSuites(ctx, o.Evals, names, f.selection)
	if err != nil {
		return exit(stderr, err, exitUsage)
	}
	e, err := harness.OpenForSuites(o, p)
	if err != nil {
		return exit(stderr, err, exitUsage)
	}
	if h := selected.Header(); h != "" {
		fmt.Fprintln(stderr, h)
	}
	asked := harness.SuiteOptions{
		Project: p, Selected: selected, Specs: names, Selection: f.selection, Attempts: max(o.Trials, 1), Parallel: f.parallel, Mode: mode, Baseline: f.compare,
	}
	if dry {
		configurations, err := asked.ConfigurationNames()
		if err == nil {
			dryRunSuites(stdout, e, selected, configurations, asked.Attempts)
		}
		return exit(stderr, err, exitUsage)
	}
	r, err := e.StartSuites(ctx, asked)
	if err != nil {
		return exit(stderr, err, exitRunner)
	}
	for _, n := range r.Notes() {
		fmt.Fprintln(stderr, report.Clean(n))
	}
	total := 0
	for _, b := range r.Record().Batches {
		total += len(b.Trials)
	}
	live.withClient = len(e.Options().Clients) > 1
	live.start(total, e.Options().MaxTokens, e.Options().MaxCost, r.Spent)
	defer live.announceEnd(ctx)()
	r.Perform(ctx)
	live.finish()
	var cause error
	if ctx.Err() != nil {
		cause = errors.New("interrupted")
	}
	rep, err := r.Finish(cause)
	if err != nil {
		return exit(stderr, err, exitRunner)
	}
	record := r.Record()
	if err := report.Suite(stdout, &record, rep, report.AttemptsOf(r.Dir())); err != nil {
		return exit(stderr, err, exitRunner)
	}
	fmt.Fprintf(stdout, "run: %s\n", r.Dir())
	if err := ci.suites(e.Options().Evals, mode, rep, report.AttemptsOf(r.Dir())); err != nil {
		return exit(stderr, err, exitRunner)
	}
	code := exit(stderr, cause, exitRunner)
	if cause == nil {
		code = suiteGate(mode, rep, stderr)
	}
	return ci.finish(record.RunID, r.Dir(), cause, code, stderr)
}

// suiteGate is the exit code: a reality check only informs, and a run that measured nothing is never
// green.
func suiteGate(mode result.RunMode, rep *result.Report, stderr io.Writer) int {
	measured, failed := 0, 0
	for _, a := range rep.Attempts {
		if a.Verdict != result.AttemptError {
			measured++
		}
		if a.Verdict.Gates() && a.Configuration == plan.WithSkills {
			failed++
		}
	}
	switch {
	case measured == 0:
		fmt.Fprintln(stderr, "proctor: nothing was measured: every attempt is an error")
		return exitRunner
	case failed > 0 && (mode == result.ModeRun || mode == result.ModeCompare):
		return exitGated
	}
	return exitOK
}
