package client

import (
	"encoding/json"
	"io"
	"math"

	"github.com/proctor-evals/proctor/harness/transcript"
)

// SessionFiles implements [Adapter]: the stream tells all.
func (Claude) SessionFiles() []string { return nil }

// Decode implements [Adapter]: the stream of --output-format stream-json, with
// or without partial messages.
func (Claude) Decode(r Recording) (*transcript.Transcript, error) {
	return decodeClaude(r.Stream, transcript.MaxLineBytes)
}

func decodeClaude(r io.Reader, maxLine int) (*transcript.Transcript, error) {
	d := &claudeDecoder{
		Builder: transcript.NewBuilder("claude"),
		turns:   map[string]int{},
		usage:   map[string]messageUsage{},
		skills:  newClaudeSkills(),
		streams: map[string]string{},
	}
	err := readLines(d.Builder, r, maxLine, d.object)
	d.finish()
	return d.T, err
}

type claudeDecoder struct {
	*transcript.Builder
	turns  map[string]int // turn of a message, by parent and message id
	usage  map[string]messageUsage
	usages []string // their order, so that sums do not depend on the map
	skills *claudeSkills
	// streams is the message being streamed, by the conversation's parent id.
	streams map[string]string
	ended   bool     // a result event was seen
	failed  struct { // the last model request that was given up or is being retried
		status *int64
		words  string
	}
}

// messageUsage is what is known of one model message.
type messageUsage struct {
	transcript.Usage
	final bool // Output is the message's total, not the count at its start
}

// maxMessages is for how many messages usage and turns are remembered.
const maxMessages = 100_000

func (d *claudeDecoder) object(data []byte) (reason string) {
	var e claudeEvent
	if reason := parse(data, &e); reason != "" {
		return reason
	}
	if d.T.SessionID == "" {
		d.T.SessionID = transcript.Name(e.SessionID)
	}
	switch e.Type {
	case "system":
		return d.system(&e)
	case "assistant":
		return d.assistant(&e)
	case "user":
		return d.user(&e)
	case "result":
		return d.final(&e)
	case "stream_event":
		return d.partial(&e)
	case "rate_limit_event", "tool_progress", "tool_use_summary", "auth_status", "keep_alive", "prompt_suggestion", "files_persisted":
		d.Ignore(e.Type)
		return ""
	}
	return "unknown event"
}

func (d *claudeDecoder) system(e *claudeEvent) string {
	switch e.Subtype {
	case "init":
		if d.T.Started {
			d.Ignore("system/init again")
			return ""
		}
		d.T.Started = true
		d.T.Cwd = transcript.Name(e.Cwd)
		d.T.Model, d.T.ClientVersion = transcript.Name(e.Model), transcript.Name(e.Version)
		var listed []string
		if len(e.Skills) > 0 && json.Unmarshal(e.Skills, &listed) == nil && listed != nil {
			d.Listed(listed)
		}
		d.skills.start(d.T.Cwd, e.Memory)
	case "api_retry":
		words, _ := text(e.Error)
		d.failed.status, d.failed.words = transcript.Count(e.ErrorStatus), words
		d.Retry(transcript.Retry{
			Attempt: transcript.Count(e.Attempt), Status: d.failed.status,
			DelayMS: rounded(e.DelayMS), Error: words,
		})
	default:
		// Notices about the session (status, tasks, hooks, thinking): what the
		// model said and did comes in other events, so a new one hides nothing.
		d.Ignore("system/" + e.Subtype)
	}
	return ""
}

