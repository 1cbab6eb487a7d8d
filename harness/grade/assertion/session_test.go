package assertion

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/proctor-evals/proctor/harness/suite"
	"github.com/proctor-evals/proctor/harness/transcript"
)

func TestResponseContains(t *testing.T) {
	s := session()
	s.FinalText = "All 3 tests pass."
	at := func(c suite.ResponseContains) string { return outcome(one(t, Attempt{Transcript: s}, c, Tools{})) }
	assert.Equal(t, passes, at(suite.ResponseContains{Pattern: "3 tests"}))
	assert.Equal(t, fails, at(suite.ResponseContains{Pattern: "4 tests"}))
	assert.Equal(t, passes, at(suite.ResponseContains{Regex: re(t, `\d tests? pass`)}))
	s.FinalText = ""
	assert.Equal(t, fails, at(suite.ResponseContains{}), "there is no answer")
	s.Completed = false
	assert.Equal(t, undecided, at(suite.ResponseContains{Pattern: "x"}))
}

func TestBounds(t *testing.T) {
	cost, seconds, ms, turns := 0.5, 30.0, int64(20_000), int64(7)
	s := session(says(""), says(""), says("sub"), transcript.Turn{Role: transcript.RoleUser})
	told := session(says(""))
	told.CostUSD, told.Timing.DurationMS, told.NumTurns = &cost, &ms, &turns
	cut := session(says(""))
	cut.Completed = false
	tests := []struct {
		name    string
		attempt Attempt
		check   suite.Check
		want    string
	}{
		{"cost", Attempt{Transcript: told}, suite.MaxCost{USD: 0.5}, passes},
		{"cost: over", Attempt{Transcript: told}, suite.MaxCost{USD: 0.4}, fails},
		{"cost: the wire's counts", Attempt{Transcript: told, CostUSD: new(float64)}, suite.MaxCost{USD: 0.4}, passes},
		{"cost: unknown is not 0", Attempt{Transcript: s}, suite.MaxCost{USD: 100}, fails},
		{"seconds", Attempt{Transcript: told}, suite.MaxSeconds{Seconds: 20}, passes},
		{"seconds: the runner's clock counts", Attempt{Transcript: told, Seconds: &seconds}, suite.MaxSeconds{Seconds: 20}, fails},
		{"seconds: unknown is not 0", Attempt{Transcript: s}, suite.MaxSeconds{Seconds: 1000}, fails},
		{"turns", Attempt{Transcript: s}, suite.MaxTurns{Turns: 2}, passes},
		{"turns: over", Attempt{Transcript: s}, suite.MaxTurns{Turns: 1}, fails},
		{"turns: the client's own count is another", Attempt{Transcript: told}, suite.MaxTurns{Turns: 1}, passes},
		{"turns: perhaps more", Attempt{Transcript: cut}, suite.MaxTurns{Turns: 1}, undecided},
		{"turns: enough to know", Attempt{Transcript: cut}, suite.MaxTurns{Turns: 0}, fails},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := one(t, tt.attempt, tt.check, Tools{})
			assert.Equal(t, tt.want, outcome(r), r.Reason)
		})
	}
}
