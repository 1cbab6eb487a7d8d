package result

import (
	"fmt"

	"github.com/proctor-evals/proctor/internal/stats"
)

// The bootstrap over tasks: enough draws for two stable digits, and a fixed seed, recorded, so that the
// same results always give the same interval.
const (
	SummaryResamples = 10_000
	SummarySeed      = 20260101
)

// Summary is what several tasks say together about one configuration with one client. Tasks weigh the same, however
// many trials each has; their counts are never put in one pot. It is no verdict.
type Summary struct {
	Client    string `json:"client"`
	Treatment string `json:"treatment"`
	Baseline  string `json:"baseline"`
	// Tasks are those with a delta; MeanDelta is the unweighted mean of their success-rate differences.
	Tasks     int      `json:"tasks"`
	MeanDelta *float64 `json:"mean_delta"`
	// CI95 is a percentile bootstrap over the tasks: how far the mean would move with other tasks of the
	// kind. With few tasks it is too narrow.
	CI95      *[2]float64 `json:"ci95"`
	Method    string      `json:"method"`
	Resamples int         `json:"resamples"`
	Seed      uint64      `json:"seed"`
	Deltas    []TaskDelta `json:"deltas"`
	LeftOut   []LeftOut   `json:"left_out"`
}

// TaskDelta is one task's part.
type TaskDelta struct {
	Task  string    `json:"task"`
	Delta float64   `json:"delta"`
	Look  int       `json:"look"`
	Says  Judgement `json:"verdict"`
}

// LeftOut is a task without a delta, and why.
type LeftOut struct {
	Task   string `json:"task"`
	Reason string `json:"reason"`
}

const summaryMethod = "unweighted mean of the tasks' success-rate differences; interval: percentile bootstrap over tasks"

// Summarize sums up the benchmarks of one run, a summary for each client and configuration that two
// tasks or more have a delta for; none otherwise. Clients are never put in one pot.
func Summarize(benchmarks []*Benchmark) []Summary {
	var order [][3]string
	by := map[[3]string]*Summary{}
	for _, b := range benchmarks {
		for _, c := range b.Comparisons {
			key := [3]string{b.Client, c.Treatment, c.Baseline}
			if by[key] == nil {
				order = append(order, key)
				by[key] = &Summary{Client: b.Client, Treatment: c.Treatment, Baseline: c.Baseline, Method: summaryMethod,
					Resamples: SummaryResamples, Seed: SummarySeed, Deltas: []TaskDelta{}, LeftOut: []LeftOut{}}
			}
		}
	}
	var out []Summary
	for _, key := range order {
		s := by[key]
		var deltas []float64
		for _, b := range benchmarks {
			if b.Client != key[0] {
				continue
			}
			c, reason := b.comparison(s.Treatment, s.Baseline)
			if reason != "" {
				s.LeftOut = append(s.LeftOut, LeftOut{Task: b.Task, Reason: reason})
				continue
			}
			s.Deltas = append(s.Deltas, TaskDelta{Task: b.Task, Delta: *c.Diff, Look: b.Look, Says: c.Verdict})
			deltas = append(deltas, *c.Diff)
		}
		if s.Tasks = len(deltas); s.Tasks < 2 {
			continue
		}
		if mean, ok := stats.Mean(deltas); ok {
			s.MeanDelta = &mean
		}
		if lo, hi, ok := stats.BootstrapMean(deltas, SummaryResamples, SummarySeed); ok {
			s.CI95 = &[2]float64{lo, hi}
		}
		out = append(out, *s)
	}
	return out
}

// comparison finds one with a difference, or says why there is none.
func (b *Benchmark) comparison(treatment, baseline string) (c Comparison, reason string) {
	for _, c := range b.Comparisons {
		if c.Treatment != treatment || c.Baseline != baseline {
			continue
		}
		if c.Diff == nil {
			return c, c.Reason
		}
		return c, ""
	}
	if b.NotCompared != "" {
		return c, b.NotCompared
	}
	return c, fmt.Sprintf("%s and %s were not compared", treatment, baseline)
}
