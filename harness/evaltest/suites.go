package evaltest

import (
	"context"
	"strings"
	"testing"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/report"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/suite"
)

// suites runs the suites that -run selects, one run a suite, and returns how many tasks of them it
// selected.
func suites(t *testing.T, ctx context.Context, opts harness.Options, p *suite.Project) (selected int) {
	for _, s := range p.Suites {
		t.Run(s.Name, func(t *testing.T) {
			x := &suiteExam{verdicts: map[string][]result.ReportAttempt{}}
			// A parallel subtest waits at t.Parallel until this function returns. So the tasks that -run
			// selects are known before the run is planned, and judged when it is over.
			all, err := p.Select([]suite.Spec{{Suite: s.Name, Case: -1}}, suite.Selection{})
			if err != nil {
				t.Skip(say(err)) // every task is left out by its tags
			}
			for _, c := range all.Cases {
				t.Run(c.Name, func(t *testing.T) {
					x.cases = append(x.cases, c)
					t.Parallel()
					x.judge(t, c)
				})
			}
			selected += len(x.cases)
			if len(x.cases) > 0 {
				x.run(t, ctx, opts, p, s.Name)
			}
		})
	}
	return selected
}

type suiteExam struct {
	cases    []suite.Case
	verdicts map[string][]result.ReportAttempt // by case
	stopped  error
}

// run makes the attempts. What goes wrong before there are any fails the suite's test.
func (x *suiteExam) run(t *testing.T, ctx context.Context, opts harness.Options, p *suite.Project, name string) {
	x.stopped = context.Cause(ctx)
	if x.stopped != nil {
		return
	}
	problems, err := p.Hygiene(ctx, x.cases)
	for _, problem := range problems {
		t.Error(say(problem.String()))
	}
	if err != nil {
		t.Fatal(say(err))
	}
	opts.OnEvent = func(ev harness.Event) { logStage(t, ev) }
	e, err := harness.OpenForSuites(opts, p)
	if err != nil {
		t.Fatal(say(err))
	}
	r, err := e.StartSuites(ctx, harness.SuiteOptions{
		Project: p, Selected: suite.Selected{Cases: x.cases}, Specs: []string{name}, Attempts: max(opts.Trials, 1), Parallel: max(opts.Jobs, 1), Mode: result.ModeRun,
	})
	if err != nil {
		t.Fatal(say(err))
	}
	for _, note := range r.Notes() {
		t.Log(say(report.Clean(note)))
	}
	r.Perform(ctx)
	x.stopped = context.Cause(ctx)
	rep, err := r.Finish(x.stopped)
	if err != nil {
		t.Fatal(say(err))
	}
	for _, a := range rep.Attempts {
		x.verdicts[a.Task] = append(x.verdicts[a.Task], a)
	}
	var table strings.Builder
	record := r.Record()
	if err := report.Suite(&table, &record, rep, report.AttemptsOf(r.Dir())); err != nil {
		t.Error(say(err))
	}
	t.Log(sayf("\n%srun: %s", table.String(), r.Dir()))
}

// judge maps the attempts of one task to its subtest: any that fails, times out or is an error fails it.
func (x *suiteExam) judge(t *testing.T, c suite.Case) {
	attempts := x.verdicts[c.Name]
	for _, a := range attempts {
		line := []any{"attempt", a.Attempt, plan.WithSkills, "with", report.Clean(a.Client) + ":", a.Verdict, report.Clean(a.Cause)}
		if a.Verdict.Gates() {
			t.Error(say(line...))
			continue
		}
		t.Log(say(line...))
	}
	switch {
	case x.stopped != nil:
		t.Skip(sayf("cancelled: %v", x.stopped))
	case len(attempts) == 0:
		t.Error("not run: see the suite's test")
	}
}
