// Package redact removes known secret values, and the usual encodings of them, from what is kept.
package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
)

// Removed stands where a secret was. It fits into a string of JSON and of most languages.
const Removed = "[secret removed]"

// MinLength is the length below which a value is not looked for, in bytes: it would be found
// everywhere.
const MinLength = 8

// maxLength is how much of a value is looked for, in bytes.
const maxLength = 8 << 10

// Set is what is looked for. A nil one finds nothing.
type Set struct {
	patterns [][]byte // the longest first
	first    [256]bool
	longest  int
}

// New makes a set of the values; nil when none is long enough.
func New(values ...string) *Set {
	s := &Set{}
	for _, v := range values {
		v = strings.TrimSpace(v)
		if len(v) < MinLength {
			continue
		}
		for _, form := range forms(v[:min(len(v), maxLength)]) {
			if len(form) >= MinLength && !slices.ContainsFunc(s.patterns, func(p []byte) bool { return string(p) == form }) {
				s.patterns = append(s.patterns, []byte(form))
				s.first[form[0]] = true
				s.longest = max(s.longest, len(form))
			}
		}
	}
	if len(s.patterns) == 0 {
		return nil
	}
	slices.SortStableFunc(s.patterns, func(a, b []byte) int { return len(b) - len(a) })
	return s
}

// forms are a value and its encodings.
func forms(v string) []string {
	out := []string{v, reverse(v)}
	hexed := hex.EncodeToString([]byte(v))
	out = append(out, hexed, strings.ToUpper(hexed))
	for _, prefix := range []string{"%%", `\x`, `\u00`} {
		lower, upper := each(v, prefix+"%02x"), each(v, prefix+"%02X")
		out = append(out, lower, upper)
	}
	out = append(out, url.QueryEscape(v), url.PathEscape(v), lowerPercent(url.QueryEscape(v)), lowerPercent(url.PathEscape(v)))
	for _, quoted := range jsonForms(v) {
		out = append(out, quoted)
		// A record may hold JSON within a string of JSON.
		out = append(out, jsonForms(quoted)...)
	}
	for offset := range 3 {
		out = append(out, aligned(v, offset, base64.StdEncoding), aligned(v, offset, base64.URLEncoding))
	}
	return out
}

// jsonForms are the ways a text stands within a JSON string.
func jsonForms(v string) []string {
	var out []string
	for _, escapeHTML := range []bool{true, false} {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(escapeHTML)
		if err := enc.Encode(v); err != nil {
			continue // a string always encodes
		}
		text := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(b.String()), `"`), `"`)
		out = append(out, text, strings.ReplaceAll(text, "/", `\/`))
	}
	return out
}

// aligned is the part of v's base64 that does not hang on its neighbours, when v begins at an offset
// within a group of three bytes.
func aligned(v string, offset int, enc *base64.Encoding) string {
	text := enc.EncodeToString(append(make([]byte, offset), v...))
	from := (offset*8 + 5) / 6
	to := (offset + len(v)) * 8 / 6
	return text[from:to]
}

func each(v, format string) string {
	var b strings.Builder
	for i := range len(v) {
		fmt.Fprintf(&b, format, v[i])
	}
	return b.String()
}

func reverse(v string) string {
	b := []byte(v)
	slices.Reverse(b)
	return string(b)
}

func lowerPercent(v string) string {
	b := []byte(v)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:], bytes.ToLower(b[i+1:i+3]))
		}
	}
	return string(b)
}

// Clean returns b without what is looked for: b itself where nothing is found.
func (s *Set) Clean(b []byte) []byte {
	if s == nil {
		return b
	}
	out, _, found := s.scan(nil, b, len(b))
	if found == 0 {
		return b
	}
	return out
}

// Text is Clean for a string.
func (s *Set) Text(text string) string {
	if s == nil {
		return text
	}
	return string(s.Clean([]byte(text)))
}

// scan appends b to out without the matches that begin before end, the leftmost and of those the
// longest first, and tells how many bytes of b it used: end, or the end of a match that reaches past it.
func (s *Set) scan(out, b []byte, end int) (cleaned []byte, used, found int) {
	// next is where each pattern is found next; a search is repeated only when that is passed.
	next := make([]int, len(s.patterns))
	for i := range next {
		next[i] = -1
	}
	at := 0
	for at < end {
		best := -1
		for i, p := range s.patterns {
			if next[i] < at && next[i] != len(b) {
				if j := bytes.Index(b[at:], p); j >= 0 {
					next[i] = at + j
				} else {
					next[i] = len(b)
				}
			}
			if next[i] < end && (best < 0 || next[i] < next[best]) { // of equal ones the longest comes first
				best = i
			}
		}
		if best < 0 {
			return append(out, b[at:end]...), end, found
		}
		out = append(append(out, b[at:next[best]]...), Removed...)
		at = next[best] + len(s.patterns[best])
		found++
	}
	return out, at, found
}

// open is where the first place in b is that further bytes could make a match of; len(b) if none.
func (s *Set) open(b []byte) int {
	for i := max(0, len(b)-s.longest+1); i < len(b); i++ {
		if !s.first[b[i]] {
			continue
		}
		rest := b[i:]
		if slices.ContainsFunc(s.patterns, func(p []byte) bool { return len(p) > len(rest) && bytes.HasPrefix(p, rest) }) {
			return i
		}
	}
	return len(b)
}

// Writer cleans what is written to it. What could be the beginning of a match is held back until it
// is decided: Close writes the rest, and does not close what is below.
type Writer struct {
	set   *Set
	next  io.Writer
	held  []byte
	out   []byte
	found *atomic.Int64
}

// Writer cleans on the way to next, counting matches in found, which may be nil.
func (s *Set) Writer(next io.Writer, found *atomic.Int64) *Writer {
	if found == nil {
		found = new(atomic.Int64)
	}
	return &Writer{set: s, next: next, found: found}
}

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	if w.set == nil {
		return w.next.Write(p)
	}
	w.held = append(w.held, p...)
	if err := w.flush(w.set.open(w.held)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close writes what was held back.
func (w *Writer) Close() error {
	if w.set == nil {
		return nil
	}
	return w.flush(len(w.held))
}

func (w *Writer) flush(end int) error {
	out, used, found := w.set.scan(w.out[:0], w.held, end)
	w.found.Add(int64(found))
	w.out = out
	w.held = append(w.held[:0], w.held[used:]...)
	if len(out) == 0 {
		return nil
	}
	_, err := w.next.Write(out)
	return err
}
