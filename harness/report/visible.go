package report

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible makes a text that a trial may have written fit to be shown over several lines: line breaks and
// tabs stay, every other control character, invisible and bidirectional mark becomes a visible escape.
// At most max bytes of s are kept; cut is how many were not.
func Visible(s string, max int) (out string, cut int) {
	if len(s) > max {
		end := max
		for end > 0 && end > max-utf8.UTFMax && !utf8.RuneStart(s[end]) {
			end--
		}
		s, cut = s[:end], len(s)-end
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == unicode.ReplacementChar || !unicode.IsPrint(r) || blank[r]:
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String(), cut
}
