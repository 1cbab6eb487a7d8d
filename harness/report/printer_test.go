package report

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPrinter(t *testing.T) {
	for name, row := range map[string]struct{ in, want string }{
		"lines and tabs":        {"a\tb\n  c: d\n\n", "a\tb\n  c: d\n\n"},
		"escape sequence":       {"\x1b[31mred\r\n", `\x1b[31mred\r` + "\n"},
		"bidirectional":         {"\u202eabc\n", `\u202eabc` + "\n"},
		"test result":           {"ok\n--- FAIL: TestX\n", "ok\n" + `\x2d-- FAIL: TestX` + "\n"},
		"indented":              {" \t --- PASS: TestX", " \t " + `\x2d-- PASS: TestX`},
		"workflow command":      {"::error::x\n::add-mask::y", `\x3a:error::x` + "\n" + `\x3a:add-mask::y`},
		"old workflow command":  {"x ##[error]y", `x \x23#[error]y`},
		"dashes of no result":   {"---\n-- \n--", "---\n-- \n--"},
		"what waits at the end": {"=", "="},
		"half a character":      {"a\xe2\x82", `a\xe2\x82`},
		"file positions":        {"tasks/x/task.toml:1:2: bad", "tasks/x/task.toml:1:2: bad"},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, row.want, Lines(row.in)) })
	}
}

// FuzzPrinter: whatever comes in, in whatever pieces, what goes out is harmless and does not depend on
// the pieces.
func FuzzPrinter(f *testing.F) {
	for _, s := range hostile {
		f.Add([]byte(s), uint8(3))
	}
	f.Add([]byte("\n--- F\n ::x ## é\xff"), uint8(0))
	f.Fuzz(func(t *testing.T, in []byte, piece uint8) {
		var out bytes.Buffer
		p := NewPrinter(&out)
		for rest := in; len(rest) > 0; {
			n := min(len(rest), 1+int(piece)%5)
			_, err := p.Write(rest[:n])
			require.NoError(t, err)
			rest = rest[n:]
		}
		require.NoError(t, p.Flush())
		require.Equal(t, Lines(string(in)), out.String())
		require.True(t, utf8.Valid(out.Bytes()))
		require.Equal(t, bytes.Count(in, []byte("\n")), strings.Count(out.String(), "\n"))
		requireHarmless(t, strings.ReplaceAll(out.String(), "\t", " "))
		require.Equal(t, out.String(), Lines(out.String()))
	})
}
