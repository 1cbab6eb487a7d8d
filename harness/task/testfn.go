package task

import (
	"fmt"
	"strings"
)

// TestFunction is where the one test of a hidden check stands in its source.
type TestFunction struct {
	Name string
	// Item is the byte offset of the item's first attribute; Attribute and End enclose its #[test].
	Item, Attribute, End int
	// ShouldPanic is the test's #[should_panic] attribute, its offsets in the source, or empty.
	ShouldPanic [2]int
}

// TestProblem is why a hidden check's test is none that the runner can be sure of.
type TestProblem struct {
	Line int
	What string
}

func (p *TestProblem) Error() string { return fmt.Sprintf("line %d: %s", p.Line, p.What) }

func atLine(line int, format string, args ...any) error {
	return &TestProblem{line, fmt.Sprintf(format, args...)}
}

// FindTest finds the one plain `#[test] fn name()` of a hidden check. Its error, a [*TestProblem], says what keeps the
// runner from being sure that exactly one test runs and from seeing that it ran to its end: no test
// or several, one that is ignored or compiled only under a condition, one that a macro makes. All of
// that is in the author's file alone, whatever the submission does.
func FindTest(src string) (TestFunction, error) {
	found := scanRust(src)
	switch {
	case len(found.other) > 0:
		return TestFunction{}, atLine(found.other[0].line, "#[%s] is not the standard test attribute", found.other[0].text)
	case len(found.ignored) > 0:
		return TestFunction{}, atLine(found.ignored[0].line, "an ignored test never runs")
	case len(found.tests) == 0:
		return TestFunction{}, atLine(1, "the file holds no #[test]")
	case len(found.tests) > 1:
		return TestFunction{}, atLine(found.tests[1].line, "a second #[test]")
	}
	f := testFinder{rustScanner: rustScanner{src: src, line: 1}}
	return f.find()
}

// testFinder goes through a source item by item, as far as it must to know in what a test stands.
type testFinder struct {
	rustScanner
	open    []scope
	word    string // the last identifier, and the one before
	before  string
	pending []placed // attributes of the item that comes next
}

// scope is one open bracket; module says that it is that of `mod name {`.
type scope struct{ module, conditional bool }

// placed is one outer attribute.
type placed struct {
	start, end int
	text       string
}

func (f *testFinder) find() (TestFunction, error) {
	for !f.done() {
		start := f.at
		if f.blank() {
			continue
		}
		c := f.src[f.at]
		switch {
		case c == '#':
			test, err := f.attribute()
			if err != nil {
				return TestFunction{}, err
			}
			if test {
				return f.function()
			}
		case f.skipQuiet():
			if isIdent(c) {
				f.before, f.word = f.word, f.src[start:f.at]
			} else {
				f.before, f.word = "", ""
			}
		case strings.ContainsRune("{([", rune(c)):
			f.open = append(f.open, scope{module: c == '{' && f.before == "mod" && f.word != "", conditional: conditional(f.pending)})
			f.item()
		case strings.ContainsRune("})]", rune(c)):
			if len(f.open) > 0 {
				f.open = f.open[:len(f.open)-1]
			}
			f.item()
		case c == ';':
			f.item()
		default:
			f.before, f.word = "", ""
			f.advance(1)
		}
	}
	return TestFunction{}, atLine(1, "the test function was not found")
}

// item ends what stood before: its words and attributes are not the next item's.
func (f *testFinder) item() {
	f.before, f.word, f.pending = "", "", nil
	f.advance(1)
}

// attribute reads one attribute and says whether it is #[test]. One for the whole file that makes
// it conditional is an error.
func (f *testFinder) attribute() (test bool, err error) {
	start, line := f.at, f.line
	f.advance(1)
	for f.blank() {
	}
	inner := f.peek("!")
	if inner {
		f.advance(1)
		for f.blank() {
		}
	}
	if !f.peek("[") {
		return false, nil
	}
	a := placed{start: start, text: f.bracketed()}
	a.end = f.at
	if inner {
		if conditional([]placed{a}) {
			err = atLine(line, "#![%s] makes the file conditional, and then no test may run", a.text)
		}
		return false, err
	}
	f.pending = append(f.pending, a)
	return a.text == "test", nil
}

// conditional reports whether one of the attributes can leave out what it stands on.
func conditional(attributes []placed) bool {
	for _, a := range attributes {
		if (strings.HasPrefix(a.text, "cfg(") && a.text != "cfg(test)") || strings.HasPrefix(a.text, "cfg_attr(") {
			return true
		}
	}
	return false
}

// function reads the rest of the item after its #[test].
func (f *testFinder) function() (TestFunction, error) {
	line := f.line
	for _, s := range f.open {
		switch {
		case !s.module:
			return TestFunction{}, atLine(line, "the #[test] stands inside a macro or a function")
		case s.conditional:
			return TestFunction{}, atLine(line, "the module of the #[test] is conditional, and then no test may run")
		}
	}
	t := TestFunction{Item: f.pending[0].start}
	last := f.pending[len(f.pending)-1]
	t.Attribute, t.End = last.start, last.end
	for !f.done() {
		start := f.at
		if f.blank() {
			continue
		}
		if f.src[f.at] == '#' {
			if _, err := f.attribute(); err != nil {
				return TestFunction{}, err
			}
			continue
		}
		if !isIdent(f.src[f.at]) {
			break
		}
		for !f.done() && isIdent(f.src[f.at]) {
			f.advance(1)
		}
		word := f.src[start:f.at]
		if word == "fn" {
			break
		}
		if word != "pub" {
			return TestFunction{}, atLine(f.line, "%.40q is not expected after #[test]; write a plain function", word)
		}
		if f.peek("(") { // pub(crate)
			f.past(")")
		}
	}
	if conditional(f.pending) {
		return TestFunction{}, atLine(line, "the test is conditional, and then no test may run")
	}
	for _, a := range f.pending {
		if a.text == "should_panic" || strings.HasPrefix(a.text, "should_panic(") || strings.HasPrefix(a.text, "should_panic=") {
			t.ShouldPanic = [2]int{a.start, a.end}
		}
	}
	for f.blank() {
	}
	start := f.at
	if f.peek("r#") {
		f.advance(2)
	}
	for !f.done() && isIdent(f.src[f.at]) {
		f.advance(1)
	}
	t.Name = f.src[start:f.at]
	for _, bracket := range []string{"(", ")"} {
		for f.blank() {
		}
		if !f.peek(bracket) {
			return TestFunction{}, atLine(line, "no plain `fn name()` follows #[test]")
		}
		f.advance(1)
	}
	if t.Name == "" {
		return TestFunction{}, atLine(line, "no plain `fn name()` follows #[test]")
	}
	return t, nil
}
