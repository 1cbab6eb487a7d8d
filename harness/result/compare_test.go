package result

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/internal/stats"
)

// counts are succeeded, failed, inconclusive and excluded trials of an arm.
func counts(succeeded, failed, inconclusive, excluded int) Counts {
	c := Counts{
		Succeeded: succeeded, Failed: failed, Inconclusive: inconclusive, Eligible: succeeded + failed + inconclusive,
		Excluded: ExcludedCounts{Isolation: excluded / 2, Grading: excluded - excluded/2},
	}
	c.SuccessRate = rate(c.Succeeded, c.Eligible)
	return c
}

func TestCompare(t *testing.T) {
	for name, row := range map[string]struct {
		t, b   Counts
		want   Judgement
		reason string // whole, but for "…" at its end
	}{
		"helps": {counts(5, 0, 0, 0), counts(0, 5, 0, 0), Helps,
			"if there were no real difference, a gap this large would come up by chance in 0.2 % of such exams (p = 0.00195)"},
		"hurts": {counts(0, 5, 0, 0), counts(5, 0, 0, 0), Hurts,
			"if there were no real difference, a gap this large would come up by chance in 0.2 % of such exams (p = 0.00195)"},
		"helps, whatever the uncounted say": {counts(20, 0, 1, 1), counts(0, 20, 1, 1), Helps,
			"if there were no real difference, a gap this large would come up by chance in less than 0.01 % of such exams (p = 1.96e-11); the verdict is the same however the inconclusive and excluded trials are counted"},
		"p above the level": {counts(4, 1, 0, 0), counts(2, 3, 0, 0), CannotTell,
			"even if there were no real difference, a gap this large would come up by chance in 34 % of such exams; a verdict needs 5 % or less"},
		"p a hair above the level": {counts(7, 0, 0, 0), counts(38, 24, 0, 0), CannotTell,
			"even if there were no real difference, a gap this large would come up by chance in a little over 5 % of such exams; a verdict needs 5 % or less"},
		"equal":             {counts(5, 5, 0, 0), counts(5, 5, 0, 0), CannotTell, "both succeeded at the same rate"},
		"one trial each":    {counts(1, 0, 0, 0), counts(0, 1, 0, 0), CannotTell, "there are too few trials, 1 against 1, for any result to settle it; run more rounds"},
		"two each":          {counts(2, 0, 0, 0), counts(0, 2, 0, 0), CannotTell, "there are too few trials, 2 against 2, for any result to settle it; run more rounds"},
		"three each, clear": {counts(3, 0, 0, 0), counts(0, 3, 0, 0), Helps, "if there were no real difference, …"},
		"nothing eligible": {counts(0, 0, 0, 4), counts(0, 0, 0, 0), CannotTell,
			"there is no trial to count, neither of with-symposium nor of without-symposium"},
		"no treatment": {counts(0, 0, 0, 0), counts(5, 0, 0, 0), CannotTell, "there is no with-symposium trial to count"},
		"no baseline":  {counts(5, 0, 0, 0), counts(0, 0, 0, 0), CannotTell, "there is no without-symposium trial to count"},
		"the treatment's inconclusive trials decide": {counts(0, 4, 4, 0), counts(7, 1, 0, 0), CannotTell,
			"the difference depends on trials that could not be counted: it could be chance (p = 0.136, above 0.05) if the 4 inconclusive with-symposium trials count as successes"},
		"the baseline's inconclusive trials decide": {counts(6, 0, 0, 0), counts(0, 3, 3, 0), CannotTell,
			"the difference depends on trials that could not be counted: it could be chance (p = 0.0676, above 0.05) if the 3 inconclusive without-symposium trials count as successes"},
		"the exclusions decide": {counts(4, 0, 0, 2), counts(0, 4, 0, 0), CannotTell,
			"the difference depends on trials that could not be counted: it could be chance (p = 0.0508, above 0.05) if excluded trials count as failures"},
		"the sign turns": {counts(0, 5, 15, 0), counts(8, 12, 0, 0), CannotTell,
			"the difference depends on trials that could not be counted: it vanishes or turns round if the 15 inconclusive with-symposium trials count as successes"},
		"the sign is lost": {counts(0, 12, 8, 0), counts(8, 12, 0, 0), CannotTell,
			"the difference depends on trials that could not be counted: it vanishes or turns round if the 8 inconclusive with-symposium trials count as successes"},
		// All ends are below the level; 38 of 62, between them, is above it.
		"a share between the ends decides": {counts(7, 0, 0, 0), counts(36, 23, 3, 0), CannotTell,
			"the difference depends on trials that could not be counted: it could be chance (p = 0.05003, above 0.05) if 2 of the 3 inconclusive without-symposium trials count as successes"},
		"and as the treatment": {counts(36, 23, 3, 0), counts(7, 0, 0, 0), CannotTell,
			"the difference depends on trials that could not be counted: it could be chance (p = 0.05003, above 0.05) if 2 of the 3 inconclusive with-symposium trials count as successes"},
		"beyond all numbers": {counts(1000, 0, 0, 0), counts(0, 1000, 0, 0), Helps,
			"if there were no real difference, a gap this large would come up by chance in less than 0.01 % of such exams (p below 1e-300)"},
		"too many to try": {counts(0, 9_000, 400, 0), counts(9_000, 0, 400, 0), CannotTell, "400 and 400 inconclusive trials are too many to check every way of counting them"},
		"impossible":      {Counts{Eligible: 3, Succeeded: 3, Inconclusive: 1}, counts(0, 3, 0, 0), CannotTell, "the counts contradict themselves, so nothing can be said"},
		"negative":        {Counts{Eligible: 3, Succeeded: -3}, counts(0, 3, 0, 0), CannotTell, "the counts contradict themselves, so nothing can be said"},
	} {
		t.Run(name, func(t *testing.T) {
			c := Compare("with-symposium", row.t, "without-symposium", row.b)
			assert.Equal(t, row.want, c.Verdict)
			if start, cut := strings.CutSuffix(row.reason, "…"); cut {
				assert.True(t, strings.HasPrefix(c.Reason, start), c.Reason)
			} else {
				assert.Equal(t, row.reason, c.Reason)
			}
			_, err := json.Marshal(c)
			require.NoError(t, err, "every comparison has a JSON form")
			assert.NotNil(t, c.Bounds)
			if row.t.Eligible == 0 || row.b.Eligible == 0 {
				assert.Nil(t, c.Diff)
				assert.Nil(t, c.CI95)
				assert.Nil(t, c.P)
				assert.Nil(t, c.FisherP)
			}
		})
	}
}

