package result

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDetectableAt(t *testing.T) {
	for _, tc := range []struct {
		treatment, baseline int
		rate                float64
		want                string
	}{
		{1, 1, 0, "1 trial a configuration, baseline at 0 %: smallest gain shown 4 times in 5: none; smallest loss: none"},
		{2, 2, 0.5, "2 trials a configuration, baseline at 50 %: smallest gain shown 4 times in 5: none; smallest loss: none"},
		{3, 3, 0, "3 trials a configuration, baseline at 0 %: smallest gain shown 4 times in 5: 93 points; smallest loss: none"},
		{3, 3, 1, "3 trials a configuration, baseline at 100 %: smallest gain shown 4 times in 5: none; smallest loss: 93 points"},
		{5, 5, 0.5, "5 trials a configuration, baseline at 50 %: smallest gain shown 4 times in 5: none; smallest loss: none"},
		{20, 10, 0, "20 against 10 trials a configuration, baseline at 0 %: smallest gain shown 4 times in 5: 47 points; smallest loss: none"},
	} {
		d := DetectableAt(tc.treatment, tc.baseline, tc.rate)
		require.Len(t, d, 1)
		assert.Equal(t, tc.want, d[0].String())
	}
	assert.Nil(t, DetectableAt(0, 5, 0.5))
	assert.Nil(t, DetectableAt(1_000_000, 5, 0.5))
}

// TestDetectableGoesByTheVerdict: the chance of "helps" at the rate given, over all tables through
// Compare, is at least Power, and one hundredth lower it is not.
func TestDetectableGoesByTheVerdict(t *testing.T) {
	for _, n := range []int{4, 8, 12} {
		judged := verdicts(n, n)
		chance := func(want Judgement, rate1, rate2 float64) (sum float64) {
			// The enumeration takes logarithms of rates; 0 and 1 are out of its reach.
			q1, q2 := binomialPMF(n, min(max(rate1, 1e-12), 1-1e-12)), binomialPMF(n, min(max(rate2, 1e-12), 1-1e-12))
			for s1, row := range judged {
				for s2, v := range row {
					if v == want {
						sum += q1[s1] * q2[s2]
					}
				}
			}
			return sum
		}
		found := 0
		for _, d := range DetectableAt(n, n, 0, 0.1, 0.35, 0.9) {
			if d.Gain != nil {
				found++
				assert.GreaterOrEqual(t, chance(Helps, d.BaselineRate+*d.Gain, d.BaselineRate), Power-1e-9, "%s", d)
				assert.Less(t, chance(Helps, d.BaselineRate+*d.Gain-0.01, d.BaselineRate), Power, "%s", d)
			} else {
				assert.Less(t, chance(Helps, 1, d.BaselineRate), Power, "%s", d)
			}
			if d.Loss != nil {
				found++
				assert.GreaterOrEqual(t, chance(Hurts, d.BaselineRate-*d.Loss, d.BaselineRate), Power-1e-9, "%s", d)
			} else {
				assert.Less(t, chance(Hurts, 0, d.BaselineRate), Power, "%s", d)
			}
		}
		assert.Positive(t, found)
	}
}
