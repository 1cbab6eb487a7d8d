package result

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func ptr[T any](v T) *T { return &v }

// arm is the decided trials of one configuration.
type arm []*Trial

func (a *arm) add(n int, execution Execution, outcome Outcome, excluded string, code Verdict) *arm {
	for range n {
		t := &Trial{Trial: len(*a) + 1, Mode: "with-symposium", BatchID: "b", State: Finished, Execution: execution, Outcome: outcome}
		if excluded != "" {
			t.Excluded = &Exclusion{Kind: excluded, Cause: excluded + " cause"}
		}
		if code != "" {
			t.Code = &Code{Overall: code}
		}
		t.Configuration.Skills = "symposium"
		// The expectations that such an outcome of code that passes comes from.
		e := map[Outcome]Verdict{Failed: Fail, OutcomeInconclusive: Inconclusive}[outcome]
		if e == "" {
			e = Pass
		}
		t.Expectations = &Expectations{Sync: SyncExpectation{SkillDirEmptyBefore: Pass, SessionStart: Pass, SyncRecorded: e}}
		t.Success = map[Outcome]Verdict{Succeeded: Pass, Failed: Fail, OutcomeInconclusive: Inconclusive}[outcome]
		*a = append(*a, t)
	}
	return a
}

func TestCountPutsEveryTrialInOnePlace(t *testing.T) {
	var a arm
	a.add(2, SetupFailure, "", "", "").add(1, Cancelled, "", "", "").
		add(1, Completed, "", ExcludedIsolation, Pass).add(2, Completed, "", ExcludedGrading, Inconclusive).
		add(4, Completed, Succeeded, "", Pass).add(3, Completed, Failed, "", Fail).add(1, Completed, Failed, "", Pass).
		add(2, Completed, OutcomeInconclusive, "", Pass).add(1, TimedOut, Failed, "", Pass).add(1, ClientError, Failed, "", "")
	a[0].ExecutionCause, a[2].ExecutionCause, a[17].ExecutionCause = "no bwrap", CauseLost, "exit \xff 3"

	c, err := Count(a)
	require.NoError(t, err)
	assert.Equal(t, 18, c.Planned)
	assert.Equal(t, 2, c.SetupFailures)
	assert.Equal(t, 1, c.Cancelled)
	assert.Equal(t, 15, c.Started)
	assert.Equal(t, ExcludedCounts{Isolation: 1, Grading: 2}, c.Excluded)
	assert.Equal(t, 12, c.Eligible)
	assert.Equal(t, []int{4, 6, 2}, []int{c.Succeeded, c.Failed, c.Inconclusive})
	assert.InDelta(t, 4.0/12, *c.SuccessRate, 1e-12)
	assert.Equal(t, 11, c.CodeJudged, "one submission was not graded")
	assert.Equal(t, 8, c.CodePassed)
	assert.InDelta(t, 8.0/11, *c.CodePassRate, 1e-12)
	assert.False(t, *c.PassAll)
	assert.Equal(t, Causes{
		SetupFailures: map[string]int{"no bwrap": 1, "unknown": 1},
		Cancelled:     map[string]int{"lost": 1},
		Excluded:      map[string]int{"isolation: isolation cause": 1, "grading: grading cause": 2},
		Executions:    map[string]int{"timeout: unknown": 1, "client_error: exit \uFFFD 3": 1},
	}, c.Causes)
}

func TestCountOfNothing(t *testing.T) {
	var notStarted, excluded arm
	notStarted.add(3, SetupFailure, "", "", "").add(2, Cancelled, "", "", "")
	excluded.add(2, Completed, "", ExcludedIsolation, Pass)
	for name, trials := range map[string][]*Trial{"none planned": nil, "none started": notStarted, "all excluded": excluded} {
		t.Run(name, func(t *testing.T) {
			c, err := Count(trials)
			require.NoError(t, err)
			assert.Equal(t, len(trials), c.Planned)
			assert.Zero(t, c.Eligible)
			b, err := json.Marshal(c)
			require.NoError(t, err)
			var fields map[string]any
			require.NoError(t, json.Unmarshal(b, &fields))
			for _, f := range []string{"success_rate", "success_rate_ci95", "code_pass_rate", "pass_all"} {
				v, ok := fields[f]
				assert.True(t, ok, "%s must be there", f)
				assert.Nil(t, v, "%s must be null, not a number", f)
			}
			mean := fields["cost"].(map[string]any)["eligible"].(map[string]any)["tokens"]
			assert.Equal(t, map[string]any{"mean": nil, "trials": 0.0, "ci95": nil}, mean)
		})
	}
}

func TestCountPassAll(t *testing.T) {
	var all, some arm
	all.add(3, Completed, Succeeded, "", Pass).add(1, Completed, "", ExcludedGrading, "").add(1, Cancelled, "", "", "")
	some.add(3, Completed, Succeeded, "", Pass).add(1, Completed, OutcomeInconclusive, "", Pass)
	c, err := Count(all)
	require.NoError(t, err)
	assert.True(t, *c.PassAll)
	assert.InDelta(t, 1, *c.SuccessRate, 0)
	c, err = Count(some)
	require.NoError(t, err)
	assert.False(t, *c.PassAll)
}