func TestCompareNumbers(t *testing.T) {
	treat, base := counts(4, 1, 0, 0), counts(2, 3, 0, 0)
	treat.CodePassRate, base.CodePassRate = ptr(1.0), ptr(0.25)
	treat.CodePassed, treat.CodeJudged, base.CodePassed, base.CodeJudged = 4, 4, 1, 4
	treat.Cost.Eligible.Tokens, base.Cost.Eligible.Tokens = Mean{Mean: ptr(35100.0), Trials: 5}, Mean{Mean: ptr(38900.0), Trials: 5}
	treat.Cost.Succeeded.AgentSecs = Mean{Mean: ptr(72.0), Trials: 4}
	c := Compare("a", treat, "b", base)
	assert.Equal(t, []string{"a", "b"}, []string{c.Treatment, c.Baseline})
	assert.InDelta(t, 0.4, *c.Diff, 1e-12)
	assert.InDelta(t, stats.Boschloo(4, 5, 2, 5), *c.P, 0)
	assert.InDelta(t, stats.Fisher(4, 5, 2, 5), *c.FisherP, 0)
	assert.Less(t, c.CI95[0], *c.Diff)
	assert.Greater(t, c.CI95[1], *c.Diff)
	assert.InDelta(t, 0.75, *c.CodePassDiff, 1e-12)
	assert.Equal(t, [2][2]int{{4, 4}, {1, 4}}, [2][2]int{c.Code.Treatment, c.Code.Baseline})
	assert.InDelta(t, 0.75, *c.Code.Diff, 1e-12)
	assert.InDelta(t, stats.Boschloo(4, 4, 1, 4), *c.Code.P, 0)
	assert.Less(t, c.Code.CI95[0], 0.75)
	nothing := Compare("a", counts(3, 0, 0, 0), "b", counts(1, 2, 0, 0)).Code
	assert.True(t, nothing.Diff == nil && nothing.CI95 == nil && nothing.P == nil, "no code was judged: null, not 0")
	assert.InDelta(t, -3800, *c.Means.Eligible.Tokens, 1e-9)
	assert.Nil(t, c.Means.Succeeded.AgentSecs, "one side is unknown")
	assert.Equal(t, MethodBoschloo, c.Method)
}

