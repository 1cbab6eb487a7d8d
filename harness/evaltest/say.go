package evaltest

import (
	"fmt"
	"strings"

	"github.com/proctor-evals/proctor/harness/report"
)

// say and sayf are for everything this package hands to testing: go test's output is read by programs,
// and no line of a trial's may pass for a test's result.
func say(v ...any) string { return report.Lines(strings.TrimSuffix(fmt.Sprintln(v...), "\n")) }

func sayf(format string, v ...any) string { return report.Lines(fmt.Sprintf(format, v...)) }
