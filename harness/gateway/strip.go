package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// What a provider would run itself is network, or a computer, outside the sandbox: such tools are taken out of a
// request before it is sent on. The lists say what stays, so that a tool a provider adds later is out until it is known.

// runsHere are tools whose type is the provider's word and which the client runs all the same, by the beginning of the
// type. Messages: https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/overview ("client tools").
var runsHere = map[string][]string{
	DialectMessages:  {"custom", "bash_", "text_editor_", "memory_"},
	DialectResponses: {"function", "custom", "local_shell", "apply_patch"},
	DialectChat:      {"function", "custom"},
}

// fieldsOf are the fields of a body that are sent on, by dialect: what the model reads and how it answers. What is not
// here may reach out (mcp_servers, container, web_search_options, a stored prompt with tools of its own), may go on behind
// the answer (background), may choose another model (fallbacks, route) or another price (service_tier, speed).
// Sources: the reference of POST /v1/messages, /v1/responses and /v1/chat/completions.
var fieldsOf = map[string][]string{
	DialectMessages: {
		"model", "messages", "system", "max_tokens", "tools", "tool_choice", "stream", "temperature", "top_p", "top_k", "stop_sequences",
		"metadata", "thinking", "cache_control", "context_management", "output_config", "output_format",
	},
	DialectResponses: {
		"model", "input", "instructions", "max_output_tokens", "tools", "tool_choice", "max_tool_calls", "parallel_tool_calls", "stream", "stream_options",
		"temperature", "top_p", "top_logprobs", "truncation", "reasoning", "text", "include", "store", "metadata", "client_metadata",
		"prompt_cache_key", "prompt_cache_retention", "safety_identifier", "user", "context_management",
	},
	DialectChat: {
		"model", "messages", "max_tokens", "max_completion_tokens", "tools", "tool_choice", "parallel_tool_calls", "functions", "function_call",
		"stream", "stream_options", "temperature", "top_p", "top_k", "min_p", "n", "stop", "seed", "presence_penalty", "frequency_penalty", "logit_bias", "logprobs",
		"top_logprobs", "response_format", "reasoning", "reasoning_effort", "verbosity", "prediction", "metadata", "store",
		"prompt_cache_key", "prompt_cache_retention", "safety_identifier", "user", "thinking", "enable_thinking", "chat_template_kwargs",
	},
}

// stored are fields that bring in what the provider kept of other requests.
var stored = []string{"previous_response_id", "conversation"}

// strip returns the body without what runs at the provider, and the names of what it took out. The body asks for model,
// which is the one that was checked: the words of a dialect are lower case, and a host that reads "Model" as well, as
// Go's decoder does, must not find another there.
func strip(dialect, model string, raw []byte) (body []byte, stripped []string, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(fieldsOf[dialect], name) {
			if v := fields[name]; string(v) != "null" {
				stripped = append(stripped, toolWord(name, ""))
			}
			delete(fields, name)
		}
	}
	if model != "" {
		fields["model"] = encodeJSON(model)
	}
	if raw, ok := fields["tools"]; ok {
		kept, gone, err := stripTools(dialect, raw)
		if err != nil {
			return nil, nil, err
		}
		stripped = append(stripped, gone...)
		if kept == nil {
			delete(fields, "tools")
		} else if len(gone) > 0 {
			fields["tools"] = encodeJSON(kept)
		}
		// A choice that may name what is gone would make the request wrong.
		var word string
		if len(gone) > 0 && (kept == nil || json.Unmarshal(fields["tool_choice"], &word) != nil) {
			delete(fields, "tool_choice")
		}
	}
	if dialect == DialectChat {
		if err := askUsage(fields); err != nil {
			return nil, nil, err
		}
	}
	return encodeJSON(fields), stripped, nil
}

func stripTools(dialect string, raw json.RawMessage) (kept []json.RawMessage, gone []string, err error) {
	var tools []json.RawMessage
	if err := json.Unmarshal(raw, &tools); err != nil {
		return nil, nil, errors.New("tools: is no array")
	}
	for i, tool := range tools {
		t := objectOf(tool)
		if t == nil {
			return nil, nil, fmt.Errorf("tools[%d]: is no tool", i)
		}
		typ := stringOf(t["type"])
		switch {
		case runsAtClient(dialect, typ, t):
			kept = append(kept, encodeJSON(t)) // written anew: a key given twice has one meaning
		case dialect == DialectResponses && typ == "namespace":
			// Its members are tools as well.
			inner, innerGone, err := stripTools(dialect, t["tools"])
			if err != nil {
				return nil, nil, fmt.Errorf("tools[%d].%w", i, err)
			}
			gone = append(gone, innerGone...)
			if t["tools"] = encodeJSON(inner); inner != nil {
				kept = append(kept, encodeJSON(t))
			}
		default:
			gone = append(gone, toolWord(typ, stringOf(t["name"])))
		}
	}
	return kept, gone, nil
}

