package gateway

import (
	"encoding/json"
	"io"
	"net/http"
)

// The answers of the Messages API: https://docs.anthropic.com/en/api/messages and …/messages-streaming.

type wireUsage struct {
	Input      int64 `json:"input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	Output     int64 `json:"output_tokens"`
}

type wireAnswer struct {
	ID           string        `json:"id"`
	Type         string        `json:"type"`
	Role         string        `json:"role"`
	Model        string        `json:"model"`
	Content      []wireContent `json:"content"`
	StopReason   *string       `json:"stop_reason"`
	StopSequence *string       `json:"stop_sequence"`
	Usage        wireUsage     `json:"usage"`
}

// A wireContent is a block as answered. The pointers keep an empty string apart from a field of another kind of block.
type wireContent struct {
	Type      string          `json:"type"`
	Text      *string         `json:"text,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature *string         `json:"signature,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
}

// The wire has no null for a count: it must be a number, and what is unknown is sent as 0. Records keep the nil.
func usageOnWire(u Usage) wireUsage {
	n := func(p *int64) int64 {
		if p == nil {
			return 0
		}
		return *p
	}
	return wireUsage{
		Input: n(u.InputTokens), Output: n(u.OutputTokens), CacheRead: n(u.CacheReadTokens), CacheWrite: n(u.CacheWriteTokens),
	}
}

// contentOnWire turns blocks into wire blocks; kinds an assistant cannot say are dropped.
func contentOnWire(blocks []Block) []wireContent {
	content := []wireContent{} // [] and not null on the wire
	for _, b := range blocks {
		switch b.Kind {
		case BlockText:
			content = append(content, wireContent{Type: "text", Text: &b.Text})
		case BlockThinking:
			content = append(content, wireContent{Type: "thinking", Thinking: &b.Text, Signature: &b.Signature})
		case BlockToolCall:
			input := b.Input
			if len(input) == 0 {
				input = json.RawMessage("{}")
			}
			content = append(content, wireContent{Type: "tool_use", ID: b.CallID, Name: b.Name, Input: input})
		}
	}
	return content
}

// writeMessages delivers a turn that is not an HTTP failure. With cut, only the beginning is written: the caller then
// breaks or holds the connection.
func writeMessages(w http.ResponseWriter, id string, r *Request, t *Turn, cut bool) {
	answer := wireAnswer{
		ID: "msg_" + id, Type: "message", Role: "assistant", Model: r.Model, Content: contentOnWire(t.Blocks),
		StopReason: &t.StopReason, Usage: usageOnWire(t.Usage),
	}
	if r.Stream {
		startStream(w)
		streamMessages(w, answer, cut)
		return
	}
	writeWhole(w, encodeJSON(answer), cut)
}

// streamMessages writes a's events: message_start, then start, one delta and stop for each block, then message_delta and
// message_stop. With cut it ends after the first delta, or after message_start when there is no block.
func streamMessages(w io.Writer, a wireAnswer, cut bool) {
	opening := a
	opening.Content = []wireContent{}
	opening.StopReason = nil
	opening.Usage.Output = 0 // the true count comes with message_delta, as from the real host
	event(w, "message_start", map[string]any{"type": "message_start", "message": opening})
	for i, c := range a.Content {
		for _, e := range blockEvents(i, c) {
			event(w, e.name, e.data)
			if cut && e.name == "content_block_delta" {
				return
			}
		}
	}
	if cut {
		return
	}
	event(w, "message_delta", map[string]any{
		"type":  "message_delta",
		"delta": map[string]any{"stop_reason": a.StopReason, "stop_sequence": nil},
		"usage": map[string]any{"output_tokens": a.Usage.Output},
	})
	event(w, "message_stop", map[string]any{"type": "message_stop"})
}

type wireEvent struct {
	name string
	data any
}

func blockEvents(i int, c wireContent) []wireEvent {
	empty := ""
	start := c
	var deltas []map[string]any
	switch c.Type {
	case "text":
		start.Text = &empty
		deltas = append(deltas, map[string]any{"type": "text_delta", "text": *c.Text})
	case "thinking":
		start.Thinking, start.Signature = &empty, &empty
		deltas = append(deltas,
			map[string]any{"type": "thinking_delta", "thinking": *c.Thinking},
			map[string]any{"type": "signature_delta", "signature": *c.Signature})
	case "tool_use":
		start.Input = json.RawMessage("{}")
		deltas = append(deltas, map[string]any{"type": "input_json_delta", "partial_json": string(c.Input)})
	}
	events := []wireEvent{{"content_block_start", map[string]any{"type": "content_block_start", "index": i, "content_block": start}}}
	for _, d := range deltas {
		events = append(events, wireEvent{"content_block_delta", map[string]any{"type": "content_block_delta", "index": i, "delta": d}})
	}
	return append(events, wireEvent{"content_block_stop", map[string]any{"type": "content_block_stop", "index": i}})
}

// failMessages answers with an error status in the dialect's own shape.
func failMessages(w http.ResponseWriter, id string, f Failure) {
	writeError(w, f, encodeJSON(map[string]any{
		"type":       "error",
		"error":      map[string]any{"type": f.Type, "message": f.Message},
		"request_id": "req_" + id,
	}))
}
