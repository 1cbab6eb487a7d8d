package redact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/internal/redact"
)

const key = `sk-fake/0123+"é"&<x>`

func quoted(t *testing.T, v string) string {
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

func TestClean(t *testing.T) {
	s := redact.New(key, "short", "  another-key\n")
	std, raw := base64.StdEncoding, base64.RawURLEncoding
	for name, in := range map[string]string{
		"plain":                 key,
		"trimmed":               "another-key",
		"base64":                std.EncodeToString([]byte(key)),
		"base64, one before":    std.EncodeToString([]byte(":" + key + "tail")),
		"base64, two before":    std.EncodeToString([]byte("u:" + key)),
		"basic authentication":  "Basic " + std.EncodeToString([]byte("user:"+key)),
		"base64 for addresses":  raw.EncodeToString([]byte(key)),
		"hex":                   hex.EncodeToString([]byte(key)),
		"upper-case hex":        strings.ToUpper(hex.EncodeToString([]byte(key))),
		"query":                 url.QueryEscape(key),
		"path":                  url.PathEscape(key),
		"lower-case query":      lowerPercent(url.QueryEscape(key)),
		"every byte in percent": percent(key),
		"JSON":                  quoted(t, key),
		"JSON in JSON":          quoted(t, quoted(t, key)),
		"JSON with \\/":         strings.ReplaceAll(quoted(t, key), "/", `\/`),
		"reversed":              string(reversed(key)),
	} {
		t.Run(name, func(t *testing.T) {
			got := s.Text("before " + in + " after")
			assert.Contains(t, got, redact.Removed)
			assert.True(t, strings.HasPrefix(got, "before ") && strings.HasSuffix(got, " after"), got)
			assert.LessOrEqual(t, len(got), len("before  after")+len(redact.Removed)+16, "little of it is left: %s", got)
			for _, part := range []string{key[:6], in[len(in)/3 : 2*len(in)/3]} {
				assert.NotContains(t, got, part)
			}
		})
	}
	for name, in := range map[string]string{"short values": "a short text", "nothing": "", "a part": key[:10], "near": "sk-fake/0123+'é'&<x>"} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, in, s.Text(in)) })
	}
	assert.Equal(t, redact.Removed+redact.Removed, s.Text(key+"another-key"))
	assert.Nil(t, redact.New("short", "", "1234567"))
	assert.Equal(t, key, (*redact.Set)(nil).Text(key))
}

// What is written around a removed secret stays JSON.
func TestCleanKeepsJSON(t *testing.T) {
	s := redact.New(key)
	line := quoted(t, "a "+key+" b")
	var text string
	require.NoError(t, json.Unmarshal([]byte(s.Text(line)), &text))
	assert.Equal(t, "a "+redact.Removed+" b", text)
}

func percent(v string) string {
	var b strings.Builder
	for i := range len(v) {
		fmt.Fprintf(&b, "%%%02X", v[i])
	}
	return b.String()
}

func reversed(v string) []byte {
	var b []byte
	for i := len(v) - 1; i >= 0; i-- {
		b = append(b, v[i])
	}
	return b
}

// Whatever chunks a text is written in, what comes out is what Clean makes of the whole.
func FuzzWriter(f *testing.F) {
	f.Add([]byte("x abcdefgh-1 y abcdefgh-abcdefgh-12"), uint8(1))
	f.Add([]byte("abcdefgh-abcdefgh-1abcdefg"), uint8(3))
	f.Add(reversed("abcdefgh-1"), uint8(2))
	s := redact.New("abcdefgh-1", "abcdefgh-12", "fgh-12345678", "aaaaaaaab")
	f.Fuzz(func(t *testing.T, in []byte, chunk uint8) {
		want := s.Clean(bytes.Clone(in))
		var out bytes.Buffer
		var found atomic.Int64
		w := s.Writer(&out, &found)
		for rest := in; len(rest) > 0; {
			n := min(len(rest), 1+int(chunk)%7)
			_, err := w.Write(rest[:n])
			require.NoError(t, err)
			rest = rest[n:]
		}
		require.NoError(t, w.Close())
		require.Equal(t, string(want), out.String())
		require.Equal(t, bytes.Equal(in, want), found.Load() == 0)
		for _, v := range []string{"abcdefgh-1", "fgh-12345678", "aaaaaaaab"} {
			require.NotContains(t, out.String(), v)
		}
	})
}

// Text that cannot be a secret's beginning is not held back.
func TestWriterHoldsLittle(t *testing.T) {
	s := redact.New("abcdefgh-1")
	var out bytes.Buffer
	w := s.Writer(&out, nil)
	_, err := w.Write([]byte("text. abcdef"))
	require.NoError(t, err)
	assert.Equal(t, "text. ", out.String())
	_, err = w.Write([]byte("z"))
	require.NoError(t, err)
	assert.Equal(t, "text. abcdefz", out.String())
}

func lowerPercent(v string) string {
	var b strings.Builder
	for i := 0; i < len(v); i++ {
		if v[i] == '%' {
			b.WriteString(strings.ToLower(v[i : i+3]))
			i += 2
			continue
		}
		b.WriteByte(v[i])
	}
	return b.String()
}
