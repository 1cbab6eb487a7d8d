package report

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/transcript"
)

// Attempt prints one attempt of a suite's task: its numbers, where its files are, what was asked and
// answered, its assertions and the tool calls that did not go well. t is nil when there is no transcript.
func Attempt(w io.Writer, dir string, a result.ReportAttempt, rec *result.Attempt, t *transcript.Transcript, issues bool, style Style) error {
	p := &printer{w: w, Style: style}
	m := metricsOf(rec)
	p.line("%s attempt %d, %s with %s: %s", Clean(result.SpecName(a.Suite, a.Task)), a.Attempt, Clean(a.Configuration), Clean(a.Client), Clean(string(a.Verdict)))
	if a.Cause != "" {
		p.line("cause: %s", Clean(a.Cause))
	}
	if a.KnownIssue != nil {
		p.line("known issue: %s", Clean(*a.KnownIssue))
	}
	p.line("cost %s  wall %s  context %s  tools %s", strings.TrimSpace(Cost(m.CostUSD)), Wall(m.WallSeconds), Tokens(m.PeakContext), Tools(m))
	if rec != nil && rec.Stopped {
		p.line("the session was ended when its answer was known")
	}
	p.line("files: %s", Clean(filepath.Join(dir, filepath.FromSlash(a.Dir))))
	if rec != nil && rec.Prompt != "" {
		p.block("prompt", rec.Prompt)
	}
	if t != nil && t.FinalText != "" {
		p.block("response", t.FinalText)
	}
	for _, x := range a.Assertions {
		p.line("[%s] %s: %s", resultLabel(x), Clean(x.Type), Clean(x.Reason))
		if x.KnownIssue != nil {
			p.line("  known issue: %s", Clean(*x.KnownIssue))
		}
	}
	if t == nil || !issues {
		return p.err
	}
	for _, turn := range t.Turns {
		for _, c := range turn.ToolCalls {
			switch c.Status {
			case transcript.StatusError, transcript.StatusDenied, transcript.StatusRejected, transcript.StatusAborted:
				p.line("tool issue: %s %s: %s", Clean(c.Name), c.Status, Clean(c.Output))
			}
		}
	}
	return p.err
}

// block prints a text of several lines, cut.
func (p *printer) block(title, text string) {
	lines := strings.Split(text, "\n")
	p.line("%s:", title)
	for _, l := range lines[:min(len(lines), maxShownLines)] {
		p.line("  %s", Clean(l))
	}
	if n := len(lines) - maxShownLines; n > 0 {
		p.line("  … (%d more lines)", n)
	}
}

// resultLabel is the word for an assertion's outcome.
func resultLabel(x result.AssertionResult) string {
	switch {
	case x.SkippedReason != nil:
		return "SKIPPED"
	case x.Error != "":
		return "ERROR"
	case x.KnownIssue != nil && x.Pass:
		return "UNEXPECTED-PASS"
	case x.KnownIssue != nil:
		return "KNOWN-FAIL"
	case x.Pass:
		return "PASS"
	}
	return "FAIL"
}
