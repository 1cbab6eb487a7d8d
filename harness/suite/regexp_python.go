package suite

import (
	"fmt"
	"strconv"
	"strings"
)

// Python's re and .NET's expressions, which the library has, look alike and differ in what their
// classes hold, how groups are numbered and in some notation. translate writes the first as the
// second; what it cannot say is an error. After the re chapter of Python's library reference, 3.13.

const (
	maxRegexpBytes = 32 << 10
	maxRegexpDepth = 200
	maxRepeat      = 100_000
)

type regexpFlags struct{ verbose, ascii bool }

// translator writes out as it reads in.
type translator struct {
	in     []rune
	pos    int
	out    strings.Builder
	flags  regexpFlags
	names  map[string]int
	closed map[int]bool
	groups int
	depth  int
}

// translate is the expression in the library's syntax.
func translate(expr string) (string, error) {
	if len(expr) > maxRegexpBytes {
		return "", fmt.Errorf("longer than %d bytes", maxRegexpBytes)
	}
	t := &translator{in: []rune(expr), names: map[string]int{}, closed: map[int]bool{}}
	if err := t.globalFlags(); err != nil {
		return "", err
	}
	if err := t.alternatives(); err != nil {
		return "", err
	}
	if t.more() {
		return "", t.errorf("unbalanced parenthesis")
	}
	return t.out.String(), nil
}

func (t *translator) errorf(format string, args ...any) error {
	return fmt.Errorf(format+" at position %d", append(args, t.pos)...)
}

func (t *translator) more() bool { return t.pos < len(t.in) }

func (t *translator) peek() rune {
	if t.more() {
		return t.in[t.pos]
	}
	return -1
}

// take reads s when it comes next.
func (t *translator) take(s string) bool {
	n := t.pos
	for _, c := range s {
		if n >= len(t.in) || t.in[n] != c {
			return false
		}
		n++
	}
	t.pos = n
	return true
}

// until reads up to end, and end.
func (t *translator) until(end rune) (string, bool) {
	for i := t.pos; i < len(t.in); i++ {
		if t.in[i] == end {
			s := string(t.in[t.pos:i])
			t.pos = i + 1
			return s, true
		}
	}
	return "", false
}

// alternatives reads up to the closing parenthesis of the group, or the end.
func (t *translator) alternatives() error {
	if t.depth++; t.depth > maxRegexpDepth {
		return t.errorf("more than %d groups in each other", maxRegexpDepth)
	}
	defer func() { t.depth-- }()
	last := -1 // where in out the last item begins, when it can be repeated
	repeated := false
	for t.more() {
		if t.skipVerbose() {
			continue
		}
		if t.take("(?#") { // a comment is nothing, also before a repetition
			if _, ok := t.until(')'); !ok {
				return t.errorf("missing ), unterminated comment")
			}
			continue
		}
		c := t.in[t.pos]
		switch {
		case c == ')':
			return nil
		case c == '|':
			t.pos++
			t.out.WriteByte('|')
			last, repeated = -1, false
			continue
		case strings.ContainsRune("*+?", c) || c == '{' && t.isRepeat():
			if last < 0 {
				if repeated {
					return t.errorf("multiple repeat")
				}
				return t.errorf("nothing to repeat")
			}
			if err := t.repeat(last); err != nil {
				return err
			}
			last, repeated = -1, true
			continue
		}
		begin := t.out.Len()
		canRepeat, err := t.item()
		if err != nil {
			return err
		}
		last, repeated = -1, false
		if canRepeat {
			last = begin
		}
	}
	return nil
}

// skipVerbose skips blanks and comments of the verbose form.
func (t *translator) skipVerbose() bool {
	if !t.flags.verbose {
		return false
	}
	switch {
	case strings.ContainsRune(" \t\n\r\v\f", t.peek()):
		t.pos++
	case t.peek() == '#':
		for t.more() && t.in[t.pos] != '\n' {
			t.pos++
		}
	default:
		return false
	}
	return true
}

// bounds reads {n}, {n,}, {,m} or {n,m}; anything else is literal text.
func (t *translator) bounds() (low, high string, ok bool) {
	rest := t.in[t.pos+1:]
	i := 0
	digits := func() string {
		start := i
		for i < len(rest) && rest[i] >= '0' && rest[i] <= '9' {
			i++
		}
		return string(rest[start:i])
	}
	low = digits()
	comma := i < len(rest) && rest[i] == ','
	if comma {
		i++
		high = digits()
	}
	if i >= len(rest) || rest[i] != '}' || low == "" && !comma {
		return "", "", false
	}
	if !comma {
		high = low
	}
	t.pos += i + 2
	return low, high, true
}

func (t *translator) isRepeat() bool {
	at := t.pos
	_, _, ok := t.bounds()
	t.pos = at
	return ok
}

// repeat reads a repetition of what was written from position begin on.
func (t *translator) repeat(begin int) error {
	written := ""
	if t.peek() == '{' {
		low, high, _ := t.bounds()
		if low == "" {
			low = "0"
		}
		l, errLow := strconv.Atoi(low)
		h, errHigh := l, error(nil)
		if high != "" {
			h, errHigh = strconv.Atoi(high)
		}
		if errLow != nil || errHigh != nil || l > maxRepeat || h > maxRepeat {
			return t.errorf("the repetition count is larger than %d", maxRepeat)
		}
		switch {
		case l > h:
			return t.errorf("min repeat greater than max repeat")
		case high == "":
			written = fmt.Sprintf("{%d,}", l)
		default:
			written = fmt.Sprintf("{%d,%d}", l, h)
		}
	} else {
		written = string(t.in[t.pos])
		t.pos++
	}
	switch {
	case t.take("?"):
		written += "?"
	case t.take("+"): // possessive: without a way back
		all := t.out.String()
		t.out.Reset()
		t.out.WriteString(all[:begin] + "(?>" + all[begin:] + written + ")")
		return nil
	}
	t.out.WriteString(written)
	return nil
}

// item reads one thing that is no repetition, and says whether one may follow.
func (t *translator) item() (canRepeat bool, err error) {
	switch c := t.in[t.pos]; c {
	case '(':
		return t.group()
	case '[':
		return true, t.class()
	case '\\':
		return t.escape()
	case '.':
		t.out.WriteByte('.')
	case '^', '$':
		t.pos++
		t.out.WriteRune(c)
		return false, nil
	default:
		t.literal(c)
	}
	t.pos++
	return true, nil
}
