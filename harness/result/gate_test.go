package result

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestGate(t *testing.T) {
	yes, no := true, false
	counts := func(change func(*Counts)) Counts {
		c := Counts{Planned: 10, Started: 10, Eligible: 10, Succeeded: 10, PassAll: &yes}
		if change != nil {
			change(&c)
		}
		return c
	}
	const infrastructure, gate = true, false
	for name, tt := range map[string]struct {
		change     func(*Counts)
		regression bool
		want       []bool
	}{
		"all well":               {nil, true, nil},
		"a measurement may fail": {func(c *Counts) { c.PassAll = &no }, false, nil},
		"a regression may not":   {func(c *Counts) { c.PassAll = &no }, true, []bool{gate}},
		"nor be unmeasured":      {func(c *Counts) { c.Eligible, c.PassAll = 0, nil }, true, []bool{infrastructure, gate}},
		"one of ten was counted": {func(c *Counts) {
			c.SetupFailures, c.Causes.SetupFailures, c.Excluded.Grading, c.Eligible, c.Succeeded = 5, map[string]int{"x": 5}, 4, 1, 1
		}, true, []bool{infrastructure, infrastructure}},
		"the release cannot do it": {func(c *Counts) {
			c.SetupFailures, c.Causes.SetupFailures = 5, map[string]int{"release: too old": 5}
		}, false, nil},
		"a limit ended it early": {func(c *Counts) {
			c.Cancelled, c.Causes.Cancelled, c.Eligible, c.Succeeded = 4, map[string]int{"max_cost": 4}, 6, 6
		}, true, []bool{infrastructure}},
		"a measurement ended early": {func(c *Counts) { c.Cancelled, c.Causes.Cancelled = 4, map[string]int{"max_cost": 4} }, false, nil},
		"the others were not asked for": {func(c *Counts) {
			c.Cancelled, c.Causes.Cancelled, c.Eligible, c.Succeeded = 9, map[string]int{CauseNotRun: 9}, 1, 1
		}, true, nil},
		"an isolation exclusion": {func(c *Counts) { c.Excluded.Isolation = 1 }, false, []bool{infrastructure}},
	} {
		t.Run(name, func(t *testing.T) {
			b := &Benchmark{Configurations: map[string]Counts{"with-symposium": counts(tt.change)}}
			var got []bool
			for _, g := range Gate(b, tt.regression, "with-symposium") {
				got = append(got, g.Infrastructure)
				assert.NotEmpty(t, g.Text)
			}
			assert.Equal(t, tt.want, got)
		})
	}
}
