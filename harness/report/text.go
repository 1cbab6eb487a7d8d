// Package report prints results for people. It reads result records only, so a
// report can be made again at any time, and it decides nothing.
//
// A record may hold what a trial wrote. Everything taken from one is printed
// through Clean, so that no line of a report, and no start of a line, is the
// trial's.
package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
)

// ScriptedNote stands in every report of a scripted run.
const ScriptedNote = "scripted model: proves the plumbing, says nothing of your skill"

// maxCauses is how many causes of one kind are listed; there may be one a trial.
const maxCauses = 5

// exploratory is the isolation of trials that ran without srt.
const exploratory = "exploratory"

// regression is the kind of a task that must always succeed.
const regression = "regression"

// Text prints the benchmark as a compact table with its verdicts. dir is where the evidence lies,
// or "". The error is the writer's.
func Text(w io.Writer, b *result.Benchmark, dir string) error {
	var out strings.Builder
	fmt.Fprintf(&out, "%s with %s", Clean(b.Task), Clean(b.Client))
	scripted := b.Model.Kind == gateway.KindScripted || b.Model.Kind == gateway.KindReplay && b.Model.Name == gateway.KindScripted
	if !scripted {
		fmt.Fprintf(&out, ", model %s", Clean(b.Model.Name))
	}
	switch b.Model.Kind {
	case gateway.KindReplay:
		out.WriteString(", replayed: no new answers")
	case gateway.KindDirect:
		out.WriteString(", direct: the agent could read the key")
	}
	if scripted {
		fmt.Fprintf(&out, " (%s)", ScriptedNote)
	}
	out.WriteByte('\n')
	if len(b.StandIns) > 0 {
		fmt.Fprintf(&out, "made with stand-ins: %s\n", Clean(strings.Join(b.StandIns, ", ")))
	}
	if b.Isolation == exploratory {
		out.WriteString("exploratory: kept apart by the client's own sandbox alone, so nothing is compared\n")
	}
	if err := b.Check(); err != nil {
		fmt.Fprintf(&out, "WRONG, do not use these numbers: %s\n", Clean(strings.ReplaceAll(err.Error(), "\n", "; ")))
	}
	names := order(b)
	table(&out, b, names)
	for _, c := range b.Comparisons {
		fmt.Fprintf(&out, "%s against %s: %s\n", Clean(c.Treatment), Clean(c.Baseline), verdict(c))
		if s := codeAlone(c); s != "" {
			fmt.Fprintf(&out, "%s against %s, %s\n", Clean(c.Treatment), Clean(c.Baseline), s)
		}
	}
	if b.NotCompared != "" {
		fmt.Fprintf(&out, "not compared: %s\n", Clean(b.NotCompared))
	}
	for _, name := range names {
		for _, line := range []string{tries(b.Configurations[name]), cost(b.Configurations[name])} {
			if line != "" {
				fmt.Fprintf(&out, "%s: %s\n", Clean(name), line)
			}
		}
		for _, line := range notCounted(b.Configurations[name]) {
			fmt.Fprintf(&out, "%s: %s\n", Clean(name), line)
		}
	}
	if b.Jobs > 1 {
		fmt.Fprintf(&out, "up to %d batches ran side by side: times compare less well\n", b.Jobs)
	}
	if b.ChecksChanged > 0 {
		fmt.Fprintf(&out, "%s\n", regraded(b.ChecksChanged))
	}
	if b.Look > 1 {
		fmt.Fprintf(&out, "%s look at this task's content: repeated looks make a false verdict likelier\n", ordinal(b.Look))
	}
	if dir != "" {
		fmt.Fprintf(&out, "evidence: %s\n", Clean(dir))
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// regraded says how often other checks were tried on the same submissions.
func regraded(n int) string {
	times := fmt.Sprintf("%d times", n)
	if n == 1 {
		times = "once"
	}
	return "regraded with changed checks " + times + ": each is one more look at the same trials"
}

func table(w io.Writer, b *result.Benchmark, names []string) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	header := "configuration\tsucceeded\trate\t95 % interval\tcode passed\tskills loaded\ttokens\tagent"
	if b.Kind == regression {
		header += "\tall passed"
	}
	fmt.Fprintln(tw, header)
	for _, name := range names {
		c := b.Configurations[name]
		fmt.Fprintf(tw, "%s\t%d of %d\t%s\t%s\t%d of %d\t%s\t%s\t%s", Clean(name), c.Succeeded, c.Eligible,
			percent(c.SuccessRate), interval(c.SuccessRateCI), c.CodePassed, c.CodeJudged, loads(c),
			number(c.Cost.Eligible.Tokens, "%.0f"), number(c.Cost.Eligible.AgentSecs, "%.1f s"))
		if b.Kind == regression {
			fmt.Fprintf(tw, "\t%s", yesNo(c.PassAll))
		}
		fmt.Fprintln(tw)
	}
	tw.Flush() // into memory, which cannot fail
}

// order puts the baseline first, also where nothing is compared with it.
func order(b *result.Benchmark) []string {
	names := slices.Sorted(maps.Keys(b.Configurations))
	first := func(name string) {
		if i := slices.Index(names, name); i > 0 {
			names = slices.Insert(slices.Delete(names, i, i+1), 0, name)
		}
	}
	first(plan.Baseline)
	for _, c := range b.Comparisons {
		first(c.Baseline)
	}
	return names
}

func verdict(c result.Comparison) string {
	if c.Diff == nil {
		return fmt.Sprintf("%s: %s", Clean(string(c.Verdict)), Clean(c.Reason))
	}
	s := fmt.Sprintf("%s, %s points", Clean(string(c.Verdict)), points(*c.Diff))
	if c.CI95 != nil {
		s += fmt.Sprintf(" (95 %% interval %s to %s)", points(c.CI95[0]), points(c.CI95[1]))
	}
	switch {
	case c.P == nil:
	case c.Method == result.MethodFisher || c.FisherP == nil:
		s += ", p " + pValue(*c.P)
	default:
		s += fmt.Sprintf(", Boschloo p %s, Fisher p %s", pValue(*c.P), pValue(*c.FisherP))
	}
	if c.Verdict == result.CannotTell {
		s += ": " + Clean(c.Reason)
	}
	return s
}

// pValue writes a p-value after its name. The smallest are recorded as 0, which no p-value is.
func pValue(p float64) string {
	if p == 0 {
		return "< 1e-300"
	}
	return fmt.Sprintf("= %.3g", p)
}

// points is a difference of rates in percentage points.
func points(d float64) string {
	s := fmt.Sprintf("%+.0f", 100*d)
	if s == "-0" || s == "+0" {
		return "0"
	}
	return s
}

// notCounted says what a table of successes hides, a line each.
func notCounted(c result.Counts) []string {
	var out []string
	for _, group := range []struct {
		n         int
		one, many string
		causes    map[string]int
	}{
		{c.SetupFailures, "setup failure", "setup failures", c.Causes.SetupFailures},
		{c.Cancelled, "cancelled", "cancelled", c.Causes.Cancelled},
		{c.Excluded.Isolation + c.Excluded.Grading, "excluded", "excluded", c.Causes.Excluded},
		{c.Inconclusive, "inconclusive", "inconclusive", nil},
		{c.AuditSuspicious, "trial names something outside it (audit_findings in its result.json)", "trials name something outside them (audit_findings in their result.json)", nil},
		{sum(c.Causes.Executions), "session that did not complete (counted as failed)", "sessions that did not complete (counted as failed)", c.Causes.Executions},
	} {
		if group.n == 0 {
			continue
		}
		what := group.many
		if group.n == 1 {
			what = group.one
		}
		line := fmt.Sprintf("%d %s", group.n, what)
		separator := ": "
		for i, cause := range byCount(group.causes) {
			if i == maxCauses {
				line += fmt.Sprintf("; and %d other causes", len(group.causes)-maxCauses)
				break
			}
			line += fmt.Sprintf("%s%d × %s", separator, group.causes[cause], Clean(cause))
			separator = "; "
		}
		out = append(out, line)
	}
	return out
}

// byCount lists the causes, the most frequent first.
func byCount(causes map[string]int) []string {
	return slices.SortedStableFunc(slices.Values(slices.Sorted(maps.Keys(causes))), func(a, b string) int {
		return causes[b] - causes[a]
	})
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

// percent does not round to none or to all what is neither.
func percent(r *float64) string {
	switch {
	case r == nil:
		return "-"
	case *r > 0 && *r < 0.005:
		return "<1 %"
	case *r < 1 && *r >= 0.995:
		return ">99 %"
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

func yesNo(b *bool) string {
	switch {
	case b == nil:
		return "-"
	case *b:
		return "yes"
	default:
		return "no"
	}
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
