package stats_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/proctor-evals/proctor/internal/stats"
)

// The A/A test: both arms have the same success rate, so every verdict is a false one. By enumeration of all tables, not by
// drawing: with p <= level as the rule, the share of false verdicts is at most the level, for every number of trials and
// every rate. There is no allowance for rounding.
func TestFalsePositives(t *testing.T) {
	var arms [][2]int
	for n := 1; n <= 30; n++ {
		arms = append(arms, [2]int{n, n})
	}
	arms = append(arms, [2]int{1, 9}, [2]int{2, 3}, [2]int{4, 5}, [2]int{5, 20}, [2]int{9, 10}, [2]int{10, 30}, [2]int{17, 23})

	levels := []float64{0.01, 0.05, 0.1}
	tests := []struct {
		name string
		p    func(s1, n1, s2, n2 int) float64
	}{{"Boschloo", stats.Boschloo}, {"Fisher", stats.Fisher}}
	type worst struct {
		share float64
		where string
	}
	largest := make(map[string]map[float64]worst)
	for _, test := range tests {
		largest[test.name] = make(map[float64]worst)
		for _, arm := range arms {
			n1, n2 := arm[0], arm[1]
			p := make([][]float64, n1+1)
			for s1 := range p {
				p[s1] = make([]float64, n2+1)
				for s2 := range p[s1] {
					p[s1][s2] = test.p(s1, n1, s2, n2)
				}
			}
			for percent := 5; percent <= 95; percent++ { // every step of 0.05, and what lies between
				rate := float64(percent) / 100
				pmf1, pmf2 := binomialPMF(n1, rate), binomialPMF(n2, rate)
				for _, level := range levels {
					var share float64
					for s1, q1 := range pmf1 {
						for s2, q2 := range pmf2 {
							if p[s1][s2] <= level {
								share += q1 * q2
							}
						}
					}
					where := fmt.Sprintf("%d against %d trials at rate %.2f", n1, n2, rate)
					assert.LessOrEqual(t, share, level, "%s, level %v, %s", test.name, level, where)
					if share > largest[test.name][level].share {
						largest[test.name][level] = worst{share, where}
					}
				}
			}
		}
	}
	for _, test := range tests {
		for _, level := range levels {
			w := largest[test.name][level]
			t.Logf("%s at level %v: at worst %.5f, %s", test.name, level, w.share, w.where)
		}
	}
	// Boschloo is there because Fisher wastes the level. Were both equally strict, one of them would be computed wrongly.
	assert.Greater(t, largest["Boschloo"][0.05].share, 0.045)
	assert.Less(t, largest["Fisher"][0.05].share, 0.04)
}
