package client

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/harness/transcript"
)

// SessionFiles implements [Decoder]: the session's events. The stream has no
// tokens and no client version.
func (Copilot) SessionFiles() []string { return []string{".copilot/session-state/*/events.jsonl"} }

// Decode implements [Decoder]: the stream of "copilot --output-format json",
// and the session's events.
func (Copilot) Decode(r Recording) (*transcript.Transcript, error) {
	return decodeCopilot(r, transcript.MaxLineBytes)
}

func decodeCopilot(r Recording, maxLine int) (*transcript.Transcript, error) {
	var session *copilotDecoder
	var sessionErr error
	if r.Session != nil {
		session, sessionErr = readCopilot(r, r.Session, maxLine)
		if r.Project == "" {
			r.Project = session.T.Cwd
		}
	}
	d, err := readCopilot(r, r.Stream, maxLine)
	d.T.Cwd = transcript.Name(r.Project)
	if session != nil {
		// A stream that is cut short does not say its session, but has its prompt's id.
		ours := d.prompt == "" || session.prompt == "" || d.prompt == session.prompt
		mergeSession(d.Builder, session.T, ours, sameID)
	}
	if err == nil {
		err = sessionErr
	}
	return d.T, err
}

func readCopilot(r Recording, from io.Reader, maxLine int) (*copilotDecoder, error) {
	d := &copilotDecoder{
		Builder: transcript.NewBuilder("copilot"), given: r, current: -1,
		turns: map[string]int{}, names: map[string]string{}, counted: map[string]bool{}, thoughts: map[string]string{},
	}
	d.place(r.Home, r.Project)
	err := readLines(d.Builder, from, maxLine, d.object)
	d.finish()
	return d, err
}

type copilotDecoder struct {
	*transcript.Builder
	given    Recording
	loads    *loadWatch
	cwds     []string                // folders the shell may be in; the first is the project
	turns    map[string]int          // turn of a message, by parent and message id
	current  int                     // the last turn of the model
	names    map[string]string       // tools of the open calls
	thoughts map[string]string       // reasoning that waits for its message, by parent
	counted  map[string]bool         // model requests whose tokens are counted
	total    bool                    // the session's own totals were there
	prompt   string                  // id of the first message
	final    string                  // the last message that calls no tool
	said     string                  // the last one that does
	failed   *transcript.ClientError // the model request that failed last
	trouble  *transcript.ClientError // what the session reported
	aborted  string
}

func (d *copilotDecoder) object(data []byte) string {
	var e copilotEvent
	if reason := parse(data, &e); reason != "" {
		return reason
	}
	if e.Type == "result" {
		d.result(&e)
		return ""
	}
	var p copilotData
	if !into(e.Data, &p) {
		if e.Ephemeral || copilotPassing[e.Type] {
			d.Ignore(e.Type)
			return ""
		}
		if e.Type == "" {
			return "unknown event"
		}
		return "unexpected shape"
	}
	parent := orText(p.Parent, orText(p.Agent, e.AgentID))
	switch e.Type {
	case "session.start":
		d.T.Started = true
		d.T.SessionID, d.T.ClientVersion, d.T.Cwd = transcript.Name(p.SessionID), transcript.Name(p.Version), transcript.Name(p.Context.Cwd)
		if d.given.Project == "" {
			d.place(d.given.Home, p.Context.Cwd)
		}
	case "session.skills_loaded":
		d.T.Started = true
		d.listing(p.Skills)
	case "user.message":
		d.T.Started = true
		d.prompt = orText(d.prompt, p.MessageID)
		said := words(p.Content)
		d.Turn(transcript.Turn{
			Role: transcript.RoleUser, MessageID: p.MessageID, ParentID: parent, Time: stamp(e.Timestamp), Text: said,
			Synthetic: strings.HasPrefix(p.Source, "skill") || strings.HasPrefix(said, "<skill-context"),
		})
	case "assistant.message":
		return d.message(&e, &p, parent)
	case "assistant.reasoning":
		if len(d.thoughts) < transcript.MaxOpenCalls {
			d.thoughts[parent] = words(p.Content)
		}
	case "assistant.turn_start":
		if parent == "" {
			d.T.NumTurns = transcript.Add(orZero(d.T.NumTurns), one())
		}
	case "tool.execution_start":
		if d.names[transcript.Name(p.CallID)] == "" {
			// A call no message announced.
			if d.current < 0 || d.T.Turns[d.current].ParentID != parent {
				d.current = d.Turn(transcript.Turn{Role: transcript.RoleAssistant, ParentID: parent, Time: stamp(e.Timestamp)})
			}
			return d.call(d.current, parent, copilotRequest{ID: p.CallID, Name: p.Tool, Arguments: p.Arguments})
		}
	case "tool.execution_complete":
		return d.complete(&p, parent)
	default:
		return d.rest(&e, &p)
	}
	return ""
}

