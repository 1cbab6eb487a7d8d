package client

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/proctor-evals/proctor/harness/transcript"
)

// SessionFiles implements [Adapter]: the rollout. The stream leaves out the
// calls that never ran, commands that outlive their time, the model, and the
// tokens of a session that fails.
func (Codex) SessionFiles() []string { return []string{".codex/sessions/*/*/*/rollout-*.jsonl"} }

// Decode implements [Adapter]: the stream of "codex exec --json", and the rollout.
func (Codex) Decode(r Recording) (*transcript.Transcript, error) {
	return decodeCodex(r, transcript.MaxLineBytes)
}

func decodeCodex(r Recording, maxLine int) (*transcript.Transcript, error) {
	var session *codexSession
	var sessionErr error
	if r.Session != nil {
		session, sessionErr = decodeCodexSession(r, maxLine)
		if r.Project == "" {
			r.Project = session.T.Cwd
		}
		if r.Home == "" {
			r.Home = session.home
		}
	}
	d := &codexDecoder{Builder: transcript.NewBuilder("codex"), turn: -1, loads: newLoadWatch(r.Home, r.Project, codexHomeSkills, codexProjectSkills)}
	d.cwds = []string{d.loads.project}
	if session != nil {
		for _, root := range session.loads.roots {
			d.loads.root(root)
		}
		d.known = session.T.SkillsListed
	} else {
		// Nobody says where a command started: it may have been a skill's folder.
		for _, root := range d.loads.roots {
			if !strings.HasPrefix(root, "*/") {
				d.cwds = append(d.cwds, root)
			}
		}
	}
	d.T.Cwd = transcript.Name(r.Project)
	err := readLines(d.Builder, r.Stream, maxLine, d.object)
	d.finish()
	if session != nil {
		d.merge(session)
	}
	if err == nil {
		err = sessionErr
	}
	return d.T, err
}

type codexDecoder struct {
	*transcript.Builder
	loads  *loadWatch
	cwds   []string // where a command may have started
	known  []string // skills the session file lists
	turn   int      // the current turn, -1 before the first
	calls  int      // calls of the current turn
	open   int      // … without an outcome
	filled bool     // the current turn has text
	last   string   // the last answer
	turns  int64    // turn.completed and turn.failed events
	failed *transcript.ClientError
}

func (d *codexDecoder) object(data []byte) string {
	var e codexEvent
	if reason := parse(data, &e); reason != "" {
		return reason
	}
	switch e.Type {
	case "thread.started":
		d.T.Started = true
		if d.T.SessionID == "" {
			d.T.SessionID = transcript.Name(e.ThreadID)
		}
	case "turn.started":
		// Only the last turn's end completes the session.
		d.T.Completed, d.T.ClientError = false, nil
	case "turn.completed":
		d.ended()
		d.T.ClientError = nil
		var u codexUsage
		if into(e.Usage, &u) {
			d.T.Usage = u.usage() // of the whole run: never added up
			d.T.Usage.Source = "total"
		}
	case "turn.failed":
		d.ended()
		var failure struct {
			Message string `json:"message"`
		}
		into(e.Error, &failure)
		d.T.ClientError = codexCause(failure.Message)
	case "error":
		d.trouble(words(e.Message))
	case "item.started", "item.updated", "item.completed":
		return d.item(&e)
	default:
		return "unknown event"
	}
	return ""
}

func (d *codexDecoder) ended() {
	d.turns++
	d.T.Completed = true
	d.T.NumTurns = &d.turns
}

// trouble takes an error event: a retry, or the words of the failure to come.
func (d *codexDecoder) trouble(message string) {
	message = message[:min(len(message), maxMessage)]
	m := codexRetry.FindStringSubmatch(message)
	if m == nil {
		d.failed = codexCause(message)
		return
	}
	retry := transcript.Retry{Error: m[2]}
	if n, err := strconv.ParseInt(m[1], 10, 64); err == nil {
		retry.Attempt = &n
	}
	d.failed = codexCause(m[2])
	d.failed.Kind = transcript.ErrorModelEndpoint
	retry.Status = d.failed.Status
	d.Retry(retry)
}

