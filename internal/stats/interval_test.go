package stats_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/internal/stats"
)

func TestWilson(t *testing.T) {
	for _, tc := range []struct {
		s, n   int
		lo, hi float64
	}{
		// Newcombe (1998), single proportions, table I, method 3, prints .2553 .3662, .0624 .1605, 0 .1611, .0061 .1718.
		// All digits: statsmodels 0.14 proportion_confint(method="wilson").
		{81, 263, 0.2552885198782742, 0.36620957698280004},
		{15, 148, 0.06238639953073628, 0.16048724172330803},
		{0, 20, 0, 0.1611251580528194},
		{1, 29, 0.006113214292762667, 0.17175521879320294},
		// More from statsmodels: few trials, ends, many trials.
		{0, 1, 0, 0.7934506856227627},
		{1, 1, 0.2065493143772374, 1},
		{0, 5, 0, 0.43448246478317487},
		{5, 5, 0.5655175352168252, 1},
		{5, 10, 0.23659309051256394, 0.7634069094874361},
		{10, 14, 0.45350915670106806, 0.8827862135542308},
		{430, 474, 0.8776756906113914, 0.9301236178718919},
		{999999, 1000000, 0.9999943350881957, 0.9999998234754233},
	} {
		lo, hi, ok := stats.Wilson(tc.s, tc.n)
		require.True(t, ok, "%d of %d", tc.s, tc.n)
		assert.InDelta(t, tc.lo, lo, 1e-12, "%d of %d, lower", tc.s, tc.n)
		assert.InDelta(t, tc.hi, hi, 1e-12, "%d of %d, upper", tc.s, tc.n)
	}
}

func TestWilsonProperties(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 57, 500, 4001} {
		before := [2]float64{-1, -1}
		for s := 0; s <= n; s++ {
			lo, hi, ok := stats.Wilson(s, n)
			require.True(t, ok)
			rate := float64(s) / float64(n)
			require.True(t, 0 <= lo && lo <= rate && rate <= hi && hi <= 1, "%d of %d: [%v, %v]", s, n, lo, hi)
			require.Equal(t, s == 0, lo == 0, "%d of %d: lower end %v", s, n, lo)
			require.Equal(t, s == n, hi == 1, "%d of %d: upper end %v", s, n, hi)
			require.Greater(t, lo, before[0], "%d of %d: more successes, higher lower end", s, n)
			require.Greater(t, hi, before[1], "%d of %d: more successes, higher upper end", s, n)
			before = [2]float64{lo, hi}

			mirrorLo, mirrorHi, _ := stats.Wilson(n-s, n)
			require.InDelta(t, 1-hi, mirrorLo, 1e-15, "%d of %d", s, n)
			require.InDelta(t, 1-lo, mirrorHi, 1e-15, "%d of %d", s, n)
		}
	}
	wide := 2.0
	for _, n := range []int{2, 4, 8, 100, 1000, stats.MaxTrials} {
		lo, hi, ok := stats.Wilson(n/2, n)
		require.True(t, ok)
		require.Less(t, hi-lo, wide, "more trials, narrower interval (n = %d)", n)
		wide = hi - lo
	}
}

func TestNewcombe(t *testing.T) {
	for _, tc := range []struct {
		s1, n1, s2, n2 int
		lo, hi         float64
	}{
		// Newcombe (1998), differences, table II, contrasts (a) to (h), method 10, as printed to four digits:
		// .0524 .3339, .1705 .8090, .0582 .8062, -.0381 .1926, -.1611 .2775, -.2775 .2775, .6791 1, .6075 1.
		// All digits: statsmodels 0.14 confint_proportions_2indep(method="newcomb", compare="diff").
		{56, 70, 48, 80, 0.05243147240236498, 0.33387265403690614},
		{9, 10, 3, 10, 0.1705227239345029, 0.809017973535488},
		{6, 7, 2, 7, 0.05822792748231209, 0.8062496375242278},
		{5, 56, 0, 29, -0.038137147903536936, 0.19256001385511165},
		{0, 10, 0, 20, -0.1611251580528194, 0.27753279986288926},
		{0, 10, 0, 10, -0.27753279986288926, 0.27753279986288926},
		{10, 10, 0, 20, 0.6790860371419145, 1},
		{10, 10, 0, 10, 0.6075093504305241, 1},
		// More from statsmodels; the last is the reference's example of a benchmark, 4 of 5 against 2 of 5.
		{7, 34, 1, 34, 0.018921443885772937, 0.3403686870327074},
		{0, 16, 15, 72, -0.3156926341935934, 0.0003261098746379365},
		{4, 5, 2, 5, -0.1626147944819385, 0.7264361648748668},
	} {
		diff, lo, hi, ok := stats.Newcombe(tc.s1, tc.n1, tc.s2, tc.n2)
		require.True(t, ok, "%+v", tc)
		assert.InDelta(t, float64(tc.s1)/float64(tc.n1)-float64(tc.s2)/float64(tc.n2), diff, 1e-15, "%+v", tc)
		assert.InDelta(t, tc.lo, lo, 1e-12, "%+v, lower", tc)
		assert.InDelta(t, tc.hi, hi, 1e-12, "%+v, upper", tc)
	}
}

func TestNewcombeProperties(t *testing.T) {
	for _, arms := range [][2]int{{1, 1}, {5, 5}, {7, 3}, {20, 20}, {12, 31}} {
		n1, n2 := arms[0], arms[1]
		for s1 := 0; s1 <= n1; s1++ {
			for s2 := 0; s2 <= n2; s2++ {
				diff, lo, hi, ok := stats.Newcombe(s1, n1, s2, n2)
				require.True(t, ok)
				require.True(t, -1 <= lo && lo <= diff && diff <= hi && hi <= 1,
					"%d/%d - %d/%d = %v in [%v, %v]", s1, n1, s2, n2, diff, lo, hi)
				swapped, swappedLo, swappedHi, _ := stats.Newcombe(s2, n2, s1, n1)
				require.Equal(t, [3]float64{-diff, -hi, -lo}, [3]float64{swapped, swappedLo, swappedHi},
					"%d/%d - %d/%d, arms swapped", s1, n1, s2, n2)
			}
		}
	}
	// An extreme result reaches the end of the scale exactly, in either direction, and leaves it on the other side.
	_, lo, hi, _ := stats.Newcombe(5, 5, 0, 5)
	assert.Equal(t, 1.0, hi)
	assert.Positive(t, lo)
	_, lo, hi, _ = stats.Newcombe(0, 5, 5, 5)
	assert.Equal(t, -1.0, lo)
	assert.Negative(t, hi)
}
