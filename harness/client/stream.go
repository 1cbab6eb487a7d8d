package client

import (
	"bytes"
	"encoding/json"
	"io"
	"time"
	"unicode/utf8"

	"github.com/proctor-evals/proctor/harness/transcript"
)

// readLines feeds every line of a JSONL stream to object and keeps the books:
// each line is understood, or rejected with the reason object gives.
func readLines(b *transcript.Builder, r io.Reader, maxLine int, object func(data []byte) (reason string)) error {
	lines := transcript.NewLineReader(r, maxLine)
	for {
		line, err := lines.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			if line.Size > 0 {
				b.T.Lines++
				b.Reject(line.Number, "read error", line.Data)
			}
			return err
		}
		oneLine(b, line, object)
	}
}

func oneLine(b *transcript.Builder, l transcript.Line, object func([]byte) string) {
	if l.BOM {
		b.T.Repaired["byte order mark"]++
	}
	data := bytes.TrimSpace(l.Data)
	if len(data) == 0 && !l.Oversize {
		return
	}
	b.T.Lines++
	reason := ""
	switch {
	case l.Oversize:
		reason = "line too long"
	case bytes.IndexByte(data, 0) >= 0:
		reason = "NUL byte"
	default:
		reason = object(data)
	}
	if reason == "not JSON" && l.Unterminated {
		reason = "truncated"
	}
	if reason != "" {
		b.Reject(l.Number, reason, l.Data)
		return
	}
	if !utf8.Valid(data) {
		b.T.Repaired["invalid UTF-8"]++
	}
	b.T.Understood++
}

// parse decodes one line into an event; the reason is "" when it could.
func parse(data []byte, event any) (reason string) {
	if data[0] != '{' {
		if json.Valid(data) {
			return "not an object"
		}
		return "not JSON"
	}
	if json.Unmarshal(data, event) != nil {
		if json.Valid(data) {
			return "unexpected shape"
		}
		return "not JSON"
	}
	return ""
}

// into decodes an optional field; false for one that is absent or of another shape.
func into(raw json.RawMessage, v any) bool {
	return len(raw) > 0 && string(raw) != "null" && json.Unmarshal(raw, v) == nil
}

// words is a field's text: that of a JSON string, or the JSON itself.
func words(raw json.RawMessage) string {
	if s, ok := text(raw); ok || len(raw) == 0 || string(raw) == "null" {
		return s
	}
	return string(raw)
}

// maxMillis is the last millisecond RFC 3339 can write, in the year 9999.
const maxMillis = 253402300799999

// clock is a time in milliseconds since 1970 in RFC 3339; "" when it is none.
func clock(raw json.RawMessage) string {
	ms := transcript.Count(raw)
	if ms == nil || *ms == 0 || *ms > maxMillis {
		return ""
	}
	return time.UnixMilli(*ms).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

// stamp is a time a client writes as RFC 3339, in UTC; "" when it is none.
func stamp(s string) string {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || t.Year() < 1970 || t.Year() > 9999 {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z07:00")
}