func TestCompareNamesFisherForLargeArms(t *testing.T) {
	half := stats.BoschlooLimit / 2
	c := Compare("a", counts(half, 0, 0, 0), "b", counts(half-9, 9, 0, 0))
	assert.Equal(t, MethodBoschloo, c.Method)
	c = Compare("a", counts(half+1, 0, 0, 0), "b", counts(half-9, 9, 0, 0))
	assert.Equal(t, MethodFisher, c.Method)
	assert.True(t, strings.HasPrefix(c.Method, "Fisher"))
	assert.Equal(t, *c.FisherP, *c.P)
}

func TestBoundsAreListedOnce(t *testing.T) {
	c := Compare("skills", counts(9, 0, 2, 3), "none", counts(0, 9, 1, 0))
	var got []string
	for _, b := range c.Bounds {
		got = append(got, fmt.Sprintf("%d/%d %d/%d %s", b.Treatment[0], b.Treatment[1], b.Baseline[0], b.Baseline[1], b.Counting))
		assert.InDelta(t, float64(b.Treatment[0])/float64(b.Treatment[1])-float64(b.Baseline[0])/float64(b.Baseline[1]), b.Diff, 1e-12)
		assert.InDelta(t, stats.Boschloo(b.Treatment[0], b.Treatment[1], b.Baseline[0], b.Baseline[1]), b.P, 0)
	}
	assert.Equal(t, []string{
		"9/11 0/10 the 2 inconclusive skills trials count as failures and the inconclusive none trial counts as a failure",
		"11/11 0/10 the 2 inconclusive skills trials count as successes and the inconclusive none trial counts as a failure",
		"9/11 1/10 the 2 inconclusive skills trials count as failures and the inconclusive none trial counts as a success",
		"11/11 1/10 the 2 inconclusive skills trials count as successes and the inconclusive none trial counts as a success",
		"9/14 0/10 the 2 inconclusive skills trials count as failures and the inconclusive none trial counts as a failure and excluded trials count as failures",
		"11/14 0/10 the 2 inconclusive skills trials count as successes and the inconclusive none trial counts as a failure and excluded trials count as failures",
		"9/14 1/10 the 2 inconclusive skills trials count as failures and the inconclusive none trial counts as a success and excluded trials count as failures",
		"11/14 1/10 the 2 inconclusive skills trials count as successes and the inconclusive none trial counts as a success and excluded trials count as failures",
	}, got)
	plain := Compare("skills", counts(9, 1, 0, 0), "none", counts(0, 9, 0, 0))
	require.Len(t, plain.Bounds, 1)
	assert.Equal(t, "every eligible trial counts as it ended", plain.Bounds[0].Counting)
}

// The verdict rule, written down again as its definition: every share, with and without exclusions,
// each with its own Boschloo.
func TestCompareIsTheRuleItself(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	seen := map[Judgement]int{}
	for range 400 {
		treat := counts(rng.IntN(12), rng.IntN(12), rng.IntN(4), rng.IntN(3))
		base := counts(rng.IntN(5), rng.IntN(12), rng.IntN(4), rng.IntN(3))
		if rng.IntN(2) == 0 {
			treat, base = base, treat
		}
		if treat.Eligible == 0 || base.Eligible == 0 {
			continue
		}
		c := Compare("t", treat, "b", base)
		largest, helps, hurts := 0.0, true, true
		for _, excl := range []int{0, 1} {
			tn, bn := treat.Eligible, base.Eligible
			if excl == 1 {
				tn += treat.Excluded.Isolation + treat.Excluded.Grading
				bn += base.Excluded.Isolation + base.Excluded.Grading
			}
			for i := range treat.Inconclusive + 1 {
				for j := range base.Inconclusive + 1 {
					ts, bs := treat.Succeeded+i, base.Succeeded+j
					p := stats.Boschloo(ts, tn, bs, bn)
					largest = max(largest, p)
					helps = helps && p <= 0.05 && ts*bn > bs*tn
					hurts = hurts && p <= 0.05 && ts*bn < bs*tn
				}
			}
		}
		want := CannotTell
		if helps {
			want = Helps
		} else if hurts {
			want = Hurts
		}
		seen[want]++
		require.Equal(t, want, c.Verdict, "%+v against %+v", treat, base)
		if *c.P <= Alpha {
			listed := 0.0
			for _, b := range c.Bounds {
				listed = max(listed, b.P)
			}
			require.InDelta(t, largest, listed, 1e-12, "the worst way of counting must be listed: %+v against %+v", treat, base)
		}
	}
	for _, v := range []Judgement{Helps, Hurts, CannotTell} {
		assert.Greater(t, seen[v], 10, "the random arms hardly meet %s", v)
	}
}

