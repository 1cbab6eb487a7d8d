package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/proctor-evals/proctor/harness/result"
)

// Summary prints what several tasks say together. The error is the writer's.
func Summary(w io.Writer, summaries []result.Summary) error {
	var out strings.Builder
	for _, s := range summaries {
		if s.MeanDelta == nil {
			continue
		}
		fmt.Fprintf(&out, "over %d tasks with %s, %s against %s: %s points on average", s.Tasks, Clean(s.Client), Clean(s.Treatment), Clean(s.Baseline), points(*s.MeanDelta))
		if s.CI95 != nil {
			fmt.Fprintf(&out, " (95 %% bootstrap interval over tasks %s to %s, seed %d)", points(s.CI95[0]), points(s.CI95[1]), s.Seed)
		}
		out.WriteString("; each task weighs the same, and this is no verdict")
		if s.Tasks < fewTasks {
			fmt.Fprintf(&out, "; with fewer than %d tasks the interval is too narrow", fewTasks)
		}
		out.WriteByte('\n')
		for _, l := range s.LeftOut {
			fmt.Fprintf(&out, "  left out: %s: %s\n", Clean(l.Task), Clean(l.Reason))
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// fewTasks is below which a percentile bootstrap of a mean is noticeably too narrow.
const fewTasks = 10
