package report

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxText bounds what Clean keeps of one text, in bytes of its input.
const maxText = 2000

// commands are what programs that read logs act upon. A line that starts so is a test's result to go
// test's readers, or a workflow command to a CI server; "##" does it anywhere in a line.
var commands = []string{"--- ", "=== ", "::", "##"}

// Clean makes text that a trial may have written fit for one line of a terminal or a log: control
// characters, line breaks, invisible and bidirectional marks and what is not UTF-8 become visible
// escapes, and so does the first character of what would be a command to a program that reads the
// log. Text of more than 2000 bytes is cut, and says so.
func Clean(s string) string {
	cut := 0
	if len(s) > maxText {
		end := maxText
		for end > maxText-utf8.UTFMax && !utf8.RuneStart(s[end]) {
			end--
		}
		s, cut = s[:end], len(s)-end
	}
	var b strings.Builder
	start := true // only blanks so far
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == unicode.ReplacementChar || !unicode.IsPrint(r) || blank[r]:
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		case command(s[i:], start):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		default:
			b.WriteRune(r)
		}
		start = start && r == ' '
		i += size
	}
	if cut > 0 {
		fmt.Fprintf(&b, "… (%d more bytes)", cut)
	}
	return b.String()
}

// CleanJSON makes JSON fit for a terminal without changing what it says: characters that do not
// print, which JSON may hold as they are, become escapes.
func CleanJSON(doc []byte) []byte {
	out := make([]byte, 0, len(doc))
	for i := 0; i < len(doc); {
		r, size := utf8.DecodeRune(doc[i:])
		if r >= 0x7f && (!unicode.IsPrint(r) || blank[r]) {
			for _, unit := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
		} else {
			out = append(out, doc[i:i+size]...)
		}
		i += size
	}
	return out
}

// blank are the characters that count as printable and show nothing.
var blank = map[rune]bool{0x115f: true, 0x1160: true, 0x2800: true, 0x3164: true, 0xffa0: true}

func command(s string, start bool) bool {
	for _, c := range commands {
		if strings.HasPrefix(s, c) && (start || c == "##") {
			return true
		}
	}
	return false
}
