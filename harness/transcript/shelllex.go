package transcript

import "strings"

// The lexer knows as much of the POSIX shell as agents write in tool calls:
// quoting, escapes, variables, command substitutions (kept as text), comments,
// redirections and here-documents. It never fails: what it does not know ends
// up in a dynamic word, which callers treat as "cannot tell".

// part is a piece of a word.
type part struct {
	lit    string // literal text, or the name of a variable, or the text of a substitution
	kind   partKind
	quoted bool // no globbing, no tilde
}

type partKind int

const (
	partLit partKind = iota
	partVar          // $NAME or ${NAME}
	partSub          // $(…), `…`, ${NAME…} with an operator, $((…))
)

// token is an operator (op != "") or a word.
type token struct {
	op    string
	parts []part
	body  string // of a here-document, for the operator "<<"
}

// lexShell splits src into tokens in one pass.
func lexShell(src string) []token {
	l := &lexer{src: src}
	for l.next() {
	}
	l.endWord()
	l.bodies()
	return l.tokens
}

type lexer struct {
	src     string
	pos     int
	tokens  []token
	parts   []part
	inWord  bool
	pending []int // here-documents waiting for their body: index of the "<<" token
}

func (l *lexer) lit(s string, quoted bool) {
	l.inWord = true
	if n := len(l.parts); n > 0 && l.parts[n-1].kind == partLit && l.parts[n-1].quoted == quoted {
		l.parts[n-1].lit += s
		return
	}
	l.parts = append(l.parts, part{lit: s, quoted: quoted})
}

func (l *lexer) endWord() {
	if l.inWord {
		l.tokens = append(l.tokens, token{parts: l.parts})
	}
	l.parts, l.inWord = nil, false
}

// operators, longest first.
var operators = []string{"<<<", "<<-", "&>>", ";;&", "&&", "||", "|&", ";;", "<<", ">>", ">&", "<&", "&>", "<>", ">|", ";", "&", "|", "(", ")", "<", ">"}

func (l *lexer) next() bool {
	if l.pos >= len(l.src) {
		return false
	}
	switch c := l.src[l.pos]; c {
	case ' ', '\t', '\r':
		l.endWord()
		l.pos++
	case '\n':
		l.endWord()
		l.pos++
		l.tokens = append(l.tokens, token{op: "\n"})
		l.bodies()
	case '#':
		if l.inWord {
			l.lit("#", false)
			l.pos++
			break
		}
		if end := strings.IndexByte(l.src[l.pos:], '\n'); end >= 0 {
			l.pos += end
		} else {
			l.pos = len(l.src)
		}
	case '\\':
		if l.pos+1 < len(l.src) && l.src[l.pos+1] != '\n' {
			l.lit(l.src[l.pos+1:l.pos+2], true)
		}
		l.pos = min(l.pos+2, len(l.src))
	case '\'':
		end := strings.IndexByte(l.src[l.pos+1:], '\'')
		if end < 0 {
			end = len(l.src) - l.pos - 1
		}
		l.lit(l.src[l.pos+1:l.pos+1+end], true)
		l.pos = min(l.pos+end+2, len(l.src))
	case '"':
		l.pos++
		l.double()
	case '$', '`':
		l.dollar(false)
	case ';', '&', '|', '(', ')', '<', '>':
		l.operator()
	default:
		end := l.pos + 1
		for end < len(l.src) && !strings.ContainsRune(" \t\r\n#\\'\"$`;&|()<>", rune(l.src[end])) {
			end++
		}
		l.lit(l.src[l.pos:end], false)
		l.pos = end
	}
	return true
}

// double reads the rest of a double-quoted string.
func (l *lexer) double() {
	l.lit("", true)
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; c {
		case '"':
			l.pos++
			return
		case '\\':
			if l.pos+1 < len(l.src) {
				next := l.src[l.pos+1 : l.pos+2]
				switch {
				case next == "\n":
				case strings.Contains("\\\"$`", next):
					l.lit(next, true)
				default:
					l.lit("\\"+next, true)
				}
			}
			l.pos = min(l.pos+2, len(l.src))
		case '$', '`':
			l.dollar(true)
		default:
			end := l.pos + 1
			for end < len(l.src) && !strings.ContainsRune("\"\\$`", rune(l.src[end])) {
				end++
			}
			l.lit(l.src[l.pos:end], true)
			l.pos = end
		}
	}
}

