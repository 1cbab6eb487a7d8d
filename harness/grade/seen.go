package grade

import (
	"fmt"
	"slices"

	"github.com/proctor-evals/proctor/harness/symposium"
)

// Seen is what the runner saw of the evidence from outside before the model's first answer reached
// the client. The agent had not acted yet, so it cannot have written it.
type Seen struct {
	Trace     symposium.Trace
	Sync      symposium.SyncState
	Installed map[string]symposium.Installed // by skill
	// LastTurn is the hook trace's size in bytes when the model was asked for its last turn.
	LastTurn int64
}

// seen is what was in the skill folder before the model's first answer.
func (ev Evidence) seen(skill string) (symposium.Installed, bool) {
	if ev.Seen == nil {
		return symposium.Installed{}, false
	}
	in, ok := ev.Seen.Installed[skill]
	return in, ok
}

// early are the hook events that a client runs before it asks the model anything.
var early = []string{"SessionStart", "UserPromptSubmit"}

// record finds the record of an event that counts: of this agent and, where the transcript tells
// its session, of this session. When there are only others it says why they do not count.
func (ev Evidence) record(t symposium.Trace, event string) (r symposium.HookRecord, found bool, odd string) {
	for _, r := range t.Records {
		if r.Event != event || r.Agent != ev.Agent {
			continue
		}
		switch session := r.Session(); {
		case ev.Session == "" || session == ev.Session:
			return r, true, ""
		case session == "":
			odd = fmt.Sprintf("the %s record names no session; the transcript's is %q", event, ev.Session)
		default:
			odd = fmt.Sprintf("the %s record is of the session %q; the transcript's is %q", event, session, ev.Session)
		}
	}
	return symposium.HookRecord{}, false, odd
}

// contradicted says how the rest of the evidence contradicts a record of the final trace, or "".
func (ev Evidence) contradicted(event string, r symposium.HookRecord) string {
	if ev.Seen != nil && !ev.Trace.Extends(ev.Seen.Trace) {
		return "the hook trace no longer holds what it held before the model's first answer"
	}
	if id := r.CallID(); id != "" && ev.Called != nil && !ev.Called(id) {
		return fmt.Sprintf("the %s record is of the tool call %q, which is not in the transcript", event, id)
	}
	if ev.Seen == nil {
		return ""
	}
	switch {
	case slices.Contains(early, event):
		return fmt.Sprintf("the %s record came after the model's first answer, when the agent could write it", event)
	case r.Offset < ev.Seen.Trace.Size():
		return fmt.Sprintf("the %s record stood there before the model's first answer", event)
	case event == "Stop" && !ev.stopped():
		return "every Stop record stood in the hook trace before the model was asked for its last turn"
	}
	return ""
}

// stopped says whether a Stop record came after the model was asked for its last turn, as the one
// that ends the session does.
func (ev Evidence) stopped() bool {
	return slices.ContainsFunc(ev.Trace.Records, func(r symposium.HookRecord) bool {
		return r.Event == "Stop" && r.Agent == ev.Agent && (ev.Session == "" || r.Session() == ev.Session) && r.Offset >= ev.Seen.LastTurn
	})
}

// Doubts lists what in the evidence fits together badly, for a reader; the verdicts say what follows.
func (ev Evidence) Doubts() []string {
	var out []string
	if ev.Tampered.Evidence != "" {
		out = append(out, ev.Tampered.Evidence)
	}
	foreign := 0
	for _, r := range ev.Trace.Records {
		if ev.Session != "" && r.Session() != ev.Session {
			foreign++
		}
	}
	if foreign > 0 {
		out = append(out, fmt.Sprintf("%d of %d records of the hook trace are not of the transcript's session", foreign, len(ev.Trace.Records)))
	}
	if ev.Seen == nil {
		return out
	}
	if !ev.Trace.Extends(ev.Seen.Trace) {
		out = append(out, "the hook trace no longer holds what it held before the model's first answer")
	}
	if ev.Seen.Sync.Recorded && !ev.Sync.Recorded {
		out = append(out, "the sync record was there before the model's first answer, and afterwards it is not: "+ev.Sync.Detail)
	}
	return out
}
