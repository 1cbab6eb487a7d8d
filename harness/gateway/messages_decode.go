package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// DialectMessages is Anthropic's Messages API, version header 2023-06-01, as Claude Code 2.1.197 speaks it:
// POST /v1/messages and /v1/messages/count_tokens. The request's fields are those of
// https://docs.anthropic.com/en/api/messages; recorded bodies stand in testdata/.
const DialectMessages = "messages"

type wireRequest struct {
	Model      string          `json:"model"`
	Stream     bool            `json:"stream"`
	System     json.RawMessage `json:"system"`
	Messages   []wireMessage   `json:"messages"`
	Tools      []wireTool      `json:"tools"`
	ToolChoice json.RawMessage `json:"tool_choice"`
}

type wireMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

type wireTool struct {
	Name        string          `json:"name"`
	Type        string          `json:"type"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type wireBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

// decodeMessages reads a Messages body. Its errors are for the client and the log: they say which field is wrong, and
// quote nothing of it.
func decodeMessages(raw []byte) (*Request, error) {
	var w wireRequest
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, fmt.Errorf("the body is no Messages request: %w", err)
	}
	r := &Request{
		Dialect:  DialectMessages,
		Model:    w.Model,
		Stream:   w.Stream,
		SideCall: sideCall(len(w.Tools), w.ToolChoice),
		Raw:      raw,
	}
	system, err := decodeContent(w.System)
	if err != nil {
		return nil, fmt.Errorf("system: %w", err)
	}
	for _, b := range system {
		r.System = append(r.System, b.Text)
	}
	if len(w.Messages) == 0 {
		return nil, errors.New("messages: at least one message is required")
	}
	for i, m := range w.Messages {
		switch m.Role {
		case "user", "assistant", "system":
		default:
			return nil, fmt.Errorf("messages[%d].role: is none of user, assistant, system", i)
		}
		blocks, err := decodeContent(m.Content)
		if err != nil {
			return nil, fmt.Errorf("messages[%d].content: %w", i, err)
		}
		r.Messages = append(r.Messages, Message{Role: m.Role, Blocks: blocks})
	}
	for i, t := range w.Tools {
		if t.Name == "" {
			return nil, fmt.Errorf("tools[%d].name: is empty", i)
		}
		if t.Type == "custom" { // the API's explicit word for a client's own tool
			t.Type = ""
		}
		r.Tools = append(r.Tools, Tool{Name: t.Name, Type: t.Type, Description: t.Description, Schema: t.InputSchema})
	}
	return r, nil
}

// decodeContent reads content: nothing, a string, or an array of blocks.
func decodeContent(raw json.RawMessage) ([]Block, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return nil, nil
	}
	if raw[0] == '"' {
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, err
		}
		return []Block{{Kind: BlockText, Text: s}}, nil
	}
	var ws []wireBlock
	if err := json.Unmarshal(raw, &ws); err != nil {
		return nil, fmt.Errorf("is neither a string nor an array of blocks: %w", err)
	}
	blocks := make([]Block, 0, len(ws))
	for i, w := range ws {
		b, err := w.block()
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}

func (w wireBlock) block() (Block, error) {
	switch w.Type {
	case "text":
		return Block{Kind: BlockText, Text: w.Text}, nil
	case "thinking":
		return Block{Kind: BlockThinking, Text: w.Thinking, Signature: w.Signature}, nil
	case "tool_use":
		return Block{Kind: BlockToolCall, CallID: w.ID, Name: w.Name, Input: w.Input}, nil
	case "tool_result":
		text, err := resultText(w.Content)
		if err != nil {
			return Block{}, fmt.Errorf("content: %w", err)
		}
		return Block{Kind: BlockToolResult, CallID: w.ToolUseID, Text: text, IsError: w.IsError}, nil
	default: // images, documents, and what a later client brings
		return Block{Kind: BlockOther}, nil
	}
}

// resultText joins the text of a tool result. Its blocks cannot hold tool results themselves, so nothing recurses.
func resultText(raw json.RawMessage) (string, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return "", nil
	}
	if raw[0] == '"' {
		var s string
		err := json.Unmarshal(raw, &s)
		return s, err
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", fmt.Errorf("is neither a string nor an array of blocks: %w", err)
	}
	texts := make([]string, 0, len(parts))
	for _, p := range parts {
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n"), nil
}
