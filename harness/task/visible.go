package task

import (
	"strings"
	"unicode"
)

// Visible is a text without its format characters (Unicode Cf: soft hyphens, zero-width joiners, marks of
// direction): words are compared as they are read.
func Visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, text)
}
