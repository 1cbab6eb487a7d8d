package plan_test

import (
	"testing"

	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExpandAlternates(t *testing.T) {
	two, err := plan.Lookup(plan.WithoutSymposium, plan.WithSymposium)
	require.NoError(t, err)
	var names []string
	for _, tr := range plan.Expand(two, 3) {
		names = append(names, tr.Name())
	}
	assert.Equal(t, []string{
		"trial-1-without-symposium", "trial-1-with-symposium",
		"trial-2-with-symposium", "trial-2-without-symposium",
		"trial-3-without-symposium", "trial-3-with-symposium",
	}, names)
}

// TestExpandBalances checks, for two and three configurations over a full cycle, that each is
// before each other equally often and in each place equally often.
func TestExpandBalances(t *testing.T) {
	for _, names := range [][]string{
		{plan.WithoutSymposium, plan.StagedSkills},
		{plan.WithoutSymposium, plan.WithSymposium, plan.StagedSkills},
	} {
		confs, err := plan.Lookup(names...)
		require.NoError(t, err)
		rounds := 2 * len(names)
		trials := plan.Expand(confs, rounds)
		require.Len(t, trials, rounds*len(names))
		before := map[[2]string]int{}
		place := map[string]map[int]int{}
		for i, a := range trials {
			assert.Equal(t, i+1, a.Sequence)
			if place[a.Configuration.Name] == nil {
				place[a.Configuration.Name] = map[int]int{}
			}
			place[a.Configuration.Name][a.Order]++
			for _, b := range trials {
				if a.Round == b.Round && a.Order < b.Order {
					before[[2]string{a.Configuration.Name, b.Configuration.Name}]++
				}
			}
		}
		for _, a := range names {
			for _, b := range names {
				assert.Equal(t, before[[2]string{a, b}], before[[2]string{b, a}], "%s before %s", a, b)
			}
			for order := 1; order <= len(names); order++ {
				assert.Equal(t, 2, place[a][order], "%s in place %d", a, order)
			}
		}
	}
}

func TestLookup(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{nil, "no configuration named"},
		{[]string{"with-symposum"}, `unknown configuration "with-symposum"; choose from without-symposium, with-symposium, staged-skills`},
		{[]string{plan.WithSymposium, plan.WithSymposium}, "named twice"},
	} {
		_, err := plan.Lookup(c.names...)
		require.ErrorContains(t, err, c.want)
	}
	got, err := plan.Lookup(plan.Names()...)
	require.NoError(t, err)
	assert.Len(t, got, 3)
	assert.Empty(t, plan.Expand(nil, 3))
	assert.Empty(t, plan.Expand(got, 0))
}
