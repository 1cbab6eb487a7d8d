package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/proctor-evals/proctor/harness/grade/assertion"
	"github.com/proctor-evals/proctor/harness/grade/judge"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/suite"
	"github.com/proctor-evals/proctor/harness/transcript"
)

// scoredAttempt is an attempt with its verdict and what a comparison needs of it.
type scoredAttempt struct {
	result.ReportAttempt
	trial   *result.Trial
	results []assertion.Result
	unit    *suiteUnit
}

// RunAttempt makes one planned attempt and judges it. Whatever goes wrong is in what it returns; nil
// means that the run ended before the attempt did, and that it does not count.
func (r *SuiteRun) RunAttempt(ctx context.Context, p AttemptPlan) *result.ReportAttempt {
	s := &scoredAttempt{unit: p.Unit, ReportAttempt: result.ReportAttempt{
		Suite: p.Unit.Case.Task.Suite.Name, Task: p.Unit.Case.Name, Attempt: p.Round, Client: p.Client(), Configuration: p.Configuration.Name,
		KnownIssue: p.Unit.Case.Task.KnownIssue, Assertions: []result.AssertionResult{}, Dir: p.Dir,
	}}
	a, err := r.attempt(ctx, p)
	if err != nil && a.rec.Execution == "" {
		a.rec.Execution, a.rec.ExecutionCause = result.SetupFailure, "runner error: "+err.Error()
	}
	if a.rec.Execution != result.Cancelled {
		r.score(ctx, a, s, err)
	}
	if ctx.Err() != nil && s.Verdict == result.AttemptError {
		a.rec.Execution, a.rec.ExecutionCause = result.Cancelled, context.Cause(ctx).Error()
	}
	r.settle(a, s)
	if a.rec.Execution == result.Cancelled {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reports[p.Dir] = s
	return &s.ReportAttempt
}

// attempt makes the attempt up to its archive. The attempt is there whatever the error.
func (r *SuiteRun) attempt(ctx context.Context, p AttemptPlan) (*attempt, error) {
	b, err := p.Unit.ready(ctx)
	if err != nil {
		b = p.Unit.batch
	}
	a := &attempt{trial: &trial{Batch: b, plan: p.Trial, dir: filepath.Join(r.dir, filepath.FromSlash(p.Dir))}, unit: p.Unit, planned: p, started: time.Now().UTC()}
	a.newRecord()
	a.rec.Gradings = nil
	if mkErr := os.MkdirAll(a.dir, 0o755); mkErr != nil {
		return a, mkErr
	}
	if err != nil {
		return a, err
	}
	if err := a.write(); err != nil {
		return a, err
	}
	if err := r.update(b.index, p.Name, func(t *result.PlannedTrial) { t.State = result.Started }); err != nil {
		return a, err
	}
	return a, a.perform(ctx)
}

// emitStage tells of the attempt by its own name.
func (a *attempt) emitStage(s Stage, detail string) {
	a.run.engine.tell(a.event(a.planned.Name, s, detail))
}

// score judges an attempt by its assertions.
func (r *SuiteRun) score(ctx context.Context, a *attempt, s *scoredAttempt, broken error) {
	ending, cause := endingOf(a.rec), a.rec.ExecutionCause
	switch {
	case broken != nil:
		ending, cause = assertion.Broke, broken.Error()
	case a.survived != nil: // what still runs may write into what is judged
		ending, cause = assertion.Broke, a.survived.Error()
	case a.rec.Excluded != nil:
		ending, cause = assertion.Broke, a.rec.Excluded.Kind+": "+a.rec.Excluded.Cause
	}
	if ending != assertion.Ended {
		s.Verdict, s.Cause = result.AttemptVerdict(assertion.Decide(ending, nil, false)), cause
		return
	}
	a.emitStage(StageGrading, "")
	began := time.Now()
	s.results = r.grade(ctx, gradable{
		unit: a.unit, transcript: a.transcript, cwd: filepath.Join(a.dir, result.ArchiveDir), excluded: a.excluded, stopped: a.stopped, seconds: a.rec.Timings.Agent,
	})
	a.rec.Timings.Grading = elapsed(began)
	s.decide()
}

// gradable is an attempt as its records have it.
type gradable struct {
	unit       *suiteUnit
	transcript *transcript.Transcript
	cwd        string
	excluded   []string
	stopped    bool
	seconds    *float64
}

func (r *SuiteRun) grade(ctx context.Context, g gradable) []assertion.Result {
	config := r.opts.Project.Config
	judging := config.Judge
	judging.Model = r.judgeModel(g.unit)
	return assertion.Grade(ctx, assertion.Attempt{
		Transcript: g.transcript, Cwd: g.cwd, Client: g.unit.batch.Client(), Excluded: g.excluded, Stopped: g.stopped, CostUSD: g.transcript.CostUSD, Seconds: g.seconds,
	}, g.unit.Case.Assertions, assertion.Tools{
		Judge: judge.Panel{Ask: r.judges(g.unit), Cache: r.cache}, Judging: judging, Command: r.commands(g.unit),
	})
}

// decide fills in the verdict and the report's form of the assertions.
func (s *scoredAttempt) decide() {
	s.Verdict = result.AttemptVerdict(assertion.Decide(assertion.Ended, s.results, s.KnownIssue != nil))
	s.Assertions = []result.AssertionResult{}
	for _, x := range s.results {
		details, err := json.Marshal(x.Details)
		if err != nil {
			details = []byte("{}")
		}
		s.Assertions = append(s.Assertions, result.AssertionResult{
			Type: x.Type, Config: x.Config, Pass: x.Pass, Reason: x.Reason, Details: details, Error: x.Error, KnownIssue: x.KnownIssue, SkippedReason: x.Skipped,
		})
	}
	if s.Verdict == result.AttemptError {
		i := slices.IndexFunc(s.results, func(x assertion.Result) bool { return x.Error != "" && x.KnownIssue == nil })
		if i >= 0 {
			s.Cause = s.results[i].Error
			if !strings.HasPrefix(s.Cause, s.results[i].Type+":") {
				s.Cause = s.results[i].Type + ": " + s.Cause
			}
		}
	}
}

// endingOf is how a session ended, for its verdict. A client that stops at its own turn limit has come
// to an end: what it did is judged.
func endingOf(rec *result.Trial) assertion.Ending {
	switch {
	case rec.Execution == result.Completed, rec.Execution == result.ClientError && rec.ExecutionCause == transcript.ErrorMaxTurns:
		return assertion.Ended
	case rec.Execution == result.TimedOut:
		return assertion.TimedOut
	}
	return assertion.Broke
}

// settle writes the attempt's records and takes its run directory away. What cannot be written is the
// attempt's error: the report still has it.
func (r *SuiteRun) settle(a *attempt, s *scoredAttempt) {
	if a.gw != nil || a.stop != nil {
		a.closeGateway()
	}
	s.trial = a.rec
	now := time.Now().UTC()
	a.rec.FinishedAt, a.rec.State = &now, result.Finished
	a.rec.Outcome, a.rec.Excluded = outcomeOf(s.Verdict, a.rec.Execution, s.Cause)
	err := a.write()
	if err == nil {
		err = a.record()
	}
	if a.space != nil {
		_ = a.space.Remove() // goes with the run's scratch otherwise
	}
	if updateErr := r.update(a.index, a.planned.Name, func(t *result.PlannedTrial) {
		t.State, t.Execution, t.Outcome, t.Cause, t.Verdict = result.Finished, a.rec.Execution, a.rec.Outcome, a.rec.ExecutionCause, s.Verdict
	}); err == nil {
		err = updateErr
	}
	if err != nil && s.Verdict != "" {
		s.Verdict, s.Cause = result.AttemptError, err.Error()
	}
	detail := string(s.Verdict)
	if s.Cause != "" {
		detail += " (" + s.Cause + ")"
	}
	a.emitStage(StageDone, detail)
}

// outcomeOf is where an attempt counts: a known issue and a timeout are failures, an error does not count.
func outcomeOf(v result.AttemptVerdict, e result.Execution, cause string) (result.Outcome, *result.Exclusion) {
	switch e {
	case result.SetupFailure, result.Cancelled:
		return "", nil
	}
	switch v {
	case result.AttemptPass, result.AttemptUnexpectedPass:
		return result.Succeeded, nil
	case result.AttemptFail, result.AttemptKnownIssue, result.AttemptTimeout:
		return result.Failed, nil
	}
	return "", &result.Exclusion{Kind: result.ExcludedGrading, Cause: cause}
}

// Finish writes the report over all attempts that came to their end, and the run's record.
func (r *SuiteRun) Finish(cause error) (*result.Report, error) {
	defer r.release()
	defer r.closeClients()
	for _, p := range r.plans {
		if _, ok := r.reports[p.Dir]; ok {
			continue
		}
		reason := "not run"
		if cause != nil {
			reason = cause.Error()
		}
		r.notMade(p, reason)
	}
	report, err := r.report(nil)
	if err != nil {
		return nil, err
	}
	if _, err := result.WriteReport(r.dir, report, r.secrets.Clean); err != nil {
		return nil, err
	}
	r.Run.mu.Lock()
	now := time.Now().UTC()
	r.record.State, r.record.FinishedAt = result.Finished, &now
	if cause != nil {
		r.record.Cause = cause.Error()
	}
	r.Run.mu.Unlock()
	return report, r.write()
}

// report is the report over the attempts that were judged.
func (r *SuiteRun) report(scope *result.Scope) (*result.Report, error) {
	report := &result.Report{SchemaVersion: result.SchemaVersion, StartedAt: r.started, FinishedAt: time.Now().UTC(), Scope: scope, Attempts: []result.ReportAttempt{}}
	var all []*scoredAttempt
	for _, s := range r.reports {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *scoredAttempt) int { return result.CompareAttempts(a.ReportAttempt, b.ReportAttempt) })
	for _, s := range all {
		report.Attempts = append(report.Attempts, s.ReportAttempt)
	}
	report.JudgeCost = judgeCost(all)
	if r.opts.Mode == result.ModeCompare {
		var err error
		if report.Comparisons, err = r.compare(all); err != nil {
			return nil, err
		}
	}
	return report, nil
}

