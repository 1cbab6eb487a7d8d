package result

import (
	"fmt"
	"strconv"

	"github.com/proctor-evals/proctor/internal/stats"
)

// Alpha is the level of the verdict rule.
const Alpha = 0.05

// The methods a Comparison names. Fisher's test stands in for Boschloo's above stats.BoschlooLimit
// trials in all; it is never the bolder of the two.
const (
	MethodBoschloo = "Boschloo's exact unconditional test, two-sided, on Fisher's p; interval: Newcombe's method 10"
	MethodFisher   = "Fisher's exact test, two-sided; interval: Newcombe's method 10"
)

func methodOf(trials int) string {
	if trials > stats.BoschlooLimit {
		return MethodFisher
	}
	return MethodBoschloo
}

// Compare sets the treatment against the baseline by the one verdict rule: helps or hurts when the
// exact two-sided p is at most Alpha, and only if that holds, in the same direction, for every
// share of the inconclusive trials counted as successes, also with all exclusions counted as
// failures.
func Compare(treatmentName string, t Counts, baselineName string, b Counts) Comparison {
	c := Comparison{
		Treatment: treatmentName, Baseline: baselineName, Method: methodOf(t.Eligible + b.Eligible), Verdict: CannotTell,
		CodePassDiff: minus(t.CodePassRate, b.CodePassRate), Code: compareCode(t, b), Means: deltaCosts(t.Cost, b.Cost), Bounds: []Bound{},
	}
	p := stats.Boschloo(t.Succeeded, t.Eligible, b.Succeeded, b.Eligible)
	diff, lo, hi, ok := stats.Newcombe(t.Succeeded, t.Eligible, b.Succeeded, b.Eligible)
	switch {
	case t.impossible() || b.impossible():
		c.Reason = "the counts contradict themselves, so nothing can be said"
		return c
	case t.Eligible == 0 && b.Eligible == 0:
		c.Reason = fmt.Sprintf("there is no trial to count, neither of %s nor of %s", treatmentName, baselineName)
		return c
	case !ok:
		empty := treatmentName
		if b.Eligible == 0 {
			empty = baselineName
		}
		c.Reason = fmt.Sprintf("there is no %s trial to count", empty)
		return c
	}
	fisher := stats.Fisher(t.Succeeded, t.Eligible, b.Succeeded, b.Eligible)
	c.Diff, c.CI95, c.P, c.FisherP = &diff, &[2]float64{lo, hi}, &p, &fisher
	ways := waysToCount{treatment: treatmentName, baseline: baselineName, t: t, b: b}
	var complete bool
	c.Bounds, complete = ways.bounds(p <= Alpha)
	c.Verdict, c.Reason = judge(c.Bounds, t, b, complete)
	return c
}

func compareCode(t, b Counts) CodeComparison {
	c := CodeComparison{Treatment: [2]int{t.CodePassed, t.CodeJudged}, Baseline: [2]int{b.CodePassed, b.CodeJudged}}
	if diff, lo, hi, ok := stats.Newcombe(t.CodePassed, t.CodeJudged, b.CodePassed, b.CodeJudged); ok && !t.impossible() && !b.impossible() {
		p := stats.Boschloo(t.CodePassed, t.CodeJudged, b.CodePassed, b.CodeJudged)
		c.Diff, c.CI95, c.P = &diff, &[2]float64{lo, hi}, &p
	}
	return c
}

// impossible says whether the parts of the eligible trials are more than the whole.
func (c Counts) impossible() bool {
	for _, n := range []int{c.Eligible, c.Succeeded, c.Inconclusive, c.Excluded.Isolation, c.Excluded.Grading} {
		if n < 0 || n > stats.MaxTrials/4 {
			return true
		}
	}
	return c.Succeeded+c.Inconclusive > c.Eligible
}

// judge reads the verdict off the bounds, of which the first is the plain count; complete says that
// no way of counting is left out but those no worse than a bound listed.
func judge(bounds []Bound, t, b Counts, complete bool) (Judgement, string) {
	plain := bounds[0]
	if plain.P > Alpha {
		return CannotTell, tooWeak(plain, t, b)
	}
	worst := plain
	for _, bound := range bounds[1:] {
		if bound.Diff == 0 || (bound.Diff > 0) != (plain.Diff > 0) {
			return CannotTell, fmt.Sprintf("the difference depends on trials that could not be counted: it vanishes or turns round if %s", bound.Counting)
		}
		if bound.P > worst.P {
			worst = bound
		}
	}
	if worst.P > Alpha {
		return CannotTell, fmt.Sprintf("the difference depends on trials that could not be counted: it could be chance (p = %s, above %g) if %s",
			above(worst.P), Alpha, worst.Counting)
	}
	if !complete {
		return CannotTell, fmt.Sprintf("%d and %d inconclusive trials are too many to check every way of counting them", t.Inconclusive, b.Inconclusive)
	}
	reason := fmt.Sprintf("if there were no real difference, a gap this large would come up by chance in %s of such exams (%s)", percentOf(plain.P), formatP(plain.P))
	if len(bounds) > 1 {
		reason += "; the verdict is the same however the inconclusive and excluded trials are counted"
	}
	if plain.Diff < 0 {
		return Hurts, reason
	}
	return Helps, reason
}

// tooWeak explains a plain count above Alpha.
func tooWeak(plain Bound, t, b Counts) string {
	if stats.Boschloo(t.Eligible, t.Eligible, 0, b.Eligible) > Alpha {
		return fmt.Sprintf("there are too few trials, %d against %d, for any result to settle it; run more rounds", t.Eligible, b.Eligible)
	}
	if plain.Diff == 0 {
		return "both succeeded at the same rate"
	}
	return fmt.Sprintf("even if there were no real difference, a gap this large would come up by chance in %s of such exams; a verdict needs %s or less",
		percentOf(plain.P), percentOf(Alpha))
}

// formatP writes a p-value with three digits; the smallest, which are 0 in a float64, as a limit.
func formatP(p float64) string {
	if p == 0 {
		return "p below 1e-300"
	}
	return "p = " + strconv.FormatFloat(p, 'g', 3, 64)
}

// above writes a p-value above Alpha so that it also reads as above it.
func above(p float64) string {
	for digits := 3; digits < 17; digits++ {
		s := strconv.FormatFloat(p, 'g', digits, 64)
		if read, err := strconv.ParseFloat(s, 64); err == nil && read > Alpha {
			return s
		}
	}
	return strconv.FormatFloat(p, 'g', -1, 64)
}

// percentOf writes a probability in per cent with two digits.
func percentOf(p float64) string {
	switch {
	case p < 0.0001:
		return "less than 0.01 %"
	case p > 0.99:
		return "nearly all"
	}
	if p > Alpha && p < 0.051 {
		return "a little over 5 %"
	}
	return strconv.FormatFloat(100*p, 'g', 2, 64) + " %"
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
