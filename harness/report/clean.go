package report

import (
	"strconv"
	"strings"
	"unicode"
)

// Clean makes text that a trial may have written fit for one line of a terminal or a log: control
// characters, line breaks, bidirectional marks and what is not UTF-8 become visible escapes.
func Clean(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
