package stats

import "math"

// tieTolerance is the relative difference below which two probabilities count as equal. Tables that are equally likely
// come out a few roundings apart, and must all be counted; R's fisher.test uses the same 1e-7. It only ever adds tables,
// so it can raise a p-value and never lower one.
const tieTolerance = 1e-7

// negligible is the share of the likeliest table's probability below which a table is left out: the smallest normal
// float64. Below it products lose their digits, and stop shrinking, before they reach 0.
const negligible = 0x1p-1022

// Fisher is the two-sided p-value of Fisher's exact test for s1 of n1 against s2 of n2: with the total of successes held
// fixed, the probability of all tables that are at most as likely as the observed one (the definition of R's fisher.test
// and scipy's fisher_exact; doubling one tail is another and gives other numbers).
//
// It is in (0, 1], or 0 where the value is below 1e-300. It is 1 when an arm is empty and NaN when counts are impossible.
// It guards the false positive rate, but with few trials by a wide margin: see Boschloo.
//
// Source: R. A. Fisher, "The Design of Experiments" (1935), chapter 2.
func Fisher(s1, n1, s2, n2 int) float64 {
	if !validArm(s1, n1) || !validArm(s2, n2) {
		return math.NaN()
	}
	if n1 == 0 || n2 == 0 {
		return 1
	}
	s1, n1, s2, n2 = canonical(s1, n1, s2, n2)
	return newMargin(n1, n2, s1+s2).fisher(s1)
}

// canonical gives the one of equivalent tables whose first arm is not the larger and in which at most half of all trials
// succeeded. Computing on it alone makes the symmetries of the tests hold exactly, not only up to rounding; where two such
// tables remain, they are a tie in one margin and have the same p-value.
func canonical(s1, n1, s2, n2 int) (int, int, int, int) {
	if n1 > n2 {
		s1, n1, s2, n2 = s2, n2, s1, n1
	}
	if s1+s2 > n1+n2-s1-s2 {
		s1, s2 = n1-s1, n2-s2
	}
	return s1, n1, s2, n2
}

// A margin is all tables with one total of successes: the hypergeometric distribution of the first arm's successes, and
// Fisher's p-value of each table. Tables of negligible probability are left out, so that a margin stays small
// (about 80 standard deviations) however large the arms are.
type margin struct {
	first int       // successes of the first arm in the first table kept
	prob  []float64 // probability of each table, given the total
	p     []float64 // Fisher's p-value of each table
}

// newMargin computes the margin of k successes in all, 0 <= k <= n1+n2, both arms non-empty.
func newMargin(n1, n2, k int) margin {
	lowest, highest := max(0, k-n2), min(n1, k)
	mode := int((int64(n1) + 1) * (int64(k) + 1) / (int64(n1) + int64(n2) + 2))
	mode = min(max(mode, lowest), highest)

	// From the most likely table outwards by the ratio of neighbours: no factorials, hence no cancellation.
	ratio := func(x int) float64 { // P(x+1) / P(x)
		return float64(n1-x) / float64(x+1) * (float64(k-x) / float64(n2-k+x+1))
	}
	var below []float64
	for x, w := mode-1, 1.0; x >= lowest; x-- {
		if w /= ratio(x); w < negligible {
			break
		}
		below = append(below, w)
	}
	prob := make([]float64, 0, 2*len(below)+1)
	for i := len(below) - 1; i >= 0; i-- {
		prob = append(prob, below[i])
	}
	prob = append(prob, 1)
	for x, w := mode, 1.0; x < highest; x++ {
		if w *= ratio(x); w < negligible {
			break
		}
		prob = append(prob, w)
	}
	var sum float64
	for _, w := range prob {
		sum += w
	}
	for i := range prob {
		prob[i] /= sum
	}
	return margin{first: mode - len(below), prob: prob, p: fisherAll(prob)}
}

// fisherAll gives Fisher's p-value of every table of a margin. prob rises to its mode and falls after it, so the two
// ends merge into the order from the least likely table to the likeliest.
func fisherAll(prob []float64) []float64 {
	order := make([]int, 0, len(prob))
	for i, j := 0, len(prob)-1; i <= j; {
		if prob[i] <= prob[j] {
			order = append(order, i)
			i++
		} else {
			order = append(order, j)
			j--
		}
	}
	p := make([]float64, len(prob))
	var sum float64
	next := 0
	for _, i := range order {
		for next < len(order) && prob[order[next]] <= prob[i]*(1+tieTolerance) {
			sum += prob[order[next]]
			next++
		}
		p[i] = min(sum, 1)
		if next == len(order) {
			p[i] = 1 // all tables: exactly 1, whatever the rounding of the sum
		}
	}
	return p
}

// fisher is Fisher's p-value of the table with s1 successes in the first arm; 0 for a table too unlikely to be kept.
func (m margin) fisher(s1 int) float64 {
	if i := s1 - m.first; 0 <= i && i < len(m.p) {
		return m.p[i]
	}
	return 0
}

// atMost is the probability, given the total, of the tables whose Fisher p-value is at most limit.
func (m margin) atMost(limit float64) float64 {
	var sum float64
	for i, p := range m.p {
		if p <= limit {
			sum += m.prob[i]
		}
	}
	return min(sum, 1)
}
