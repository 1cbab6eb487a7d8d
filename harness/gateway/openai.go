package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// What the two dialects of OpenAI's API, Responses and Chat Completions, have in common.

// refusalText is what the model says where a refusal needs words: the Messages dialect's has none.
const refusalText = "I can't help with that."

// openAIErrors gives the Messages dialect's error types the words of https://platform.openai.com/docs/guides/error-codes.
var openAIErrors = map[string]struct{ typ, code string }{
	"invalid_request_error": {"invalid_request_error", ""},
	"not_found_error":       {"invalid_request_error", "not_found"},
	"permission_error":      {"invalid_request_error", "permission_denied"},
	"authentication_error":  {"invalid_request_error", "invalid_api_key"},
	"rate_limit_error":      {"requests", "rate_limit_exceeded"},
	"overloaded_error":      {"server_error", "server_overloaded"},
	"api_error":             {"server_error", ""},
}

// failOpenAI answers with an error status. An unknown type is passed on as it is, with no code.
func failOpenAI(w http.ResponseWriter, id string, f Failure) {
	typ, code := f.Type, any(nil)
	if e, ok := openAIErrors[f.Type]; ok {
		typ = e.typ
		if e.code != "" {
			code = e.code
		}
	}
	w.Header().Set("X-Request-Id", "req_"+id)
	writeError(w, f, encodeJSON(map[string]any{
		"error": map[string]any{"message": f.Message, "type": typ, "param": nil, "code": code},
	}))
}

// decodeParts reads content: nothing, a string, or an array of parts that carry text or a refusal. Other parts (images,
// files, audio) become BlockOther.
func decodeParts(raw json.RawMessage) ([]Block, error) {
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
	var parts []struct {
		Type    string  `json:"type"`
		Text    *string `json:"text"`
		Refusal *string `json:"refusal"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return nil, fmt.Errorf("is neither a string nor an array of parts: %w", err)
	}
	blocks := make([]Block, 0, len(parts))
	for _, p := range parts {
		switch {
		case p.Text != nil:
			blocks = append(blocks, Block{Kind: BlockText, Text: *p.Text})
		case p.Refusal != nil:
			blocks = append(blocks, Block{Kind: BlockText, Text: *p.Refusal})
		default:
			blocks = append(blocks, Block{Kind: BlockOther})
		}
	}
	return blocks, nil
}

// partsText joins the text of content, as of a tool's output.
func partsText(raw json.RawMessage) (string, error) {
	blocks, err := decodeParts(raw)
	if err != nil {
		return "", err
	}
	return strings.Join(textsOf(Message{Blocks: blocks}), "\n"), nil
}

// argumentsInput turns a call's arguments, a string that should hold a JSON object, into a Block's Input. What is no
// JSON becomes a JSON string, as a freeform tool's input.
func argumentsInput(arguments string) json.RawMessage {
	if strings.TrimSpace(arguments) == "" {
		return json.RawMessage("{}")
	}
	if json.Valid([]byte(arguments)) {
		return json.RawMessage(arguments)
	}
	return encodeJSON(arguments)
}

// freeformInput is the text of an Input that is a JSON string: what a freeform tool is called with.
func freeformInput(input json.RawMessage) (string, bool) {
	var s string
	if len(input) == 0 || input[0] != '"' || json.Unmarshal(input, &s) != nil {
		return "", false
	}
	return s, true
}

// inputArguments is the inverse of argumentsInput.
func inputArguments(input json.RawMessage) string {
	if len(input) == 0 {
		return "{}"
	}
	return string(input)
}

func count(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// promptTokens is input as OpenAI counts it: what came from and went to a cache is part of it.
func promptTokens(u Usage) int64 {
	return count(u.InputTokens) + count(u.CacheReadTokens) + count(u.CacheWriteTokens)
}
