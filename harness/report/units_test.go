package report

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/proctor-evals/proctor/harness/result"
)

func usd(f float64) *float64 { return &f }

// TestUnits: K1 of the conformance cases.
func TestUnits(t *testing.T) {
	assert.Equal(t, "$0.0250", Cost(usd(.025)))
	assert.Equal(t, "   ?   ", Cost(nil))
	for want, seconds := range map[string]float64{"12.1s": 12.1, "1m02s": 62, "1h02m": 3725} {
		assert.Equal(t, want, Wall(&seconds))
	}
	assert.Equal(t, "?", Wall(nil))
	for want, n := range map[string]int64{"500": 500, "1.5k": 1500, "1.5M": 1_500_000} {
		assert.Equal(t, want, Tokens(&n))
	}
	assert.Equal(t, "?", Tokens(nil))
	now := time.Now()
	for want, ago := range map[string]time.Duration{"30s ago": 30 * time.Second, "15m ago": 15 * time.Minute, "3h ago": 3 * time.Hour, "3d ago": 72 * time.Hour, "0s ago": -time.Hour} {
		assert.Equal(t, want, Age(now.Add(-ago), now))
	}
	assert.Equal(t, "—", Tools(result.Metrics{}))
	assert.Equal(t, "5 (2e 1d 1r)", Tools(result.Metrics{ToolCalls: 5, ToolErrors: 2, PermissionDenials: 1, ToolRejections: 1}))
}

// TestChange: K2.
func TestChange(t *testing.T) {
	for want, pair := range map[string][2]*float64{
		"": {usd(.010), usd(.011)}, "+50%": {usd(.010), usd(.015)}, "-30%": {usd(.010), usd(.007)},
		"gone": {usd(10), nil}, "new": {usd(0), usd(.01)}, "+15%": {usd(100), usd(115)},
	} {
		assert.Equal(t, want, Change(pair[0], pair[1], costTolerance))
	}
	assert.Equal(t, "new", Change(nil, usd(10), costTolerance))
	assert.Empty(t, Change(nil, nil, costTolerance))
	assert.Empty(t, Change(usd(0), usd(0), costTolerance))
}

// TestAssertionKey: K4.
func TestAssertionKey(t *testing.T) {
	long := "The answer names every one of the settings that were changed"
	for want, x := range map[string]result.AssertionResult{
		"file_exists:a/b.txt":  {Type: "file_exists", Config: "a/b.txt"},
		"file_exists:c.txt":    {Type: "file_exists", Config: map[string]any{"path": "c.txt"}},
		"file_contains:x.py":   {Type: "file_contains", Config: map[string]any{"path": "x.py", "pattern": "p"}},
		"tool_count:Read":      {Type: "tool_count", Config: map[string]any{"name": "Read", "min": 1}},
		"judge:" + long[:40]:   {Type: "judge", Config: map[string]any{"criterion": long}},
		"first_skill":          {Type: "first_skill", Config: "a"},
		"no_permission_errors": {Type: "no_permission_errors"},
		`skill_invoked"a"`:     {Type: "skill_invoked", Config: "a"},
	} {
		assert.Equal(t, want, AssertionKey(x))
	}
}

func TestPassed(t *testing.T) {
	why := "later"
	ok, bad := result.AssertionResult{Pass: true}, result.AssertionResult{}
	known, better, skipped := result.AssertionResult{KnownIssue: &why}, result.AssertionResult{KnownIssue: &why, Pass: true}, result.AssertionResult{SkippedReason: &why, Pass: true}
	for want, list := range map[string][]result.AssertionResult{
		"1/2": {ok, bad}, "1/1 +1 xpass +2 known, 1 skipped": {ok, known, better, known, skipped}, "pass": {skipped},
	} {
		assert.Equal(t, want, Passed(result.ReportAttempt{Verdict: result.AttemptPass, Assertions: list}))
	}
	assert.Equal(t, "timeout", Passed(result.ReportAttempt{Verdict: result.AttemptTimeout}))
}