// rest takes the events that are not of the conversation.
func (d *copilotDecoder) rest(e *copilotEvent, p *copilotData) string {
	switch e.Type {
	case "skill.invoked":
		// The agent's own calls are seen as such; others come from the prompt.
		if p.Trigger != "agent-invoked" && p.Name != "" {
			d.Load(transcript.SkillLoad{Skill: p.Name, State: transcript.LoadLoaded, How: "injected"})
		}
	case "session.tools_updated":
		if d.T.Model == "" {
			d.T.Model = transcript.Name(p.Model)
		}
	case "model.call_failure":
		d.failed = &transcript.ClientError{Kind: transcript.ErrorModelEndpoint, Status: transcript.Count(p.Status), Message: transcript.Name(words(p.Failure))}
	case "model.call_final_result":
		var r struct {
			Result string `json:"result"`
		}
		if into(e.Data, &r) && r.Result == "success" {
			d.failed = nil
		}
	case "assistant.turn_retry":
		retry := transcript.Retry{Error: p.Reason}
		if n := d.T.RetryCount + 1; d.failed != nil {
			retry.Attempt, retry.Status = &n, d.failed.Status
		}
		d.Retry(retry)
	case "session.error":
		d.trouble = copilotCause(p, d.failed != nil)
	case "abort":
		d.aborted = orText(p.Reason, "aborted")
		for _, id := range slices.Sorted(maps.Keys(d.names)) {
			d.close(id, "", "", transcript.StatusAborted, "")
		}
	case "session.usage_record":
		d.count(p.UsageRecord, e.ID)
	case "session.shutdown":
		d.totals(p.Metrics)
	default:
		// Passing notices and those about the session hide nothing: what the
		// model said and did comes in other events.
		if !copilotPassing[e.Type] && !e.Ephemeral && !strings.HasPrefix(e.Type, "session.") {
			return "unknown event"
		}
		d.Ignore(e.Type)
	}
	return ""
}

func (d *copilotDecoder) message(e *copilotEvent, p *copilotData, parent string) string {
	var requests []copilotRequest
	if len(p.Requests) > 0 && string(p.Requests) != "null" && json.Unmarshal(p.Requests, &requests) != nil {
		return "unexpected shape"
	}
	if d.T.Model == "" && parent == "" {
		d.T.Model = transcript.Name(p.Model)
	}
	key := parent + "\x00" + transcript.Name(p.MessageID)
	index, again := d.turns[key]
	if !again || p.MessageID == "" {
		index = d.Turn(transcript.Turn{Role: transcript.RoleAssistant, MessageID: p.MessageID, ParentID: parent, Time: stamp(e.Timestamp)})
		if index >= 0 && len(d.turns) < maxMessages {
			d.turns[key] = index
		}
	}
	d.current = index
	d.AddReasoning(index, orText(words(p.Reasoning), d.thoughts[parent]))
	delete(d.thoughts, parent)
	said := words(p.Content)
	d.AddText(index, said)
	if parent == "" && len(requests) == 0 {
		d.final = said
	} else if parent == "" && said != "" {
		d.said = said
	}
	reason := ""
	for _, r := range requests {
		if why := d.call(index, parent, r); why != "" {
			reason = why
		}
	}
	return reason
}