func (d *claudeDecoder) assistant(e *claudeEvent) string {
	var m claudeMessage
	if json.Unmarshal(e.Message, &m) != nil {
		return "unexpected shape"
	}
	list, ok := blocks(m.Content)
	if !ok {
		return "unexpected shape"
	}
	parent := value(e.ParentID)
	turn := d.turn(parent, m.ID)
	if words, isText := text(e.Error); isText {
		d.failed.words = words
	} else {
		d.failed.status, d.failed.words = nil, "" // the model answered
	}
	if m.Model != "<synthetic>" {
		d.countMessage(m.ID, m.Usage, m.StopReason != nil)
	}
	reason := ""
	for _, b := range list {
		switch b.Type {
		case "text":
			d.AddText(turn, b.Text)
		case "thinking":
			d.AddReasoning(turn, b.Thinking)
		case "redacted_thinking":
			d.AddReasoning(turn, "[redacted]")
		case "tool_use":
			if d.Call(turn, b.ID, b.Name, b.Input) {
				d.skills.call(b, parent)
			} else {
				reason = "tool call id taken"
			}
		case "server_tool_use", "web_search_tool_result", "web_fetch_tool_result":
			d.Ignore("assistant/" + b.Type)
		default:
			reason = "unknown content block"
		}
	}
	return reason
}

// turn is the turn of a message: a client gives one event a block.
func (d *claudeDecoder) turn(parent, id string) int {
	key := parent + "\x00" + transcript.Name(id)
	if index, ok := d.turns[key]; ok && id != "" {
		return index
	}
	index := d.Turn(transcript.Turn{Role: transcript.RoleAssistant, MessageID: id, ParentID: parent})
	if index >= 0 && len(d.turns) < maxMessages {
		d.turns[key] = index
	}
	return index
}

func (d *claudeDecoder) user(e *claudeEvent) string {
	var m claudeMessage
	if json.Unmarshal(e.Message, &m) != nil {
		return "unexpected shape"
	}
	list, ok := blocks(m.Content)
	if !ok {
		return "unexpected shape"
	}
	reason, said, parent := "", "", value(e.ParentID)
	detail := e.ToolUseResult
	if len(list) > 1 {
		detail = nil // it does not say which of the results it belongs to
	}
	for _, b := range list {
		switch b.Type {
		case "tool_result":
			output, ok := outputText(b.Content)
			if !ok {
				reason = "unexpected shape"
			}
			status := claudeStatus(b.IsError, output, detail)
			if !d.Result(b.ToolUseID, output, status) {
				reason = "result without a call"
				continue
			}
			for _, load := range d.skills.result(b.ToolUseID, status, output, detail, d.T.SkillsListed) {
				d.Load(load)
			}
		case "text":
			if said != "" {
				said += "\n\n"
			}
			said += b.Text
		case "image", "document":
			d.Ignore("user/" + b.Type)
		default:
			reason = "unknown content block"
		}
	}
	if said != "" {
		d.Turn(transcript.Turn{Role: transcript.RoleUser, ParentID: parent, Synthetic: e.Synthetic, Text: said})
	}
	return reason
}

// partial takes an event of --include-partial-messages. Everything it brings
// comes again in whole messages, except a message's final count of tokens.
func (d *claudeDecoder) partial(e *claudeEvent) string {
	var event struct {
		Type    string        `json:"type"`
		Message claudeMessage `json:"message"`
		Usage   *claudeUsage  `json:"usage"`
	}
	if json.Unmarshal(e.Event, &event) != nil {
		return "unexpected shape"
	}
	parent := value(e.ParentID)
	switch {
	case event.Type == "message_start" && len(d.streams) < transcript.MaxOpenCalls:
		// Remember whose message the next message_delta ends.
		d.streams[parent] = transcript.Name(event.Message.ID)
	case event.Type == "message_stop":
		delete(d.streams, parent)
	case event.Type == "message_delta" && event.Usage != nil:
		if id := d.streams[parent]; id != "" {
			u := d.usage[id]
			if n := transcript.Count(event.Usage.Output); n != nil {
				u.Output, u.final = n, true
				d.remember(id, u)
			}
		}
	}
	d.Ignore("stream_event")
	return ""
}

// value is the id behind s; "" without one.
func value(s *string) string {
	if s == nil {
		return ""
	}
	return transcript.Name(*s)
}

// rounded reads a duration in milliseconds, which may have a fraction.
func rounded(raw json.RawMessage) *int64 {
	var f float64
	if len(raw) == 0 || string(raw) == "null" || json.Unmarshal(raw, &f) != nil || f < 0 || f > 1<<53 {
		return nil
	}
	n := int64(math.Round(f))
	return &n
}