func runsAtClient(dialect, typ string, t map[string]json.RawMessage) bool {
	for _, p := range runsHere[dialect] {
		if typ == p || strings.HasSuffix(p, "_") && strings.HasPrefix(typ, p) {
			return true
		}
	}
	switch {
	case typ == "":
		return dialect == DialectMessages // the type is left out for the client's own tools there, and only there
	case dialect != DialectResponses:
		return false
	case typ == "tool_search":
		return stringOf(t["execution"]) == "client"
	case typ == "shell":
		return stringOf(objectOf(t["environment"])["type"]) == "local"
	}
	return false
}

// objectOf reads a JSON object by its exact keys, as a provider does and a Go struct does not; nil for what is none.
func objectOf(raw json.RawMessage) map[string]json.RawMessage {
	var o map[string]json.RawMessage
	if json.Unmarshal(raw, &o) != nil {
		return nil
	}
	return o
}

func arrayOf(raw json.RawMessage) []json.RawMessage {
	var a []json.RawMessage
	if json.Unmarshal(raw, &a) != nil {
		return nil
	}
	return a
}

func stringOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// toolWord names a stripped tool, in at most 64 bytes: the words are the client's.
func toolWord(typ, name string) string {
	word := typ
	if word == "" {
		word = name
	}
	return strings.ToValidUTF8(word[:min(len(word), 64)], "\uFFFD")
}

// askUsage makes a streamed Chat Completions answer tell its tokens, which it does only when asked.
func askUsage(fields map[string]json.RawMessage) error {
	var stream bool
	if raw, ok := fields["stream"]; !ok || json.Unmarshal(raw, &stream) != nil || !stream {
		return nil
	}
	options := map[string]json.RawMessage{}
	if raw, ok := fields["stream_options"]; ok && string(raw) != "null" {
		if err := json.Unmarshal(raw, &options); err != nil {
			return errors.New("stream_options: is no object")
		}
	}
	options["include_usage"] = json.RawMessage("true")
	fields["stream_options"] = encodeJSON(options)
	return nil
}

// fetches reports whether the conversation has a picture or a file that the provider would fetch: by URL, or from what
// was stored there. That would be a way out of the sandbox too.
func fetches(raw []byte) bool {
	body := objectOf(raw)
	for _, name := range stored {
		if v := body[name]; len(v) > 0 && string(v) != "null" {
			return true
		}
	}
	for _, m := range arrayOf(body["messages"]) {
		if fetchesIn(objectOf(m)["content"], 0) {
			return true
		}
	}
	return fetchesIn(body["input"], 0) || fetchesIn(body["system"], 0)
}

// maxParts is how deep parts stand in parts: no client goes beyond three.
const maxParts = 8

// fetchesIn looks at an array of parts, or at one; parts may hold parts, as a tool's result and a document do. Arguments
// of tools are not parts. What is too deep to be looked at may fetch.
func fetchesIn(raw json.RawMessage, depth int) bool {
	parts := arrayOf(raw)
	if objectOf(raw) != nil {
		parts = []json.RawMessage{raw}
	}
	if depth > maxParts {
		return len(parts) > 0
	}
	for _, raw := range parts {
		p := objectOf(raw)
		if stringOf(p["type"]) == "item_reference" {
			return true
		}
		source := stringOf(objectOf(p["source"])["type"])
		if source == "url" || source == "file" {
			return true
		}
		for _, stored := range []json.RawMessage{p["file_url"], p["file_id"], objectOf(p["file"])["file_id"], objectOf(p["file"])["file_url"]} {
			if stringOf(stored) != "" {
				return true
			}
		}
		if image := p["image_url"]; len(image) > 0 && string(image) != "null" {
			url := stringOf(image)
			if o := objectOf(image); o != nil {
				url = stringOf(o["url"])
			}
			if !strings.HasPrefix(url, "data:") {
				return true
			}
		}
		if fetchesIn(p["content"], depth+1) || fetchesIn(p["output"], depth+1) || fetchesIn(p["source"], depth+1) {
			return true
		}
	}
	return false
}
