package report

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClean(t *testing.T) {
	for name, row := range map[string]struct{ in, want string }{
		"plain":                  {"p = 0.05, a/b_c-d: ok", "p = 0.05, a/b_c-d: ok"},
		"empty":                  {"", ""},
		"other scripts":          {"größer 漢字 עברית 🦀", "größer 漢字 עברית 🦀"},
		"combining marks":        {"e\u0301", "e\u0301"},
		"escape sequence":        {"\x1b[31mred", `\x1b[31mred`},
		"C1 control":             {"\u009b31m", `\u009b31m`},
		"line breaks":            {"a\nb\r\nc\u2028d\u2029e\vf\fg", `a\nb\r\nc\u2028d\u2029e\vf\fg`},
		"tab and bell":           {"a\tb\a", `a\tb\a`},
		"NUL and DEL":            {"\x00\x7f", `\x00\x7f`},
		"bidirectional":          {"\u202eabc\u202c\u2066\u200f", `\u202eabc\u202c\u2066\u200f`},
		"invisible":              {"a\u200bb\ufeffc\u00add\u00a0e", `a\u200bb\ufeffc\u00add\u00a0e`},
		"blank letters":          {"\u3164\u2800\uffa0\u115f\u1160", `\u3164\u2800\uffa0\u115f\u1160`},
		"tag characters":         {"\U000e0041", `\U000e0041`},
		"private use":            {"\ue000", `\ue000`},
		"bytes that are no text": {"a\xffb\xc0\xafc\xe2\x82", `a\xffb\xc0\xafc\xe2\x82`},
		"surrogate half":         {"\xed\xa0\x80", `\xed\xa0\x80`},
		"replacement character":  {"\ufffd", `\ufffd`},
		"test result":            {"--- FAIL: TestX", `\x2d-- FAIL: TestX`},
		"indented test result":   {"    --- FAIL: TestX", `    \x2d-- FAIL: TestX`},
		"test event":             {"=== RUN   TestX", `\x3d== RUN   TestX`},
		"test2json mark":         {"\x16--- FAIL: TestX", `\x16--- FAIL: TestX`}, // no line starts with it any more
		"workflow command":       {"::error::x", `\x3a:error::x`},
		"indented command":       {"  ::error::x", `  \x3a:error::x`},
		"not at the start":       {"a ::b --- c", "a ::b --- c"},
		"dashes of no result":    {"---", "---"},
		"old workflow command":   {"x ##[error]y", `x \x23#[error]y`},
		"more of them":           {"####[x", `\x23\x23\x23#[x`},
		"one hash":               {"# heading", "# heading"},
		"backslashes stay":       {`C:\x1b`, `C:\x1b`},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, row.want, Clean(row.in)) })
	}
}

func TestCleanCuts(t *testing.T) {
	assert.Equal(t, strings.Repeat("a", maxText), Clean(strings.Repeat("a", maxText)))
	assert.Equal(t, strings.Repeat("a", maxText)+"… (1 more bytes)", Clean(strings.Repeat("a", maxText+1)))
	assert.Equal(t, strings.Repeat("a", maxText-1)+"… (2 more bytes)", Clean(strings.Repeat("a", maxText-1)+"é"), "a character is not cut in two")
	assert.LessOrEqual(t, len(Clean(strings.Repeat("\x00", 10*maxText))), 4*maxText+40)
}

// FuzzClean: whatever comes in, what goes out is one harmless line of bounded length, and no
// further cleaning changes it but for cutting.
func FuzzClean(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := Clean(s)
		require.True(t, utf8.ValidString(out))
		require.NotContains(t, out, "\n")
		requireHarmless(t, out)
		require.LessOrEqual(t, len(out), 10*maxText)
		if len(out) <= maxText {
			require.Equal(t, out, Clean(out))
		}
	})
}
