package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/result"
)

// Suite prints a report of a run of suites: a line an attempt, why those that failed did, and the
// comparisons. attempt gives the record of an attempt by its folder below the run's, or nil. The error
// is the writer's.
func Suite(w io.Writer, run *result.Run, rep *result.Report, attempt func(dir string) *result.Attempt) error {
	return SuiteSince(w, run, rep, attempt, Since{})
}

// SuiteSince is [Suite] with a column that says what changed since an earlier run, if there is one.
func SuiteSince(w io.Writer, run *result.Run, rep *result.Report, attempt func(dir string) *result.Attempt, since Since) error {
	var out strings.Builder
	SuiteHeader(&out, run)
	several := severalArms(rep)
	tw := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	head := "SUITE::TASK\tATTEMPT\t"
	if several {
		head += "CLIENT\tCONFIGURATION\t"
	}
	head += "VERDICT\tPASSED\tCOST\tWALL\tCTX\tTOOLS"
	if since.RunID != "" {
		head += "\tΔ vs prev"
	}
	fmt.Fprintln(tw, head)
	for _, a := range rep.Attempts {
		fmt.Fprintf(tw, "%s\t%d\t", Clean(result.SpecName(a.Suite, a.Task)), a.Attempt)
		if several {
			fmt.Fprintf(tw, "%s\t%s\t", Clean(a.Client), Clean(a.Configuration))
		}
		m := metricsOf(attempt(a.Dir))
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s", a.Verdict, Passed(a), Cost(m.CostUSD), Wall(m.WallSeconds), Tokens(m.PeakContext), Tools(m))
		if change := since.Of(a, m); change != "" {
			fmt.Fprintf(tw, "\t%s", change)
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
	if since.RunID != "" {
		fmt.Fprintf(&out, "prev: run %s\n", Clean(since.RunID))
	}
	for _, line := range neverOffered(rep, attempt) {
		fmt.Fprintln(&out, line)
	}
	for _, a := range rep.Attempts {
		for _, line := range whyNot(a) {
			fmt.Fprintf(&out, "%s attempt %d, %s with %s: %s\n", Clean(result.SpecName(a.Suite, a.Task)), a.Attempt, Clean(a.Configuration), Clean(a.Client), line)
		}
	}
	for _, c := range rep.Comparisons {
		Comparison(&out, c)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// SuiteHeader prints what a run of suites is.
func SuiteHeader(w io.Writer, run *result.Run) {
	c := run.Config
	if c == nil {
		return
	}
	switch run.RunMode {
	case result.ModeWithoutSkill:
		fmt.Fprintf(w, "REALITY CHECK, verdicts informational; skills left out: %s\n", Clean(strings.Join(c.SkillsExcluded, ", ")))
	case result.ModeNoSkills:
		fmt.Fprintf(w, "REALITY CHECK (no skills), verdicts informational; all %d skills left out\n", len(c.SkillsExcluded))
	case result.ModeCompare:
		fmt.Fprintf(w, "compared with %s; skills left out there: %s\n", Clean(c.Compare), Clean(strings.Join(c.SkillsExcluded, ", ")))
	}
	for _, b := range run.Batches {
		if b.Model.Kind == gateway.KindScripted {
			fmt.Fprintln(w, ScriptedNote)
			break
		}
	}
}

// neverOffered names the skills that were staged and that no attempt's client put before its model: they could not
// fire, whatever they say.
func neverOffered(rep *result.Report, attempt func(dir string) *result.Attempt) []string {
	missing, offered := map[[2]string]bool{}, map[[2]string]bool{}
	for _, a := range rep.Attempts {
		rec := attempt(a.Dir)
		if rec == nil || rec.SkillsNotOffered == nil {
			continue
		}
		for _, name := range rec.SkillsStaged {
			key := [2]string{a.Client, name}
			if slices.Contains(rec.SkillsNotOffered, name) {
				missing[key] = true
			} else {
				offered[key] = true
			}
		}
	}
	var lines []string
	for key := range missing {
		if !offered[key] {
			lines = append(lines, fmt.Sprintf("skill %s: %s had it and never offered it to the model under this name: look at the front matter of its SKILL.md", Clean(key[1]), Clean(key[0])))
		}
	}
	slices.Sort(lines)
	return lines
}

// severalArms says whether attempts differ by client or configuration.
func severalArms(rep *result.Report) bool {
	for _, a := range rep.Attempts {
		if a.Client != rep.Attempts[0].Client || a.Configuration != rep.Attempts[0].Configuration {
			return true
		}
	}
	return false
}

// whyNot says in one line each what kept an attempt from passing.
func whyNot(a result.ReportAttempt) (lines []string) {
	if !a.Verdict.Gates() {
		return nil
	}
	if a.Cause != "" {
		lines = append(lines, fmt.Sprintf("%s: %s", a.Verdict, Clean(a.Cause)))
	}
	for _, x := range a.Assertions {
		if !x.Pass && x.Error == "" && x.KnownIssue == nil && x.SkippedReason == nil {
			first, _, _ := strings.Cut(x.Reason, "\n")
			lines = append(lines, fmt.Sprintf("%s: %s", Clean(x.Type), Clean(first)))
		}
	}
	return lines
}

// Comparison prints what a task's reality check says.
func Comparison(w io.Writer, c result.SuiteComparison) {
	name := fmt.Sprintf("%s with %s", Clean(result.SpecName(c.Suite, c.Task)), Clean(c.Client))
	if c.Comparison == nil {
		fmt.Fprintf(w, "%s: not compared: %s\n", name, Clean(c.NotCompared))
		return
	}
	share := func(configuration string) string {
		n := c.Configurations[configuration]
		s := fmt.Sprintf("%s %d of %d", Clean(configuration), n.Succeeded, n.Eligible)
		if n.Excluded.Grading > 0 {
			s += fmt.Sprintf(" (%d errors)", n.Excluded.Grading)
		}
		return s
	}
	fmt.Fprintf(w, "%s: %s, %s: %s\n", name, share(c.Comparison.Treatment), share(c.Comparison.Baseline), verdict(*c.Comparison))
	if len(c.LeftOut) > 0 {
		fmt.Fprintf(w, "%s: not counted on either side, as they turn round without the skill: %s\n", name, Clean(strings.Join(c.LeftOut, ", ")))
	}
}

func metricsOf(a *result.Attempt) result.Metrics {
	if a == nil {
		return result.Metrics{}
	}
	return a.Metrics
}

// Passed is how many of an attempt's gating assertions passed, with known issues and what was skipped
// beside them; a verdict without assertions is its own word.
func Passed(a result.ReportAttempt) string {
	var passed, gating, known, better, skipped int
	for _, x := range a.Assertions {
		switch {
		case x.SkippedReason != nil:
			skipped++
		case x.KnownIssue != nil && x.Pass:
			better++
		case x.KnownIssue != nil:
			known++
		default:
			gating++
			if x.Pass {
				passed++
			}
		}
	}
	if gating == 0 || a.Verdict == result.AttemptTimeout {
		return string(a.Verdict)
	}
	s := fmt.Sprintf("%d/%d", passed, gating)
	if better > 0 {
		s += fmt.Sprintf(" +%d xpass", better)
	}
	if known > 0 {
		s += fmt.Sprintf(" +%d known", known)
	}
	if skipped > 0 {
		s += fmt.Sprintf(", %d skipped", skipped)
	}
	return s
}
