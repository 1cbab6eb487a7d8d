package stats_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/internal/stats"
)

// exactValues were computed apart from this package: Fisher's p-value in rational arithmetic, agreeing with scipy 1.17
// fisher_exact; Boschloo's as the maximum over a grid of rates of the sum over all tables, polished by
// scipy's minimize_scalar. For arms of equal size scipy's boschloo_exact gives the same; for others it doubles one side.
var exactValues = []struct {
	s1, n1, s2, n2   int
	fisher, boschloo float64
}{
	{3, 4, 1, 4, 0.485714285714286, 0.2890625}, // Fisher's lady tasting tea: 34/70; 74/256
	{5, 5, 0, 5, 0.00793650793650794, 0.001953125},
	{4, 4, 0, 4, 0.0285714285714286, 0.0078125},
	{3, 3, 0, 3, 0.1, 0.03125},
	{4, 5, 2, 5, 0.523809523809524, 0.34375},
	{0, 5, 0, 5, 1, 1},
	{7, 10, 2, 10, 0.0697785186949274, 0.041389465332},
	{9, 10, 3, 10, 0.0197666110978804, 0.00795555114746},
	{10, 10, 0, 10, 1.0825088224469e-05, 1.90734863281e-06},
	{18, 20, 11, 20, 0.0309503051438535, 0.0167146885578},
	{20, 20, 18, 20, 0.487179487179487, 0.323725144825},
	{1, 30, 6, 30, 0.102789716973481, 0.0560791661279},
	{7, 34, 1, 34, 0.0544001304950657, 0.0384639221227},
	{60, 100, 45, 100, 0.0471654853830193, 0.037263496148},
	// Unequal arms.
	{2, 2, 0, 3, 0.1, 0.0625},
	{1, 1, 0, 9, 0.1, 0.0387420498}, // the supremum is at a rate of 0.9 and 0.1, not in the middle
	{5, 7, 1, 12, 0.00954592363261094, 0.0047505824337},
	{9, 13, 4, 14, 0.0569826455881107, 0.0522794723511},
	{6, 10, 6, 20, 0.139146910061453, 0.110186861257},
	{0, 16, 15, 72, 0.0628666646301093, 0.0523556168133},
	{12, 15, 11, 40, 0.00066103568849921, 0.000378044994474},
	{56, 70, 48, 80, 0.0125211297492092, 0.00991798094597},
	{74, 117, 31, 63, 0.0817946749549986, 0.0720787513417},
}

func TestExactValues(t *testing.T) {
	for _, tc := range exactValues {
		t.Run(fmt.Sprintf("%d of %d, %d of %d", tc.s1, tc.n1, tc.s2, tc.n2), func(t *testing.T) {
			assert.InEpsilon(t, tc.fisher, stats.Fisher(tc.s1, tc.n1, tc.s2, tc.n2), 1e-12)
			assert.InEpsilon(t, tc.boschloo, stats.Boschloo(tc.s1, tc.n1, tc.s2, tc.n2), 2e-9)
		})
	}
}

// The least that must be enough to say "helps": everything against nothing in four rounds, also in three. Two never are.
func TestExtremeResults(t *testing.T) {
	for n := 3; n <= 30; n++ {
		assert.InEpsilon(t, math.Pow(2, float64(1-2*n)), stats.Boschloo(n, n, 0, n), 2e-9, "n = %d", n)
		assert.LessOrEqual(t, stats.Boschloo(0, n, n, n), 0.05, "n = %d", n)
	}
	assert.Equal(t, 1.0, stats.Boschloo(1, 1, 0, 1))
	assert.Equal(t, 0.125, stats.Boschloo(2, 2, 0, 2))
}

// Many trials: no overflow, no lost p-values, and the documented retreat to Fisher.
func TestManyTrials(t *testing.T) {
	p := stats.Boschloo(500, 500, 0, 500)
	assert.InEpsilon(t, math.Pow(2, -999), p, 1e-8)
	p = stats.Boschloo(1000, 1000, 0, 1000)
	assert.True(t, 0 <= p && p < 1e-300, "%v", p)
	const over = stats.BoschlooLimit/2 + 1
	assert.Equal(t, stats.Fisher(520, over, 480, over), stats.Boschloo(520, over, 480, over))
	assert.Less(t, stats.Boschloo(520, over-1, 480, over-1), stats.Fisher(520, over-1, 480, over-1))
	// 15.8 standard deviations apart, at the largest arms accepted; then nothing apart.
	const half = stats.MaxTrials / 2
	p = stats.Fisher(half+250_000, stats.MaxTrials, half-250_000, stats.MaxTrials)
	assert.InEpsilon(t, math.Erfc(500_000/math.Sqrt(stats.MaxTrials/2)/math.Sqrt2), p, 1e-2)
	assert.Equal(t, 1.0, stats.Fisher(half, stats.MaxTrials, half, stats.MaxTrials))
}

// binomialRat is n over k, exactly.
func binomialRat(n, k int) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Binomial(int64(n), int64(k)))
}

// fisherRat is Fisher's p-value by its definition, in exact arithmetic, where ties are ties.
func fisherRat(s1, n1, s2, n2 int) *big.Rat {
	k := s1 + s2
	weight := func(x int) *big.Rat { return new(big.Rat).Mul(binomialRat(n1, x), binomialRat(n2, k-x)) }
	observed, sum := weight(s1), new(big.Rat)
	for x := max(0, k-n2); x <= min(n1, k); x++ {
		if w := weight(x); w.Cmp(observed) <= 0 {
			sum.Add(sum, w)
		}
	}
	return sum.Quo(sum, binomialRat(n1+n2, k))
}

