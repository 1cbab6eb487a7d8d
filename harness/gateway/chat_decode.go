package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
)

// DialectChat is OpenAI's Chat Completions API, as OpenCode 1.18.33 and GitHub Copilot CLI 1.0.102 speak it:
// POST /v1/chat/completions. The fields are those of https://platform.openai.com/docs/api-reference/chat/create;
// recorded bodies stand in testdata/.
const DialectChat = "chat"

type chatRequest struct {
	Model         string          `json:"model"`
	Stream        bool            `json:"stream"`
	StreamOptions *chatOptions    `json:"stream_options"`
	Messages      []chatMessage   `json:"messages"`
	Tools         []chatTool      `json:"tools"`
	ToolChoice    json.RawMessage `json:"tool_choice"`
}

type chatOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type chatMessage struct {
	Role             string          `json:"role"`
	Content          json.RawMessage `json:"content"`
	Refusal          string          `json:"refusal"`
	ReasoningContent string          `json:"reasoning_content"` // not OpenAI's own; what compatible hosts call it
	ToolCalls        []chatCall      `json:"tool_calls"`
	ToolCallID       string          `json:"tool_call_id"`
}

// A chatCall is a call in a message of the assistant and, with Index, a part of one in a stream.
type chatCall struct {
	Index    *int          `json:"index,omitempty"`
	ID       string        `json:"id,omitempty"`
	Type     string        `json:"type,omitempty"`
	Function *chatFunction `json:"function,omitempty"`
	Custom   *chatCustom   `json:"custom,omitempty"`
}

type chatFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

type chatCustom struct {
	Name  string `json:"name,omitempty"`
	Input string `json:"input"`
}

type chatTool struct {
	Type     string `json:"type"`
	Function *struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
	Custom *struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	} `json:"custom"`
}

// decodeChat reads a Chat Completions body. Its errors say which field is wrong, and quote nothing of it.
func decodeChat(raw []byte) (*Request, error) {
	var w chatRequest
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, fmt.Errorf("the body is no Chat Completions request: %w", err)
	}
	r := &Request{
		Dialect: DialectChat, Model: w.Model, Stream: w.Stream, SideCall: sideCall(len(w.Tools), w.ToolChoice), Raw: raw,
		StreamUsage: w.StreamOptions != nil && w.StreamOptions.IncludeUsage,
	}
	if len(w.Messages) == 0 {
		return nil, errors.New("messages: at least one message is required")
	}
	for i, m := range w.Messages {
		msg, err := m.message()
		if err != nil {
			return nil, fmt.Errorf("messages[%d].%w", i, err)
		}
		r.Messages = append(r.Messages, msg)
	}
	for i, t := range w.Tools {
		tool := t.tool()
		if tool.Name == "" {
			return nil, fmt.Errorf("tools[%d]: has no name", i)
		}
		r.Tools = append(r.Tools, tool)
	}
	return r, nil
}

func (m chatMessage) message() (Message, error) {
	switch m.Role {
	case "system", "developer":
		blocks, err := decodeParts(m.Content)
		return Message{Role: "system", Blocks: blocks}, contentError(err)
	case "user":
		blocks, err := decodeParts(m.Content)
		return Message{Role: "user", Blocks: blocks}, contentError(err)
	case "tool", "function":
		text, err := partsText(m.Content)
		return Message{Role: "user", Blocks: []Block{{Kind: BlockToolResult, CallID: m.ToolCallID, Text: text}}}, contentError(err)
	case "assistant":
		blocks, err := decodeParts(m.Content)
		if err != nil {
			return Message{}, contentError(err)
		}
		if m.Refusal != "" {
			blocks = append(blocks, Block{Kind: BlockText, Text: m.Refusal})
		}
		if m.ReasoningContent != "" {
			blocks = append([]Block{{Kind: BlockThinking, Text: m.ReasoningContent}}, blocks...)
		}
		for _, c := range m.ToolCalls {
			b := Block{Kind: BlockToolCall, CallID: c.ID}
			switch {
			case c.Function != nil:
				b.Name, b.Input = c.Function.Name, argumentsInput(c.Function.Arguments)
			case c.Custom != nil:
				b.Name, b.Input = c.Custom.Name, encodeJSON(c.Custom.Input)
			default:
				b = Block{Kind: BlockOther}
			}
			blocks = append(blocks, b)
		}
		return Message{Role: "assistant", Blocks: blocks}, nil
	}
	return Message{}, errors.New("role: is none of system, developer, user, assistant, tool")
}

func contentError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("content: %w", err)
}

func (t chatTool) tool() Tool {
	switch {
	case t.Function != nil:
		return Tool{Name: t.Function.Name, Description: t.Function.Description, Schema: t.Function.Parameters}
	case t.Custom != nil:
		return Tool{Name: t.Custom.Name, Description: t.Custom.Description, Freeform: true}
	}
	return Tool{Name: t.Type, Type: t.Type} // the provider's own, which the dialect does not have today
}
