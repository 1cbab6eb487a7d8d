package grade

import (
	"bytes"
	"fmt"
	"regexp"
)

var (
	runningLine = regexp.MustCompile(`^running (\d+) tests?$`)
	resultLine  = regexp.MustCompile(`^test result: (ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored; (\d+) measured; (\d+) filtered out(?:; finished in .*)?$`)
)

// oneTest accepts the output of `cargo test --test NAME` only when exactly one test ran and
// passed, none ignored, none filtered out. The format is that of Rust's libtest harness.
//
// The lines are printed by the test process, which links the submission: they cannot prove that
// the check itself ran (see docs/isolation.md). That they are there, once, and say just this is
// necessary, not sufficient.
func oneTest(stdout []byte) error {
	var running, results []string
	for line := range bytes.SplitSeq(stdout, []byte("\n")) {
		line = bytes.TrimRight(line, "\r")
		if m := runningLine.FindSubmatch(line); m != nil {
			running = append(running, string(m[1]))
		}
		if m := resultLine.FindSubmatch(line); m != nil {
			results = append(results, string(line))
			if string(m[1]) != "ok" || string(m[2]) != "1" || string(m[3]) != "0" || string(m[4]) != "0" || string(m[5]) != "0" || string(m[6]) != "0" {
				return fmt.Errorf("not exactly one passed test: %s", line)
			}
		}
	}
	switch {
	case len(results) == 0:
		return fmt.Errorf("cargo succeeded and no test result was printed")
	case len(results) > 1 || len(running) != 1:
		return fmt.Errorf("%d test results and %d test runs in the output of one check", len(results), len(running))
	case running[0] != "1":
		return fmt.Errorf("%s tests ran, not one", running[0])
	}
	return nil
}
