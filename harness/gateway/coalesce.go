package gateway

import (
	"bytes"
	"encoding/json"
	"strings"
)

// coalesce joins the pieces a stream's texts came in, so that what spans two of them, such as a path, can be found.
// Clients take pieces of any length. Events that carry no piece stay as they are, byte for byte.
func coalesce(dialect, body string) string {
	var out []sseEvent
	for _, part := range strings.SplitAfter(strings.ReplaceAll(body, "\r\n", "\n"), "\n\n") {
		e := sseEvent{raw: part}
		e.read()
		if dialect == DialectMessages && stringOf(e.data["type"]) == "ping" {
			continue
		}
		if n := len(out); n > 0 && out[n-1].join(dialect, &e) {
			continue
		}
		out = append(out, e)
	}
	var b strings.Builder
	for _, e := range out {
		b.WriteString(e.text())
	}
	return b.String()
}

// An sseEvent is one event of a stream with JSON data; data is nil for what is none.
type sseEvent struct {
	raw    string
	name   string // the event line, whole
	data   map[string]json.RawMessage
	joined bool
}

func (e *sseEvent) read() {
	if !strings.HasSuffix(e.raw, "\n\n") {
		return
	}
	var data string
	for line := range strings.SplitSeq(strings.TrimSuffix(e.raw, "\n\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "event:") && e.name == "":
			e.name = line
		case strings.HasPrefix(line, "data:") && data == "":
			data = strings.TrimPrefix(line, "data:")
		default:
			return // something else in it: left alone
		}
	}
	e.data = objectOf(json.RawMessage(data))
}

func (e *sseEvent) text() string {
	if !e.joined {
		return e.raw
	}
	head := ""
	if e.name != "" {
		head = e.name + "\n"
	}
	return head + "data: " + string(encodeJSON(e.data)) + "\n\n"
}

// join appends next's piece to e's and reports whether it could: both carry a piece of the same text.
func (e *sseEvent) join(dialect string, next *sseEvent) bool {
	if e.data == nil || next.data == nil || e.name != next.name {
		return false
	}
	where, text, put := piece(dialect, e.data)
	where2, text2, _ := piece(dialect, next.data)
	if where == "" || where != where2 {
		return false
	}
	put(text + text2)
	e.joined = true
	return true
}

// piece finds the piece of text in an event: where it belongs (all of the event but the text and what counts events),
// the text, and how to replace it. where is "" for an event that carries none.
func piece(dialect string, data map[string]json.RawMessage) (where, text string, put func(string)) {
	switch dialect {
	case DialectMessages:
		delta := objectOf(data["delta"])
		field := map[string]string{"text_delta": "text", "input_json_delta": "partial_json", "thinking_delta": "thinking"}[stringOf(delta["type"])]
		if stringOf(data["type"]) != "content_block_delta" || field == "" {
			return "", "", nil
		}
		return without(delta, field) + string(data["index"]), stringOf(delta[field]), func(s string) {
			delta[field] = encodeJSON(s)
			data["delta"] = encodeJSON(delta)
		}
	case DialectResponses:
		if !strings.HasSuffix(stringOf(data["type"]), ".delta") || !bytes.HasPrefix(data["delta"], []byte(`"`)) {
			return "", "", nil
		}
		return without(data, "delta", "sequence_number", "logprobs", "obfuscation"), stringOf(data["delta"]), func(s string) {
			data["delta"] = encodeJSON(s)
		}
	default:
		choices := arrayOf(data["choices"])
		if len(choices) != 1 || len(data["usage"]) > 0 && string(data["usage"]) != "null" {
			return "", "", nil
		}
		choice := objectOf(choices[0])
		delta := objectOf(choice["delta"])
		rest := without(choice, "delta") + without(data, "choices", "obfuscation")
		back := func() { choice["delta"] = encodeJSON(delta); data["choices"] = encodeJSON([]any{choice}) }
		for _, field := range []string{"content", "reasoning_content"} {
			if len(delta) == 1 && bytes.HasPrefix(delta[field], []byte(`"`)) {
				return field + rest, stringOf(delta[field]), func(s string) { delta[field] = encodeJSON(s); back() }
			}
		}
		calls := arrayOf(delta["tool_calls"])
		if len(delta) != 1 || len(calls) != 1 {
			return "", "", nil
		}
		call := objectOf(calls[0])
		function := objectOf(call["function"])
		if len(function) != 1 || !bytes.HasPrefix(function["arguments"], []byte(`"`)) || stringOf(call["id"]) != "" {
			return "", "", nil
		}
		return "tool" + string(call["index"]) + rest, stringOf(function["arguments"]), func(s string) {
			function["arguments"] = encodeJSON(s)
			call["function"] = encodeJSON(function)
			delta["tool_calls"] = encodeJSON([]any{call})
			back()
		}
	}
}

// without is an object as text, less some of its fields.
func without(o map[string]json.RawMessage, fields ...string) string {
	rest := map[string]json.RawMessage{}
	for k, v := range o {
		rest[k] = v
	}
	for _, f := range fields {
		delete(rest, f)
	}
	return string(encodeJSON(rest))
}
