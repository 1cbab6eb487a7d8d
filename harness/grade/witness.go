package grade

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/proctor-evals/proctor/harness/task"
)

// witnessed is a hidden check as it is compiled: its test is called by one of the runner's, which
// prints a token of this run alone once the author's function has returned well (or panicked, where
// it should).
//
// Test output is printed by a process that links the submission, which can print "1 passed" and
// exit. The token is not in anything the submission sees while it is written or compiled; it is in
// the test program, in two halves. Code that takes the running program apart can find it: what that
// leaves open is in docs/isolation.md.
type witnessed struct{ source, token string }

// witness rewrites a hidden check; lines keep their numbers. Its error is the check's own fault.
func witness(src string) (witnessed, error) {
	test, err := task.FindTest(src)
	if err != nil {
		return witnessed{}, err
	}
	var name [4]byte
	var a, b, token [32]byte
	for _, r := range [][]byte{name[:], a[:], b[:]} {
		if _, err := rand.Read(r); err != nil {
			return witnessed{}, err
		}
	}
	for i := range token {
		token[i] = a[i] ^ b[i]
	}
	say := fmt.Sprintf(`let a = ::std::hint::black_box([%s]); let b = ::std::hint::black_box([%s]); `, numbers(a[:]), numbers(b[:])) +
		`let mut line = ::std::string::String::from("\n"); for i in 0..32 { line.push_str(&::std::format!("{:02x}", a[i] ^ b[i])); } line.push('\n'); ` +
		// Straight to standard output: print! would be held back by the test harness.
		`let mut out = ::std::io::stdout(); let _ = ::std::io::Write::write_all(&mut out, line.as_bytes()); let _ = ::std::io::Write::flush(&mut out);`
	wrapper := "#[test] fn proctor_" + hex.EncodeToString(name[:])
	if panics := src[test.ShouldPanic[0]:test.ShouldPanic[1]]; panics != "" {
		wrapper = oneLine(panics) + " " + wrapper + "() { struct Seen; impl ::std::ops::Drop for Seen { fn drop(&mut self) { if ::std::thread::panicking() { " + say + " } } } let _seen = Seen; let _ = " + test.Name + "(); } "
	} else {
		wrapper += "() -> ::std::process::ExitCode { let code = ::std::process::Termination::report(" + test.Name + "()); " +
			`if ::std::format!("{:?}", code) == ::std::format!("{:?}", ::std::process::ExitCode::SUCCESS) { ` + say + " } code } "
	}
	out := blank(src, test.Attribute, test.End)
	out = blank(out, test.ShouldPanic[0], test.ShouldPanic[1])
	return witnessed{source: out[:test.Item] + wrapper + out[test.Item:], token: hex.EncodeToString(token[:])}, nil
}

// blank replaces a part of a source by spaces; line ends stay.
func blank(src string, from, to int) string {
	spaces := strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return r
		}
		return ' '
	}, src[from:to])
	return src[:from] + spaces + src[to:]
}

// oneLine keeps an attribute that was copied to the wrapper from moving the lines below. In a string
// of several lines it would change the text, so one that holds a quote keeps its line ends.
func oneLine(attribute string) string {
	if strings.Contains(attribute, `"`) {
		return attribute
	}
	return strings.Join(strings.Fields(attribute), " ")
}

func numbers(b []byte) string {
	var out strings.Builder
	for i, n := range b {
		if i > 0 {
			out.WriteString(", ")
		}
		fmt.Fprintf(&out, "%d", n)
		if i == 0 {
			out.WriteString("u8")
		}
	}
	return out.String()
}
