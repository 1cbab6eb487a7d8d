package suite

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// globalFlags reads (?imsxau) at the very start, the only place Python has for them.
func (t *translator) globalFlags() error {
	for {
		start := t.pos
		if !t.take("(?") {
			return nil
		}
		letters := t.letters()
		if letters == "" || !t.take(")") {
			t.pos = start
			return nil
		}
		kept, flags, err := t.flagsOf(letters, t.flags)
		if err != nil {
			return err
		}
		t.flags = flags
		if kept != "" {
			t.out.WriteString("(?" + kept + ")")
		}
	}
}

func (t *translator) letters() string {
	start := t.pos
	for t.more() && (t.in[t.pos] >= 'a' && t.in[t.pos] <= 'z' || t.in[t.pos] == 'L') {
		t.pos++
	}
	return string(t.in[start:t.pos])
}

// flagsOf are the flags the library has too, and the state after them.
func (t *translator) flagsOf(letters string, f regexpFlags) (string, regexpFlags, error) {
	kept := ""
	for _, c := range letters {
		switch c {
		case 'i', 'm', 's':
			kept += string(c)
		case 'x':
			f.verbose = true
		case 'a':
			f.ascii = true
		case 'u':
			f.ascii = false
		case 'L':
			return "", f, t.errorf("cannot use LOCALE flag with a str pattern")
		default:
			return "", f, t.errorf("unknown flag")
		}
	}
	if strings.ContainsRune(letters, 'a') && strings.ContainsRune(letters, 'u') {
		return "", f, t.errorf("the flags a and u exclude each other")
	}
	return kept, f, nil
}

// group reads a parenthesis up to its closing one.
func (t *translator) group() (canRepeat bool, err error) {
	outer := t.flags
	number := 0
	t.pos++ // the parenthesis
	if !t.take("?") {
		number = t.capture()
	} else if done, err := t.extension(&number); done || err != nil {
		return true, err
	}
	if err := t.alternatives(); err != nil {
		return false, err
	}
	if !t.take(")") {
		return false, t.errorf("missing ), unterminated subpattern")
	}
	t.out.WriteByte(')')
	if number > 0 {
		t.closed[number] = true
	}
	t.flags = outer
	return true, nil
}

// capture begins a capturing group; all have their number as name, so that they count as in Python.
func (t *translator) capture() int {
	t.groups++
	fmt.Fprintf(&t.out, "(?<%d>", t.groups)
	return t.groups
}

var errUnknown = errors.New("unknown extension")

// extension reads what follows (?. done says that the whole group is read.
func (t *translator) extension(number *int) (done bool, err error) {
	switch {
	case t.take("P<"):
		name, ok := t.until('>')
		if !ok || !isName(name) {
			return false, t.errorf("bad character in group name %q", name)
		}
		if _, twice := t.names[name]; twice {
			return false, t.errorf("redefinition of group name %q", name)
		}
		*number = t.capture()
		t.names[name] = *number
		return false, nil
	case t.take("P="):
		name, ok := t.until(')')
		if !ok {
			return false, t.errorf("missing ), unterminated name")
		}
		n, known := t.names[name]
		if !known {
			return false, t.errorf("unknown group name %q", name)
		}
		return true, t.reference(n)
	case t.take("("):
		return false, t.conditional()
	}
	for _, same := range []string{":", "=", "!", "<=", "<!", ">"} {
		if t.take(same) {
			t.out.WriteString("(?" + same)
			return false, nil
		}
	}
	on := t.letters()
	off := ""
	if t.take("-") {
		if off = t.letters(); off == "" {
			return false, t.errorf("missing flag")
		}
		if strings.Trim(off, "imsx") != "" {
			return false, t.errorf("bad inline flags: cannot turn off flags 'a', 'u' and 'L'")
		}
	}
	switch {
	case on+off == "":
		return false, t.errorf("%w", errUnknown)
	case t.peek() == ')':
		return false, t.errorf("global flags not at the start of the expression")
	case !t.take(":"):
		return false, t.errorf("%w", errUnknown)
	case strings.ContainsAny(on, off) && off != "":
		return false, t.errorf("bad inline flags: flag turned on and off")
	}
	kept, flags, err := t.flagsOf(on, t.flags)
	if err != nil {
		return false, err
	}
	if strings.ContainsRune(off, 'x') {
		flags.verbose = false
	}
	t.flags = flags
	t.out.WriteString("(?" + kept)
	if off = strings.ReplaceAll(off, "x", ""); off != "" {
		t.out.WriteString("-" + off)
	}
	t.out.WriteByte(':')
	return false, nil
}

// conditional reads (?(1)yes|no) after its second parenthesis.
func (t *translator) conditional() error {
	name, ok := t.until(')')
	if !ok {
		return t.errorf("missing ), unterminated name")
	}
	n, known := t.names[name]
	if v, err := strconv.Atoi(name); err == nil {
		n, known = v, v > 0 && v <= t.groups
	}
	if !known {
		return t.errorf("unknown group name %q", name)
	}
	fmt.Fprintf(&t.out, "(?(%d)", n)
	return nil
}

func (t *translator) reference(n int) error {
	if n > t.groups {
		return t.errorf("invalid group reference %d", n)
	}
	if !t.closed[n] {
		return t.errorf("cannot refer to an open group")
	}
	fmt.Fprintf(&t.out, `\k<%d>`, n)
	return nil
}

func isName(s string) bool {
	for i, c := range s {
		if c != '_' && !unicode.IsLetter(c) && (i == 0 || !unicode.IsDigit(c)) {
			return false
		}
	}
	return s != ""
}
