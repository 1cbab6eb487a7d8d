package stats_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/internal/stats"
)

func TestPassAt(t *testing.T) {
	for _, tc := range []struct {
		k, s, n         int
		atLeastOne, all float64
		ok              bool
	}{
		// By hand from C(n-s, k) / C(n, k) and C(s, k) / C(n, k).
		{1, 2, 5, 2.0 / 5, 2.0 / 5, true},
		{3, 2, 5, 1 - 1.0/10, 0, true},
		{2, 3, 5, 1 - 1.0/10, 3.0 / 10, true},
		{5, 1, 5, 1, 0, true},
		{5, 5, 5, 1, 1, true},
		{10, 7, 10, 1, 0, true},
		{3, 4, 10, 1 - 20.0/120, 4.0 / 120, true},
		{5, 9, 20, 1 - 462.0/15504, 126.0 / 15504, true},
		// Nothing succeeded, everything did: exact, not up to rounding.
		{3, 0, 10, 0, 0, true},
		{3, 10, 10, 1, 1, true},
		{1, 0, 1, 0, 0, true},
		// Less trials than k, none at all, no k, impossible counts.
		{2, 1, 1, 0, 0, false},
		{1, 0, 0, 0, 0, false},
		{0, 1, 5, 0, 0, false},
		{-1, 1, 5, 0, 0, false},
		{1, 6, 5, 0, 0, false},
		{1, -1, 5, 0, 0, false},
		{math.MaxInt, 1, 5, 0, 0, false},
	} {
		got, ok := stats.PassAt(tc.k, tc.s, tc.n)
		assert.Equal(t, tc.ok, ok, "%+v", tc)
		assert.InDelta(t, tc.atLeastOne, got, 1e-12, "pass@k of %+v", tc)
		got, ok = stats.PassHat(tc.k, tc.s, tc.n)
		assert.Equal(t, tc.ok, ok, "%+v", tc)
		assert.InDelta(t, tc.all, got, 1e-12, "pass^k of %+v", tc)
	}
}

// TestPassAtIsUnbiased: the mean over all results of n trials is the chance itself, which is what the sources prove.
func TestPassAtIsUnbiased(t *testing.T) {
	for _, n := range []int{1, 3, 5, 10, 23} {
		for k := 1; k <= n; k++ {
			for _, rate := range []float64{0.05, 0.3, 0.5, 0.9} {
				var anyOf, allOf float64
				for s, q := range binomialPMF(n, rate) {
					a, ok := stats.PassAt(k, s, n)
					require.True(t, ok)
					h, ok := stats.PassHat(k, s, n)
					require.True(t, ok)
					anyOf, allOf = anyOf+q*a, allOf+q*h
				}
				require.InDelta(t, 1-math.Pow(1-rate, float64(k)), anyOf, 1e-12, "pass@%d of %d at %v", k, n, rate)
				require.InDelta(t, math.Pow(rate, float64(k)), allOf, 1e-12, "pass^%d of %d at %v", k, n, rate)
			}
		}
	}
}

func TestPassAtProperties(t *testing.T) {
	for _, n := range []int{1, 2, 5, 12, 1000} {
		for _, k := range []int{1, 3, 5, 10} {
			if k > n {
				continue
			}
			beforeAny, beforeAll := -1.0, -1.0
			for s := 0; s <= n; s++ {
				a, _ := stats.PassAt(k, s, n)
				h, _ := stats.PassHat(k, s, n)
				require.True(t, a >= beforeAny && h >= beforeAll, "more successes, no smaller (k %d, %d of %d)", k, s, n)
				require.True(t, 0 <= h && h <= a && a <= 1, "0 <= %v <= %v <= 1", h, a)
				require.Equal(t, s == 0, a == 0, "pass@%d of %d of %d", k, s, n)
				require.Equal(t, s == n, h == 1, "pass^%d of %d of %d", k, s, n)
				mirrored, _ := stats.PassHat(k, n-s, n)
				require.InDelta(t, 1-mirrored, a, 1e-15, "at least one succeeds unless all fail")
				beforeAny, beforeAll = a, h
			}
		}
	}
}
