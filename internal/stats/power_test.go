package stats_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/internal/stats"
)

// chance is Rejection.Chance by its definition.
func chance(n1, n2 int, level, rate1, rate2 float64) float64 {
	first, second := binomialPMF(n1, rate1), binomialPMF(n2, rate2)
	var sum float64
	for s1, q1 := range first {
		for s2, q2 := range second {
			if s1*n2 > s2*n1 && stats.Boschloo(s1, n1, s2, n2) <= level {
				sum += q1 * q2
			}
		}
	}
	return sum
}

func TestChanceIsThatOfBoschloosTest(t *testing.T) {
	arms := [][2]int{{9, 10}, {10, 9}, {5, 20}, {20, 5}, {1, 9}, {17, 23}}
	for n := 1; n <= 16; n++ {
		arms = append(arms, [2]int{n, n})
	}
	for _, arm := range arms {
		for _, level := range []float64{0.05, 0.01} {
			r, ok := stats.NewRejection(arm[0], arm[1], level)
			require.True(t, ok)
			for _, rates := range [][2]float64{{1, 0}, {0.9, 0.1}, {0.5, 0.5}, {0.85, 0.4}, {0.2, 0.8}, {0, 0}, {1, 1}, {0.05, 0}} {
				require.InDelta(t, chance(arm[0], arm[1], level, rates[0], rates[1]), r.Chance(rates[0], rates[1]), 1e-12, "arms %v, level %v, rates %v", arm, level, rates)
			}
		}
	}
}

func TestDetectable(t *testing.T) {
	for _, tc := range []struct {
		n     int
		rate2 float64
		rate1 float64
		ok    bool
	}{
		// 1 and 2 trials a side reject nothing.
		{1, 0, 0, false}, {2, 0, 0, false},
		// 3 of 3 against 0 of 3 alone rejects: rate cubed >= 0.8 from 0.93 on.
		{3, 0, 0.93, true}, {3, 0.05, 0.98, true}, {3, 0.1, 0, false},
		{5, 0.5, 0, false}, {5, 1, 0, false},
		{30, 1, 0, false},
	} {
		r, ok := stats.NewRejection(tc.n, tc.n, 0.05)
		require.True(t, ok)
		got, ok := r.Detectable(tc.rate2, 0.8)
		assert.Equal(t, tc.ok, ok, "%+v", tc)
		assert.InDelta(t, tc.rate1, got, 1e-9, "%+v", tc)
	}
}

// TestDetectableIsTheEdge: at the rate given the chance is 80 % or more, and one hundredth below it is less.
func TestDetectableIsTheEdge(t *testing.T) {
	before := 2.0
	for _, n := range []int{5, 10, 20, 40, 80, 200} {
		r, ok := stats.NewRejection(n, n, 0.05)
		require.True(t, ok)
		for _, rate2 := range []float64{0, 0.125, 0.4, 0.5} {
			rate1, ok := r.Detectable(rate2, 0.8)
			if !ok {
				require.Less(t, r.Chance(1, rate2), 0.8)
				continue
			}
			require.GreaterOrEqual(t, r.Chance(rate1, rate2), 0.8, "%d trials, from %v", n, rate2)
			if rate1 < 1 {
				require.Less(t, r.Chance(rate1-0.01, rate2), 0.8, "%d trials, from %v", n, rate2)
			}
		}
		at0, ok := r.Detectable(0, 0.8)
		require.True(t, ok)
		require.Less(t, at0, before, "more trials show smaller differences")
		before = at0
	}
}

// TestChanceGrowsWithTheDifference is what lets Detectable stop at the first rate that fails.
func TestChanceGrowsWithTheDifference(t *testing.T) {
	for _, arm := range [][2]int{{3, 3}, {5, 5}, {10, 10}, {5, 20}, {20, 5}, {30, 30}} {
		r, _ := stats.NewRejection(arm[0], arm[1], 0.05)
		for rate2 := 0.0; rate2 < 1; rate2 += 0.1 {
			before := 0.0
			for rate1 := rate2; rate1 <= 1; rate1 += 0.01 {
				got := r.Chance(rate1, rate2)
				require.GreaterOrEqual(t, got, before-1e-12, "arms %v, %v against %v", arm, rate1, rate2)
				before = got
			}
		}
	}
}

func TestNoRejection(t *testing.T) {
	for _, tc := range []struct {
		n1, n2 int
		level  float64
	}{{0, 5, 0.05}, {5, 0, 0.05}, {-1, 5, 0.05}, {5, stats.MaxPower + 1, 0.05}, {5, 5, 0}, {5, 5, 1}} {
		_, ok := stats.NewRejection(tc.n1, tc.n2, tc.level)
		assert.False(t, ok, "%+v", tc)
	}
	r, _ := stats.NewRejection(5, 5, 0.05)
	for _, rate := range []float64{-0.1, 1.1} {
		_, ok := r.Detectable(rate, 0.8)
		assert.False(t, ok)
	}
}

func BenchmarkRejection(b *testing.B) {
	for b.Loop() {
		r, ok := stats.NewRejection(100, 100, 0.05)
		require.True(b, ok)
		_, ok = r.Detectable(0.5, 0.8)
		require.True(b, ok)
	}
}
