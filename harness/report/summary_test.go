package report

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/result"
)

func TestSummary(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, Summary(&out, nil))
	assert.Empty(t, out.String())
	require.NoError(t, Summary(&out, []result.Summary{{
		Client: "claude", Treatment: "with-symposium", Baseline: "without-symposium", Tasks: 3, MeanDelta: ptr(0.15), CI95: &[2]float64{-0.1, 0.4}, Seed: 7,
		LeftOut: []result.LeftOut{{Task: "--- FAIL: x", Reason: "no trial\nto count"}},
	}, {Client: "codex", Treatment: "staged-skills", Baseline: "without-symposium", Tasks: 12, MeanDelta: ptr(-0.5), CI95: &[2]float64{-0.6, -0.4}, Seed: 7}, {Tasks: 2}}))
	requireHarmless(t, out.String())
	assert.Equal(t, `over 3 tasks with claude, with-symposium against without-symposium: +15 points on average (95 % bootstrap interval over tasks -10 to +40, seed 7); each task weighs the same, and this is no verdict; with fewer than 10 tasks the interval is too narrow
  left out: \x2d-- FAIL: x: no trial\nto count
over 12 tasks with codex, staged-skills against without-symposium: -50 points on average (95 % bootstrap interval over tasks -60 to -40, seed 7); each task weighs the same, and this is no verdict
`, out.String())
}

func TestTextShowsWhatIsWrong(t *testing.T) {
	b := benchmark(t, map[string][]*result.Trial{baseline: trials(nil, baseline, 2, fail), with: trials(nil, with, 2, pass)})
	var out bytes.Buffer
	require.NoError(t, Text(&out, b, ""))
	assert.NotContains(t, out.String(), "WRONG")
	assert.NotContains(t, out.String(), "not compared")

	c := b.Configurations[with]
	c.Failed++
	b.Configurations[with] = c
	b.NotCompared = "two\nsets"
	out.Reset()
	require.NoError(t, Text(&out, b, ""))
	assert.Contains(t, out.String(), "WRONG, do not use these numbers: with-symposium: the counts do not add up: eligible = 2, but succeeded + failed + inconclusive = 3\n")
	assert.Contains(t, out.String(), "not compared: two\\nsets\n")
}

func TestCostSaysHowSureItIs(t *testing.T) {
	assert.Equal(t, "cost: tokens 10 (no interval, 1 trial); agent seconds not reported", cost(result.Counts{Cost: result.Costs{Eligible: result.Cost{Tokens: result.Mean{Mean: ptr(10.0), Trials: 1}}}}))
	assert.Equal(t, "cost: tokens not reported; agent seconds 2.5 (95 % interval 1.0 to 4.0, 3 trials)", cost(result.Counts{Cost: result.Costs{Eligible: result.Cost{AgentSecs: result.Mean{Mean: ptr(2.5), Trials: 3, CI95: &[2]float64{1, 4}}}}}))
	assert.Empty(t, cost(result.Counts{}))
}
