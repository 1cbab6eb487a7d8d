package result

import (
	"errors"
	"fmt"
	"strings"

	"github.com/proctor-evals/proctor/internal/stats"
)

// Count folds the trials of one configuration of one batch into its numbers. Every planned trial
// must be given, once; one that is in no place or in two is an error, because the numbers would be
// wrong. All problems are reported at once.
func Count(trials []*Trial) (Counts, error) { return count(trials, (*Trial).Contradiction) }

// CountAttempts is Count for attempts at a suite's tasks, whose outcome their assertions decide, and not
// the parts of the record.
func CountAttempts(attempts []*Trial) (Counts, error) {
	return count(attempts, func(*Trial) string { return "" })
}

func count(trials []*Trial, contradiction func(*Trial) string) (Counts, error) {
	n := counting{numbers: map[string]bool{}, loads: map[string]LoadCounts{}, offered: map[string]int{}}
	n.c.Planned = len(trials)
	for _, t := range trials {
		if t == nil {
			n.problems = append(n.problems, errors.New("a planned trial has no record"))
			continue
		}
		n.unique(t, trials[0])
		before := len(n.problems)
		if n.place(t) {
			n.measure(t)
		}
		if len(n.problems) == before {
			if what := contradiction(t); what != "" {
				n.problem(t, "%s", what)
			}
		}
	}
	if len(n.problems) > 0 {
		return Counts{}, fmt.Errorf("counting: %w", errors.Join(n.problems...))
	}
	return n.finish()
}

type counting struct {
	c                   Counts
	eligible, succeeded []*Trial
	numbers             map[string]bool // the trials seen
	loads               map[string]LoadCounts
	offered             map[string]int
	problems            []error
}

func (n *counting) problem(t *Trial, format string, args ...any) {
	n.problems = append(n.problems, fmt.Errorf("trial %d of %q %s", t.Trial, t.Mode, fmt.Sprintf(format, args...)))
}

// unique refuses a trial given twice or from elsewhere.
func (n *counting) unique(t, first *Trial) {
	if first != nil && (t.Mode != first.Mode || t.BatchID != first.BatchID) {
		n.problem(t, "(batch %q) is not of the same configuration and batch as trial %d of %q (batch %q)", t.BatchID, first.Trial, first.Mode, first.BatchID)
	}
	key := fmt.Sprintf("%d %q %q", t.Trial, t.Mode, t.BatchID)
	if n.numbers[key] {
		n.problem(t, "is there twice")
	}
	n.numbers[key] = true
}

// place puts the trial in its one place and says whether that is among the eligible ones.
func (n *counting) place(t *Trial) (eligible bool) {
	switch t.Execution {
	case SetupFailure, Cancelled:
		if t.Excluded != nil || t.Outcome != "" {
			n.problem(t, "is %s, so never started, and yet is excluded or has an outcome", t.Execution)
		}
		if t.Execution == SetupFailure {
			n.c.SetupFailures++
			bump(&n.c.Causes.SetupFailures, t.ExecutionCause)
		} else {
			n.c.Cancelled++
			bump(&n.c.Causes.Cancelled, t.ExecutionCause)
		}
		return false
	case Completed, TimedOut, ClientError:
		n.c.Started++
		if t.Isolation.AuditState == "suspicious" {
			n.c.AuditSuspicious++
		}
	default:
		n.problem(t, "has the unknown execution %q (state %q)", t.Execution, t.State)
		return false
	}
	if t.Excluded != nil {
		if t.Outcome != "" {
			n.problem(t, "is excluded and yet has the outcome %q", t.Outcome)
		}
		switch t.Excluded.Kind {
		case ExcludedIsolation:
			n.c.Excluded.Isolation++
		case ExcludedGrading:
			n.c.Excluded.Grading++
		default:
			n.problem(t, "has the unknown exclusion %q", t.Excluded.Kind)
		}
		bump(&n.c.Causes.Excluded, t.Excluded.Kind+": "+orUnknown(t.Excluded.Cause))
		return false
	}
	n.eligible = append(n.eligible, t)
	if t.Execution != Completed {
		bump(&n.c.Causes.Executions, string(t.Execution)+": "+orUnknown(t.ExecutionCause))
		if t.Outcome != Failed {
			n.problem(t, "is %s and has the outcome %q; only a completed session can do other than fail", t.Execution, t.Outcome)
			return false
		}
	}
	switch t.Outcome {
	case Succeeded:
		n.c.Succeeded++
		n.succeeded = append(n.succeeded, t)
	case Failed:
		n.c.Failed++
	case OutcomeInconclusive:
		n.c.Inconclusive++
	default:
		n.problem(t, "is eligible and has the outcome %q, which is none", t.Outcome)
	}
	return true
}

