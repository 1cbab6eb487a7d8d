// Package transcript is the normalised record of one agent session: what the
// client said, which tools it called with which outcome, which skills it
// loaded, what it cost and how it ended, in one shape for every client.
//
// It is for the packages that decide something from a session (grading,
// expectations, reports) and for the adapters in harness/client, which fill it
// in from a client's own stream through a [Builder].
//
// Invariants:
//   - An unknown number is nil and becomes JSON null; it is never 0.
//   - Nothing is dropped without being counted: a line that was not understood
//     stands in [Unparsed], text that was cut in [Dropped].
//   - Memory is bounded whatever a trial prints (see limits.go).
//   - Strings come from the trial and are hostile. They are valid UTF-8 here,
//     but whoever shows them on a terminal or a page must escape them.
package transcript

import "encoding/json"

// SchemaVersion is the version of the JSON form of a [Transcript]. It grows
// when a field changes its meaning; new fields do not change it.
const SchemaVersion = 1

// Transcript is one session of one client. Its JSON form is the schema other
// tools read.
type Transcript struct {
	SchemaVersion int    `json:"schema_version"`
	Client        string `json:"client"`         // adapter name, such as "claude"
	ClientVersion string `json:"client_version"` // as the stream says; "" when it does not
	Model         string `json:"model"`          // as the stream says; "" when it does not
	SessionID     string `json:"session_id"`
	Cwd           string `json:"cwd"` // working directory the session started in; "" when unknown

	Turns     []Turn `json:"turns"`
	FinalText string `json:"final_text"` // the client's last answer; "" when there was none

	Usage        Usage            `json:"usage"`
	UsageByModel map[string]Usage `json:"usage_by_model"` // null when the client does not tell
	CostUSD      *float64         `json:"cost_usd"`       // the client's own estimate, in US dollars
	Timing       Timing           `json:"timing"`
	NumTurns     *int64           `json:"num_turns"` // as the client counts them

	SkillsListed      []string    `json:"skills_listed"` // skills the client says it knows; null when it does not tell
	SkillLoads        []SkillLoad `json:"skill_loads"`
	PermissionDenials []Denial    `json:"permission_denials"` // as the client lists them; may be incomplete
	Retries           []Retry     `json:"retries"`            // at most [MaxRetries]; RetryCount has them all
	RetryCount        int64       `json:"retry_count"`

	Lines      int64            `json:"lines"`      // non-blank lines in the stream
	Understood int64            `json:"understood"` // lines whose meaning is in this record
	Session    *SessionFile     `json:"session"`    // the client's session file; null when none was read
	Unparsed   Unparsed         `json:"unparsed"`
	Ignored    map[string]int64 `json:"ignored"` // understood events that carry nothing kept here, by name
	Repaired   map[string]int64 `json:"repaired"`
	Dropped    Dropped          `json:"dropped"`

	Started     bool         `json:"started"`      // the client's opening event was seen
	Completed   bool         `json:"completed"`    // the client's completion marker was seen (also one that reports an error)
	ClientError *ClientError `json:"client_error"` // null exactly when the session completed without error
}

// SessionFile tells how the client's own record of the session was read. It
// lies where the agent could write, so it only adds to what the stream says:
// what comes from it has the source "session".
type SessionFile struct {
	Matches    bool     `json:"matches"`    // it is of the same session as the stream; otherwise nothing was taken from it
	Lines      int64    `json:"lines"`      // non-blank lines
	Understood int64    `json:"understood"` // lines whose meaning is known
	Unparsed   Unparsed `json:"unparsed"`
}

// SourceSession marks what only the client's session file tells.
const SourceSession = "session"

// Role says who speaks in a [Turn].
type Role string