// dollar reads a variable or a substitution at the current position.
func (l *lexer) dollar(quoted bool) {
	rest := l.src[l.pos:]
	add := func(kind partKind, text string, length int) {
		l.inWord = true
		l.parts = append(l.parts, part{lit: text, kind: kind, quoted: quoted})
		l.pos += length
	}
	switch {
	case rest[0] == '`':
		end := strings.IndexByte(rest[1:], '`')
		if end < 0 {
			end = len(rest) - 1
		}
		add(partSub, rest[1:1+end], min(end+2, len(rest)))
	case strings.HasPrefix(rest, "$("):
		end := closing(rest[1:], '(', ')')
		add(partSub, rest[2:1+end], min(end+2, len(rest)))
	case strings.HasPrefix(rest, "${"):
		end := closing(rest[1:], '{', '}')
		name := rest[2 : 1+end]
		kind := partVar
		if name == "" || nameLength(name) != len(name) {
			kind = partSub
		}
		add(kind, name, min(end+2, len(rest)))
	case !quoted && strings.HasPrefix(rest, "$'"):
		// ANSI-C quoting: the escapes are not decoded, so the word is dynamic.
		end := strings.IndexByte(rest[2:], '\'')
		if end < 0 {
			end = len(rest) - 2
		}
		add(partSub, rest[2:2+end], min(end+3, len(rest)))
	default:
		n := nameLength(rest[1:])
		if n == 0 {
			if len(rest) > 1 && strings.ContainsRune("@*#?$!-0123456789", rune(rest[1])) {
				add(partSub, rest[1:2], 2)
				return
			}
			l.lit("$", quoted)
			l.pos++
			return
		}
		add(partVar, rest[1:1+n], 1+n)
	}
}

// closing is the index of the bracket that closes the one at s[0], or len(s).
// Quotes inside are respected; the scan is bounded by the text.
func closing(s string, open, shut byte) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '\'':
			if end := strings.IndexByte(s[i+1:], '\''); end >= 0 {
				i += end + 1
			}
		case open:
			depth++
		case shut:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(s)
}

// nameLength is the length of the variable name s starts with.
func nameLength(s string) int {
	n := 0
	for n < len(s) && (s[n] == '_' || s[n] >= 'a' && s[n] <= 'z' || s[n] >= 'A' && s[n] <= 'Z' || n > 0 && s[n] >= '0' && s[n] <= '9') {
		n++
	}
	return n
}

func (l *lexer) operator() {
	// A number right before < or > is a descriptor, part of the redirection.
	descriptor := ""
	if c := l.src[l.pos]; (c == '<' || c == '>') && l.inWord && len(l.parts) == 1 && !l.parts[0].quoted && isDigits(l.parts[0].lit) {
		descriptor = l.parts[0].lit
		l.parts, l.inWord = nil, false
	}
	l.endWord()
	for _, op := range operators {
		if strings.HasPrefix(l.src[l.pos:], op) {
			l.pos += len(op)
			if op == "<<" || op == "<<-" {
				l.pending = append(l.pending, len(l.tokens))
				op = "<<"
			}
			l.tokens = append(l.tokens, token{op: descriptor + op})
			return
		}
	}
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// bodies reads the here-documents announced on the line that just ended.
func (l *lexer) bodies() {
	for _, at := range l.pending {
		delimiter := ""
		if at+1 < len(l.tokens) && l.tokens[at+1].op == "" {
			for _, p := range l.tokens[at+1].parts {
				delimiter += p.lit
			}
		}
		start := l.pos
		for l.pos < len(l.src) {
			end := strings.IndexByte(l.src[l.pos:], '\n')
			line := l.src[l.pos:]
			if end >= 0 {
				line = line[:end]
			}
			lineStart := l.pos
			l.pos += len(line)
			if end >= 0 {
				l.pos++
			}
			if strings.TrimLeft(strings.TrimSuffix(line, "\r"), "\t") == delimiter {
				l.tokens[at].body = l.src[start:lineStart]
				break
			}
			l.tokens[at].body = l.src[start:l.pos]
		}
	}
	l.pending = nil
}
