package grade

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
)

var (
	runningLine = regexp.MustCompile(`^running (\d+) tests?$`)
	resultLine  = regexp.MustCompile(`^test result: (ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored; (\d+) measured; (\d+) filtered out(?:; finished in .*)?$`)
)

// oneTest accepts the output of `cargo test --test NAME` only when exactly one test ran and
// passed, none ignored, none filtered out, and the token of its witness stands between the two
// lines that say so, on a line of its own. The format is that of Rust's libtest harness.
func oneTest(stdout []byte, token string) error {
	var runs, results, tokens int
	inOrder := true
	for line := range bytes.SplitSeq(stdout, []byte("\n")) {
		line = bytes.TrimRight(line, "\r")
		if string(line) == token {
			tokens++
			inOrder = inOrder && runs == 1 && results == 0
		}
		if m := runningLine.FindSubmatch(line); m != nil {
			runs++
			if string(m[1]) == "0" {
				return errors.New("0 tests ran, not one: Cargo compiled the check anew, when its source was gone; a build script that runs at each start makes it do so")
			}
			if string(m[1]) != "1" {
				return fmt.Errorf("%.20s tests ran, not one", m[1])
			}
		}
		if m := resultLine.FindSubmatch(line); m != nil {
			results++
			if string(m[1]) != "ok" || string(m[2]) != "1" || string(m[3]) != "0" || string(m[4]) != "0" || string(m[5]) != "0" || string(m[6]) != "0" {
				// Quoted and cut: the submission may have printed it.
				return fmt.Errorf("not exactly one passed test: %.200q", line)
			}
		}
	}
	switch {
	case results == 0:
		return errors.New("cargo succeeded and no test result was printed")
	case results > 1 || runs != 1:
		return fmt.Errorf("%d test results and %d test runs in the output of one check", results, runs)
	case tokens == 0:
		return errors.New("a test result was printed, but the check was not seen to reach its end: the output is forged")
	case tokens > 1 || !inOrder:
		return errors.New("the check's end was reported more than once, or out of its place: the output is forged")
	}
	return nil
}