// The roles. A tool's output is not a turn: it stands in its [ToolCall].
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Turn is one message of the conversation.
type Turn struct {
	Role      Role       `json:"role"`
	MessageID string     `json:"message_id,omitempty"`
	ParentID  string     `json:"parent_id,omitempty"` // id of the tool call that runs this subagent; "" in the main conversation
	Synthetic bool       `json:"synthetic,omitempty"` // put there by the client, not by a person or the model
	Time      string     `json:"time,omitempty"`      // RFC 3339, UTC; "" when the client does not tell
	Source    string     `json:"source,omitempty"`    // "session", or "" for the stream
	Text      string     `json:"text"`
	Reasoning string     `json:"reasoning,omitempty"`
	ToolCalls []ToolCall `json:"tool_calls"`
}

// Status is how a tool call ended.
type Status string

// The statuses of a tool call.
const (
	StatusOK         Status = "ok"
	StatusError      Status = "error"      // it ran and failed
	StatusDenied     Status = "denied"     // a permission, a rule or a hook refused it
	StatusRejected   Status = "rejected"   // it never ran: unknown tool or bad arguments
	StatusAborted    Status = "aborted"    // it was cut off while running
	StatusUnfinished Status = "unfinished" // the stream ends before its result
)

// ToolCall is one use of a tool and its outcome.
type ToolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Input is the arguments as JSON, compact; null when they were too large
	// to keep. Long strings inside are cut when InputCut is set.
	Input    json.RawMessage `json:"input"`
	InputCut bool            `json:"input_cut,omitempty"`
	// Session is the input as the session file has it, where it calls the tool by another name: Codex's
	// stream tells of an edit without its text. It is not written out.
	Session     json.RawMessage `json:"-"`
	Output      string          `json:"output"`
	OutputBytes int64           `json:"output_bytes"` // length before cutting
	Status      Status          `json:"status"`
	ParentID    string          `json:"parent_id,omitempty"` // as [Turn.ParentID]
	Source      string          `json:"source,omitempty"`    // "session" when the call or its outcome stands in the session file only
}

// Usage is a number of tokens by kind. The kinds do not overlap: Input is
// without what came from or went into the cache, so the sum of the first four
// is all tokens. Reasoning is part of Output. Adapters convert where their
// client counts otherwise.
type Usage struct {
	Input      *int64 `json:"input_tokens"`
	Output     *int64 `json:"output_tokens"`
	CacheRead  *int64 `json:"cache_read_tokens"`
	CacheWrite *int64 `json:"cache_write_tokens"`
	Reasoning  *int64 `json:"reasoning_tokens"`
	// Source tells where the numbers come from: "total" (the client's own
	// total, side calls and subagents included), "conversation" (its total of
	// the main conversation only), "messages" (summed here, once per message;
	// a lower bound, as a session cut short leaves it) or "" (unknown).
	Source string `json:"source"`
}

// Timing is what the client says of its own time, in milliseconds.
type Timing struct {
	DurationMS *int64 `json:"duration_ms"`
	APIMS      *int64 `json:"api_ms"` // of it waiting for the model
}

// Denial is one tool call the client lists as denied.
type Denial struct {
	Tool   string `json:"tool"`
	CallID string `json:"call_id"`
}

// Retry is one repeated model request.
type Retry struct {
	Attempt *int64 `json:"attempt"`
	Status  *int64 `json:"status"`   // HTTP status; null when the request got none
	DelayMS *int64 `json:"delay_ms"` // wait before the repetition
	Error   string `json:"error"`
}

// Unparsed counts what was not understood.
type Unparsed struct {
	Lines    int64            `json:"lines"`
	ByReason map[string]int64 `json:"by_reason"`
	Samples  []Sample         `json:"samples"` // the first [MaxSamples]
}

// Sample is the start of a line that was not understood.
type Sample struct {
	Line   int64  `json:"line"` // counted from 1
	Reason string `json:"reason"`
	Text   string `json:"text"` // at most [MaxSampleBytes]
}

// Dropped counts what was understood but not kept because of the limits.
type Dropped struct {
	Turns     int64 `json:"turns"`
	ToolCalls int64 `json:"tool_calls"`
	Loads     int64 `json:"skill_loads"`
	TextBytes int64 `json:"text_bytes"`
}