func TestCountRefuses(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*Trial)
		want   string
	}{
		"an unknown execution":           {func(t *Trial) { t.Execution = "exploded" }, `unknown execution "exploded"`},
		"no execution":                   {func(t *Trial) { t.Execution, t.State = "", Started }, `unknown execution "" (state "started")`},
		"no outcome":                     {func(t *Trial) { t.Outcome = "" }, `the outcome ""`},
		"an unknown outcome":             {func(t *Trial) { t.Outcome = "splendid" }, `the outcome "splendid"`},
		"an unknown exclusion":           {func(t *Trial) { t.Outcome, t.Excluded = "", &Exclusion{Kind: "weather"} }, `unknown exclusion "weather"`},
		"excluded and counted":           {func(t *Trial) { t.Excluded = &Exclusion{Kind: ExcludedGrading} }, `excluded and yet has the outcome "succeeded"`},
		"not started and counted":        {func(t *Trial) { t.Execution = SetupFailure }, "never started"},
		"not started and excluded":       {func(t *Trial) { t.Execution, t.Outcome, t.Excluded = Cancelled, "", &Exclusion{Kind: ExcludedGrading} }, "never started"},
		"a timeout that succeeded":       {func(t *Trial) { t.Execution = TimedOut }, "only a completed session"},
		"a client error that is unclear": {func(t *Trial) { t.Execution, t.Outcome = ClientError, OutcomeInconclusive }, "only a completed session"},
		"the same trial twice":           {func(t *Trial) { t.Trial = 1 }, "is there twice"},
		"another configuration":          {func(t *Trial) { t.Mode = "without-symposium" }, "not of the same configuration"},
		"another batch":                  {func(t *Trial) { t.BatchID = "c" }, "not of the same configuration and batch"},
	} {
		t.Run(name, func(t *testing.T) {
			var a arm
			a.add(2, Completed, Succeeded, "", Pass)
			row.change(a[1])
			c, err := Count(a)
			require.ErrorContains(t, err, row.want)
			assert.Equal(t, Counts{}, c, "no numbers beside an error")
		})
	}
	t.Run("no record", func(t *testing.T) {
		_, err := Count([]*Trial{nil})
		require.ErrorContains(t, err, "has no record")
	})
	t.Run("all problems at once", func(t *testing.T) {
		var a arm
		a.add(3, Completed, Succeeded, "", Pass)
		a[0].Execution, a[2].Outcome = "exploded", "splendid"
		_, err := Count(a)
		require.ErrorContains(t, err, "exploded")
		require.ErrorContains(t, err, "splendid")
	})
}

// Whatever Decide leaves of whatever a trial did can be counted, in exactly one place.
func TestDecidedTrialsCount(t *testing.T) {
	for _, execution := range testExecutions[:5] {
		for exclusion, ex := range testExclusions {
			if exclusion == "unknown kind" {
				continue
			}
			for codeName, code := range testCodes {
				for expName, exp := range testExpectations {
					tr := trialOf(symposiumArm, execution, ex, code, exp)
					tr.Decide()
					c, err := Count([]*Trial{tr})
					name := fmt.Sprintf("%s/%s/%s/%s", execution, exclusion, codeName, expName)
					require.NoError(t, err, name)
					places := c.SetupFailures + c.Cancelled + c.Excluded.Isolation + c.Excluded.Grading + c.Succeeded + c.Failed + c.Inconclusive
					assert.Equal(t, 1, places, name)
				}
			}
		}
	}
}

func TestCountLoadsAndOffers(t *testing.T) {
	var a arm
	a.add(5, Completed, Succeeded, "", Pass).add(1, Completed, "", ExcludedIsolation, Pass)
	for i, load := range []string{"loaded", "loaded", "attempted", "not_observed", "", "loaded"} {
		if load != "" {
			a[i].ObservedLoad = map[string]string{"store": load}
		}
	}
	a[0].ObservedLoad["other"] = "a word of a newer writer"
	a[0].Offered = []Offer{{Skill: "store", Via: "listing"}, {Skill: "store", Via: "hook"}}
	a[1].Offered = []Offer{{Skill: "store", Via: "listing"}}
	a[5].Offered = []Offer{{Skill: "store", Via: "listing"}}
	c, err := Count(a)
	require.NoError(t, err)
	assert.Equal(t, map[string]LoadCounts{
		"store": {Loaded: 2, Attempted: 1, NotObserved: 1, Unknown: 1}, // the excluded trial's load does not count
		"other": {Unknown: 5},
	}, c.ObservedLoad)
	assert.Equal(t, map[string]int{"store": 2}, c.Offered)
}

