package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/result"
)

// MaxSummary is how large the step summary of a GitHub job may be, in bytes.
const MaxSummary = 1 << 20

// Markdown writes the run for people who read it on a CI server's page, in at most room bytes; what does
// not fit is left out whole, and that is said.
func Markdown(w io.Writer, ci CI, room int) error {
	const reserve = 200 // for the last words
	var out strings.Builder
	fmt.Fprintf(&out, "## Proctor: run %s\n\n", markdown(ci.RunID))
	if ci.Cause != "" {
		fmt.Fprintf(&out, "**Ended early:** %s\n\n", markdown(ci.Cause))
	}
	for i, g := range ci.Groups {
		var part strings.Builder
		markdownGroup(&part, g)
		if out.Len()+part.Len()+reserve > room {
			fmt.Fprintf(&out, "%d more are left out here; `proctor show` has them.\n", len(ci.Groups)-i)
			break
		}
		out.WriteString(part.String())
	}
	if out.Len() > room {
		return nil // not even a heading fits
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func markdownGroup(w io.Writer, g CIGroup) {
	fmt.Fprintf(w, "### %s with %s\n\n", markdown(g.Name), markdown(g.Client))
	b := g.Benchmark
	if b == nil {
		fmt.Fprintf(w, "%d passed, %d failed, %d errors\n\n", g.count(CIPassed), g.count(CIFailure), g.count(CIError))
		for _, c := range g.Cases {
			if c.State != CIPassed {
				fmt.Fprintf(w, "- **%s** %s: %s\n", c.State, markdown(c.Name), markdown(c.Message))
			}
		}
		fmt.Fprintln(w)
		return
	}
	if b.Model.Kind == gateway.KindScripted {
		fmt.Fprintf(w, "_%s_\n\n", ScriptedNote)
	}
	for _, c := range b.Comparisons {
		fmt.Fprintf(w, "**%s** against %s: %s\n\n", markdown(c.Treatment), markdown(c.Baseline), escapeMarkdown(verdict(c)))
	}
	if b.NotCompared != "" {
		fmt.Fprintf(w, "Not compared: %s\n\n", markdown(b.NotCompared))
	}
	io.WriteString(w, "| configuration | succeeded | rate | 95 % interval | code passed | tokens | agent |\n|---|---|---|---|---|---|---|\n")
	names := order(b)
	for _, name := range names {
		c := b.Configurations[name]
		fmt.Fprintf(w, "| %s | %d of %d | %s | %s | %d of %d | %s | %s |\n", markdown(name), c.Succeeded, c.Eligible, escapeMarkdown(percent(c.SuccessRate)),
			interval(c.SuccessRateCI), c.CodePassed, c.CodeJudged, number(c.Cost.Eligible.Tokens, "%.0f"), number(c.Cost.Eligible.AgentSecs, "%.1f s"))
	}
	fmt.Fprintln(w)
	for _, name := range names {
		for _, line := range notCounted(b.Configurations[name]) {
			fmt.Fprintf(w, "- %s: %s\n", markdown(name), escapeMarkdown(line))
		}
	}
	for _, gate := range g.Gates {
		fmt.Fprintf(w, "- **%s**\n", markdown(gate.Text))
	}
	fmt.Fprintln(w)
}

// markdown makes text fit to stand within a line of Markdown as it is.
func markdown(s string) string { return escapeMarkdown(Clean(s)) }

// escapeMarkdown escapes what Markdown, HTML in it, or GitHub's mentions and references act upon.
func escapeMarkdown(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case strings.ContainsRune("<>&@#", r):
			fmt.Fprintf(&b, "&#%d;", r)
		case strings.ContainsRune("\\`*_{}[]()!|~$", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return strings.ReplaceAll(b.String(), "://", "&#58;//")
}

// Annotations writes GitHub's workflow commands for what fails the run, and a warning for a skill that
// hurts, each at its task's file. It is the one place where a workflow command is meant: w is no printer.
func Annotations(w io.Writer, ci CI) error {
	var out strings.Builder
	for _, g := range ci.Groups {
		tell := func(level, text string) {
			fmt.Fprintf(&out, "::%s ", level)
			if g.File != "" {
				fmt.Fprintf(&out, "file=%s,line=%d,", commandProperty(g.File), max(g.Line, 1))
			}
			fmt.Fprintf(&out, "title=%s::%s\n", commandProperty("Proctor: "+g.Name+" with "+g.Client), commandText(text))
		}
		for _, gate := range g.Gates {
			tell("error", gate.Text)
		}
		if g.Benchmark == nil {
			continue
		}
		for _, c := range g.Benchmark.Comparisons {
			if c.Verdict == result.Hurts {
				tell("warning", fmt.Sprintf("%s against %s: %s", c.Treatment, c.Baseline, verdict(c)))
			}
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// commandText and commandProperty escape for a workflow command, by the runner's own rules.
func commandText(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(Clean(s))
}

func commandProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(commandText(s))
}
