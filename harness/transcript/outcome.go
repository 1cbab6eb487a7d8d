package transcript

import "fmt"

// Execution is how a session ended, as far as its stream can tell. The runner
// adds what only it knows: timeout, setup_failure and cancelled.
type Execution string

// The executions a stream can show.
const (
	ExecutionCompleted   Execution = "completed"
	ExecutionClientError Execution = "client_error"
)

// The kinds of [ClientError].
const (
	ErrorModelEndpoint = "model_endpoint" // the model's endpoint refused or failed; Status is its HTTP status
	ErrorMaxTurns      = "max_turns"      // the client's own turn limit
	ErrorClient        = "client"         // any other error the client reports
	ErrorNoCompletion  = "no_completion"  // the stream ends without the completion marker
	ErrorUnreadable    = "unreadable"     // no line was understood
)

// ClientError is why a session did not complete.
type ClientError struct {
	Kind    string `json:"kind"`
	Status  *int64 `json:"status"`  // HTTP status; null when there is none
	Message string `json:"message"` // the client's words, at most 512 bytes
}

// Error makes the cause readable in one line; the message is quoted, since it
// is the client's.
func (e *ClientError) Error() string {
	if e.Status != nil {
		return fmt.Sprintf("%s (HTTP %d): %q", e.Kind, *e.Status, e.Message)
	}
	return fmt.Sprintf("%s: %q", e.Kind, e.Message)
}

// Execution maps the stream to its execution. The cause is nil exactly when
// the session completed: the completion marker is there and reports no error.
// The process's exit code does not matter.
func (t *Transcript) Execution() (Execution, *ClientError) {
	switch {
	case t.ClientError != nil:
		return ExecutionClientError, t.ClientError
	case !t.Completed:
		return ExecutionClientError, &ClientError{Kind: ErrorNoCompletion, Message: "the stream ends without the completion marker"}
	}
	return ExecutionCompleted, nil
}

// Load is what was observed of one skill.
type Load string

// The observations, as the reference defines them.
const (
	Loaded      Load = "loaded"       // its content was delivered: a successful skill call or read of its installed SKILL.md
	Attempted   Load = "attempted"    // such a call failed or was denied
	NotObserved Load = "not_observed" // neither, in a stream that was fully interpreted
	Unknown     Load = "unknown"      // the stream cannot tell
)

// LoadState is what one event says of a skill.
type LoadState string

// The states of a [SkillLoad]. Unclear is a call that may have delivered the
// content: a program nobody can interpret was given the file.
const (
	LoadLoaded    LoadState = "loaded"
	LoadAttempted LoadState = "attempted"
	LoadUnclear   LoadState = "unclear"
)

// SkillLoad is one event that concerns a skill.
type SkillLoad struct {
	Skill    string    `json:"skill"` // "" when the call does not tell which (Unclear only)
	State    LoadState `json:"state"`
	How      string    `json:"how"` // "skill_tool", "file_tool", "shell" or "injected" (the client put it into the request)
	CallID   string    `json:"call_id"`
	ParentID string    `json:"parent_id,omitempty"` // as [Turn.ParentID]
	Source   string    `json:"source,omitempty"`    // as [ToolCall.Source]
}

// Interpretable reports whether absence can be concluded from the stream, and
// if not, why: every line was understood, it has an opening and a completion.
func (t *Transcript) Interpretable() (ok bool, why string) {
	switch {
	case t.Understood == 0:
		return false, fmt.Sprintf("0 of %d lines understood", t.Lines)
	case t.Unparsed.Lines > 0:
		return false, fmt.Sprintf("%d of %d lines not understood", t.Unparsed.Lines, t.Lines)
	case !t.Started:
		return false, "no opening event"
	case !t.Completed:
		// A session cut short can have loaded a skill in a line that was never written.
		return false, "no completion marker"
	case t.Dropped.Loads > 0:
		return false, "too many skill load events"
	}
	return true, ""
}

// LoadOf is the observation of one skill by name. A load that was seen counts
// whatever else the stream holds; anything less needs the whole stream.
func (t *Transcript) LoadOf(skill string) Load {
	events, unnamed := map[LoadState]bool{}, map[LoadState]bool{}
	for _, l := range t.SkillLoads {
		switch l.Skill {
		case skill:
			events[l.State] = true
		case "":
			unnamed[l.State] = true
		}
	}
	ok, _ := t.Interpretable()
	return observe(events, unnamed, ok)
}