func TestCountCosts(t *testing.T) {
	var a arm
	a.add(2, Completed, Succeeded, "", Pass).add(2, Completed, Failed, "", Fail).add(1, Completed, "", ExcludedIsolation, Pass)
	a[0].Usage = Usage{InputTokens: ptr(int64(100)), OutputTokens: ptr(int64(10)), CacheReadTokens: ptr(int64(5)), CacheWriteTokens: ptr(int64(1))}
	a[1].Usage = Usage{InputTokens: ptr(int64(200)), OutputTokens: ptr(int64(20))} // a client without a cache
	a[2].Usage = Usage{InputTokens: ptr(int64(900))}                               // a part is not a total
	a[3].Usage = Usage{}                                                           // says nothing
	a[3].Usage.CacheReadTokens = ptr(int64(-1))                                    // is no count
	a[4].Usage = Usage{InputTokens: ptr(int64(1e9)), OutputTokens: ptr(int64(1e9))}
	a[0].Timings.Agent, a[2].Timings.Agent, a[3].Timings.Agent = ptr(4.0), ptr(8.0), ptr(0.0)
	a[0].Timings.Setup, a[0].Timings.Grading = ptr(1000.0), ptr(1000.0)
	c, err := Count(a)
	require.NoError(t, err)
	mean := func(want float64, trials int, m Mean) {
		t.Helper()
		require.NotNil(t, m.Mean)
		assert.InDelta(t, want, *m.Mean, 1e-9)
		assert.Equal(t, trials, m.Trials)
		if trials < 2 {
			assert.Nil(t, m.CI95, "one trial shows no spread")
			return
		}
		require.NotNil(t, m.CI95)
		assert.True(t, 0 <= m.CI95[0] && m.CI95[0] <= want && want <= m.CI95[1], "%v in %v", want, *m.CI95)
	}
	e, s := c.Cost.Eligible, c.Cost.Succeeded
	mean(168, 2, e.Tokens)
	mean(400, 3, e.Input)
	mean(15, 2, e.Output)
	mean(5, 1, e.CacheRead)
	mean(1, 1, e.CacheWrite)
	mean(4, 3, e.AgentSecs)
	mean(168, 2, s.Tokens)
	mean(150, 2, s.Input)
	mean(15, 2, s.Output)
	mean(5, 1, s.CacheRead)
	mean(1, 1, s.CacheWrite)
	mean(4, 1, s.AgentSecs)
	// Student's t with two degrees of freedom: 4 +- 4.3027 * 4 / sqrt(3), and no time is below 0.
	assert.InDelta(t, 0, e.AgentSecs.CI95[0], 0)
	assert.InDelta(t, 13.936551, e.AgentSecs.CI95[1], 1e-5)
}

func TestNoCostIsNull(t *testing.T) {
	var a arm
	a.add(2, Completed, Failed, "", Fail)
	c, err := Count(a)
	require.NoError(t, err)
	b, err := json.Marshal(c.Cost.Eligible.Tokens)
	require.NoError(t, err)
	assert.JSONEq(t, `{"mean": null, "trials": 0, "ci95": null}`, string(b))
}

func TestCountPassChances(t *testing.T) {
	for _, tc := range []struct{ eligible, succeeded int }{{0, 0}, {1, 1}, {2, 0}, {4, 4}, {5, 2}, {10, 9}, {12, 6}} {
		var a arm
		a.add(tc.succeeded, Completed, Succeeded, "", Pass).add(tc.eligible-tc.succeeded, Completed, Failed, "", Fail).add(3, Cancelled, "", "", "")
		c, err := Count(a)
		require.NoError(t, err)
		require.Len(t, c.PassAt, len(PassKs))
		require.Len(t, c.PassHat, len(PassKs))
		for _, k := range PassKs {
			at, hat := c.PassAt[fmt.Sprint(k)], c.PassHat[fmt.Sprint(k)]
			require.Equal(t, k > tc.eligible, at == nil, "pass@%d of %+v: null with fewer trials, and only then", k, tc)
			require.Equal(t, k > tc.eligible, hat == nil, "pass^%d of %+v", k, tc)
			if at == nil {
				continue
			}
			require.Equal(t, tc.succeeded == 0, *at == 0)
			require.Equal(t, tc.succeeded == tc.eligible, *hat == 1)
			if k == 1 {
				require.Equal(t, *c.SuccessRate, *at)
				require.Equal(t, *c.SuccessRate, *hat)
			}
		}
	}
}

func TestUsageTotal(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	for name, row := range map[string]struct {
		u    Usage
		want *int64
	}{
		"nothing":         {Usage{}, nil},
		"all":             {Usage{n(1), n(2), n(3), n(4), n(99)}, n(10)},
		"zeros are known": {Usage{InputTokens: n(0), OutputTokens: n(0)}, n(0)},
		"no output":       {Usage{InputTokens: n(5)}, nil},
		"no input":        {Usage{OutputTokens: n(5), CacheReadTokens: n(7)}, nil},
		"cache alone":     {Usage{CacheReadTokens: n(7), CacheWriteTokens: n(7)}, nil},
		"negative":        {Usage{InputTokens: n(-5), OutputTokens: n(7)}, nil},
		"too large":       {Usage{InputTokens: n(math.MaxInt64), OutputTokens: n(1)}, nil},
		"largest":         {Usage{InputTokens: n(math.MaxInt64 - 1), OutputTokens: n(1)}, n(math.MaxInt64)},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, row.want, row.u.Total()) })
	}
}
