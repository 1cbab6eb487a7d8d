// Package report prints results for people. It reads result records only, so a
// report can be made again at any time, and it decides nothing.
package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/result"
)

// ScriptedNote stands in every report of a scripted run.
const ScriptedNote = "scripted model: proves the plumbing, says nothing of your skill"

// Text prints the benchmark as a compact table with its verdicts. dir is where the evidence lies.
func Text(w io.Writer, b *result.Benchmark, dir string) error {
	var out strings.Builder
	fmt.Fprintf(&out, "%s with %s", b.Task, b.Client)
	if b.Model.Kind == gateway.KindScripted {
		fmt.Fprintf(&out, " (%s)", ScriptedNote)
	} else {
		fmt.Fprintf(&out, ", model %s", Clean(b.Model.Name))
	}
	out.WriteByte('\n')
	if len(b.StandIns) > 0 {
		fmt.Fprintf(&out, "made with stand-ins: %s\n", Clean(strings.Join(b.StandIns, ", ")))
	}
	tw := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "configuration\tsucceeded\trate\t95 % interval\tcode passed\tskills loaded\ttokens\tagent")
	for _, name := range order(b) {
		c := b.Configurations[name]
		fmt.Fprintf(tw, "%s\t%d of %d\t%s\t%s\t%d of %d\t%s\t%s\t%s\n", name, c.Succeeded, c.Eligible,
			percent(c.SuccessRate), interval(c.SuccessRateCI), c.CodePassed, c.CodeJudged, loads(c),
			number(c.Cost.Eligible.Tokens, "%.0f"), number(c.Cost.Eligible.AgentSecs, "%.1f s"))
	}
	tw.Flush()
	for _, c := range b.Comparisons {
		fmt.Fprintf(&out, "%s against %s: %s\n", c.Treatment, c.Baseline, verdict(c))
	}
	for _, name := range order(b) {
		for _, line := range notCounted(b.Configurations[name]) {
			fmt.Fprintf(&out, "%s: %s\n", name, line)
		}
	}
	if b.Look > 1 {
		fmt.Fprintf(&out, "%s look at this task's content: repeated looks make a false verdict likelier\n", ordinal(b.Look))
	}
	if dir != "" {
		fmt.Fprintf(&out, "evidence: %s\n", dir)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// order puts the baseline first.
func order(b *result.Benchmark) []string {
	names := slices.Sorted(maps.Keys(b.Configurations))
	for _, c := range b.Comparisons {
		if i := slices.Index(names, c.Baseline); i > 0 {
			names = append([]string{c.Baseline}, slices.Delete(names, i, i+1)...)
		}
	}
	return names
}

func verdict(c result.Comparison) string {
	if c.Diff == nil {
		return fmt.Sprintf("%s (%s)", c.Verdict, c.Reason)
	}
	s := fmt.Sprintf("%s, %+.0f points", c.Verdict, 100**c.Diff)
	if c.CI95 != nil {
		s += fmt.Sprintf(" (95 %% interval %+.0f to %+.0f)", 100*c.CI95[0], 100*c.CI95[1])
	}
	if c.P != nil && c.FisherP != nil {
		s += fmt.Sprintf(", Boschloo p = %.3g, Fisher p = %.3g", *c.P, *c.FisherP)
	}
	if c.Verdict == result.CannotTell {
		s += ": " + c.Reason
	}
	return s
}

func notCounted(c result.Counts) []string {
	var out []string
	for _, group := range []struct {
		n      int
		what   string
		causes map[string]int
	}{
		{c.SetupFailures, "setup failures", c.Causes.SetupFailures},
		{c.Cancelled, "cancelled", c.Causes.Cancelled},
		{c.Excluded.Isolation + c.Excluded.Grading, "excluded", c.Causes.Excluded},
		{c.Inconclusive, "inconclusive", nil},
		{sum(c.Causes.Executions), "sessions that did not complete (counted as failed)", c.Causes.Executions},
	} {
		if group.n == 0 {
			continue
		}
		line := fmt.Sprintf("%d %s", group.n, group.what)
		for _, cause := range slices.Sorted(maps.Keys(group.causes)) {
			line += fmt.Sprintf("; %d: %s", group.causes[cause], Clean(cause))
		}
		out = append(out, line)
	}
	return out
}

func sum(m map[string]int) int {
	n := 0
	for _, v := range m {
		n += v
	}
	return n
}

func loads(c result.Counts) string {
	var out []string
	for _, skill := range slices.Sorted(maps.Keys(c.ObservedLoad)) {
		out = append(out, fmt.Sprintf("%s %d of %d", Clean(skill), c.ObservedLoad[skill].Loaded, c.Eligible))
	}
	if len(out) == 0 {
		return "-"
	}
	return strings.Join(out, ", ")
}

func percent(r *float64) string {
	if r == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100**r)
}

func interval(ci *[2]float64) string {
	if ci == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f to %.0f %%", 100*ci[0], 100*ci[1])
}

func number(m result.Mean, format string) string {
	if m.Mean == nil {
		return "-"
	}
	return fmt.Sprintf(format, *m.Mean)
}

func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, suffix)
}
