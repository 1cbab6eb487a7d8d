package gateway

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tomlString writes s as a TOML string, over several lines where it has some and the plain form can hold it. Characters
// that could deceive a terminal are escaped. Invalid UTF-8, which TOML cannot hold, becomes U+FFFD.
func tomlString(s string) string {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	plain := func(r rune) bool { return r == '\t' || unicode.IsGraphic(r) }
	if strings.Contains(s, "\n") && !strings.Contains(s, "'''") && !strings.HasSuffix(s, "'") &&
		strings.IndexFunc(s, func(r rune) bool { return r != '\n' && !plain(r) }) < 0 {
		return "'''\n" + s + "'''" // the line break behind the opening quotes is no part of it
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case plain(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// plainText puts s on one line of a comment: whatever is no plain character becomes U+FFFD.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
}