// measure adds what an eligible trial's record says besides its outcome.
func (n *counting) measure(t *Trial) {
	if v, _ := t.Code.verdict(); v != Inconclusive {
		n.c.CodeJudged++
		if v == Pass {
			n.c.CodePassed++
		}
	}
	for skill, load := range t.ObservedLoad {
		l := n.loads[skill]
		switch load {
		case "loaded":
			l.Loaded++
		case "attempted":
			l.Attempted++
		case "not_observed":
			l.NotObserved++
		default:
			l.Unknown++
		}
		n.loads[skill] = l
	}
	seen := map[string]bool{}
	for _, o := range t.Offered {
		if !seen[o.Skill] {
			n.offered[o.Skill]++
		}
		seen[o.Skill] = true // a skill may be offered in several ways
	}
}

// finish derives the rates and means and checks the equations.
func (n *counting) finish() (Counts, error) {
	c := n.c
	c.Eligible = len(n.eligible)
	for skill, l := range n.loads {
		// A trial that says nothing of a skill others observed is unknown, so that each skill's counts add up.
		l.Unknown += c.Eligible - l.Loaded - l.Attempted - l.NotObserved - l.Unknown
		n.loads[skill] = l
	}
	if len(n.loads) > 0 {
		c.ObservedLoad = n.loads
	}
	if len(n.offered) > 0 {
		c.Offered = n.offered
	}
	c.SuccessRate = rate(c.Succeeded, c.Eligible)
	if lo, hi, ok := stats.Wilson(c.Succeeded, c.Eligible); ok {
		c.SuccessRateCI = &[2]float64{lo, hi}
	}
	c.CodePassRate = rate(c.CodePassed, c.CodeJudged)
	if c.Eligible > 0 {
		all := c.Succeeded == c.Eligible
		c.PassAll = &all
	}
	c.PassAt, c.PassHat = passChances(c.Succeeded, c.Eligible)
	c.Cost = Costs{Eligible: costOf(n.eligible), Succeeded: costOf(n.succeeded)}
	if err := c.Check(); err != nil {
		return Counts{}, fmt.Errorf("counting: a fault of Proctor: %w", err)
	}
	return c, nil
}

// bump counts a cause. It may hold what a trial printed: bytes that are not UTF-8 are replaced now,
// because as JSON keys two of them could become the same.
func bump(m *map[string]int, cause string) {
	if *m == nil {
		*m = map[string]int{}
	}
	(*m)[strings.ToValidUTF8(orUnknown(cause), "\uFFFD")]++
}

func orUnknown(cause string) string {
	if cause == "" {
		return "unknown"
	}
	return cause
}

func rate(part, whole int) *float64 {
	if whole == 0 {
		return nil
	}
	r := float64(part) / float64(whole)
	return &r
}

func costOf(trials []*Trial) Cost {
	tokens := func(get func(Usage) *int64) Mean {
		return meanOf(trials, func(t *Trial) *float64 {
			n := get(t.Usage)
			if n == nil {
				return nil
			}
			f := float64(*n)
			return &f
		})
	}
	return Cost{
		Tokens:     tokens(Usage.Total),
		Input:      tokens(func(u Usage) *int64 { return u.InputTokens }),
		Output:     tokens(func(u Usage) *int64 { return u.OutputTokens }),
		CacheRead:  tokens(func(u Usage) *int64 { return u.CacheReadTokens }),
		CacheWrite: tokens(func(u Usage) *int64 { return u.CacheWriteTokens }),
		AgentSecs:  meanOf(trials, func(t *Trial) *float64 { return t.Timings.Agent }),
	}
}

// meanOf leaves out what is not known; a negative count or time is no measurement.
func meanOf(trials []*Trial, get func(*Trial) *float64) Mean {
	var values []float64
	for _, t := range trials {
		if v := get(t); v != nil && *v >= 0 {
			values = append(values, *v)
		}
	}
	m := Mean{Trials: len(values)}
	if mean, ok := stats.Mean(values); ok {
		m.Mean = &mean
	}
	if lo, hi, ok := stats.MeanInterval(values); ok {
		m.CI95 = &[2]float64{max(0, lo), hi} // no count and no time is below 0
	}
	return m
}
