package result

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// graded gives an arm a mode and one grading each with the given checks.
func graded(a arm, mode, hash string) arm {
	for _, t := range a {
		t.Mode = mode
		if t.Code != nil {
			t.Gradings = []Grading{{Folder: "grading", ChecksHash: hash, Counts: true, Code: t.Code}}
		}
	}
	return a
}

func twoArms(baseHash, withHash string) Arms {
	var base, with arm
	base.add(5, Completed, Failed, "", Fail)
	with.add(5, Completed, Succeeded, "", Pass)
	return Arms{
		Order: []string{"without-symposium", "with-symposium"}, Baseline: "without-symposium", Compared: true,
		Planned: map[string]int{"without-symposium": 5, "with-symposium": 5},
		Trials: map[string][]*Trial{
			"without-symposium": graded(base, "without-symposium", baseHash), "with-symposium": graded(with, "with-symposium", withHash)},
	}
}

func TestTally(t *testing.T) {
	b := &Benchmark{Task: "t"}
	require.NoError(t, b.Tally(twoArms("h", "h"), "with-symposium"))
	require.NoError(t, b.Check())
	require.Len(t, b.Comparisons, 1)
	assert.Equal(t, Helps, b.Comparisons[0].Verdict)
	assert.InDelta(t, 1, *b.Delta.SuccessRate, 0)
	assert.Equal(t, "h", *b.ChecksHash)
	assert.Empty(t, b.NotCompared)
}

// Who grades again until the answer suits gets no verdict, in whichever arm and however it ended last.
func TestTallyOfUnreliableChecksTellsNothing(t *testing.T) {
	for name, row := range map[string]struct {
		arm  string
		more Grading
		want Judgement
	}{
		"an equal grading":        {"with-symposium", Grading{ChecksHash: "h", Code: &Code{Overall: Pass}}, Helps},
		"one without a verdict":   {"with-symposium", Grading{ChecksHash: "h", Code: &Code{Overall: Inconclusive, InfrastructureError: "no disk"}}, Helps},
		"one with older checks":   {"with-symposium", Grading{ChecksHash: "older", Code: &Code{Overall: Fail}}, Helps},
		"another, of a treatment": {"with-symposium", Grading{ChecksHash: "h", Code: &Code{Overall: Fail}}, CannotTell},
		"another, of a baseline":  {"without-symposium", Grading{ChecksHash: "h", Code: &Code{Overall: Pass}}, CannotTell},
	} {
		t.Run(name, func(t *testing.T) {
			arms := twoArms("h", "h")
			trial := arms.Trials[row.arm][0]
			trial.Gradings = append(trial.Gradings, row.more)
			b := &Benchmark{}
			require.NoError(t, b.Tally(arms, "with-symposium"))
			assert.Equal(t, row.want, b.Comparisons[0].Verdict, b.Comparisons[0].Reason)
			if row.want == CannotTell {
				assert.Contains(t, b.Comparisons[0].Reason, "in 1 of these trials the same checks passed the submission once and failed it once")
			}
		})
	}
}

func TestTallyOfOneConfigurationHasNoDelta(t *testing.T) {
	for _, only := range []string{"without-symposium", "with-symposium"} {
		arms := twoArms("h", "h")
		arms.Order = []string{only}
		arms.Trials = map[string][]*Trial{only: arms.Trials[only]}
		b := &Benchmark{}
		require.NoError(t, b.Tally(arms, "with-symposium"))
		assert.Empty(t, b.Comparisons)
		assert.Equal(t, Delta{}, b.Delta, "null, not the rate itself")
		assert.NotNil(t, b.Configurations[only].SuccessRate)
	}
}

func TestTallyNeverMixesChecks(t *testing.T) {
	b := &Benchmark{}
	require.NoError(t, b.Tally(twoArms(strings.Repeat("a", 64), ""), "with-symposium"))
	assert.Empty(t, b.Comparisons)
	assert.Equal(t, Delta{}, b.Delta)
	assert.Nil(t, b.ChecksHash)
	assert.Equal(t, "the submissions were graded with 2 different sets of checks (none, aaaaaaaaaaaa), so nothing is compared; `proctor grade` on the whole batch grades all with the present ones", b.NotCompared)
	assert.Equal(t, 5, b.Configurations["with-symposium"].Succeeded, "counted all the same")

	// One that is excluded or came to no verdict is in no comparison, so its checks do not matter.
	arms := twoArms("h", "h")
	odd := arms.Trials["with-symposium"][0]
	odd.Outcome, odd.Success, odd.Excluded, odd.Gradings[0].ChecksHash = "", "", &Exclusion{Kind: ExcludedIsolation}, "other"
	odd = arms.Trials["without-symposium"][0]
	odd.Execution, odd.Code, odd.Gradings[0].ChecksHash = TimedOut, &Code{InfrastructureError: "no disk"}, "third"
	odd.Gradings[0].Code = odd.Code
	require.NoError(t, b.Tally(arms, "with-symposium"))
	assert.Empty(t, b.NotCompared)
	assert.Len(t, b.Comparisons, 1)
	assert.Equal(t, "h", *b.ChecksHash)
}

