package result

import (
	"fmt"

	"github.com/proctor-evals/proctor/internal/stats"
)

// Alpha is the level of the verdict rule.
const Alpha = 0.05

const verdictMethod = "Boschloo's exact unconditional test, two-sided, on Fisher's p; interval: Newcombe's method 10"

// Compare sets the treatment against the baseline by the one verdict rule: helps or hurts when
// Boschloo's exact two-sided p is at most Alpha, and only if that holds, in the same direction,
// however inconclusive trials are counted and also with exclusions counted as failures.
func Compare(treatmentName string, t Counts, baselineName string, b Counts) Comparison {
	c := Comparison{
		Treatment: treatmentName, Baseline: baselineName, Method: verdictMethod, Verdict: CannotTell,
		CodePassDiff: minus(t.CodePassRate, b.CodePassRate), Means: deltaCosts(t.Cost, b.Cost), Bounds: []Bound{},
	}
	if t.Eligible == 0 || b.Eligible == 0 {
		c.Reason = fmt.Sprintf("no eligible trial of %s", treatmentName)
		if b.Eligible == 0 {
			c.Reason = fmt.Sprintf("no eligible trial of %s", baselineName)
		}
		return c
	}
	if diff, lo, hi, ok := stats.Newcombe(t.Succeeded, t.Eligible, b.Succeeded, b.Eligible); ok {
		c.Diff, c.CI95 = &diff, &[2]float64{lo, hi}
	}
	p := stats.Boschloo(t.Succeeded, t.Eligible, b.Succeeded, b.Eligible)
	fisher := stats.Fisher(t.Succeeded, t.Eligible, b.Succeeded, b.Eligible)
	c.P, c.FisherP = &p, &fisher
	c.Bounds = bounds(t, b)

	first := c.Bounds[0]
	if first.P > Alpha {
		c.Reason = fmt.Sprintf("p = %.3g is above %.2f: a difference this size is not rare by chance alone", first.P, Alpha)
		return c
	}
	for _, bound := range c.Bounds[1:] {
		if bound.P > Alpha || (bound.Diff > 0) != (first.Diff > 0) {
			c.Reason = fmt.Sprintf("the difference does not hold when %s (p = %.3g)", bound.Counting, bound.P)
			return c
		}
	}
	c.Verdict, c.Reason = Helps, fmt.Sprintf("p = %.3g, in every way of counting", first.P)
	if first.Diff < 0 {
		c.Verdict = Hurts
	}
	return c
}

// bounds are the ways of counting the verdict must survive; the first is the plain one. Ways that
// give the same table are listed once.
func bounds(t, b Counts) []Bound {
	ways := []struct {
		counting     string
		tInc, bInc   int // inconclusive trials counted as successes
		tExcl, bExcl int // excluded trials counted as failures
	}{
		{"inconclusive trials count as not succeeded", 0, 0, 0, 0},
		{"the treatment's inconclusive trials count as successes", t.Inconclusive, 0, 0, 0},
		{"the baseline's inconclusive trials count as successes", 0, b.Inconclusive, 0, 0},
		{"all inconclusive trials count as successes", t.Inconclusive, b.Inconclusive, 0, 0},
	}
	tExcl := t.Excluded.Isolation + t.Excluded.Grading
	bExcl := b.Excluded.Isolation + b.Excluded.Grading
	for _, w := range ways[:4] {
		w.counting += " and excluded trials as failures"
		w.tExcl, w.bExcl = tExcl, bExcl
		ways = append(ways, w)
	}
	var out []Bound
	seen := map[[4]int]bool{}
	for _, w := range ways {
		tab := [4]int{t.Succeeded + w.tInc, t.Eligible + w.tExcl, b.Succeeded + w.bInc, b.Eligible + w.bExcl}
		if seen[tab] {
			continue
		}
		seen[tab] = true
		out = append(out, Bound{
			Counting: w.counting, Treatment: [2]int{tab[0], tab[1]}, Baseline: [2]int{tab[2], tab[3]},
			Diff: float64(tab[0])/float64(tab[1]) - float64(tab[2])/float64(tab[3]),
			P:    stats.Boschloo(tab[0], tab[1], tab[2], tab[3]),
		})
	}
	return out
}

// DeltaOf is t minus b, null where either is unknown.
func DeltaOf(t, b Counts) Delta {
	return Delta{
		SuccessRate:  minus(t.SuccessRate, b.SuccessRate),
		CodePassRate: minus(t.CodePassRate, b.CodePassRate),
		Cost:         deltaCosts(t.Cost, b.Cost),
	}
}

func deltaCosts(t, b Costs) DeltaCosts {
	return DeltaCosts{Eligible: deltaCost(t.Eligible, b.Eligible), Succeeded: deltaCost(t.Succeeded, b.Succeeded)}
}

func deltaCost(t, b Cost) DeltaCost {
	return DeltaCost{
		Tokens: minus(t.Tokens.Mean, b.Tokens.Mean), Input: minus(t.Input.Mean, b.Input.Mean),
		Output: minus(t.Output.Mean, b.Output.Mean), CacheRead: minus(t.CacheRead.Mean, b.CacheRead.Mean),
		CacheWrite: minus(t.CacheWrite.Mean, b.CacheWrite.Mean), AgentSecs: minus(t.AgentSecs.Mean, b.AgentSecs.Mean),
	}
}

func minus(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	d := *a - *b
	return &d
}
