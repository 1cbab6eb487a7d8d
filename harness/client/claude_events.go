package client

import "encoding/json"

// The events of "claude --output-format stream-json", one JSON object a line.
// Only the fields that are used stand here. Fields whose type a client might
// change are raw, so that one odd field does not cost the whole line.

type claudeEvent struct {
	Type     string  `json:"type"`
	Subtype  string  `json:"subtype"`
	ParentID *string `json:"parent_tool_use_id"`

	// assistant, user
	Message       json.RawMessage `json:"message"`
	Synthetic     bool            `json:"isSynthetic"`
	ToolUseResult json.RawMessage `json:"tool_use_result"`

	// every event
	SessionID string `json:"session_id"`

	// system/init
	Cwd     string          `json:"cwd"`
	Model   string          `json:"model"`
	Version string          `json:"claude_code_version"`
	Skills  json.RawMessage `json:"skills"`
	Memory  json.RawMessage `json:"memory_paths"`

	// system/api_retry
	Attempt     json.RawMessage `json:"attempt"`
	DelayMS     json.RawMessage `json:"retry_delay_ms"`
	ErrorStatus json.RawMessage `json:"error_status"`
	Error       json.RawMessage `json:"error"`

	// stream_event
	Event json.RawMessage `json:"event"`

	// result
	IsError    bool            `json:"is_error"`
	APIStatus  json.RawMessage `json:"api_error_status"`
	Result     json.RawMessage `json:"result"`
	Errors     json.RawMessage `json:"errors"`
	Terminal   string          `json:"terminal_reason"`
	NumTurns   json.RawMessage `json:"num_turns"`
	DurationMS json.RawMessage `json:"duration_ms"`
	APIMS      json.RawMessage `json:"duration_api_ms"`
	CostUSD    json.RawMessage `json:"total_cost_usd"`
	Usage      json.RawMessage `json:"usage"`
	ModelUsage json.RawMessage `json:"modelUsage"`
	Denials    json.RawMessage `json:"permission_denials"`
}

type claudeMessage struct {
	ID         string          `json:"id"`
	Model      string          `json:"model"`
	Content    json.RawMessage `json:"content"` // a string, or blocks
	Usage      json.RawMessage `json:"usage"`
	StopReason *string         `json:"stop_reason"`
}

type claudeBlock struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Thinking string `json:"thinking"`

	// tool_use
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`

	// tool_result
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

// claudeUsage is the Messages API's usage object: input_tokens is without the
// cache, as in transcript.Usage.
type claudeUsage struct {
	Input      json.RawMessage `json:"input_tokens"`
	Output     json.RawMessage `json:"output_tokens"`
	CacheRead  json.RawMessage `json:"cache_read_input_tokens"`
	CacheWrite json.RawMessage `json:"cache_creation_input_tokens"`
}

// claudeModelUsage is one entry of result.modelUsage. Its sum holds side calls
// and subagents, which result.usage does not.
type claudeModelUsage struct {
	Input      json.RawMessage `json:"inputTokens"`
	Output     json.RawMessage `json:"outputTokens"`
	CacheRead  json.RawMessage `json:"cacheReadInputTokens"`
	CacheWrite json.RawMessage `json:"cacheCreationInputTokens"`
}

// blocks decodes a content field: a string counts as one text block.
func blocks(raw json.RawMessage) ([]claudeBlock, bool) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, true
	}
	if raw[0] == '"' {
		text, ok := text(raw)
		return []claudeBlock{{Type: "text", Text: text}}, ok
	}
	var list []claudeBlock
	err := json.Unmarshal(raw, &list)
	return list, err == nil
}

// text decodes a JSON string; ok is false for anything else.
func text(raw json.RawMessage) (s string, ok bool) {
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// outputText is a tool result's text: of several blocks, the text ones.
func outputText(raw json.RawMessage) (string, bool) {
	list, ok := blocks(raw)
	if !ok {
		return "", false
	}
	out := ""
	for i, b := range list {
		if i > 0 && out != "" {
			out += "\n"
		}
		switch b.Type {
		case "text":
			out += b.Text
		default:
			out += "[" + b.Type + "]"
		}
	}
	return out, true
}
