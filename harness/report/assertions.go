package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/proctor-evals/proctor/harness/grade/assertion"
)

// Assertions prints an attempt's assertions, a line each with its reason, and its verdict.
func Assertions(w io.Writer, results []assertion.Result, verdict assertion.Verdict, style Style) error {
	p := &printer{w: w, Style: style}
	for _, r := range results {
		label, colour := assertionLabel(r)
		lines := strings.Split(assertionReason(r), "\n")
		p.line("%s %s: %s", p.paint(colour, "["+label+"]"), Clean(r.Type), Clean(lines[0]))
		for _, more := range lines[1:min(len(lines), maxShownLines)] {
			p.line("  %s", Clean(more))
		}
		if n := len(lines) - maxShownLines; n > 0 {
			p.line("  … (%d more lines)", n)
		}
		if r.KnownIssue != nil {
			p.line("  known issue: %s", Clean(*r.KnownIssue))
		}
	}
	colour := green
	if verdict.Gates() {
		colour = red
	}
	p.line("verdict: %s", p.paint(colour, string(verdict)))
	return p.err
}

// assertionLabel is the word for an assertion's outcome. Source: agent-exam 0.2.0, and ERROR.
func assertionLabel(r assertion.Result) (label, colour string) {
	switch {
	case r.Skipped != nil:
		return "SKIPPED", faint
	case r.Error != "":
		return "ERROR", red
	case r.KnownIssue != nil && r.Pass:
		return "UNEXPECTED-PASS", amber
	case r.KnownIssue != nil:
		return "KNOWN-FAIL", amber
	case r.Pass:
		return "PASS", green
	}
	return "FAIL", red
}

func assertionReason(r assertion.Result) string {
	if r.Error != "" {
		return r.Error
	}
	if verdict, ok := r.Details["verdict"]; ok {
		return fmt.Sprintf("%v — %v", verdict, r.Details["reasoning"])
	}
	if output, ok := r.Details["output"].(string); ok && !r.Pass && output != "" {
		return r.Reason + "\n" + strings.TrimRight(output, "\n")
	}
	return r.Reason
}
