package stats_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/internal/stats"
)

func TestT975(t *testing.T) {
	// NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2, column 0.975, as printed; 1000 is its last but one row.
	for degrees, want := range map[int]float64{1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262,
		10: 2.228, 15: 2.131, 20: 2.086, 29: 2.045, 30: 2.042, 50: 2.009, 75: 1.992, 99: 1.984, 100: 1.984} {
		assert.InDelta(t, want, stats.T975(degrees), 0.0005001, "%d degrees", degrees)
	}
	// All digits, by the closed forms for one, two and four degrees.
	assert.InDelta(t, math.Tan(math.Pi*0.475), stats.T975(1), 1e-12)
	assert.InDelta(t, 0.95/math.Sqrt(2*0.975*0.025), stats.T975(2), 1e-12)
	a := math.Sqrt(4 * 0.975 * 0.025)
	assert.InDelta(t, 2*math.Sqrt(math.Cos(math.Acos(a)/3)/a-1), stats.T975(4), 1e-12)

	before := math.Inf(1)
	for degrees := 1; degrees <= 1200; degrees++ {
		got := stats.T975(degrees)
		require.Less(t, got, before, "falls with the degrees, also where the formula changes (%d)", degrees)
		before = got
	}
	assert.InDelta(t, 1.959963984540054, stats.T975(stats.MaxTrials), 1e-8)
	assert.True(t, math.IsNaN(stats.T975(0)))
	assert.True(t, math.IsNaN(stats.T975(-3)))
}

func TestMeanInterval(t *testing.T) {
	for _, tc := range []struct {
		name   string
		values []float64
		lo, hi float64
		ok     bool
	}{
		// Student (1908), the gain of sleep by ten patients; R's t.test(extra ~ group, paired = TRUE) gives 0.7001 to 2.4599.
		{"Student's sleep data", []float64{1.2, 2.4, 1.3, 1.3, 0, 1.0, 1.8, 0.8, 4.6, 1.4}, 0.7001142, 2.4598858, true},
		{"two", []float64{1, 3}, 2 - 12.7062047, 2 + 12.7062047, true},
		{"all the same", []float64{7, 7, 7}, 7, 7, true},
		{"one shows no spread", []float64{7}, 0, 0, false},
		{"none", nil, 0, 0, false},
		{"not a number", []float64{1, math.NaN()}, 0, 0, false},
		{"spread overflows", []float64{-1e200, 1e200}, 0, 0, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			lo, hi, ok := stats.MeanInterval(tc.values)
			require.Equal(t, tc.ok, ok)
			assert.InDelta(t, tc.lo, lo, 1e-6)
			assert.InDelta(t, tc.hi, hi, 1e-6)
		})
	}
}

func TestBootstrapMean(t *testing.T) {
	values := []float64{0.4, -0.1, 0.2, 0.2, 0, 0.6}
	lo, hi, ok := stats.BootstrapMean(values, 10_000, 1)
	require.True(t, ok)
	mean, _ := stats.Mean(values)
	assert.Less(t, lo, mean)
	assert.Greater(t, hi, mean)

	turned := slices.Clone(values)
	slices.Reverse(turned)
	againLo, againHi, _ := stats.BootstrapMean(turned, 10_000, 1)
	assert.Equal(t, [2]float64{lo, hi}, [2]float64{againLo, againHi}, "the order of the tasks does not matter")
	// Pinned: a record made today must be reproducible with a later version of Go and of Proctor.
	assert.InDelta(t, pinnedLo, lo, 1e-12)
	assert.InDelta(t, pinnedHi, hi, 1e-12)

	lo, hi, ok = stats.BootstrapMean([]float64{0.25, 0.25, 0.25}, 1000, 1)
	assert.True(t, ok)
	assert.Equal(t, [2]float64{0.25, 0.25}, [2]float64{lo, hi})
	for _, none := range [][]float64{nil, {}, {1}, {1, math.NaN()}, {1, math.Inf(1)}} {
		_, _, ok = stats.BootstrapMean(none, 1000, 1)
		assert.False(t, ok, "%v", none)
	}
	_, _, ok = stats.BootstrapMean(values, 39, 1)
	assert.False(t, ok, "too few to cut 2.5 % off either end")
}

const (
	pinnedLo = 0.1 / 3
	pinnedHi = 0.4
)

// TestBootstrapAgainstEnumeration: with few values every resample can be listed, and the drawn interval must be the
// listed one's.
func TestBootstrapAgainstEnumeration(t *testing.T) {
	for _, values := range [][]float64{{0, 1}, {0, 0.3, 1}, {-0.5, 0, 0.1, 0.7}} {
		n := len(values)
		total := int(math.Pow(float64(n), float64(n)))
		var means []float64
		for code := range total {
			var sum float64
			for i, rest := 0, code; i < n; i, rest = i+1, rest/n {
				sum += values[rest%n]
			}
			means = append(means, sum/float64(n))
		}
		slices.Sort(means)
		lo, hi, ok := stats.BootstrapMean(values, 40_000, 7)
		require.True(t, ok)
		assert.InDelta(t, means[total/40], lo, 1e-12, "%v", values)
		assert.InDelta(t, means[total-1-total/40], hi, 1e-12, "%v", values)
	}
}
