package result

import (
	"fmt"
	"math"

	"github.com/proctor-evals/proctor/internal/stats"
)

// Power is the chance with which a difference called detectable leads to a verdict.
const Power = 0.8

// Detectable says what a number of trials could show, before any is run: the smallest difference that
// the verdict rule would call helps or hurts with a chance of at least Power. It is exact, for arms in
// which every trial counts; inconclusive and excluded trials make it larger.
type Detectable struct {
	Treatment    int     `json:"treatment_trials"`
	Baseline     int     `json:"baseline_trials"`
	BaselineRate float64 `json:"baseline_rate"` // the guess it is computed for
	// Gain and Loss are differences of success rates, in (0, 1]; null where not even the largest
	// possible one would show.
	Gain *float64 `json:"gain"`
	Loss *float64 `json:"loss"`
}

// DetectableAt computes Detectable for guesses of the baseline's success rate, in [0, 1]. It is nil for
// arms that are empty or larger than stats.MaxPower.
func DetectableAt(treatment, baseline int, rates ...float64) []Detectable {
	r, ok := stats.NewRejection(treatment, baseline, Alpha)
	if !ok {
		return nil
	}
	var out []Detectable
	for _, rate := range rates {
		d := Detectable{Treatment: treatment, Baseline: baseline, BaselineRate: rate}
		if to, ok := r.Detectable(rate, Power); ok {
			gain := to - rate
			d.Gain = &gain
		}
		// A loss is a gain of failures: the tests do not change when both are exchanged.
		if to, ok := r.Detectable(1-rate, Power); ok {
			loss := to - (1 - rate)
			d.Loss = &loss
		}
		out = append(out, d)
	}
	return out
}

// String is a sentence for people who are about to pay for the trials.
func (d Detectable) String() string {
	trials := fmt.Sprintf("%d trials", d.Treatment)
	switch {
	case d.Treatment != d.Baseline:
		trials = fmt.Sprintf("%d against %d trials", d.Treatment, d.Baseline)
	case d.Treatment == 1:
		trials = "1 trial"
	}
	size := func(difference *float64) string {
		if difference == nil {
			return "none"
		}
		return fmt.Sprintf("%.0f points", math.Ceil(100**difference-1e-9))
	}
	return fmt.Sprintf("%s a configuration, baseline at %.0f %%: smallest gain shown 4 times in 5: %s; smallest loss: %s",
		trials, 100*d.BaselineRate, size(d.Gain), size(d.Loss))
}