// notMade notes in the plan that an attempt was not made.
func (r *SuiteRun) notMade(p AttemptPlan, reason string) {
	r.Run.mu.Lock()
	defer r.Run.mu.Unlock()
	trials := r.record.Batches[p.Unit.batch.index].Trials
	if i := slices.IndexFunc(trials, func(t result.PlannedTrial) bool { return t.Name == p.Name && t.State != result.Finished }); i >= 0 {
		trials[i].State, trials[i].Execution, trials[i].Cause = result.Finished, result.Cancelled, reason
	}
}

// judgeCost sums what judges cost; null when one of them does not say.
func judgeCost(all []*scoredAttempt) *float64 {
	sum := 0.0
	for _, s := range all {
		for _, x := range s.results {
			cost, asked := x.Details["cost_usd"]
			if !asked {
				continue
			}
			usd, ok := cost.(*float64)
			if !ok || usd == nil {
				return nil
			}
			sum += *usd
		}
	}
	return &sum
}

// compare sets the run against its reality check, by task and client.
func (r *SuiteRun) compare(all []*scoredAttempt) ([]result.SuiteComparison, error) {
	var out []result.SuiteComparison
	for _, u := range r.units {
		c := result.SuiteComparison{
			Suite: u.Case.Task.Suite.Name, Task: u.Case.Name, Client: u.batch.Client(), Configurations: map[string]result.Counts{}, LeftOut: []string{},
		}
		counted := 0
		for _, x := range u.Case.Assertions {
			switch {
			case assertion.Flips(x, r.excluded[r.opts.Baseline]):
				c.LeftOut = append(c.LeftOut, x.Type)
			case x.KnownIssue == nil && (x.Providers == nil || slices.Contains(x.Providers, suite.HarnessName(u.batch.Client()))):
				counted++
			}
		}
		if r.engine.opts.Exploratory {
			c.NotCompared = "exploratory: the attempts were kept apart by the client's own sandbox alone"
			out = append(out, c)
			continue
		}
		if counted == 0 {
			c.NotCompared = "no assertion is left to compare: those that turn round without the skill do not count"
			out = append(out, c)
			continue
		}
		trials := map[string][]*result.Trial{}
		for _, s := range all {
			if s.unit == u && s.trial != nil {
				trials[s.Configuration] = append(trials[s.Configuration], s.counted(u, r.excluded[r.opts.Baseline]))
			}
		}
		for _, conf := range r.confs {
			counts, err := result.CountAttempts(trials[conf.Name])
			if err != nil {
				return nil, fmt.Errorf("%s with %s, %s: %w", u.batch.Task.Name, u.batch.Client(), conf.Name, err)
			}
			c.Configurations[conf.Name] = counts
		}
		comparison := result.Compare(plan.WithSkills, c.Configurations[plan.WithSkills], r.opts.Baseline, c.Configurations[r.opts.Baseline])
		c.Comparison = &comparison
		out = append(out, c)
	}
	return out, nil
}

// counted is the attempt's trial as a comparison counts it: without the assertions that flip.
func (s *scoredAttempt) counted(u *suiteUnit, excluded []string) *result.Trial {
	t := *s.trial
	if endingOf(&t) != assertion.Ended {
		return &t
	}
	var kept []assertion.Result
	for i, x := range u.Case.Assertions {
		if !assertion.Flips(x, excluded) && i < len(s.results) {
			kept = append(kept, s.results[i])
		}
	}
	verdict := result.AttemptVerdict(assertion.Decide(assertion.Ended, kept, s.KnownIssue != nil))
	t.Execution, t.ExecutionCause = result.Completed, ""
	t.Outcome, t.Excluded = outcomeOf(verdict, t.Execution, "an assertion could not be decided")
	return &t
}