// Whoever grades with other checks until a verdict comes looks again each time, and the numbers say so.
func TestTallyCountsChangedChecksAsLooks(t *testing.T) {
	arms := twoArms("a", "a")
	b := &Benchmark{Look: 2}
	require.NoError(t, b.Tally(arms, "with-symposium"))
	assert.Equal(t, []int{2, 0}, []int{b.Look, b.ChecksChanged})
	for want, hash := range []string{"a", "b", "c"} {
		for _, trials := range arms.Trials {
			for _, tr := range trials {
				tr.Gradings = append(tr.Gradings, Grading{Folder: hash, ChecksHash: hash, Code: tr.Code},
					Grading{Folder: "broken", ChecksHash: "z", Code: &Code{InfrastructureError: "no disk", Overall: Inconclusive}})
				require.True(t, tr.CountLatest(hash))
			}
		}
		for range 2 { // counting again is no look
			require.NoError(t, b.Tally(arms, "with-symposium"))
			assert.Equal(t, []int{2 + want, want}, []int{b.Look, b.ChecksChanged}, hash)
		}
	}
}

func TestTallyRefuses(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*Arms)
		want   string
	}{
		"a trial is not there":  {func(a *Arms) { a.Planned["with-symposium"] = 6 }, "with-symposium: counting: 6 trials were planned and 5 are there"},
		"an arm is not there":   {func(a *Arms) { delete(a.Trials, "with-symposium") }, "5 trials were planned and 0 are there"},
		"an arm nobody planned": {func(a *Arms) { a.Order = a.Order[:1] }, "5 trials of a configuration that was not planned"},
		"a trial in no place":   {func(a *Arms) { a.Trials["with-symposium"][0].Outcome = "" }, "is eligible and has the outcome"},
		"the same trial twice":  {func(a *Arms) { a.Trials["with-symposium"][1] = a.Trials["with-symposium"][0] }, "is there twice"},
		"another batch's trial": {func(a *Arms) { a.Trials["with-symposium"][1].BatchID = "other" }, "is not of the same configuration and batch"},
	} {
		t.Run(name, func(t *testing.T) {
			arms := twoArms("h", "h")
			row.change(&arms)
			b := &Benchmark{Task: "before"}
			require.ErrorContains(t, b.Tally(arms, "with-symposium"), row.want)
			assert.Equal(t, &Benchmark{Task: "before"}, b, "nothing is half counted")
		})
	}
}

func TestCountLatest(t *testing.T) {
	broken, pass, fail := &Code{InfrastructureError: "no disk", Overall: Inconclusive}, &Code{Overall: Pass}, &Code{Overall: Fail}
	excluded := &Exclusion{Kind: ExcludedGrading, Cause: "no disk"}
	isolation := &Exclusion{Kind: ExcludedIsolation, Cause: "reached"}
	type grading struct {
		hash string
		code *Code
	}
	for name, row := range map[string]struct {
		execution Execution
		excluded  *Exclusion
		gradings  []grading
		hash      string
		counts    int // index, or -1: none has these checks
		outcome   Outcome
		want      *Exclusion
		disagree  bool
	}{
		"an infrastructure error is made good": {Completed, excluded, []grading{{"a", broken}, {"a", pass}}, "a", 1, Succeeded, nil, false},
		"it happens again":                     {Completed, excluded, []grading{{"a", broken}, {"a", broken}}, "a", 1, "", excluded, false},
		"a broken regrade loses no verdict":    {Completed, nil, []grading{{"a", pass}, {"a", broken}}, "a", 0, Succeeded, nil, false},
		"changed checks":                       {Completed, nil, []grading{{"a", pass}, {"b", fail}}, "b", 1, Failed, nil, false},
		"changed checks, broken":               {Completed, nil, []grading{{"a", pass}, {"b", broken}}, "b", 1, "", excluded, false},
		"changed back":                         {Completed, nil, []grading{{"a", pass}, {"b", fail}, {"a", pass}}, "a", 2, Succeeded, nil, false},
		"the same checks disagree":             {Completed, nil, []grading{{"a", pass}, {"a", fail}}, "a", 1, Failed, nil, true},
		"a timeout stays a failure":            {TimedOut, nil, []grading{{"a", broken}, {"a", pass}}, "a", 1, Failed, nil, false},
		"a client error stays a failure":       {ClientError, nil, []grading{{"a", fail}, {"a", pass}}, "a", 1, Failed, nil, true},
		"what reached out stays out":           {Completed, isolation, []grading{{"a", fail}, {"b", pass}}, "b", 1, "", isolation, false},
		"none with these checks":               {Completed, nil, []grading{{"a", pass}}, "b", -1, Succeeded, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			tr := &Trial{Execution: row.execution, Excluded: row.excluded}
			for i, g := range row.gradings {
				tr.Gradings = append(tr.Gradings, Grading{Folder: string(rune('1' + i)), ChecksHash: g.hash, Code: g.code})
			}
			tr.Gradings[0].Counts, tr.Code = true, tr.Gradings[0].Code
			tr.Decide()
			require.Equal(t, row.counts >= 0, tr.CountLatest(row.hash))
			require.Equal(t, row.counts >= 0, tr.CountLatest(row.hash), "again, with the same end")
			counting := max(0, row.counts)
			for i, g := range tr.Gradings {
				assert.Equal(t, i == counting, g.Counts, "grading %d", i+1)
			}
			assert.Same(t, tr.Gradings[counting].Code, tr.Code, "the top-level code mirrors the one that counts")
			assert.Same(t, &tr.Gradings[counting], tr.Counting())
			assert.Equal(t, row.outcome, tr.Outcome)
			assert.Equal(t, row.want, tr.Excluded)
			if row.disagree {
				require.Len(t, tr.Findings, 1)
				assert.Equal(t, GradingDisagrees, tr.Findings[0].Kind)
			} else {
				assert.Empty(t, tr.Findings)
			}
		})
	}
	assert.Nil(t, (&Trial{}).Counting())
	old := &Trial{Gradings: []Grading{{Folder: "grading"}}}
	assert.Equal(t, "grading", old.Counting().Folder, "records of versions without the mark")
}
