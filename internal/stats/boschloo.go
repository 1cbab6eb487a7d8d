package stats

import "math"

const (
	// BoschlooLimit is the largest total of trials (n1+n2) for which Boschloo's test is computed. Above it Boschloo
	// returns Fisher's p-value, which is never smaller; a caller that names the method in a record compares with it.
	BoschlooLimit = 2000

	// boschlooPrecision is how far, relatively, the returned p-value may lie above the supremum.
	boschlooPrecision = 1e-9

	// boschlooWork bounds the search, in additions (about a second). Searches seen need less than a tenth of it; one that
	// meets it returns the bound it has, which is too high and never too low.
	boschlooWork = 1_000_000_000
)

// Boschloo is the two-sided p-value of Boschloo's exact unconditional test for s1 of n1 against s2 of n2: the largest
// probability, over every common success rate in [0, 1], of a table whose two-sided Fisher p-value is at most that of the
// observed table. It is at most Fisher's p-value, and like it never rejects a true "no difference" more often than its
// level, whatever the success rate; but it does not waste the level when trials are few.
//
// It is in (0, 1], or 0 where the value is below 1e-300. It is 1 when an arm is empty and NaN when counts are impossible.
// Above BoschlooLimit trials in all it is Fisher's p-value.
//
// Two-sided definitions differ between packages. The one here orders the tables by the two-sided Fisher p-value.
// scipy's boschloo_exact doubles the smaller of its one-sided p-values, so it gives other numbers in general, and the same
// where the arms are of equal size and the tails hence mirror each other.
//
// Source: R. D. Boschloo, "Raised conditional level of significance for the 2x2-table when testing the equality of two
// probabilities", Statistica Neerlandica 24 (1970) 1-9.
func Boschloo(s1, n1, s2, n2 int) float64 {
	fisher := Fisher(s1, n1, s2, n2)
	// 1 is the p-value of every table then; the other two have nothing to compute or too much.
	if math.IsNaN(fisher) || fisher == 1 || n1+n2 > BoschlooLimit {
		return fisher
	}
	p := supremum(rejection(min(n1, n2), max(n1, n2), fisher*(1+tieTolerance)))
	// Given any total, tables with a Fisher p-value of at most fisher have probability at most fisher: what stands
	// above it comes from rounding and the tolerance for ties.
	return min(p, fisher)
}

// rejection gives, for each total k of successes, the probability, given k, of the tables with a Fisher p-value of at most
// limit. Calling successes failures changes no Fisher p-value, so totals k and n1+n2-k have the same probability.
func rejection(n1, n2 int, limit float64) []float64 {
	total := n1 + n2
	given := make([]float64, total+1)
	for k := 0; k <= total/2; k++ {
		given[k] = newMargin(n1, n2, k).atMost(limit)
		given[total-k] = given[k]
	}
	return given
}

// A piece is a polynomial over one interval of rates in Bernstein form. Its first and last coefficient are its values at
// the interval's ends, and it nowhere exceeds its largest coefficient, top.
type piece struct {
	coef []float64
	top  float64
}

func newPiece(coef []float64) piece {
	top := coef[0]
	for _, c := range coef {
		top = max(top, c)
	}
	return piece{coef: coef, top: top}
}

// split halves the interval (de Casteljau's algorithm). It only averages non-negative numbers, so rounding stays in the
// last digits.
func (p piece) split() (left, right piece) {
	right.coef = append([]float64(nil), p.coef...)
	left.coef = make([]float64, len(p.coef))
	c := right.coef
	for i := range left.coef {
		left.coef[i] = c[0]
		for j := 0; j < len(c)-1-i; j++ {
			c[j] = (c[j] + c[j+1]) / 2
		}
	}
	return newPiece(left.coef), newPiece(right.coef)
}

// supremum is the largest value, over rates r in [0, 1], of the mean of given[K] for K binomial (len(given)-1, r); it is
// never below the true one and at most boschlooPrecision above it. given must read the same backwards.
//
// A grid of rates would miss what lies between its points, and so report too small a p-value. But the mean is a polynomial
// in r whose Bernstein coefficients over [0, 1] are given itself, so it is bounded from above on any interval by that
// interval's coefficients, and the bound closes in with the square of the interval's length. The interval with the highest
// bound is halved until that bound is reached by a value.
//
// Source of the bounds: G. Farin, "Curves and Surfaces for CAGD", the chapters on the de Casteljau algorithm and the
// Bernstein form (convex hull property, subdivision).
func supremum(given []float64) float64 {
	half, _ := newPiece(given).split() // the other half is its mirror image
	open := []piece{half}
	reached := max(half.coef[0], half.coef[len(half.coef)-1])
	cost := len(given) * len(given) / 2
	for work := cost; ; work += cost {
		highest := 0
		for i := range open {
			if open[i].top > open[highest].top {
				highest = i
			}
		}
		top := open[highest].top
		if top <= reached*(1+boschlooPrecision) || work > boschlooWork {
			return max(top, reached)
		}
		left, right := open[highest].split()
		reached = max(reached, right.coef[0])
		open[highest] = left
		open = append(open, right)
	}
}
