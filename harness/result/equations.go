package result

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/proctor-evals/proctor/internal/stats"
)

// PassKs are the numbers of tries pass_at and pass_hat are given for.
var PassKs = []int{1, 3, 5, 10}

func passChances(succeeded, eligible int) (at, hat map[string]*float64) {
	at, hat = map[string]*float64{}, map[string]*float64{}
	for _, k := range PassKs {
		key := strconv.Itoa(k)
		at[key], hat[key] = nil, nil
		if chance, ok := stats.PassAt(k, succeeded, eligible); ok {
			at[key] = &chance
		}
		if chance, ok := stats.PassHat(k, succeeded, eligible); ok {
			hat[key] = &chance
		}
	}
	return at, hat
}

// Check checks the equations of Counts. Its error names each one that does not hold, with its numbers.
// What a benchmark.json says must not be believed, or printed as if it could be, before.
func (c Counts) Check() error {
	var problems []error
	equal := func(name string, whole int, parts string, sum int) {
		if whole != sum {
			problems = append(problems, fmt.Errorf("%s = %d, but %s = %d", name, whole, parts, sum))
		}
	}
	equal("planned", c.Planned, "setup_failures + cancelled + started", c.SetupFailures+c.Cancelled+c.Started)
	equal("eligible", c.Eligible, "started - excluded.isolation - excluded.grading", c.Started-c.Excluded.Isolation-c.Excluded.Grading)
	equal("eligible", c.Eligible, "succeeded + failed + inconclusive", c.Succeeded+c.Failed+c.Inconclusive)
	for _, skill := range slices.Sorted(maps.Keys(c.ObservedLoad)) {
		l := c.ObservedLoad[skill]
		equal("eligible", c.Eligible, fmt.Sprintf("the observed loads of %q", skill), l.Loaded+l.Attempted+l.NotObserved+l.Unknown)
	}
	for _, causes := range []struct {
		name  string
		whole int
		by    map[string]int
	}{
		{"setup_failures", c.SetupFailures, c.Causes.SetupFailures}, {"cancelled", c.Cancelled, c.Causes.Cancelled},
		{"excluded", c.Excluded.Isolation + c.Excluded.Grading, c.Causes.Excluded},
	} {
		sum := 0
		for _, n := range causes.by {
			sum += n
		}
		equal(causes.name, causes.whole, "its causes", sum)
	}
	for _, n := range []struct {
		name string
		n    int
	}{
		{"planned", c.Planned}, {"setup_failures", c.SetupFailures}, {"cancelled", c.Cancelled}, {"started", c.Started},
		{"excluded.isolation", c.Excluded.Isolation}, {"excluded.grading", c.Excluded.Grading},
		{"succeeded", c.Succeeded}, {"failed", c.Failed}, {"inconclusive", c.Inconclusive}, {"code_passed", c.CodePassed},
	} {
		if n.n < 0 {
			problems = append(problems, fmt.Errorf("%s = %d, which is no count", n.name, n.n))
		}
	}
	if c.CodePassed > c.CodeJudged || c.CodeJudged > c.Eligible {
		problems = append(problems, fmt.Errorf("code_passed = %d, code_judged = %d and eligible = %d, which must rise", c.CodePassed, c.CodeJudged, c.Eligible))
	}
	if (c.SuccessRate == nil) != (c.Eligible == 0) || (c.PassAll == nil) != (c.Eligible == 0) {
		problems = append(problems, fmt.Errorf("success_rate and pass_all must be null with no eligible trial, and only then; eligible = %d", c.Eligible))
	}
	if len(problems) > 0 {
		return fmt.Errorf("the counts do not add up: %w", errors.Join(problems...))
	}
	return nil
}

// Check checks every configuration's equations.
func (b *Benchmark) Check() error {
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(b.Configurations)) {
		if err := b.Configurations[name].Check(); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(problems...)
}
