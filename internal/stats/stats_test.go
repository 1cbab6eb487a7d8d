package stats_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/internal/stats"
)

func TestMean(t *testing.T) {
	inf := math.Inf(1)
	for _, tc := range []struct {
		name   string
		values []float64
		want   float64
		ok     bool
	}{
		{"nothing measured", nil, 0, false},
		{"empty", []float64{}, 0, false},
		{"one", []float64{3.5}, 3.5, true},
		{"measured zeros are a mean of zero", []float64{0, 0}, 0, true},
		{"tokens", []float64{38900, 44100, 30100}, 113100.0 / 3, true},
		{"negative", []float64{-1, 2}, 0.5, true},
		{"not a number", []float64{1, math.NaN()}, 0, false},
		{"infinite", []float64{1, inf}, 0, false},
		{"opposite infinities", []float64{-inf, inf}, 0, false},
		{"sum overflows", []float64{math.MaxFloat64, math.MaxFloat64}, 0, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, ok := stats.Mean(tc.values)
			require.Equal(t, tc.ok, ok)
			assert.InDelta(t, tc.want, got, 1e-9)
		})
	}
}

// impossible holds counts no arm can have.
var impossible = []struct {
	name string
	s, n int
}{
	{"negative successes", -1, 5},
	{"negative trials", 0, -1},
	{"both negative", -3, -2},
	{"more successes than trials", 6, 5},
	{"successes of no trials", 1, 0},
	{"too many trials", 0, stats.MaxTrials + 1},
	{"largest int", math.MaxInt, math.MaxInt},
	{"smallest int", math.MinInt, math.MinInt},
}

func TestImpossibleCounts(t *testing.T) {
	for _, tc := range impossible {
		t.Run(tc.name, func(t *testing.T) {
			_, _, ok := stats.Wilson(tc.s, tc.n)
			assert.False(t, ok, "Wilson")
			// The other arm may be good, impossible or empty, and stand on either side.
			for _, other := range [][2]int{{2, 4}, {tc.s, tc.n}, {0, 0}} {
				_, _, _, ok = stats.Newcombe(tc.s, tc.n, other[0], other[1])
				assert.False(t, ok, "Newcombe, other %v", other)
				_, _, _, ok = stats.Newcombe(other[0], other[1], tc.s, tc.n)
				assert.False(t, ok, "Newcombe, other %v first", other)
				assert.True(t, math.IsNaN(stats.Fisher(tc.s, tc.n, other[0], other[1])), "Fisher, other %v", other)
				assert.True(t, math.IsNaN(stats.Fisher(other[0], other[1], tc.s, tc.n)), "Fisher, other %v first", other)
				assert.True(t, math.IsNaN(stats.Boschloo(tc.s, tc.n, other[0], other[1])), "Boschloo, other %v", other)
				assert.True(t, math.IsNaN(stats.Boschloo(other[0], other[1], tc.s, tc.n)), "Boschloo, other %v first", other)
			}
		})
	}
}

func TestEmptyArms(t *testing.T) {
	_, _, ok := stats.Wilson(0, 0)
	assert.False(t, ok)
	for _, tc := range [][4]int{{0, 0, 0, 0}, {0, 0, 3, 5}, {5, 5, 0, 0}} {
		_, _, _, ok := stats.Newcombe(tc[0], tc[1], tc[2], tc[3])
		assert.False(t, ok, "%v", tc)
		assert.Equal(t, 1.0, stats.Fisher(tc[0], tc[1], tc[2], tc[3]), "%v", tc)
		assert.Equal(t, 1.0, stats.Boschloo(tc[0], tc[1], tc[2], tc[3]), "%v", tc)
	}
}

// FuzzCounts looks for counts that panic, or that break an invariant of the package comment.
func FuzzCounts(f *testing.F) {
	f.Add(5, 5, 0, 5)
	f.Add(0, 0, 1, 1)
	f.Add(-1, 3, 2, math.MaxInt)
	f.Add(999, 1000, 1, 1000)
	f.Add(stats.MaxTrials/2, stats.MaxTrials, 3, stats.MaxTrials)
	f.Fuzz(func(t *testing.T, s1, n1, s2, n2 int) {
		diff, lo, hi, ok := stats.Newcombe(s1, n1, s2, n2)
		fisher, boschloo := stats.Fisher(s1, n1, s2, n2), stats.Boschloo(s1, n1, s2, n2)
		for _, v := range []float64{diff, lo, hi} {
			require.False(t, math.IsNaN(v) || math.IsInf(v, 0), "Newcombe: %v", v)
		}
		if math.IsNaN(fisher) {
			require.True(t, math.IsNaN(boschloo))
			require.False(t, ok)
			return
		}
		require.True(t, 0 <= boschloo && boschloo <= fisher && fisher <= 1, "0 <= %v <= %v <= 1", boschloo, fisher)
		require.Equal(t, boschloo, stats.Boschloo(s2, n2, s1, n1), "arms swapped")
		require.Equal(t, fisher, stats.Fisher(n1-s1, n1, n2-s2, n2), "failures for successes")
		require.Equal(t, n1 > 0 && n2 > 0, ok)
		require.True(t, -1 <= lo && lo <= diff && diff <= hi && hi <= 1, "-1 <= %v <= %v <= %v <= 1", lo, diff, hi)
	})
}
