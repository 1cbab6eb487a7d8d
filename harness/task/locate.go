package task

import (
	"fmt"
	"sort"
	"strings"

	"github.com/BurntSushi/toml"
)

// The TOML decoder gives positions for syntax errors alone. locate finds those of
// the keys and array items of a text the decoder has accepted, so that a value
// that means nothing can be reported at its line.

// span is where a key stands, and from where to where its value does, in bytes
// from the beginning of the text.
type span struct{ key, value, end int }

// locations are the spans by path: see pathOf. The first mention counts.
type locations struct {
	spans map[string]span
	lines []int // offset of each line's beginning
}

// pathOf names a key ("expected", "used") or, with a final "[2]", an array item.
func pathOf(keys ...string) string { return strings.Join(keys, "\x00") }

func itemOf(path string, i int) string { return fmt.Sprintf("%s\x00[%d]", path, i) }

// position is the line and column of an offset, both from 1.
func (l *locations) position(offset int) (line, col int) {
	line = sort.SearchInts(l.lines, offset+1)
	return line, offset - l.lines[line-1] + 1
}

// locate never fails: in a text that is not TOML it finds what it can.
func locate(text string) *locations {
	l := &locator{text: text, found: &locations{spans: map[string]span{}, lines: []int{0}}}
	for i := range len(text) {
		if text[i] == '\n' {
			l.found.lines = append(l.found.lines, i+1)
		}
	}
	l.document()
	return l.found
}

type locator struct {
	text  string
	at    int
	depth int
	found *locations
}

func (l *locator) done() bool { return l.at >= len(l.text) }

func (l *locator) peek(s string) bool { return strings.HasPrefix(l.text[l.at:], s) }

func (l *locator) record(path string, s span) {
	if _, ok := l.found.spans[path]; !ok {
		l.found.spans[path] = s
	}
}

func (l *locator) document() {
	var table []string
	for l.blank(); !l.done(); l.blank() {
		start := l.at
		if l.peek("[") {
			l.at++
			if l.peek("[") {
				l.at++
			}
			keys := l.keys(nil)
			l.spaces()
			for l.peek("]") {
				l.at++
			}
			table = keys
		} else {
			l.pair(table)
		}
		if l.at == start {
			return // not TOML
		}
	}
}

// pair is one "key = value" in a table.
func (l *locator) pair(table []string) {
	start := l.at
	keys := l.keys(table)
	l.spaces()
	if !l.peek("=") {
		return
	}
	l.at++
	l.spaces()
	value := l.at
	path := pathOf(keys...)
	l.value(path)
	s := span{start, value, l.at}
	if old, ok := l.found.spans[path]; ok && old.value == old.key {
		// keys has recorded where the path begins; now its value is known too.
		l.found.spans[path] = s
	}
	l.record(path, s)
}

// keys reads a dotted key and records each of its parts below the table.
func (l *locator) keys(table []string) []string {
	path := append([]string{}, table...)
	for {
		l.spaces()
		start := l.at
		var name string
		if l.peek(`"`) || l.peek("'") {
			l.quoted()
			name = unquote(l.text[start:l.at])
		} else {
			for !l.done() && isBare(l.text[l.at]) {
				l.at++
			}
			name = l.text[start:l.at]
		}
		if l.at == start {
			return path
		}
		path = append(path, name)
		if len(path) <= maxNesting { // else the paths' lengths add up to a square
			l.record(pathOf(path...), span{start, start, start})
		}
		l.spaces()
		if !l.peek(".") {
			return path
		}
		l.at++
	}
}

func isBare(c byte) bool {
	return c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// unquote leaves a quoted key's escapes to the decoder.
func unquote(quoted string) string {
	var v struct{ K string }
	if _, err := toml.Decode("K = "+quoted, &v); err != nil {
		return quoted
	}
	return v.K
}

// maxNesting bounds the recursion over arrays and inline tables, and the parts of
// a dotted key.
const maxNesting = 100

func (l *locator) value(path string) {
	l.depth++
	defer func() { l.depth-- }()
	switch {
	case l.done() || l.depth > maxNesting:
		l.at = len(l.text)
	case l.peek(`"`) || l.peek("'"):
		l.quoted()
	case l.peek("["):
		l.at++
		for i := 0; ; i++ {
			if !l.next("]") {
				return
			}
			start := l.at
			l.value(itemOf(path, i))
			l.record(itemOf(path, i), span{start, start, l.at})
			if l.at == start {
				return
			}
		}
	case l.peek("{"):
		l.at++
		// Keys of a table in an array are recorded without the item's number.
		table := strings.Split(path, "\x00")
		for len(table) > 1 && strings.HasPrefix(table[len(table)-1], "[") {
			table = table[:len(table)-1]
		}
		for l.next("}") {
			start := l.at
			l.pair(table)
			if l.at == start {
				return
			}
		}
	default:
		for !l.done() && !strings.ContainsRune(",]}#\n", rune(l.text[l.at])) {
			l.at++
		}
	}
}

// next goes to the next item of an array or inline table; false after the last.
func (l *locator) next(closing string) bool {
	l.blank()
	for l.peek(",") {
		l.at++
		l.blank()
	}
	if l.done() {
		return false
	}
	if l.peek(closing) {
		l.at++
		return false
	}
	return true
}

// quoted goes past a string of any of the four sorts.
func (l *locator) quoted() {
	quote := l.text[l.at : l.at+1]
	if long := strings.Repeat(quote, 3); l.peek(long) {
		l.at += 3
		l.skipTo(long, quote)
		for extra := 0; extra < 2 && l.peek(quote); extra++ { // """a"""" ends in a quote
			l.at++
		}
		return
	}
	l.at++
	l.skipTo(quote, quote)
}

func (l *locator) skipTo(end, quote string) {
	for !l.done() && !l.peek(end) {
		if quote == `"` && l.peek(`\`) {
			l.at++
		}
		l.at++
	}
	l.at = min(l.at+len(end), len(l.text))
}

func (l *locator) spaces() {
	for !l.done() && (l.text[l.at] == ' ' || l.text[l.at] == '\t') {
		l.at++
	}
}

// blank goes past white space, line ends and comments.
func (l *locator) blank() {
	for !l.done() {
		switch l.text[l.at] {
		case ' ', '\t', '\n', '\r':
			l.at++
		case '#':
			for !l.done() && l.text[l.at] != '\n' {
				l.at++
			}
		default:
			return
		}
	}
}