func (d *codexDecoder) item(e *codexEvent) string {
	var i codexItem
	if !into(e.Item, &i) {
		return "unexpected shape"
	}
	done := e.Type == "item.completed"
	switch i.Type {
	case "agent_message":
		if done {
			d.say(&i, false)
		}
		return ""
	case "reasoning":
		if done {
			d.say(&i, true)
		}
		return ""
	case "error":
		d.Ignore("item/error") // a warning: the session goes on
		return ""
	}
	name, input, ok := i.call()
	if !ok {
		return "unknown item"
	}
	if e.Type == "item.updated" {
		d.Ignore("item.updated")
		return ""
	}
	if !done || !d.IsOpen(i.ID) {
		if !d.start(i.ID, name, input) {
			return "tool call id taken"
		}
		d.watch(&i, input)
	}
	if !done {
		return ""
	}
	output, status := i.outcome()
	d.Result(i.ID, output, status)
	d.open--
	found, _ := d.loads.result(i.ID, status, output, d.known)
	for _, load := range found {
		d.Load(load)
	}
	return ""
}

// say takes a text of the model: a new message, unless one has just begun.
func (d *codexDecoder) say(i *codexItem, reasoning bool) {
	d.failed = nil
	said := words(i.Text)
	if d.turn < 0 || d.calls > 0 || d.filled {
		d.next(i.ID)
	}
	if reasoning {
		d.AddReasoning(d.turn, said)
		return
	}
	d.AddText(d.turn, said)
	d.filled, d.last = true, said
}

// start takes a tool call. The stream does not say where one answer of the
// model ends: calls that overlap are of one, a call after the end of others
// is of the next.
func (d *codexDecoder) start(id, name string, input json.RawMessage) bool {
	d.failed = nil
	if d.turn < 0 || d.calls > 0 && d.open == 0 {
		d.next("")
	}
	if !d.Call(d.turn, id, name, input) {
		return false
	}
	d.calls++
	d.open++
	return true
}

func (d *codexDecoder) next(id string) {
	d.turn = d.Turn(transcript.Turn{Role: transcript.RoleAssistant, MessageID: id})
	d.calls, d.open, d.filled = 0, 0, false
}

func (d *codexDecoder) watch(i *codexItem, input json.RawMessage) {
	switch i.Type {
	case "command_execution":
		d.loads.shell(i.ID, "", codexScript(words(i.Command)), d.cwds...)
	case "mcp_tool_call":
		d.loads.other(i.ID, "", input)
	}
}

// finish closes the record: what a missing end leaves open.
func (d *codexDecoder) finish() {
	for _, load := range d.loads.unfinished(d.known) {
		d.Load(load)
	}
	d.Final(d.last)
	if d.T.Completed {
		return
	}
	d.T.ClientError = noCompletion(d.T, d.failed, "a turn.completed or turn.failed event")
}

// noCompletion is the cause of a stream that ends without its completion
// marker; failed is the model request that was being retried, if any.
func noCompletion(t *transcript.Transcript, failed *transcript.ClientError, marker string) *transcript.ClientError {
	switch {
	case t.Understood == 0:
		return &transcript.ClientError{Kind: transcript.ErrorUnreadable, Message: fmt.Sprintf("0 of %d lines understood", t.Lines)}
	case failed != nil:
		return &transcript.ClientError{
			Kind: failed.Kind, Status: failed.Status,
			Message: transcript.Name(fmt.Sprintf("%s; the stream ends after %d retries without %s", failed.Message, t.RetryCount, marker)),
		}
	}
	return &transcript.ClientError{Kind: transcript.ErrorNoCompletion, Message: "the stream ends without " + marker}
}
