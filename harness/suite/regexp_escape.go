package suite

import (
	"fmt"
	"strconv"
	"unicode"
)

// literal writes a character that stands for itself, also in a class.
func (t *translator) literal(c rune) { t.out.WriteString(literal(c)) }

func literal(c rune) string {
	switch {
	case c < 0x80 && !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'):
		return fmt.Sprintf(`\x%02x`, c)
	}
	return string(c)
}

// escape reads a backslash outside a class.
func (t *translator) escape() (canRepeat bool, err error) {
	if t.pos+1 >= len(t.in) {
		return false, t.errorf("bad escape (end of pattern)")
	}
	c := t.in[t.pos+1]
	switch c {
	case 'w', 's', 'd':
		t.out.WriteString("[" + t.set(c) + "]")
	case 'W', 'S', 'D':
		t.out.WriteString("[^" + t.set(c) + "]")
	case 'b', 'B':
		t.pos += 2
		w := "[" + t.set('w') + "]"
		if c == 'b' {
			t.out.WriteString("(?:(?<=" + w + ")(?!" + w + ")|(?<!" + w + ")(?=" + w + "))")
		} else {
			t.out.WriteString("(?:(?<=" + w + ")(?=" + w + ")|(?<!" + w + ")(?!" + w + "))")
		}
		return false, nil
	case 'A', 'Z', 'z':
		t.pos += 2
		if c != 'A' {
			c = 'z'
		}
		t.out.WriteString(`\` + string(c))
		return false, nil
	default:
		if c >= '1' && c <= '9' {
			if n, ok := t.number(); ok {
				return true, t.reference(n)
			}
		}
		r, err := t.character()
		if err != nil {
			return false, err
		}
		t.literal(r)
		return true, nil
	}
	t.pos += 2
	return true, nil
}

// number reads the number of a group, which has up to two digits; three octal ones are a character.
func (t *translator) number() (int, bool) {
	digit := func(i int, most rune) bool {
		return t.pos+i < len(t.in) && t.in[t.pos+i] >= '0' && t.in[t.pos+i] <= most
	}
	if digit(1, '7') && digit(2, '7') && digit(3, '7') {
		return 0, false
	}
	n := int(t.in[t.pos+1] - '0')
	t.pos += 2
	if digit(0, '9') {
		n = n*10 + int(t.in[t.pos]-'0')
		t.pos++
	}
	return n, true
}

var controls = map[rune]rune{'a': 7, 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v', '\\': '\\'}

// character reads an escape that stands for one character.
func (t *translator) character() (rune, error) {
	if t.pos+1 >= len(t.in) {
		return 0, t.errorf("bad escape (end of pattern)")
	}
	c := t.in[t.pos+1]
	if r, ok := controls[c]; ok {
		t.pos += 2
		return r, nil
	}
	hex := map[rune]int{'x': 2, 'u': 4, 'U': 8}[c]
	switch {
	case hex > 0:
		end := t.pos + 2 + hex
		if end > len(t.in) {
			return 0, t.errorf("incomplete escape \\%c", c)
		}
		n, err := strconv.ParseUint(string(t.in[t.pos+2:end]), 16, 32)
		if err != nil {
			return 0, t.errorf("incomplete escape \\%c", c)
		}
		if n > unicode.MaxRune || n >= 0xd800 && n < 0xe000 {
			return 0, t.errorf("bad escape \\%c: no character", c)
		}
		t.pos = end
		return rune(n), nil
	case c >= '0' && c <= '7':
		n := rune(0)
		i := t.pos + 1
		for ; i < len(t.in) && i < t.pos+4 && t.in[i] >= '0' && t.in[i] <= '7'; i++ {
			n = n*8 + t.in[i] - '0'
		}
		if n > 0o377 {
			return 0, t.errorf("octal escape value outside of range 0-0o377")
		}
		t.pos = i
		return n, nil
	case c == 'N':
		return 0, t.errorf(`bad escape \N: names of characters are not read; write the character`)
	case c < 0x80 && (unicode.IsLetter(c) || unicode.IsDigit(c)):
		return 0, t.errorf("bad escape \\%c", c)
	}
	t.pos += 2
	return c, nil
}
