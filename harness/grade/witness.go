package grade

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/proctor-evals/proctor/harness/task"
)

// witnessed is a hidden check as it is compiled: its test is called by one of the runner's, which
// prints a token of this run alone once the author's function has returned well (or panicked as it
// should).
//
// Test output is printed by a process that links the submission, which can print "1 passed" and
// exit. The token is not in anything the submission sees while it is written or compiled. One half of
// it is in the test program; the other comes on standard input, behind a pass that the program knows.
// The first process reads both, before any line of the author's: a second one, started by the
// submission to learn from a failed assertion what the check expects, finds nothing there and ends.
// Code that takes the running program apart can find all of it: what that leaves open is in
// docs/isolation.md.
type witnessed struct {
	source, token string
	stdin         []byte // what the test program reads first: the pass, then half of the token
}

// witness rewrites a hidden check; lines keep their numbers. Its error is the check's own fault.
func witness(src string) (witnessed, error) {
	test, err := task.FindTest(src)
	if err != nil {
		return witnessed{}, err
	}
	var name [4]byte
	var pass, a, b, token [32]byte
	for _, r := range [][]byte{name[:], pass[:], a[:], b[:]} {
		if _, err := rand.Read(r); err != nil {
			return witnessed{}, err
		}
	}
	for i := range token {
		token[i] = a[i] ^ b[i]
	}
	// Byte by byte: what compares slices may be the submission's.
	enter := fmt.Sprintf(`let pass = ::std::hint::black_box([%s]); let mut given = [0u8; 64]; `, numbers(pass[:])) +
		`let read = ::std::io::Read::read_exact(&mut ::std::io::stdin(), &mut given).is_ok(); let mut differs = 0u8; for i in 0..32 { differs |= pass[i] ^ given[i]; } ` +
		`if !read || differs != 0 { ::std::panic!("this program was not started by the grader: a hidden check runs once, and its program starts no second time") } `
	say := fmt.Sprintf(`let a = ::std::hint::black_box([%s]); `, numbers(a[:])) +
		`let mut line = ::std::string::String::from("\n"); for i in 0..32 { line.push_str(&::std::format!("{:02x}", a[i] ^ given[32 + i])); } line.push('\n'); ` +
		// Straight to standard output: print! would be held back by the test harness.
		`let mut out = ::std::io::stdout(); let _ = ::std::io::Write::write_all(&mut out, line.as_bytes()); let _ = ::std::io::Write::flush(&mut out);`
	wrapper := "#[test] fn proctor_" + hex.EncodeToString(name[:])
	if panics := src[test.ShouldPanic[0]:test.ShouldPanic[1]]; panics != "" {
		// The runner's test decides about the panic, and libtest sees none: libtest would drop the panic's
		// value, which may be the submission's and have a destructor that prints and exits, after the token.
		wrapper += "() { " + enter + "let want: &[&str] = &[" + expected(panics) + "]; let payload = ::std::panic::catch_unwind(|| { let _ = " + test.Name + "(); }).expect_err(\"the check did not panic\"); " +
			"let said = match payload.downcast_ref::<&'static str>() { ::std::option::Option::Some(s) => ::std::option::Option::Some(*s), " +
			"::std::option::Option::None => payload.downcast_ref::<::std::string::String>().map(|s| s.as_str()) }; " +
			"let right = want.iter().all(|w| said.is_some_and(|s| s.contains(w))); ::std::mem::forget(payload); " +
			`::std::assert!(right, "the check panicked with another message"); ` + say + " } "
	} else {
		wrapper += "() -> ::std::process::ExitCode { " + enter + "let code = ::std::process::Termination::report(" + test.Name + "()); " +
			`if ::std::format!("{:?}", code) == ::std::format!("{:?}", ::std::process::ExitCode::SUCCESS) { ` + say + " } code } "
	}
	out := blank(src, test.Attribute, test.End)
	out = blank(out, test.ShouldPanic[0], test.ShouldPanic[1])
	return witnessed{source: out[:test.Item] + wrapper + out[test.Item:], token: hex.EncodeToString(token[:]), stdin: append(pass[:], b[:]...)}, nil
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

// expected is what stands in a #[should_panic] attribute for the message, as it is in the source: a
// string literal, with a comma or a comment after it perhaps, or "" where any panic will do.
func expected(attribute string) string {
	_, value, found := strings.Cut(attribute, "=")
	if !found {
		return ""
	}
	value = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "]"))
	if before, _, _ := strings.Cut(attribute, "="); strings.Contains(before, "(") {
		value = strings.TrimSpace(strings.TrimSuffix(value, ")"))
	}
	if strings.Contains(attribute, "\n") && strings.Contains(value, "//") {
		value += "\n" // a comment may end there
	}
	return value
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
