package gateway

import (
	"bytes"
	"strings"
)

// A lineIndex says where in a TOML file a table or key stands. The TOML module tells positions of syntax errors only, so
// that a wrong value could otherwise be reported without its place.
type lineIndex map[linePlace]spot

// A spot is a place in a file, 1-based; the column counts bytes.
type spot struct{ line, col int }

// top is where a problem of the whole file is put.
var top = spot{1, 1}

type linePlace struct {
	table string // "" is the top level
	n     int    // which [[table]] of that name, 0-based
	key   string // "" is the table's head
}

// of returns the place of the key, else of its table, else of the table's name at the top level (step = […]), else the
// file's top.
func (ix lineIndex) of(table string, n int, key string) spot {
	for _, p := range []linePlace{{table, n, key}, {table, n, ""}, {"", 0, table}} {
		if at, ok := ix[p]; ok {
			return at
		}
	}
	return top
}

// locate indexes data, which must be valid TOML; for anything else it returns some index without failing.
func locate(data []byte) lineIndex {
	ix := lineIndex{}
	counts := map[string]int{}
	table, n := "", 0
	for pos, line := 0, 1; pos < len(data); {
		start := pos
		for pos < len(data) && (data[pos] == ' ' || data[pos] == '\t' || data[pos] == '\r') {
			pos++
		}
		at := spot{line, pos - start + 1}
		switch {
		case pos == len(data) || data[pos] == '\n':
			pos++
		case data[pos] == '#':
			pos = lineEnd(data, pos) + 1
		case data[pos] == '[':
			end := lineEnd(data, pos)
			name, isArray := headName(string(data[pos:end]))
			table, n = name, 0
			if isArray {
				n = counts[name]
				counts[name]++
			}
			ix.put(linePlace{table, n, ""}, at)
			ix.put(linePlace{"", 0, name}, at)
			pos = end + 1
		default:
			end := keyEnd(data, pos)
			ix.put(linePlace{table, n, keyName(string(data[pos:end]))}, at)
			pos = valueEnd(data, end) + 1
		}
		line += bytes.Count(data[start:min(pos, len(data))], []byte("\n"))
	}
	return ix
}

// put keeps the first spot of a place.
func (ix lineIndex) put(p linePlace, at spot) {
	if _, ok := ix[p]; !ok {
		ix[p] = at
	}
}

func lineEnd(data []byte, pos int) int {
	if i := bytes.IndexByte(data[pos:], '\n'); i >= 0 {
		return pos + i
	}
	return len(data)
}

// headName reads "[[ step ]] # …" as step, true and "[a.b]" as a.b, false.
func headName(head string) (name string, isArray bool) {
	isArray = strings.HasPrefix(head, "[[")
	name, _, _ = strings.Cut(strings.TrimLeft(head, "["), "]")
	return keyName(name), isArray
}

// keyName takes the quotes and blanks off a key. Of a dotted key it is the first part: that is what the table holds.
func keyName(key string) string {
	key = strings.TrimSpace(key)
	if len(key) > 1 && (key[0] == '"' || key[0] == '\'') {
		if i := strings.IndexByte(key[1:], key[0]); i >= 0 {
			return key[1 : 1+i]
		}
	}
	key, _, _ = strings.Cut(key, ".")
	return strings.TrimSpace(key)
}

// keyEnd is the position of the = after the key at pos, or of the line's end.
func keyEnd(data []byte, pos int) int {
	for pos < len(data) && data[pos] != '=' && data[pos] != '\n' {
		if data[pos] == '"' || data[pos] == '\'' {
			pos = stringEnd(data, pos)
			continue
		}
		pos++
	}
	return pos
}

// valueEnd is the position of the line break that ends the value behind pos, past strings and brackets over many lines.
func valueEnd(data []byte, pos int) int {
	for depth := 0; pos < len(data); {
		switch data[pos] {
		case '"', '\'':
			pos = stringEnd(data, pos)
			continue
		case '#':
			pos = lineEnd(data, pos)
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '\n':
			if depth <= 0 {
				return pos
			}
		}
		pos++
	}
	return pos
}

// stringEnd is the position behind the string that begins at pos, in any of TOML's four forms.
func stringEnd(data []byte, pos int) int {
	quote := data[pos]
	triple := []byte{quote, quote, quote}
	multi := bytes.HasPrefix(data[pos:], triple)
	if multi {
		pos += 3
	} else {
		pos++
	}
	for pos < len(data) {
		switch {
		case data[pos] == '\\' && quote == '"':
			pos += 2
			continue
		case multi && bytes.HasPrefix(data[pos:], triple):
			pos += 3
			for pos < len(data) && data[pos] == quote { // up to two quotes may stand before the closing three
				pos++
			}
			return pos
		case !multi && (data[pos] == quote || data[pos] == '\n'):
			return min(pos+1, len(data))
		}
		pos++
	}
	return min(pos, len(data))
}
