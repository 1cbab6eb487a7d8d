package gateway

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
)

// A Model gives the turns of one trial. Its methods are called concurrently.
type Model interface {
	// Kind is one of the Kind constants; it is what a result records as model.kind.
	Kind() string
	// Turn answers r. A provider's failure is a Turn with a Failure; an error means the runner itself broke.
	Turn(ctx context.Context, r *Request) (*Turn, error)
}

// The kinds of model a trial can have. Direct trials have no gateway; the word stands here to keep the four together.
const (
	KindScripted = "scripted"
	KindReplay   = "replay"
	KindForward  = "forward"
	KindDirect   = "direct"
)

// A Request is what a client asked, whatever the dialect.
type Request struct {
	Dialect  string    // one of the Dialect constants
	Model    string    // the model the client named; may be another than the trial's for side calls
	System   []string  // system text apart from the conversation, in order
	Messages []Message // the whole conversation so far
	Tools    []Tool    // in the client's order
	Offered  []Offer   // skills this request offers, deduplicated, in order
	SideCall bool      // no tools, or none allowed: a title or summary, which must not use up a scripted turn
	Stream   bool      // the client asked for a stream of events

	StreamUsage bool // Chat Completions: the stream should tell the usage

	Prompt     string // the trial's, from Options
	ProjectDir string // the trial's project, from Options; relative script paths mean files below it
	Raw        []byte // the body as it came; not to be modified
	// Header has of the request's headers those that belong to its meaning; see passedOn.
	Header http.Header
}

// A Message is one entry of the conversation. Role is "user", "assistant" or "system" (also a "developer" of the OpenAI
// dialects); a system role may stand in the middle of the conversation, and only the client writes it. A tool's result
// is the user's in every dialect.
type Message struct {
	Role   string
	Blocks []Block
}

// BlockKind says what a Block holds.
type BlockKind string

// The kinds of block. What a codec does not know is BlockOther and carries nothing.
const (
	BlockText       BlockKind = "text"
	BlockThinking   BlockKind = "thinking"
	BlockToolCall   BlockKind = "tool_call"
	BlockToolResult BlockKind = "tool_result"
	BlockOther      BlockKind = "other"
)

// A Block is one part of a message or of a turn.
type Block struct {
	Kind      BlockKind
	Text      string          // text, thinking, or a tool result's text
	Signature string          // thinking only
	CallID    string          // tool call and tool result
	Name      string          // tool call: the tool
	Input     json.RawMessage // tool call: a JSON object; for a freeform tool a JSON string
	IsError   bool            // tool result
}

// A Tool is one tool the client lists. Type is the dialect's word for it and empty for the client's own tools; anything
// else runs at the provider, outside the sandbox.
type Tool struct {
	Name, Type, Description string
	Schema                  json.RawMessage
	Freeform                bool   // takes any text in place of JSON ("custom" in the OpenAI dialects)
	Namespace               string // Responses: the namespace that stands before the dot of Name; "" for most
}

// How a skill can be offered.
const (
	ViaListing = "listing" // an entry of the client's skill listing
	ViaPath    = "path"    // the path of its SKILL.md in context a hook gave
)

// An Offer is a skill the client put before the model.
type Offer struct {
	Skill string `json:"skill"`
	Via   string `json:"via"`            // ViaListing or ViaPath
	Path  string `json:"path,omitempty"` // ViaPath: as it stood in the context; ViaListing: where the listing tells it
}

// Why a turn ended, in the words of the Messages dialect.
const (
	StopEndTurn   = "end_turn"
	StopToolUse   = "tool_use"
	StopMaxTokens = "max_tokens"
	StopRefusal   = "refusal"
)

// A Turn is the answer to a Request.
type Turn struct {
	Blocks     []Block
	StopReason string
	Usage      Usage
	Failure    *Failure // nil: the turn is delivered whole
	Step       *int     // the 1-based script step that gave the turn; nil for other models, side calls and the closing turn
	Note       string   // what the log should say about this turn, such as a script step the client has no tool for

	Wire     *Wire    // an answer to be passed on as it is, in place of Blocks; Usage and StopReason are then read off it
	Refused  bool     // the request was not one this trial may make: Failure says which
	Fault    string   // what the provider did wrong, "" when nothing: the words of a result
	Stop     error    // the trial should end; wraps one of ErrEndpoint, ErrMaxTokens, ErrMaxCost, ErrReplay
	Stripped []string // what was taken out of the request: tools and fields that run at the provider
}

// A Wire is an answer in its dialect's own bytes.
type Wire struct {
	Status      int
	ContentType string
	RetryAfter  string // as the header has it; "": no such header
	Body        io.ReadCloser
	Cut         bool // Body ends where the connection was cut
	// Told, unless nil, is called with what the body has told so far, before the client sees it, and at the end.
	Told func(*meter)
}

// Usage counts tokens; nil is unknown, which is not 0. Input excludes what was read from or written to a cache.
type Usage struct {
	InputTokens      *int64 `json:"input_tokens"`
	OutputTokens     *int64 `json:"output_tokens"`
	CacheReadTokens  *int64 `json:"cache_read_tokens"`
	CacheWriteTokens *int64 `json:"cache_write_tokens"`
	ReasoningTokens  *int64 `json:"reasoning_tokens"`
}

// add sums b into u, field by field; a field stays nil until some turn reports it.
func (u *Usage) add(b Usage) {
	for _, f := range []struct {
		sum **int64
		n   *int64
	}{
		{&u.InputTokens, b.InputTokens},
		{&u.OutputTokens, b.OutputTokens},
		{&u.CacheReadTokens, b.CacheReadTokens},
		{&u.CacheWriteTokens, b.CacheWriteTokens},
		{&u.ReasoningTokens, b.ReasoningTokens},
	} {
		if f.n == nil {
			continue
		}
		total := *f.n
		if *f.sum != nil {
			total += **f.sum
		}
		*f.sum = &total // a new number: usage already handed out must not change
	}
}

// FailureKind says how a turn fails on the wire.
type FailureKind string

// The ways a turn can fail.
const (
	FailHTTP      FailureKind = "http"      // an error status and body
	FailTruncated FailureKind = "truncated" // the answer begins and the connection is cut
	FailSlow      FailureKind = "slow"      // the answer begins and nothing more comes until the client gives up
)

// A Failure replaces a turn's delivery. Status and the two texts count for FailHTTP only.
type Failure struct {
	Kind       FailureKind
	Status     int    // 400 to 599
	Type       string // the dialect's error type, such as "overloaded_error"
	Message    string
	RetryAfter *int // seconds; nil: no such header
}
