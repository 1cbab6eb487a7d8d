package result

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Gated is why a batch must not pass a build.
type Gated struct {
	// Infrastructure says that the runner or the machine is at fault, and not what was examined.
	Infrastructure bool
	Text           string
}

// releaseCause begins the cause of a setup failure that lies in what the pinned release of a tool
// cannot do, which no run here can mend.
const releaseCause = "release: "

// Gate is the one rule of what passes, for `proctor run` and for `go test`: something was measured, no
// trial was lost to the machine, and a regression task passed in all trials with Symposium. A
// capability task is a measurement: its rates do not gate.
func Gate(b *Benchmark, regression bool, gated string) []Gated {
	var out []Gated
	eligible := 0
	for _, name := range slices.Sorted(maps.Keys(b.Configurations)) {
		c := b.Configurations[name]
		eligible += c.Eligible
		failures := c.SetupFailures
		for cause, n := range c.Causes.SetupFailures {
			if strings.HasPrefix(cause, releaseCause) {
				failures -= n
			}
		}
		if failures > 0 {
			out = append(out, Gated{true, fmt.Sprintf("%d of %d %s trials could not be set up", failures, c.Planned, name)})
		}
		if n := c.Cancelled - c.Causes.Cancelled[CauseNotRun]; n > 0 && regression {
			out = append(out, Gated{true, fmt.Sprintf("%d of %d %s trials of the regression task were cancelled", n, c.Planned, name)})
		}
		if n := c.Excluded.Isolation + c.Excluded.Grading; n > 0 {
			out = append(out, Gated{true, fmt.Sprintf("%d of %d %s trials are excluded", n, c.Planned, name)})
		}
	}
	if eligible == 0 {
		out = append(out, Gated{true, "nothing was measured: no trial is eligible"})
	}
	if all := b.Configurations[gated].PassAll; regression && (all == nil || !*all) {
		out = append(out, Gated{false, fmt.Sprintf("the regression task did not pass in all %s trials", gated)})
	}
	return out
}
