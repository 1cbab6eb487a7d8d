package result

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The A/A self-test: both arms are equally good, so every "helps" and every "hurts" is false. By exact
// enumeration of all tables through Compare, the verdict function itself, and not by drawing.

// aaArms are all equal arms up to 30 trials and some unequal ones.
func aaArms() [][2]int {
	var arms [][2]int
	for n := 1; n <= 30; n++ {
		arms = append(arms, [2]int{n, n})
	}
	return append(arms, [2]int{1, 9}, [2]int{2, 3}, [2]int{4, 5}, [2]int{5, 20}, [2]int{20, 5}, [2]int{9, 10}, [2]int{10, 30}, [2]int{17, 23}, [2]int{30, 29})
}

// verdicts judges every table of two arms.
func verdicts(n1, n2 int) [][]Judgement {
	out := make([][]Judgement, n1+1)
	for s1 := range out {
		out[s1] = make([]Judgement, n2+1)
		for s2 := range out[s1] {
			out[s1][s2] = Compare("a", counts(s1, n1-s1, 0, 0), "b", counts(s2, n2-s2, 0, 0)).Verdict
		}
	}
	return out
}

// binomialPMF by logarithms: another way than internal/stats takes.
func binomialPMF(n int, rate float64) []float64 {
	out := make([]float64, n+1)
	all, _ := math.Lgamma(float64(n + 1))
	for s := range out {
		a, _ := math.Lgamma(float64(s + 1))
		b, _ := math.Lgamma(float64(n - s + 1))
		out[s] = math.Exp(all - a - b + float64(s)*math.Log(rate) + float64(n-s)*math.Log(1-rate))
	}
	return out
}

// aaPoint is the share of false verdicts at one number of trials and one rate.
type aaPoint struct {
	n1, n2       int
	rate         float64
	helps, hurts float64
}

func (p aaPoint) share() float64 { return p.helps + p.hurts }
func (p aaPoint) String() string {
	return fmt.Sprintf("%d against %d trials at rate %.2f: helps %.5f + hurts %.5f = %.5f", p.n1, p.n2, p.rate, p.helps, p.hurts, p.share())
}

// aaPoints enumerates every arm at the rates 0.05, 0.10 … 0.95.
func aaPoints() (points []aaPoint) {
	for _, arm := range aaArms() {
		judged := verdicts(arm[0], arm[1])
		for step := 1; step <= 19; step++ {
			p := aaPoint{n1: arm[0], n2: arm[1], rate: float64(step) / 20}
			q1, q2 := binomialPMF(p.n1, p.rate), binomialPMF(p.n2, p.rate)
			for s1, row := range judged {
				for s2, v := range row {
					switch v {
					case Helps:
						p.helps += q1[s1] * q2[s2]
					case Hurts:
						p.hurts += q1[s1] * q2[s2]
					}
				}
			}
			points = append(points, p)
		}
	}
	return points
}

func worst(points []aaPoint) aaPoint {
	w := points[0]
	for _, p := range points {
		if p.share() > w.share() {
			w = p
		}
	}
	return w
}

func TestAA(t *testing.T) {
	points := aaPoints()
	require.Len(t, points, 19*39)
	for _, p := range points {
		assert.LessOrEqual(t, p.share(), Alpha, "%s", p)
		if p.n1 == p.n2 {
			assert.InDelta(t, p.helps, p.hurts, 1e-12, "equal arms err alike both ways: %s", p)
		}
	}
	w := worst(points)
	t.Logf("worst of %d points: %s", len(points), w)
	// A rule that never speaks would pass all of the above.
	assert.Greater(t, w.share(), 0.04, "%s", w)
	assert.Equal(t, Helps, Compare("a", counts(5, 0, 0, 0), "b", counts(0, 5, 0, 0)).Verdict)
}

// TestAAWithInconclusive: trials that could not be counted, alike in both arms, make no verdict likelier.
func TestAAWithInconclusive(t *testing.T) {
	for _, n := range []int{3, 5, 6} {
		for _, rate := range []float64{0.2, 0.5, 0.8} {
			for _, unknown := range []float64{0.1, 0.3} {
				var share, total float64
				each := func(do func(c Counts, q float64)) {
					inconclusive := binomialPMF(n, unknown)
					for i := 0; i <= n; i++ {
						for s, q := range binomialPMF(n-i, rate) {
							do(counts(s, n-i-s, i, 0), q*inconclusive[i])
						}
					}
				}
				each(func(a Counts, qa float64) {
					each(func(b Counts, qb float64) {
						total += qa * qb
						if Compare("a", a, "b", b).Verdict != CannotTell {
							share += qa * qb
						}
					})
				})
				assert.InDelta(t, 1, total, 1e-9, "every result was looked at")
				assert.LessOrEqual(t, share, Alpha, "%d trials, rate %v, inconclusive %v", n, rate, unknown)
			}
		}
	}
}

// BenchmarkAA prints the worst point: go test -run '^$' -bench AA ./harness/result
func BenchmarkAA(b *testing.B) {
	var w aaPoint
	for b.Loop() {
		w = worst(aaPoints())
	}
	b.ReportMetric(w.share(), "worst-share")
	b.Logf("worst point: %s", w)
}
