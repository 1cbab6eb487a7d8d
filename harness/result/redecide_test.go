package result

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The outcome is what is counted. One that the rest of the record does not carry is refused by name.
func TestCountDecidesAgain(t *testing.T) {
	for name, row := range map[string]struct {
		outcome Outcome
		code    Verdict
		change  func(*Trial)
		want    string
	}{
		"a failure made a success": {Failed, Fail, func(t *Trial) { t.Outcome, t.Success = Succeeded, Pass },
			`trial 2 of "with-symposium" says outcome "succeeded" with success "pass", and its execution, code and expectations come to outcome "failed" with success "fail"`},
		"a success made a failure":         {Succeeded, Pass, func(t *Trial) { t.Outcome, t.Success = Failed, Fail }, `come to outcome "succeeded"`},
		"the outcome alone":                {Failed, Fail, func(t *Trial) { t.Outcome = Succeeded }, `says outcome "succeeded" with success "fail"`},
		"success alone":                    {Failed, Fail, func(t *Trial) { t.Success = Pass }, `says outcome "failed" with success "pass"`},
		"expectations failed":              {Succeeded, Pass, func(t *Trial) { t.Expectations.Sync.SyncRecorded = Fail }, `come to outcome "failed"`},
		"no expectations":                  {Succeeded, Pass, func(t *Trial) { t.Expectations = nil }, `come to outcome "inconclusive"`},
		"never graded":                     {Succeeded, Pass, func(t *Trial) { t.Code = nil }, "come to excluded (grading)"},
		"a failure taken out by hand":      {Failed, Fail, func(t *Trial) { t.Outcome, t.Success, t.Excluded = "", "", &Exclusion{Kind: ExcludedGrading} }, `come to outcome "failed"`},
		"the code's whole and its parts":   {Succeeded, Pass, func(t *Trial) { t.Code = &Code{Build: Pass, CargoTestLib: Fail, Overall: Pass} }, `says that its code is "pass", and the steps of its grading come to "fail"`},
		"the code and its counted grading": {Succeeded, Pass, func(t *Trial) { t.Gradings = []Grading{{Folder: "grading", Counts: true, Code: &Code{Overall: Fail}}} }, `its grading that counts (grading) says "fail"`},
	} {
		t.Run(name, func(t *testing.T) {
			var a arm
			a.add(2, Completed, row.outcome, "", row.code)
			_, err := Count(a)
			require.NoError(t, err, "the control")
			row.change(a[1])
			c, err := Count(a)
			require.ErrorContains(t, err, row.want)
			assert.Equal(t, Counts{}, c)
		})
	}
}
