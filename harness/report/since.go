package report

import (
	"strings"

	"github.com/proctor-evals/proctor/harness/result"
)

// Since says of a run's attempts how cost, context and time changed since an earlier run.
type Since struct {
	RunID   string // the earlier run; "" when there is none
	metrics map[attemptID]result.Metrics
}

// attemptID is what makes attempts of two runs the same.
type attemptID struct {
	suite, task           string
	attempt               int
	client, configuration string
}

func idOf(x result.ReportAttempt) attemptID {
	return attemptID{x.Suite, x.Task, x.Attempt, x.Client, x.Configuration}
}

// SinceEarlier looks in the folder of runs for the nearest run before info that can be compared with it: of suites, of
// the same mode, with the same models, and with a report that has one of its attempts.
func SinceEarlier(runs string, info *RunInfo, rep *result.Report) (Since, error) {
	all, err := Runs(runs)
	if err != nil {
		return Since{}, err
	}
	wanted := map[attemptID]bool{}
	for _, a := range rep.Attempts {
		wanted[idOf(a)] = true
	}
	earlier := false
	for _, r := range all { // the newest first
		if r.RunID == info.RunID {
			earlier = true
			continue
		}
		if !earlier || r.Run == nil || r.Kind != KindSuites || r.Mode != info.Mode || models(r.Run) != models(info.Run) {
			continue
		}
		old, err := ReadReport(&r, "")
		if err != nil {
			continue // a run that was cut short says nothing
		}
		s := Since{RunID: r.RunID, metrics: map[attemptID]result.Metrics{}}
		attempt := AttemptsOf(r.Dir)
		for _, a := range old.Attempts {
			if rec := attempt(a.Dir); rec != nil && wanted[idOf(a)] {
				s.metrics[idOf(a)] = rec.Metrics
			}
		}
		if len(s.metrics) > 0 {
			return s, nil
		}
	}
	return Since{}, nil
}

// Of is what changed of an attempt, beyond the tolerances of [Diff]; "" for nothing, and where the earlier run has no
// such attempt.
func (s Since) Of(a result.ReportAttempt, now result.Metrics) string {
	before, ok := s.metrics[idOf(a)]
	if !ok {
		return ""
	}
	var parts []string
	for _, m := range []struct {
		name          string
		before, after *float64
		tolerance     float64
	}{
		{"cost", before.CostUSD, now.CostUSD, costTolerance},
		{"ctx", float(before.PeakContext), float(now.PeakContext), contextTolerance},
		{"wall", before.WallSeconds, now.WallSeconds, wallTolerance},
	} {
		if change := Change(m.before, m.after, m.tolerance); change != "" {
			parts = append(parts, m.name+" "+change)
		}
	}
	return strings.Join(parts, ", ")
}
