package result

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEndpointForbidsVerdict: a clear difference is none while the model's host spoilt a trial of either arm.
func TestEndpointForbidsVerdict(t *testing.T) {
	for name, spoilt := range map[string]string{"none": "", "treatment": "with", "baseline": "without"} {
		t.Run(name, func(t *testing.T) {
			arms := Arms{Order: []string{"without", "with"}, Baseline: "without", Planned: map[string]int{"with": 11, "without": 11}, Trials: map[string][]*Trial{}, Compared: true}
			for _, arm := range arms.Order {
				for i := range 11 {
					verdict := map[bool]Verdict{true: Pass, false: Fail}[arm == "with"]
					tr := &Trial{
						Trial: i + 1, State: Finished, Execution: Completed, Configuration: Configuration{Name: arm, Skills: "none"}, Code: &Code{Overall: verdict},
						Gradings: []Grading{{Folder: "grading", ChecksHash: "h", Counts: true, Code: &Code{Overall: verdict}}},
					}
					if i == 10 && arm == spoilt {
						tr.Execution, tr.ExecutionCause = ClientError, CauseModelEndpoint
					}
					tr.Decide()
					arms.Trials[arm] = append(arms.Trials[arm], tr)
				}
			}
			var b Benchmark
			require.NoError(t, b.Tally(arms, "with"))
			require.Len(t, b.Comparisons, 1)
			c := b.Comparisons[0]
			require.NotNil(t, c.P)
			assert.Less(t, *c.P, Alpha)
			if spoilt == "" {
				assert.Equal(t, Helps, c.Verdict)
				return
			}
			assert.Equal(t, CannotTell, c.Verdict)
			assert.Contains(t, c.Reason, "in 1 of these trials the model's host failed")
			assert.Equal(t, 11, b.Configurations[spoilt].Eligible, "it counts all the same")
		})
	}
}
