package stats

import "math"

// MaxPower is the largest arm, in trials, for which a Rejection is computed.
const MaxPower = 3000

// A Rejection knows every table of two arms in which the first arm is better and Boschloo's p is at most a level. Like
// Boschloo it goes by Fisher's p-value above BoschlooLimit trials in all.
type Rejection struct {
	n1, n2 int
	better [][]int // for each number of successes of the second arm, those of the first that reject
}

// NewRejection computes the tables for arms of n1 and n2 trials. ok is false for an empty arm, one of more than MaxPower
// trials, and a level that is not between 0 and 1.
func NewRejection(n1, n2 int, level float64) (r Rejection, ok bool) {
	if n1 < 1 || n2 < 1 || n1 > MaxPower || n2 > MaxPower || !(level > 0 && level < 1) {
		return Rejection{}, false
	}
	limit := fisherLimit(n1, n2, level)
	r = Rejection{n1: n1, n2: n2, better: make([][]int, n2+1)}
	// A margin's first arm is the smaller one, as in Fisher.
	small, large := min(n1, n2), max(n1, n2)
	for total := 0; total <= n1+n2; total++ {
		m := newMargin(small, large, total)
		for x := max(0, total-large); x <= min(small, total); x++ {
			if m.fisher(x) > limit*(1+tieTolerance) {
				continue
			}
			s1, s2 := x, total-x
			if n1 > n2 {
				s1, s2 = s2, s1
			}
			if s1*n2 > s2*n1 {
				r.better[s2] = append(r.better[s2], s1)
			}
		}
	}
	return r, true
}

// fisherLimit is the largest of Fisher's p-values that Boschloo's test rejects at the level. Boschloo's p never falls
// when Fisher's rises, so one limit holds for all tables of two arms.
func fisherLimit(n1, n2 int, level float64) float64 {
	if n1+n2 > BoschlooLimit {
		return level
	}
	lo, hi := level, 1.0 // what Fisher's test rejects, Boschloo's rejects
	for range 40 {
		mid := (lo + hi) / 2
		if supremum(rejection(min(n1, n2), max(n1, n2), mid*(1+tieTolerance))) <= level {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// Chance is the probability of a table that rejects with the first arm ahead, if its success rate is rate1 and that of
// the second is rate2, both in [0, 1].
func (r Rejection) Chance(rate1, rate2 float64) float64 {
	first, second := binomial(r.n1, rate1), binomial(r.n2, rate2)
	var sum float64
	for s2, successes := range r.better {
		var row float64
		for _, s1 := range successes {
			row += first[s1]
		}
		sum += row * second[s2]
	}
	return min(sum, 1)
}

// Detectable is the smallest success rate of the first arm from which on Chance is at least power: the second arm's rate
// and a whole number of hundredths, or 1. ok is false where not even a rate of 1 has it, and for a rate outside [0, 1].
func (r Rejection) Detectable(rate2, power float64) (rate1 float64, ok bool) {
	if !(rate2 >= 0 && rate2 <= 1) || r.Chance(1, rate2) < power {
		return 0, false
	}
	rate1 = 1
	for points := int(math.Ceil((1-rate2)*100-1e-9)) - 1; points >= 0; points-- {
		try := rate2 + float64(points)/100
		if r.Chance(try, rate2) < power {
			break
		}
		rate1 = try
	}
	return rate1, true
}

// binomial lists the probabilities of 0 to n successes. They are built up from the mode, where they are largest, so that
// none is lost to underflow which matters.
func binomial(n int, rate float64) []float64 {
	prob := make([]float64, n+1)
	if rate <= 0 || rate >= 1 {
		if rate >= 1 {
			prob[n] = 1
		} else {
			prob[0] = 1
		}
		return prob
	}
	mode := min(n, int(float64(n+1)*rate))
	prob[mode] = 1
	odds := rate / (1 - rate)
	for x := mode; x < n; x++ {
		prob[x+1] = prob[x] * odds * float64(n-x) / float64(x+1)
	}
	for x := mode; x > 0; x-- {
		prob[x-1] = prob[x] / odds * float64(x) / float64(n-x+1)
	}
	var sum float64
	for _, p := range prob {
		sum += p
	}
	for x := range prob {
		prob[x] /= sum
	}
	return prob
}