func TestDeltaWithOneArm(t *testing.T) {
	b, err := json.Marshal(Benchmark{Configurations: map[string]Counts{"with-symposium": counts(1, 0, 0, 0)}})
	require.NoError(t, err)
	var got struct {
		Delta map[string]any `json:"delta"`
	}
	require.NoError(t, json.Unmarshal(b, &got))
	v, ok := got.Delta["success_rate"]
	assert.True(t, ok)
	assert.Nil(t, v)

	d := DeltaOf(counts(1, 1, 0, 0), Counts{})
	assert.Equal(t, Delta{}, d, "nothing is known of the other arm")
	d = DeltaOf(counts(4, 1, 0, 0), counts(2, 3, 0, 0))
	assert.InDelta(t, 0.4, *d.SuccessRate, 1e-12)
	assert.Nil(t, d.CodePassRate)
}

// TestVerdictIsMonotone: a success more for the treatment never makes its verdict worse, and one more for
// the baseline never makes it better. Both for equal arms and others.
func TestVerdictIsMonotone(t *testing.T) {
	rank := map[Judgement]int{Hurts: 0, CannotTell: 1, Helps: 2}
	for _, arm := range [][2]int{{1, 1}, {3, 3}, {5, 5}, {5, 4}, {10, 10}, {12, 7}, {20, 20}} {
		judged := verdicts(arm[0], arm[1])
		for s1 := range judged {
			for s2, v := range judged[s1] {
				if s1 > 0 {
					require.GreaterOrEqual(t, rank[v], rank[judged[s1-1][s2]], "arms %v, %d against %d", arm, s1, s2)
				}
				if s2 > 0 {
					require.LessOrEqual(t, rank[v], rank[judged[s1][s2-1]], "arms %v, %d against %d", arm, s1, s2)
				}
			}
		}
	}
}

// TestSmallExams pins what few trials can say: one trial settles nothing, a clean sweep of three does,
// and a trial that went the other way does not forbid a verdict.
func TestSmallExams(t *testing.T) {
	for _, row := range []struct {
		t, b Counts
		want Judgement
	}{
		{counts(1, 0, 0, 0), counts(0, 1, 0, 0), CannotTell},
		{counts(2, 0, 0, 0), counts(0, 2, 0, 0), CannotTell},
		{counts(3, 0, 0, 0), counts(0, 3, 0, 0), Helps},
		{counts(0, 3, 0, 0), counts(3, 0, 0, 0), Hurts},
		{counts(5, 0, 0, 0), counts(0, 5, 0, 0), Helps},
		{counts(5, 0, 0, 0), counts(1, 4, 0, 0), Helps},
		{counts(4, 1, 0, 0), counts(0, 5, 0, 0), Helps},
		{counts(4, 1, 0, 0), counts(1, 4, 0, 0), CannotTell},
		{counts(5, 0, 0, 0), counts(5, 0, 0, 0), CannotTell},
		{counts(0, 5, 0, 0), counts(0, 5, 0, 0), CannotTell},
	} {
		require.Equal(t, row.want, Compare("a", row.t, "b", row.b).Verdict, "%d of %d against %d of %d", row.t.Succeeded, row.t.Eligible, row.b.Succeeded, row.b.Eligible)
	}
}
