package stats

import "math"

// Wilson is the two-sided 95 % score interval, without continuity correction, for a success rate of successes out of n;
// 0 <= lo <= successes/n <= hi <= 1. ok is false when n is 0 or the counts are impossible.
//
// Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927) 209-212;
// it is method 3 of R. G. Newcombe, Statistics in Medicine 17 (1998) 857-872.
func Wilson(successes, n int) (lo, hi float64, ok bool) {
	if n == 0 || !validArm(successes, n) {
		return 0, 0, false
	}
	s, f, t := float64(successes), float64(n-successes), float64(n)
	const zz = z95 * z95
	half := z95 * math.Sqrt(zz+4*s*f/t)
	// At the ends the formula gives 0 and 1 only up to rounding; a reader compares with them.
	if successes > 0 {
		lo = (2*s + zz - half) / (2 * (t + zz))
	}
	hi = 1
	if successes < n {
		hi = (2*s + zz + half) / (2 * (t + zz))
	}
	return lo, hi, true
}

// Newcombe is the difference of two success rates, s1/n1 minus s2/n2 (treatment minus baseline), with its 95 % interval:
// -1 <= lo <= diff <= hi <= 1. ok is false when an arm is empty or its counts are impossible.
//
// The interval describes the size of the difference. It is not the verdict: it is approximate and can exclude 0 where the
// exact test does not reject, and the other way round.
//
// Source: R. G. Newcombe, "Interval estimation for the difference between independent proportions: comparison of eleven
// methods", Statistics in Medicine 17 (1998) 873-890, method 10 (hybrid score, no continuity correction).
func Newcombe(s1, n1, s2, n2 int) (diff, lo, hi float64, ok bool) {
	l1, u1, ok1 := Wilson(s1, n1)
	l2, u2, ok2 := Wilson(s2, n2)
	if !ok1 || !ok2 {
		return 0, 0, 0, false
	}
	p1, p2 := float64(s1)/float64(n1), float64(s2)/float64(n2)
	diff = p1 - p2
	// Hypot of two gaps can pass the ends by a rounding error, never by more.
	lo = max(-1, diff-math.Hypot(p1-l1, u2-p2))
	hi = min(1, diff+math.Hypot(u1-p1, p2-l2))
	return diff, lo, hi, true
}
