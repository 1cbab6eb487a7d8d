package suite

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Python's re and .NET's expressions, which the library has, look alike and differ in what their
// classes hold, how groups are numbered and in some notation. translate writes the first as the
// second; what it cannot say is an error. After the re chapter of Python's library reference, 3.13.

const (
	maxRegexpBytes = 32 << 10
	maxRegexpDepth = 200
	maxRepeat      = 100_000
)

// The characters of Python's classes, as the inside of one of the library's.
var (
	unicodeClass = map[rune]string{'w': `\p{L}\p{N}_`, 's': `\s\x1c-\x1f`, 'd': `\p{Nd}`}
	asciiClass   = map[rune]string{'w': `a-zA-Z0-9_`, 's': ` \t\n\r\f\v`, 'd': `0-9`}
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

// literal writes a character that stands for itself, also in a class.
func (t *translator) literal(c rune) { t.out.WriteString(literal(c)) }

func literal(c rune) string {
	switch {
	case c < 0x80 && !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'):
		return fmt.Sprintf(`\x%02x`, c)
	}
	return string(c)
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

// set is the inside of one of Python's classes.
func (t *translator) set(c rune) string {
	if t.flags.ascii {
		return asciiClass[unicode.ToLower(c)]
	}
	return unicodeClass[unicode.ToLower(c)]
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
