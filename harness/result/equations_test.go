package result

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCheck breaks a sound count in every way an equation can be broken; each must be named.
func TestCheck(t *testing.T) {
	sound := func() Counts {
		var a arm
		a.add(1, SetupFailure, "", "", "").add(2, Cancelled, "", "", "").add(1, Completed, "", ExcludedIsolation, Pass).
			add(1, Completed, "", ExcludedGrading, "").add(3, Completed, Succeeded, "", Pass).add(2, Completed, Failed, "", Fail).
			add(1, Completed, OutcomeInconclusive, "", Pass)
		for _, tr := range a {
			tr.ObservedLoad = map[string]string{"s": "loaded"}
		}
		c, err := Count(a)
		require.NoError(t, err)
		return c
	}
	require.NoError(t, sound().Check())
	require.NoError(t, (&Benchmark{Configurations: map[string]Counts{"a": sound()}}).Check())
	for name, row := range map[string]struct {
		breakIt func(*Counts)
		want    string
	}{
		"a planned trial is nowhere":      {func(c *Counts) { c.Planned++ }, "planned = 12, but setup_failures + cancelled + started = 11"},
		"a trial is in two places":        {func(c *Counts) { c.Cancelled++ }, "planned = 11, but setup_failures + cancelled + started = 12"},
		"an exclusion is lost":            {func(c *Counts) { c.Excluded.Grading = 0 }, "started - excluded.isolation - excluded.grading = 7"},
		"a failure is dropped":            {func(c *Counts) { c.Failed-- }, "succeeded + failed + inconclusive = 5"},
		"a success too many":              {func(c *Counts) { c.Succeeded++ }, "succeeded + failed + inconclusive = 7"},
		"loads":                           {func(c *Counts) { c.ObservedLoad["s"] = LoadCounts{Loaded: 5} }, `the observed loads of "s" = 5`},
		"causes of set-up failures":       {func(c *Counts) { c.Causes.SetupFailures["x"] = 3 }, "setup_failures = 1, but its causes = 4"},
		"causes of cancellations":         {func(c *Counts) { c.Causes.Cancelled = nil }, "cancelled = 2, but its causes = 0"},
		"causes of exclusions":            {func(c *Counts) { c.Causes.Excluded["x"] = 1 }, "excluded = 2, but its causes = 3"},
		"a negative count":                {func(c *Counts) { c.Failed, c.Succeeded = -1, 6 }, "failed = -1, which is no count"},
		"more code than trials":           {func(c *Counts) { c.CodeJudged = 9 }, "which must rise"},
		"a rate of nothing":               {func(c *Counts) { *c = Counts{SuccessRate: ptr(0.0)} }, "null with no eligible trial"},
		"no rate though there are":        {func(c *Counts) { c.SuccessRate = nil }, "null with no eligible trial"},
		"all of none passed":              {func(c *Counts) { *c = Counts{PassAll: ptr(true)} }, "null with no eligible trial"},
		"whether all passed is not there": {func(c *Counts) { c.PassAll = nil }, "null with no eligible trial"},
	} {
		t.Run(name, func(t *testing.T) {
			c := sound()
			row.breakIt(&c)
			require.ErrorContains(t, c.Check(), row.want)
			err := (&Benchmark{Configurations: map[string]Counts{"arm": c}}).Check()
			assert.ErrorContains(t, err, "arm: the counts do not add up")
		})
	}
}
