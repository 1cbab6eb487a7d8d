package suite

import (
	"strings"
	"unicode"
)

// The characters of Python's classes, as the inside of one of the library's.
var (
	unicodeClass = map[rune]string{'w': `\p{L}\p{N}_`, 's': `\s\x1c-\x1f`, 'd': `\p{Nd}`}
	asciiClass   = map[rune]string{'w': `a-zA-Z0-9_`, 's': ` \t\n\r\f\v`, 'd': `0-9`}
)

// set is the inside of one of Python's classes.
func (t *translator) set(c rune) string {
	if t.flags.ascii {
		return asciiClass[unicode.ToLower(c)]
	}
	return unicodeClass[unicode.ToLower(c)]
}

// class reads a bracket. What Python's \W and \S hold cannot stand in one of the library's, so they
// stand beside it.
func (t *translator) class() error {
	start := t.pos
	t.pos++
	negated := t.take("^")
	var inside strings.Builder
	var beside []string // insides of the classes whose opposites are in it
	for first := true; ; first = false {
		if !t.more() {
			t.pos = start
			return t.errorf("unterminated character set")
		}
		if t.peek() == ']' && !first {
			t.pos++
			break
		}
		low, isSet, err := t.member(&inside, &beside)
		if err != nil {
			return err
		}
		if t.peek() == '-' && t.pos+1 < len(t.in) && t.in[t.pos+1] != ']' {
			t.pos++
			high, highIsSet, err := t.member(&inside, &beside)
			switch {
			case err != nil:
				return err
			case isSet || highIsSet || high < low:
				return t.errorf("bad character range")
			}
			inside.WriteString(literal(low) + "-" + literal(high))
			continue
		}
		if !isSet {
			inside.WriteString(literal(low))
		}
	}
	t.writeClass(negated, inside.String(), beside)
	return nil
}

func (t *translator) writeClass(negated bool, inside string, beside []string) {
	switch {
	case len(beside) == 0 && negated:
		t.out.WriteString("[^" + inside + "]")
		return
	case len(beside) == 0:
		t.out.WriteString("[" + inside + "]")
		return
	}
	all := "[^" + strings.Join(beside, "]|[^") + "]"
	if inside != "" {
		all = "[" + inside + "]|" + all
	}
	if negated {
		t.out.WriteString(`(?:(?!` + all + `)[\s\S])`)
		return
	}
	t.out.WriteString("(?:" + all + ")")
}

// member reads one member of a class: a character, or a set that it writes itself.
func (t *translator) member(inside *strings.Builder, beside *[]string) (c rune, isSet bool, err error) {
	c = t.in[t.pos]
	if c != '\\' {
		t.pos++
		return c, false, nil
	}
	if t.pos+1 < len(t.in) {
		switch e := t.in[t.pos+1]; e {
		case 'w', 's', 'd':
			inside.WriteString(t.set(e))
			t.pos += 2
			return 0, true, nil
		case 'W', 'S', 'D':
			*beside = append(*beside, t.set(e))
			t.pos += 2
			return 0, true, nil
		case 'b':
			t.pos += 2
			return '\b', false, nil
		}
	}
	c, err = t.character()
	return c, false, err
}
