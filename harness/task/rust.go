package task

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// checkForm is what Cargo and every file system take as a test target's name.
var checkForm = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)

// attribute is one Rust attribute: its line and its text without white space,
// comments and the contents of strings.
type attribute struct {
	line int
	text string
}

// rustTests are the attributes of a Rust file that make tests.
type rustTests struct {
	tests   []attribute // #[test]
	other   []attribute // what makes tests in other ways: #[tokio::test], #[rstest]
	ignored []attribute // #[ignore]
}

// testMacros are attributes of well-known crates that turn a function into tests
// though their path does not end in "test".
var testMacros = []string{"rstest", "test_case", "case", "test_matrix", "parameterized", "quickcheck", "wasm_bindgen_test", "bench", "test_log", "traced_test", "apply"}

// conditionalTest is a test attribute as one of cfg_attr's.
var conditionalTest = regexp.MustCompile(`,(\w+::)*(test|ignore)(\(|=|,|\)|$)`)

// scanRust finds the test attributes in a Rust source. It knows comments (nested
// too), strings of all sorts, characters and lifetimes, so that an attribute in
// one of those does not count; what macros make is not seen. It never fails: the
// compiler says what is wrong with a file. The lexical rules are those of the
// Rust reference, "Lexical structure".
func scanRust(src string) rustTests {
	var found rustTests
	s := rustScanner{src: src, line: 1}
	for !s.done() {
		if s.skipQuiet() {
			continue
		}
		if s.src[s.at] != '#' {
			s.advance(1)
			continue
		}
		line := s.line
		s.advance(1)
		for s.blank() {
		}
		inner := s.peek("!")
		if inner {
			s.advance(1)
			for s.blank() {
			}
		}
		if !s.peek("[") {
			continue
		}
		a := attribute{line, s.bracketed()}
		if !inner {
			found.add(a)
		}
	}
	return found
}

func (r *rustTests) add(a attribute) {
	path := a.text
	if i := strings.IndexAny(path, "(=[{"); i >= 0 {
		path = path[:i]
	}
	last := path[strings.LastIndex(path, ":")+1:]
	switch {
	case a.text == "test":
		r.tests = append(r.tests, a)
	case last == "test", slices.Contains(testMacros, last), path == "cfg_attr" && conditionalTest.MatchString(a.text):
		r.other = append(r.other, a)
	case path == "ignore":
		r.ignored = append(r.ignored, a)
	}
}

type rustScanner struct {
	src  string
	at   int
	line int
}

func (s *rustScanner) done() bool { return s.at >= len(s.src) }

func (s *rustScanner) peek(p string) bool { return strings.HasPrefix(s.src[s.at:], p) }

func (s *rustScanner) advance(n int) {
	end := min(s.at+n, len(s.src))
	s.line += strings.Count(s.src[s.at:end], "\n")
	s.at = end
}

// past goes behind the next occurrence of p, or to the end.
func (s *rustScanner) past(p string) {
	if i := strings.Index(s.src[s.at:], p); i >= 0 {
		s.advance(i + len(p))
		return
	}
	s.advance(len(s.src))
}

// blank goes past white space and comments; false when there is none.
func (s *rustScanner) blank() bool {
	switch {
	case s.done():
		return false
	case strings.ContainsRune(" \t\r\n", rune(s.src[s.at])):
		s.advance(1)
	case s.peek("//"):
		s.past("\n")
	case s.peek("/*"):
		depth := 0
		for !s.done() {
			if s.peek("/*") {
				depth++
				s.advance(2)
			} else if s.peek("*/") {
				depth--
				s.advance(2)
			} else {
				s.advance(1)
			}
			if depth == 0 {
				return true
			}
		}
	default:
		return false
	}
	return true
}

// skipQuiet goes past one thing in which no attribute can stand: a blank, a
// comment, a literal, or an identifier with what it prefixes.
func (s *rustScanner) skipQuiet() bool {
	if s.blank() {
		return true
	}
	switch c := s.src[s.at]; {
	case c == '"':
		s.advance(1)
		s.escaped('"')
	case c == '\'':
		s.quote()
	case isIdent(c):
		start := s.at
		for !s.done() && isIdent(s.src[s.at]) {
			s.advance(1)
		}
		if word := s.src[start:s.at]; word == "r" || word == "br" || word == "cr" {
			s.raw()
		}
	default:
		return false
	}
	return true
}

func isIdent(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= utf8.RuneSelf
}

// escaped goes behind the closing quote of a literal with backslash escapes.
func (s *rustScanner) escaped(quote byte) {
	for !s.done() && s.src[s.at] != quote {
		if s.src[s.at] == '\\' {
			s.advance(1)
		}
		s.advance(1)
	}
	s.advance(1)
}

// quote goes past a character literal, or the tick of a lifetime or label.
func (s *rustScanner) quote() {
	s.advance(1)
	if s.peek(`\`) {
		s.escaped('\'')
		return
	}
	_, size := utf8.DecodeRuneInString(s.src[s.at:])
	if strings.HasPrefix(s.src[s.at+size:], "'") {
		s.advance(size + 1)
	}
}

// raw goes past what follows the prefix of a raw string, or of a raw identifier.
func (s *rustScanner) raw() {
	hashes := len(s.src[s.at:]) - len(strings.TrimLeft(s.src[s.at:], "#"))
	if strings.HasPrefix(s.src[s.at+hashes:], `"`) {
		s.advance(hashes + 1)
		s.past(`"` + strings.Repeat("#", hashes))
	} else if hashes == 1 && s.at+1 < len(s.src) && isIdent(s.src[s.at+1]) {
		s.advance(1)
	}
}

// bracketed goes past a [ ] group and returns what stands in it, see attribute.
func (s *rustScanner) bracketed() string {
	var text strings.Builder
	depth := 0
	for !s.done() {
		start := s.at
		if s.blank() {
			continue
		}
		switch {
		case s.skipQuiet():
			if word := s.src[start:s.at]; isIdent(word[0]) && !strings.ContainsAny(word, `"#`) {
				text.WriteString(word)
			}
			continue
		case s.peek("["):
			depth++
		case s.peek("]"):
			depth--
		}
		s.advance(1)
		if depth == 0 {
			break
		}
		text.WriteString(s.src[start:s.at])
	}
	return strings.TrimPrefix(text.String(), "[")
}
