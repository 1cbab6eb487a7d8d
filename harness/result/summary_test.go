package result

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func compared(task string, with, base Counts) *Benchmark {
	return &Benchmark{Task: task, Look: 1, Comparisons: []Comparison{Compare("with-symposium", with, "without-symposium", base)}}
}

func TestSummarize(t *testing.T) {
	mixed := &Benchmark{Task: "mixed", NotCompared: "two sets of checks", Comparisons: []Comparison{}}
	exploratory := &Benchmark{Task: "exploratory", Comparisons: []Comparison{}}
	benchmarks := []*Benchmark{
		compared("a", counts(4, 1, 0, 0), counts(2, 3, 0, 0)),     // +0.4
		compared("b", counts(50, 50, 0, 0), counts(60, 40, 0, 0)), // -0.1, with twenty times the trials
		compared("empty", counts(3, 0, 0, 0), counts(0, 0, 0, 0)), // no delta
		mixed, exploratory,
	}
	got := Summarize(benchmarks)
	require.Len(t, got, 1)
	s := got[0]
	assert.Equal(t, "with-symposium", s.Treatment)
	assert.Equal(t, 2, s.Tasks)
	assert.InDelta(t, 0.15, *s.MeanDelta, 1e-12, "tasks weigh the same; the pooled difference would be negative")
	assert.InDelta(t, -0.1, s.CI95[0], 1e-12)
	assert.InDelta(t, 0.4, s.CI95[1], 1e-12)
	assert.Equal(t, uint64(SummarySeed), s.Seed)
	assert.Equal(t, []LeftOut{
		{"empty", "there is no without-symposium trial to count"}, {"mixed", "two sets of checks"},
		{"exploratory", "with-symposium and without-symposium were not compared"},
	}, s.LeftOut)
	assert.Len(t, s.Deltas, 2)

	one, err := json.Marshal(got)
	require.NoError(t, err)
	again, err := json.Marshal(Summarize(benchmarks))
	require.NoError(t, err)
	assert.Equal(t, string(one), string(again), "the same results give the same summary")
}

func TestNoSummaryOfOneTask(t *testing.T) {
	assert.Empty(t, Summarize(nil))
	assert.Empty(t, Summarize([]*Benchmark{compared("a", counts(4, 1, 0, 0), counts(2, 3, 0, 0))}))
	assert.Empty(t, Summarize([]*Benchmark{
		compared("a", counts(4, 1, 0, 0), counts(2, 3, 0, 0)), compared("b", counts(4, 1, 0, 0), counts(0, 0, 0, 0))}),
		"one of two tasks has a delta")
}

func TestSummaryKeepsClientsApart(t *testing.T) {
	var all []*Benchmark
	for _, row := range []struct {
		task, client string
		with         int
	}{{"a", "claude", 5}, {"a", "codex", 0}, {"b", "claude", 5}, {"b", "codex", 0}, {"a", "copilot", 3}} {
		b := compared(row.task, counts(row.with, 5-row.with, 0, 0), counts(1, 4, 0, 0))
		b.Client = row.client
		all = append(all, b)
	}
	got := Summarize(all)
	require.Len(t, got, 2, "one task alone, with copilot, gives none")
	assert.Equal(t, []string{"claude", "codex"}, []string{got[0].Client, got[1].Client})
	assert.InDelta(t, 0.8, *got[0].MeanDelta, 1e-12)
	assert.InDelta(t, -0.2, *got[1].MeanDelta, 1e-12)
	assert.Empty(t, got[0].LeftOut)
}
