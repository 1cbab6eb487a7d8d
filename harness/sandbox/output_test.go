package sandbox

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMarkWriter(t *testing.T) {
	const mark = "started-0123\n"
	for name, tt := range map[string]struct {
		in, out, head string
		seen          bool
	}{
		"only the mark":          {mark, "", "", true},
		"mark, then output":      {mark + "hello\n", "hello\n", "", true},
		"srt speaks first":       {"warning\n" + mark + "hello\n", "warning\nhello\n", "", true},
		"the mark again":         {mark + mark, mark, "", true},
		"no mark":                {"bwrap: no\n", "bwrap: no\n", "bwrap: no\n", false},
		"a part of the mark":     {"started-01", "started-01", "started-01", false},
		"nothing":                {"", "", "", false},
		"not UTF-8":              {"bad\xff", "bad\xff", "bad\uFFFD", false},
		"long words before it":   {strings.Repeat("x", 40_000) + mark + "end", strings.Repeat("x", 40_000) + "end", strings.Repeat("x", 16<<10), true},
		"a flood without a mark": {strings.Repeat("y", 400_000), strings.Repeat("y", 400_000), strings.Repeat("y", 16<<10), false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, chunk := range []int{1, 7, 1000, 1 << 20} {
				if chunk == 1 && len(tt.in) > 1000 {
					continue
				}
				var out bytes.Buffer
				m := &markWriter{mark: []byte(mark), next: &out}
				for rest := tt.in; rest != ""; {
					n, err := m.Write([]byte(rest[:min(chunk, len(rest))]))
					require.NoError(t, err)
					rest = rest[n:]
					require.LessOrEqual(t, len(m.held)+m.pre.Len(), 2*maxDiagnosis, "memory is bounded")
				}
				m.flush()
				assert.Equal(t, tt.out, out.String())
				assert.Equal(t, tt.seen, m.seen)
				if !tt.seen {
					assert.Equal(t, tt.head, m.head())
				}
			}
		})
	}
}

// Splitting anywhere, the mark is found and nothing is lost.
func FuzzMarkWriter(f *testing.F) {
	f.Add("warning\n", "out", uint8(3))
	f.Fuzz(func(t *testing.T, before, after string, chunk uint8) {
		const mark = "started-0123\n"
		if strings.Contains(before+mark[:len(mark)-1], mark) {
			return
		}
		var out bytes.Buffer
		m := &markWriter{mark: []byte(mark), next: &out}
		for rest := before + mark + after; rest != ""; {
			n, _ := m.Write([]byte(rest[:min(int(chunk)+1, len(rest))]))
			rest = rest[n:]
		}
		m.flush()
		require.True(t, m.seen)
		require.Equal(t, before+after, out.String())
	})
}

// The script holds names only: the values travel in the environment, under other names.
func TestStartScriptHoldsNoValue(t *testing.T) {
	l := Launch{Argv: []string{"/bin/it's"}, Env: map[string]string{"KEY": "s3cret", "A": "other-value"}, Proxy: true}
	script, env := startScript(l, "nonce")
	assert.NotContains(t, script, "s3cret")
	assert.NotContains(t, script, "other-value")
	assert.Equal(t, []string{"V0=other-value", "V1=s3cret"}, env)
	last := strings.Split(strings.TrimSpace(script), "\n")
	// What is expanded in a command becomes its argv: the command that is run names no variable.
	assert.NotContains(t, strings.ReplaceAll(last[len(last)-1], `"$@"' sh`, ""), "$")
	assert.Contains(t, last[len(last)-1], `'/bin/it'\''s'`)
}

func TestNames(t *testing.T) {
	for name, want := range map[string]bool{"A": true, "_": true, "a9_Z": true, "": false, "9": false, "A-B": false, "A=": false, "Ä": false, "@": false, "`": false, "[": false, "{": false} {
		assert.Equal(t, want, isName(name), "%q", name)
	}
	for name, want := range map[string]bool{"V0": true, "V123": true, "V": false, "V1a": false, "VV1": false, "v1": false} {
		assert.Equal(t, want, isCarrier(name), "%q", name)
	}
}