// binomialPMF gives the probability of each number of successes in n trials at a rate inside (0, 1).
func binomialPMF(n int, rate float64) []float64 {
	pmf := make([]float64, n+1)
	for k := range pmf {
		c, _ := binomialRat(n, k).Float64()
		pmf[k] = c * math.Pow(rate, float64(k)) * math.Pow(1-rate, float64(n-k))
	}
	return pmf
}

// Every table of small arms against the definitions, by brute force: Fisher's in exact arithmetic; Boschloo's on a grid of
// rates, which the result must nowhere be below, and may exceed by no more than what a grid can miss.
func TestAllSmallTables(t *testing.T) {
	const points = 400
	for n1 := 1; n1 <= 7; n1++ {
		for n2 := n1; n2 <= 8; n2++ {
			tables := (n1 + 1) * (n2 + 1)
			fisher := make([]*big.Rat, tables) // of s1, s2 at s1*(n2+1)+s2
			for i := range fisher {
				fisher[i] = fisherRat(i/(n2+1), n1, i%(n2+1), n2)
			}
			rejected := make([][]int, tables) // tables with at most that Fisher p-value
			for i := range fisher {
				for j := range fisher {
					if fisher[j].Cmp(fisher[i]) <= 0 {
						rejected[i] = append(rejected[i], j)
					}
				}
			}
			largest := make([]float64, tables)
			for point := 1; point < points; point++ {
				rate := float64(point) / points
				pmf1, pmf2 := binomialPMF(n1, rate), binomialPMF(n2, rate)
				for i := range rejected {
					var p float64
					for _, j := range rejected[i] {
						p += pmf1[j/(n2+1)] * pmf2[j%(n2+1)]
					}
					largest[i] = max(largest[i], p)
				}
			}
			for i := range fisher {
				s1, s2 := i/(n2+1), i%(n2+1)
				want, _ := fisher[i].Float64()
				require.InEpsilon(t, want, stats.Fisher(s1, n1, s2, n2), 1e-13, "Fisher %d/%d %d/%d", s1, n1, s2, n2)
				p := stats.Boschloo(s1, n1, s2, n2)
				require.GreaterOrEqual(t, p, largest[i]*(1-1e-13), "Boschloo %d/%d %d/%d", s1, n1, s2, n2)
				require.InEpsilon(t, largest[i], p, 1e-3, "Boschloo %d/%d %d/%d", s1, n1, s2, n2)
			}
		}
	}
}

func TestExactProperties(t *testing.T) {
	for _, arms := range [][2]int{{1, 1}, {1, 8}, {5, 5}, {3, 7}, {4, 6}, {12, 12}, {13, 20}, {25, 25}} {
		n1, n2 := arms[0], arms[1]
		for s1 := 0; s1 <= n1; s1++ {
			for s2 := 0; s2 <= n2; s2++ {
				name := fmt.Sprintf("%d of %d, %d of %d", s1, n1, s2, n2)
				fisher, boschloo := stats.Fisher(s1, n1, s2, n2), stats.Boschloo(s1, n1, s2, n2)
				require.True(t, 0 < boschloo && boschloo <= fisher && fisher <= 1, "%s: 0 < %v <= %v <= 1", name, boschloo, fisher)
				require.Equal(t, fisher, stats.Fisher(s2, n2, s1, n1), "%s: arms swapped", name)
				require.Equal(t, boschloo, stats.Boschloo(s2, n2, s1, n1), "%s: arms swapped", name)
				require.Equal(t, fisher, stats.Fisher(n1-s1, n1, n2-s2, n2), "%s: failures for successes", name)
				require.Equal(t, boschloo, stats.Boschloo(n1-s1, n1, n2-s2, n2), "%s: failures for successes", name)
				if s1*n2 == s2*n1 {
					require.Equal(t, 1.0, fisher, "%s: equal rates", name)
					require.Equal(t, 1.0, boschloo, "%s: equal rates", name)
				}
				// With equal arms, more distance is more evidence. (With unequal ones two-sided p-values can break
				// this, since a table of the other tail may drop out.)
				if n1 == n2 && s1 > s2 {
					require.LessOrEqual(t, fisher, stats.Fisher(s1-1, n1, s2, n2), name)
					require.LessOrEqual(t, boschloo, stats.Boschloo(s1-1, n1, s2, n2), name)
				}
			}
		}
	}
}

// The symmetries hold to the last bit also where the sums are long and every order of adding rounds differently.
func TestSymmetryOfLargeTables(t *testing.T) {
	for _, arms := range [][2]int{{60, 60}, {41, 59}, {99, 201}, {250, 250}} {
		n1, n2 := arms[0], arms[1]
		for s1 := 0; s1 <= n1; s1++ {
			for _, s2 := range []int{n2 / 3, n2 / 2, (n1+n2)/2 - s1} { // the last: half of all trials succeed
				if s2 < 0 || s2 > n2 {
					continue
				}
				p := stats.Fisher(s1, n1, s2, n2)
				require.Equal(t, p, stats.Fisher(s2, n2, s1, n1), "%d of %d, %d of %d: arms swapped", s1, n1, s2, n2)
				require.Equal(t, p, stats.Fisher(n1-s1, n1, n2-s2, n2), "%d of %d, %d of %d: failures for successes", s1, n1, s2, n2)
			}
		}
	}
}

func BenchmarkBoschloo(b *testing.B) {
	for _, n := range []int{5, 30, 100, 500} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			for b.Loop() {
				stats.Boschloo(n*6/10, n, n*45/100, n)
			}
		})
	}
}
