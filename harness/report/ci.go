package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
)

// CI is a run as CI servers are told of it: groups of cases, and what decides the exit code.
type CI struct {
	RunID  string
	Groups []CIGroup
	// Cause is why the run ended early, or "".
	Cause string
}

// CIGroup is a batch, or a suite with one client.
type CIGroup struct {
	Name   string // the task or the suite
	Client string
	Model  string
	// File is the task's file, as the reader of an annotation names it, or ""; Line is from 1.
	File  string
	Line  int
	Cases []CICase
	// Gates are what makes the exit code other than 0.
	Gates []result.Gated
	// Benchmark is there for a batch.
	Benchmark *result.Benchmark
	Dir       string
}

// CIState is how a case counts in CI.
type CIState string

// The states. Failure is a verdict that gates; a failed trial of a measurement has passed, since it was
// measured. Error is trouble of the machine or the runner. Skipped was not run.
const (
	CIPassed  CIState = "passed"
	CIFailure CIState = "failure"
	CIError   CIState = "error"
	CISkipped CIState = "skipped"
)

// CICase is a trial or an attempt.
type CICase struct {
	Name       string
	Seconds    *float64 // of the agent; null where not known
	State      CIState
	Message    string
	Properties [][2]string
}

// CIBatch makes the group of a batch from its records.
func CIBatch(b *result.Benchmark, trials []*result.Trial, dir, file string, line int, gates []result.Gated) CIGroup {
	g := CIGroup{Name: b.Task, Client: b.Client, Model: b.Model.Name, File: file, Line: line, Gates: gates, Benchmark: b, Dir: dir}
	for _, t := range trials {
		g.Cases = append(g.Cases, ciTrial(b, t))
	}
	return g
}

func ciTrial(b *result.Benchmark, t *result.Trial) CICase {
	c := CICase{
		Name: fmt.Sprintf("trial-%d-%s", t.Round, t.Configuration.Name), Seconds: t.Timings.Agent, State: CIPassed, Message: t.ExecutionCause,
		Properties: properties("configuration", t.Configuration.Name, "execution", string(t.Execution), "outcome", string(t.Outcome), "model", t.Model.Name,
			"client", t.Client.Name, "client_version", t.Client.Version, "tokens", whole(t.Usage.Total())),
	}
	switch {
	case t.Execution == result.Cancelled, t.Execution == result.SetupFailure && strings.HasPrefix(t.ExecutionCause, "release: "):
		c.State = CISkipped
	case t.Execution == result.SetupFailure:
		c.State = CIError
	case t.Excluded != nil:
		c.State, c.Message = CIError, t.Excluded.Kind+": "+t.Excluded.Cause
	case b.Kind == regression && t.Configuration.Name == plan.WithSymposium && t.Outcome != result.Succeeded:
		c.State, c.Message = CIFailure, cmp.Or(t.ExecutionCause, string(t.Outcome))
	}
	return c
}

// CISuites makes a group for each suite and client of a report. seconds and model are an attempt's, by its
// folder. Only the attempts of gating gate.
func CISuites(rep *result.Report, gating func(result.ReportAttempt) bool, attempt func(dir string) *result.Attempt, file func(suite string) string) []CIGroup {
	var groups []CIGroup
	for _, a := range rep.Attempts {
		i := slices.IndexFunc(groups, func(g CIGroup) bool { return g.Name == a.Suite && g.Client == a.Client })
		if i < 0 {
			groups = append(groups, CIGroup{Name: a.Suite, Client: a.Client, File: file(a.Suite), Line: 1})
			i = len(groups) - 1
		}
		c := CICase{Name: fmt.Sprintf("%s attempt-%d %s", a.Task, a.Attempt, a.Configuration), State: CIPassed, Message: strings.Join(whyNot(a), "; ")}
		if rec := attempt(a.Dir); rec != nil {
			groups[i].Model, c.Seconds = rec.Model, rec.Metrics.WallSeconds
		}
		c.Properties = properties("configuration", a.Configuration, "verdict", string(a.Verdict), "client", a.Client, "model", groups[i].Model)
		broke := a.Verdict == result.AttemptError
		if gating(a) {
			c.State = CIFailure
			groups[i].Gates = append(groups[i].Gates, result.Gated{Infrastructure: broke, Text: fmt.Sprintf("%s: %s", c.Name, a.Verdict)})
		}
		if broke {
			c.State = CIError
		}
		groups[i].Cases = append(groups[i].Cases, c)
	}
	return groups
}

// properties are the pairs whose value is known.
func properties(pairs ...string) (out [][2]string) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			out = append(out, [2]string{pairs[i], pairs[i+1]})
		}
	}
	return out
}

func whole(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

// count counts the cases of a state.
func (g CIGroup) count(s CIState) (n int) {
	for _, c := range g.Cases {
		if c.State == s {
			n++
		}
	}
	return n
}
