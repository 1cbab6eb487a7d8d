package stats

import (
	"math/rand/v2"
	"slices"
)

// BootstrapMean is the 95 % percentile bootstrap interval of the mean of values: the values are drawn again, with
// replacement, resamples times, and the interval spans the middle 95 % of the means. The same values, resamples and seed
// give the same interval, also in another order of the values and in another version of Go. ok is false with fewer than
// two values, fewer than 40 resamples, and where a mean is not finite.
//
// With few values it is too narrow: the spread of n values is seen through n-1 (see TestBootstrapAgainstEnumeration for
// what it gives with three).
//
// Source: B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13.
func BootstrapMean(values []float64, resamples int, seed uint64) (lo, hi float64, ok bool) {
	if _, ok := Mean(values); !ok || len(values) < 2 || resamples < 40 {
		return 0, 0, false
	}
	values = slices.Sorted(slices.Values(values))
	random := rand.New(rand.NewPCG(seed, 0))
	means := make([]float64, resamples)
	drawn := make([]float64, len(values))
	for i := range means {
		for j := range drawn {
			drawn[j] = values[random.IntN(len(values))]
		}
		mean, ok := Mean(drawn)
		if !ok {
			return 0, 0, false
		}
		means[i] = mean
	}
	slices.Sort(means)
	cut := resamples / 40 // 2.5 % on either side
	return means[cut], means[resamples-1-cut], true
}
