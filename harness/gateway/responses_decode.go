package gateway

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
)

// DialectResponses is OpenAI's Responses API, as Codex 0.171.0 speaks it: POST /v1/responses, the whole history in
// input. The fields are those of https://platform.openai.com/docs/api-reference/responses/create; recorded bodies stand
// in testdata/.
const DialectResponses = "responses"

type responsesRequest struct {
	Model        string          `json:"model"`
	Stream       bool            `json:"stream"`
	Instructions string          `json:"instructions"`
	Input        json.RawMessage `json:"input"`
	Tools        []responsesTool `json:"tools"`
	ToolChoice   json.RawMessage `json:"tool_choice"`
}

type responsesItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"`
	CallID    string          `json:"call_id"`
	Arguments string          `json:"arguments"`
	Input     string          `json:"input"`
	Action    json.RawMessage `json:"action"` // local_shell_call
	Output    json.RawMessage `json:"output"`
	Summary   json.RawMessage `json:"summary"`
	Encrypted string          `json:"encrypted_content"`
}

type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Tools       []responsesTool `json:"tools"` // of a namespace
}

// decodeResponses reads a Responses body. Its errors say which field is wrong, and quote nothing of it.
func decodeResponses(raw []byte) (*Request, error) {
	var w responsesRequest
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, fmt.Errorf("the body is no Responses request: %w", err)
	}
	r := &Request{Dialect: DialectResponses, Model: w.Model, Stream: w.Stream, SideCall: sideCall(len(w.Tools), w.ToolChoice), Raw: raw}
	if w.Instructions != "" {
		r.System = []string{w.Instructions}
	}
	items, err := responsesItems(w.Input)
	if err != nil {
		return nil, err
	}
	for i, it := range items {
		m, err := it.message()
		if err != nil {
			return nil, fmt.Errorf("input[%d].%w", i, err)
		}
		r.Messages = append(r.Messages, m)
	}
	for i, t := range w.Tools {
		tools, err := t.flat()
		if err != nil {
			return nil, fmt.Errorf("tools[%d]: %w", i, err)
		}
		r.Tools = append(r.Tools, tools...)
	}
	return r, nil
}

// responsesItems reads input: a string, which is the user's, or an array of items.
func responsesItems(raw json.RawMessage) ([]responsesItem, error) {
	raw = bytes.TrimSpace(raw)
	var items []responsesItem
	switch {
	case len(raw) == 0 || bytes.Equal(raw, []byte("null")):
	case raw[0] == '"':
		return []responsesItem{{Type: "message", Role: "user", Content: raw}}, nil
	default:
		if err := json.Unmarshal(raw, &items); err != nil {
			return nil, fmt.Errorf("input: is neither a string nor an array of items: %w", err)
		}
	}
	if len(items) == 0 {
		return nil, errors.New("input: at least one item is required")
	}
	return items, nil
}

// message turns an item into a message of its own. Items of kinds unknown here, and those that run at the provider,
// become BlockOther.
func (it responsesItem) message() (Message, error) {
	one := func(role string, b Block) (Message, error) { return Message{Role: role, Blocks: []Block{b}}, nil }
	switch it.Type {
	case "", "message":
		role := it.Role
		switch role {
		case "developer":
			role = "system"
		case "user", "assistant", "system":
		default:
			return Message{}, errors.New("role: is none of user, assistant, system, developer")
		}
		blocks, err := decodeParts(it.Content)
		return Message{Role: role, Blocks: blocks}, contentError(err)
	case "function_call":
		return one("assistant", Block{Kind: BlockToolCall, CallID: it.CallID, Name: spaced(it.Namespace, it.Name), Input: argumentsInput(it.Arguments)})
	case "custom_tool_call":
		return one("assistant", Block{Kind: BlockToolCall, CallID: it.CallID, Name: spaced(it.Namespace, it.Name), Input: encodeJSON(it.Input)})
	case "local_shell_call":
		return one("assistant", Block{Kind: BlockToolCall, CallID: it.CallID, Name: "local_shell", Input: it.Action})
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		text, err := partsText(it.Output)
		if err != nil {
			return Message{}, fmt.Errorf("output: %w", err)
		}
		return one("user", Block{Kind: BlockToolResult, CallID: it.CallID, Text: text})
	case "reasoning":
		text, err := partsText(it.Summary)
		if err != nil {
			return Message{}, fmt.Errorf("summary: %w", err)
		}
		return one("assistant", Block{Kind: BlockThinking, Text: text, Signature: it.Encrypted})
	}
	return one("assistant", Block{Kind: BlockOther})
}

// spaced is the one name of a tool in a namespace.
func spaced(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "." + name
}

// clientRun are the typed tools that run in the client all the same.
var clientRun = map[string]bool{"local_shell": true}

// flat turns a tool into neutral ones: a namespace into its members.
func (t responsesTool) flat() ([]Tool, error) {
	switch t.Type {
	case "function", "custom":
		if t.Name == "" {
			return nil, errors.New("name: is empty")
		}
		return []Tool{{Name: t.Name, Description: t.Description, Schema: t.Parameters, Freeform: t.Type == "custom"}}, nil
	case "namespace":
		if t.Name == "" {
			return nil, errors.New("name: is empty")
		}
		var tools []Tool
		for i, member := range t.Tools {
			if member.Type == "namespace" { // the API has one level
				return nil, fmt.Errorf("tools[%d]: is a namespace in a namespace", i)
			}
			flat, err := member.flat()
			if err != nil {
				return nil, fmt.Errorf("tools[%d]: %w", i, err)
			}
			for _, f := range flat {
				f.Name, f.Namespace = spaced(t.Name, f.Name), t.Name
				tools = append(tools, f)
			}
		}
		return tools, nil
	case "":
		return nil, errors.New("type: is empty")
	}
	if clientRun[t.Type] {
		return []Tool{{Name: t.Type}}, nil
	}
	return []Tool{{Name: cmp.Or(t.Name, t.Type), Type: t.Type}}, nil
}
