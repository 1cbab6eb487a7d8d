package client

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/proctor-evals/proctor/harness/transcript"
)

// The events of "codex exec --json", one JSON object a line. Fields whose type
// the client might change are raw, so that one odd field does not cost the line.

type codexEvent struct {
	Type     string          `json:"type"`
	ThreadID string          `json:"thread_id"` // thread.started
	Usage    json.RawMessage `json:"usage"`     // turn.completed: the whole run so far
	Error    json.RawMessage `json:"error"`     // turn.failed
	Message  json.RawMessage `json:"message"`   // error
	Item     json.RawMessage `json:"item"`      // item.started, item.updated, item.completed
}

type codexItem struct {
	ID     string          `json:"id"`
	Type   string          `json:"type"`
	Status string          `json:"status"` // in_progress, completed, failed, declined
	Text   json.RawMessage `json:"text"`   // agent_message, reasoning

	// command_execution
	Command  json.RawMessage `json:"command"`
	Output   json.RawMessage `json:"aggregated_output"`
	ExitCode json.RawMessage `json:"exit_code"`

	Changes json.RawMessage `json:"changes"` // file_change
	Query   json.RawMessage `json:"query"`   // web_search
	Items   json.RawMessage `json:"items"`   // todo_list

	// mcp_tool_call, collab_tool_call
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Prompt    json.RawMessage `json:"prompt"`
	Receivers json.RawMessage `json:"receiver_thread_ids"`
	Result    json.RawMessage `json:"result"`
	Error     json.RawMessage `json:"error"`
}

// call is the name and the arguments of an item that is a tool call.
func (i *codexItem) call() (name string, input json.RawMessage, ok bool) {
	switch i.Type {
	case "command_execution":
		return i.Type, object("command", codexScript(words(i.Command))), true
	case "file_change":
		return i.Type, object("changes", i.Changes), true
	case "web_search":
		return i.Type, object("query", i.Query), true
	case "todo_list":
		return i.Type, object("items", i.Items), true
	case "mcp_tool_call":
		return "mcp__" + i.Server + "__" + i.Tool, i.Arguments, true
	case "collab_tool_call":
		return i.Tool, object("prompt", i.Prompt, "receiver_thread_ids", i.Receivers), true
	}
	return "", nil, false
}

// outcome is the output and the status of a finished one.
func (i *codexItem) outcome() (string, transcript.Status) {
	output := words(i.Output)
	if i.Type != "command_execution" {
		output = codexOutput(i.Result)
		var failure struct {
			Message string `json:"message"`
		}
		if into(i.Error, &failure) && failure.Message != "" {
			output = failure.Message
		}
	}
	code := transcript.Count(i.ExitCode)
	switch {
	case i.Status == "declined":
		return output, transcript.StatusDenied
	case i.Status == "failed" || code != nil && *code != 0 || code == nil && len(i.ExitCode) > 0 && string(i.ExitCode) != "null":
		return output, transcript.StatusError // a negative code is one too
	case i.Status == "in_progress":
		return output, transcript.StatusAborted
	}
	return output, transcript.StatusOK
}

// codexScript is the script of the shell the client starts for a command.
func codexScript(command string) string {
	if script, ok := transcript.ShellScript(command); ok {
		return script
	}
	return command
}

// codexOutput is the text of a tool's result: a string, or an object with
// content blocks.
func codexOutput(raw json.RawMessage) string {
	if s, ok := text(raw); ok {
		return s
	}
	var result struct {
		Content json.RawMessage `json:"content"`
	}
	if into(raw, &result) && len(result.Content) > 0 {
		if s, ok := outputText(result.Content); ok {
			return s
		}
	}
	if s, ok := outputText(raw); ok {
		return s
	}
	return words(raw)
}

// object is the JSON object of the given keys and values (texts or JSON),
// without the values that are not there.
func object(pairs ...any) json.RawMessage {
	fields := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if raw, ok := pairs[i+1].(json.RawMessage); ok && len(raw) == 0 {
			continue
		}
		fields[pairs[i].(string)] = pairs[i+1]
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false) // a command is full of < and &
	if e.Encode(fields) != nil {
		return nil // a raw field that is no JSON: the line would not have been
	}
	return bytes.TrimSpace(out.Bytes())
}

// codexUsage is a number of tokens as Codex counts: input_tokens holds what
// came from and went into the cache, output_tokens the reasoning.
type codexUsage struct {
	Input      json.RawMessage `json:"input_tokens"`
	CacheRead  json.RawMessage `json:"cached_input_tokens"`
	CacheWrite json.RawMessage `json:"cache_write_input_tokens"`
	Output     json.RawMessage `json:"output_tokens"`
	Reasoning  json.RawMessage `json:"reasoning_output_tokens"`
}

func (u codexUsage) usage() transcript.Usage {
	read, write := transcript.Count(u.CacheRead), transcript.Count(u.CacheWrite)
	return transcript.Usage{
		Input: without(transcript.Count(u.Input), read, write), CacheRead: read, CacheWrite: write,
		Output: transcript.Count(u.Output), Reasoning: transcript.Count(u.Reasoning),
	}
}

// without takes what came from and went into the cache off an input that holds
// both; nil when that cannot be told. A client that does not know writing to
// the cache has none in its input.
func without(input, read, write *int64) *int64 {
	if input == nil || read == nil {
		return nil
	}
	rest := *input - *read
	if write != nil {
		rest -= *write
	}
	if rest < 0 {
		return nil
	}
	return &rest
}

var (
	codexStatus = regexp.MustCompile(`\b(?:unexpected status|last status:?|status:?) ([1-5]\d\d)\b`)
	codexRetry  = regexp.MustCompile(`^Reconnecting\.\.\. (?:(\d+)/\d+|waiting for network)(?: \((.*)\))?$`)
)

// maxMessage is how much of an error's words is looked at, in bytes.
const maxMessage = 4 << 10

// codexEndpoint are words of errors that come from the model's endpoint.
var codexEndpoint = []string{
	"stream disconnected", "high demand", "idle timeout", "exceeded retry limit", "unexpected status", "usage limit",
	"Connection failed", "error sending request", "quota",
}

// codexCause sorts the message of a failed turn.
func codexCause(message string) *transcript.ClientError {
	message = message[:min(len(message), maxMessage)]
	cause := &transcript.ClientError{Kind: transcript.ErrorClient, Message: transcript.Name(message)}
	if m := codexStatus.FindStringSubmatch(message); m != nil {
		if n, err := strconv.ParseInt(m[1], 10, 64); err == nil {
			cause.Status = &n
		}
	}
	var body struct {
		Error json.RawMessage `json:"error"`
	}
	// A refused request gives the endpoint's answer and no status.
	answered := strings.HasPrefix(message, "{") && json.Unmarshal([]byte(message), &body) == nil && len(body.Error) > 0
	if cause.Status != nil || answered {
		cause.Kind = transcript.ErrorModelEndpoint
	}
	for _, phrase := range codexEndpoint {
		if strings.Contains(message, phrase) {
			cause.Kind = transcript.ErrorModelEndpoint
		}
	}
	return cause
}