func (d *copilotDecoder) call(turn int, parent string, r copilotRequest) string {
	if !d.CallReused(turn, r.ID, r.Name, r.Arguments) {
		return "tool call id taken"
	}
	d.names[transcript.Name(r.ID)] = orText(r.Name, "?")
	d.watch(r, parent)
	return ""
}

func (d *copilotDecoder) complete(p *copilotData, parent string) string {
	id := transcript.Name(p.CallID)
	name, open := d.names[id]
	if !open {
		return "result without a call"
	}
	output, status := p.outcome()
	judged := status
	if name == "bash" && status == transcript.StatusOK && p.Shell == nil {
		judged = transcript.StatusUnfinished // left running: what it will print is not here
	}
	d.close(id, parent, output, status, judged)
	return ""
}

// close gives a call its outcome; judged is the status its skill loads are
// judged by, "" for the same.
func (d *copilotDecoder) close(id, parent, output string, status, judged transcript.Status) {
	name := d.names[id]
	delete(d.names, id)
	d.Result(id, output, status)
	if judged == "" {
		judged = status
	}
	printed := output
	if name == "bash" {
		printed = withoutShellEnd(output)
	}
	found, cwd := d.loads.result(id, judged, printed, d.T.SkillsListed)
	for _, load := range found {
		d.Load(load)
	}
	if name == "bash" && parent == "" && cwd != "" {
		d.moved(cwd)
	}
}

// result takes the completion marker.
func (d *copilotDecoder) result(e *copilotEvent) {
	d.T.Completed = true
	d.T.SessionID = orText(transcript.Name(e.SessionID), d.T.SessionID)
	d.T.Timing = transcript.Timing{DurationMS: rounded(e.Usage.DurationMS), APIMS: rounded(e.Usage.APIMS)}
	if string(e.ExitCode) != "0" && d.trouble == nil {
		d.trouble = &transcript.ClientError{Kind: transcript.ErrorClient, Message: transcript.Name(fmt.Sprintf("the result gives the exit code %s", orText(string(e.ExitCode), "of nothing")))}
	}
}

// count adds a model request's tokens, once a request.
func (d *copilotDecoder) count(raw json.RawMessage, event string) {
	var u copilotUsage
	if d.total || !into(raw, &u) {
		return
	}
	id := orText(u.CallID, event)
	if d.counted[id] || len(d.counted) >= maxMessages {
		return
	}
	d.counted[id] = true
	if d.T.Usage.Source == "" {
		d.T.Usage = transcript.Usage{Input: new(int64), Output: new(int64), CacheRead: new(int64), CacheWrite: new(int64), Reasoning: new(int64), Source: "messages"}
	}
	d.T.Usage = plus(d.T.Usage, u.usage("messages"))
}

// totals takes the session's own sum of all its models.
func (d *copilotDecoder) totals(raw json.RawMessage) {
	var models map[string]struct {
		Usage copilotUsage `json:"usage"`
	}
	if !into(raw, &models) || len(models) == 0 {
		return
	}
	d.total = true
	d.T.UsageByModel = nil
	sum := transcript.Usage{Input: new(int64), Output: new(int64), CacheRead: new(int64), CacheWrite: new(int64), Reasoning: new(int64), Source: "total"}
	for _, model := range slices.Sorted(maps.Keys(models)) {
		u := models[model].Usage.usage("total")
		d.ModelUsage(model, u)
		sum = plus(sum, u)
	}
	d.T.Usage = sum
}

func (d *copilotDecoder) finish() {
	for _, load := range d.loads.unfinished(d.T.SkillsListed) {
		d.Load(load)
	}
	d.Final(orText(d.final, d.said))
	switch {
	case d.trouble != nil:
		d.T.ClientError = d.trouble
	case d.aborted != "":
		d.T.ClientError = &transcript.ClientError{Kind: transcript.ErrorClient, Message: transcript.Name("aborted: " + d.aborted)}
	case !d.T.Completed:
		d.T.ClientError = noCompletion(d.T, d.failed, "a result event")
	}
}

// orText is s, or other when s is empty.
func orText(s, other string) string {
	if s != "" {
		return s
	}
	return other
}

func one() *int64 { n := int64(1); return &n }
