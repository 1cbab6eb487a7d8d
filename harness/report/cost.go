package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/proctor-evals/proctor/harness/result"
)

// cost writes the mean costs of a configuration's eligible trials with how sure they are, or "" where
// no trial reported any.
func cost(c result.Counts) string {
	tokens, secs := c.Cost.Eligible.Tokens, c.Cost.Eligible.AgentSecs
	if tokens.Mean == nil && secs.Mean == nil {
		return ""
	}
	return fmt.Sprintf("cost: tokens %s; agent seconds %s", mean(tokens, "%.0f"), mean(secs, "%.1f"))
}

// mean writes a mean with its interval, or with the words for having none.
func mean(m result.Mean, format string) string {
	if m.Mean == nil {
		return "not reported"
	}
	trials := "trials"
	if m.Trials == 1 {
		trials = "trial"
	}
	sure := "no interval"
	if m.CI95 != nil {
		sure = fmt.Sprintf("95 %% interval "+format+" to "+format, m.CI95[0], m.CI95[1])
	}
	return fmt.Sprintf(format+" (%s, %d %s)", *m.Mean, sure, m.Trials, trials)
}

// tries says how often several tries would do, for each number of tries that was measured.
func tries(c result.Counts) string {
	var parts []string
	for _, k := range result.PassKs {
		at, hat := c.PassAt[strconv.Itoa(k)], c.PassHat[strconv.Itoa(k)]
		if k == 1 || at == nil || hat == nil {
			continue
		}
		parts = append(parts, fmt.Sprintf("of %d tries at least one succeeds %s, all succeed %s", k, percent(at), percent(hat)))
	}
	return strings.Join(parts, "; ")
}

// codeAlone compares the code, where that is another answer than the comparison's: a skill that was not
// delivered fails its trials and not its code.
func codeAlone(c result.Comparison) string {
	if c.Code.Diff == nil || c.Code.P == nil || c.Diff != nil && *c.Code.Diff == *c.Diff {
		return ""
	}
	return fmt.Sprintf("code alone: %s points (%d of %d against %d of %d, p %s)", points(*c.Code.Diff),
		c.Code.Treatment[0], c.Code.Treatment[1], c.Code.Baseline[0], c.Code.Baseline[1], pValue(*c.Code.P))
}
