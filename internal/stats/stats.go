// Package stats holds the statistics behind a verdict: how sure a success rate is, how far apart two arms are, and whether
// the distance could be chance. It is for the code that counts trials; it knows nothing of tasks, files or configurations.
//
// An arm is two counts, s successes in n independent trials, 0 <= s <= n <= MaxTrials. Invariants:
//
//   - No function panics. An arm outside that range gives ok == false from a function with an ok result and NaN from one
//     that returns a p-value; a NaN must not be compared with a threshold, since every comparison with it is false.
//   - Where nothing was measured there is no number: ok is false for an interval or a mean of nothing, and the caller
//     prints null, never 0. A test with an empty arm has p = 1: no evidence of a difference.
//   - A p-value is never under-reported, but for float64 rounding (about the 13th digit) and for values below 1e-300,
//     which become 0. Where a search or a limit makes it inexact, it is too large and never too small.
//   - Swapping the arms, or calling every success a failure, changes no p-value, to the last bit.
package stats

// MaxTrials is the largest arm accepted. It keeps every sum of two arms inside a 32-bit int, and stands far above any
// number of trials that can be run.
const MaxTrials = 1_000_000_000

// z95 is the 97.5 % quantile of the standard normal distribution, for two-sided 95 % intervals.
const z95 = 1.959963984540054

// validArm says whether s successes in n trials is a possible count. An empty arm (0 of 0) is valid.
func validArm(s, n int) bool {
	return 0 <= s && s <= n && n <= MaxTrials
}
