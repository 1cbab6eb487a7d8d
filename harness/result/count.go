package result

import (
	"errors"
	"fmt"

	"github.com/proctor-evals/proctor/internal/stats"
)

// Count folds the trials of one configuration into its numbers. Every planned trial must be
// given; one that is in no place or in two is an error, because the numbers would be wrong.
func Count(trials []*Trial) (Counts, error) {
	c := Counts{Planned: len(trials)}
	var eligible, succeeded []*Trial
	loads := map[string]LoadCounts{}
	offered := map[string]int{}
	var problems []error
	for _, t := range trials {
		switch t.Execution {
		case SetupFailure:
			c.SetupFailures++
			bump(&c.Causes.SetupFailures, t.ExecutionCause)
			continue
		case Cancelled:
			c.Cancelled++
			bump(&c.Causes.Cancelled, t.ExecutionCause)
			continue
		case Completed, TimedOut, ClientError:
			c.Started++
		default:
			problems = append(problems, fmt.Errorf("trial %d of %s has the unknown execution %q", t.Trial, t.Mode, t.Execution))
			continue
		}
		if t.Excluded != nil {
			switch t.Excluded.Kind {
			case ExcludedIsolation:
				c.Excluded.Isolation++
			case ExcludedGrading:
				c.Excluded.Grading++
			default:
				problems = append(problems, fmt.Errorf("trial %d of %s has the unknown exclusion %q", t.Trial, t.Mode, t.Excluded.Kind))
			}
			bump(&c.Causes.Excluded, t.Excluded.Kind+": "+t.Excluded.Cause)
			continue
		}
		eligible = append(eligible, t)
		if t.Execution != Completed {
			bump(&c.Causes.Executions, string(t.Execution)+": "+t.ExecutionCause)
		}
		switch t.Outcome {
		case Succeeded:
			c.Succeeded++
			succeeded = append(succeeded, t)
		case Failed:
			c.Failed++
		case OutcomeInconclusive:
			c.Inconclusive++
		default:
			problems = append(problems, fmt.Errorf("trial %d of %s is eligible and has no outcome", t.Trial, t.Mode))
		}
		if t.Code != nil && t.Code.InfrastructureError == "" {
			c.CodeJudged++
			if t.Code.Overall == Pass {
				c.CodePassed++
			}
		}
		for skill, load := range t.ObservedLoad {
			l := loads[skill]
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
			loads[skill] = l
		}
		for _, o := range t.Offered {
			offered[o.Skill]++
		}
	}
	c.Eligible = len(eligible)
	if len(loads) > 0 {
		c.ObservedLoad = loads
	}
	if len(offered) > 0 {
		c.Offered = offered
	}
	if c.Planned != c.SetupFailures+c.Cancelled+c.Started {
		problems = append(problems, fmt.Errorf("planned %d is not setup failures %d + cancelled %d + started %d", c.Planned, c.SetupFailures, c.Cancelled, c.Started))
	}
	if c.Eligible != c.Started-c.Excluded.Isolation-c.Excluded.Grading || c.Eligible != c.Succeeded+c.Failed+c.Inconclusive {
		problems = append(problems, fmt.Errorf("eligible %d does not add up: started %d, excluded %+v, succeeded %d, failed %d, inconclusive %d",
			c.Eligible, c.Started, c.Excluded, c.Succeeded, c.Failed, c.Inconclusive))
	}
	if len(problems) > 0 {
		return c, fmt.Errorf("counting: %w", errors.Join(problems...))
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
	c.Cost = Costs{Eligible: costOf(eligible), Succeeded: costOf(succeeded)}
	return c, nil
}

func bump(m *map[string]int, cause string) {
	if *m == nil {
		*m = map[string]int{}
	}
	if cause == "" {
		cause = "unknown"
	}
	(*m)[cause]++
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

func meanOf(trials []*Trial, get func(*Trial) *float64) Mean {
	var values []float64
	for _, t := range trials {
		if v := get(t); v != nil {
			values = append(values, *v)
		}
	}
	m := Mean{Trials: len(values)}
	if mean, ok := stats.Mean(values); ok {
		m.Mean = &mean
	}
	return m
}
