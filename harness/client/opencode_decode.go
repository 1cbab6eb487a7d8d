package client

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/proctor-evals/proctor/harness/transcript"
)

// SessionFiles implements [Decoder]: the client keeps a database, which is not
// read. Decode takes what "opencode export" prints, where a person has it.
func (OpenCode) SessionFiles() []string { return nil }

// Decode implements [Decoder]: the stream of "opencode run --format json".
//
// The stream has no completion marker of its own. A session is complete when
// its last step ends with a reason other than tool calls and no error follows.
func (OpenCode) Decode(r Recording) (*transcript.Transcript, error) {
	return decodeOpenCode(r, transcript.MaxLineBytes)
}

type openCodeEvent struct {
	Type      string          `json:"type"`
	Time      json.RawMessage `json:"timestamp"` // ms since 1970
	SessionID string          `json:"sessionID"`
	Part      openCodePart    `json:"part"`
	Error     json.RawMessage `json:"error"`
}

type openCodePart struct {
	ID        string          `json:"id"`
	MessageID string          `json:"messageID"`
	Text      json.RawMessage `json:"text"`   // text, reasoning
	Tool      string          `json:"tool"`   // tool_use
	CallID    string          `json:"callID"` // tool_use
	State     openCodeState   `json:"state"`  // tool_use
	Reason    string          `json:"reason"` // step_finish
	Tokens    json.RawMessage `json:"tokens"` // step_finish
	Cost      json.RawMessage `json:"cost"`   // step_finish, US dollars; 0 without a price list
}

type openCodeState struct {
	Status   string          `json:"status"` // completed, error
	Input    json.RawMessage `json:"input"`
	Output   json.RawMessage `json:"output"`
	Error    json.RawMessage `json:"error"`
	Metadata json.RawMessage `json:"metadata"`
}

func decodeOpenCode(r Recording, maxLine int) (*transcript.Transcript, error) {
	var export *openCodeExport
	var exportErr error
	if r.Session != nil {
		export, exportErr = readOpenCodeExport(r.Session, maxLine)
		if r.Project == "" {
			r.Project = export.Info.Directory
		}
	}
	d := &openCodeDecoder{
		Builder: transcript.NewBuilder("opencode"), turns: map[string]int{}, steps: map[string]bool{},
		loads: newLoadWatch(r.Home, r.Project, openCodeHomeSkills, openCodeProjectSkills),
	}
	d.T.Cwd = transcript.Name(r.Project)
	err := readLines(d.Builder, r.Stream, maxLine, d.object)
	d.finish()
	if export != nil {
		export.merge(d.Builder)
	}
	if err == nil {
		err = exportErr
	}
	return d.T, err
}

type openCodeDecoder struct {
	*transcript.Builder
	loads       *loadWatch
	turns       map[string]int  // turn of a message
	steps       map[string]bool // step ends that are counted
	first, last *int64          // times of events, in ms
	final       string          // the last message with text
	cost        float64
}

func (d *openCodeDecoder) object(data []byte) string {
	var e openCodeEvent
	if reason := parse(data, &e); reason != "" {
		return reason
	}
	if d.T.SessionID == "" {
		d.T.SessionID = transcript.Name(e.SessionID)
	}
	if at := transcript.Count(e.Time); at != nil {
		if d.first == nil {
			d.first = at
		}
		d.last = at
	}
	switch e.Type {
	case "step_start":
		d.T.Started = true
		d.T.Completed, d.T.ClientError = false, nil
		d.message(&e)
	case "text":
		said := words(e.Part.Text)
		d.AddText(d.message(&e), said)
		if !d.sub(&e) {
			d.final = said
		}
	case "reasoning":
		d.AddReasoning(d.message(&e), words(e.Part.Text))
	case "tool_use":
		return d.tool(&e)
	case "step_finish":
		d.step(&e)
	case "error":
		d.T.Started, d.T.Completed = true, true
		d.T.ClientError = openCodeCause(e.Error)
	default:
		return "unknown event"
	}
	return ""
}

// sub tells whether an event is of another session than the main one.
func (d *openCodeDecoder) sub(e *openCodeEvent) bool {
	return e.SessionID != "" && transcript.Name(e.SessionID) != d.T.SessionID
}

func (d *openCodeDecoder) message(e *openCodeEvent) int {
	id := transcript.Name(e.Part.MessageID)
	if index, ok := d.turns[id]; ok && id != "" {
		return index
	}
	t := transcript.Turn{Role: transcript.RoleAssistant, MessageID: id, Time: clock(e.Time)}
	if d.sub(e) {
		t.ParentID = e.SessionID
	}
	index := d.Turn(t)
	if index >= 0 && len(d.turns) < maxMessages {
		d.turns[id] = index
	}
	return index
}

// tool takes a call, which the client writes when it has ended.
func (d *openCodeDecoder) tool(e *openCodeEvent) string {
	p := &e.Part
	name, state := p.Tool, &p.State
	if name == "invalid" { // a tool that is not there, or arguments that are no JSON
		var asked struct {
			Tool string `json:"tool"`
		}
		if into(state.Input, &asked) && asked.Tool != "" {
			name = asked.Tool
		}
	}
	if !d.CallReused(d.message(e), p.CallID, name, state.Input) {
		return "tool call id taken"
	}
	output, status := state.outcome(p.Tool)
	switch state.Status {
	case "completed", "error":
	default:
		return "unknown tool status"
	}
	d.Result(p.CallID, output, status)
	d.watch(p)
	found, _ := d.loads.result(p.CallID, status, output, nil)
	for _, load := range found {
		d.Load(load)
	}
	return ""
}

// step counts a step's tokens, once a step, and ends the session with the last.
func (d *openCodeDecoder) step(e *openCodeEvent) {
	if d.T.Usage.Source == "" {
		d.T.Usage = transcript.Usage{Input: new(int64), Output: new(int64), CacheRead: new(int64), CacheWrite: new(int64), Reasoning: new(int64), Source: "messages"}
		d.T.NumTurns = new(int64)
	}
	if !d.steps[e.Part.ID] && len(d.steps) < maxMessages {
		d.steps[e.Part.ID] = true
		d.T.Usage = plus(d.T.Usage, openCodeTokens(e.Part.Tokens))
		*d.T.NumTurns++
		var cost float64
		if into(e.Part.Cost, &cost) && cost > 0 {
			d.cost += cost
		}
	}
	if d.sub(e) {
		return
	}
	switch e.Part.Reason {
	case "stop":
		d.T.Completed = true
	case "length", "content-filter", "error":
		d.T.Completed = true
		d.T.ClientError = &transcript.ClientError{Kind: transcript.ErrorClient, Message: "the model's answer ended with the reason " + e.Part.Reason}
	}
}

// openCodeTokens converts a step's count: input is without the cache, output
// without the reasoning. A step of nothing but zeros was not counted at all.
func openCodeTokens(raw json.RawMessage) transcript.Usage {
	var t struct {
		Input     json.RawMessage `json:"input"`
		Output    json.RawMessage `json:"output"`
		Reasoning json.RawMessage `json:"reasoning"`
		Cache     struct {
			Read  json.RawMessage `json:"read"`
			Write json.RawMessage `json:"write"`
		} `json:"cache"`
	}
	if !into(raw, &t) {
		return transcript.Usage{}
	}
	u := transcript.Usage{
		Input: transcript.Count(t.Input), CacheRead: transcript.Count(t.Cache.Read), CacheWrite: transcript.Count(t.Cache.Write),
		Reasoning: transcript.Count(t.Reasoning),
	}
	u.Output = transcript.Add(transcript.Count(t.Output), u.Reasoning)
	for _, n := range []*int64{u.Input, u.Output, u.CacheRead, u.CacheWrite} {
		if n == nil || *n != 0 {
			return u
		}
	}
	return transcript.Usage{}
}

func openCodeCause(raw json.RawMessage) *transcript.ClientError {
	var e struct {
		Name string `json:"name"`
		Data struct {
			Message json.RawMessage `json:"message"`
			Status  json.RawMessage `json:"statusCode"`
		} `json:"data"`
	}
	if !into(raw, &e) {
		return &transcript.ClientError{Kind: transcript.ErrorClient, Message: transcript.Name(words(raw))}
	}
	message := words(e.Data.Message)
	cause := &transcript.ClientError{Kind: transcript.ErrorClient, Status: transcript.Count(e.Data.Status), Message: transcript.Name(e.Name + ": " + message)}
	if cause.Status != nil || e.Name == "APIError" || e.Name == "ProviderAuthError" || message == "JSON parsing failed" {
		cause.Kind = transcript.ErrorModelEndpoint
	}
	return cause
}

func (d *openCodeDecoder) finish() {
	d.Final(d.final)
	if d.first != nil && *d.last >= *d.first {
		ms := *d.last - *d.first
		d.T.Timing.DurationMS = &ms
	}
	if d.cost > 0 {
		d.T.CostUSD = &d.cost
	}
	if d.T.ClientError != nil || d.T.Completed {
		return
	}
	d.T.ClientError = noCompletion(d.T, nil, "a last step that stops or an error event")
}

// openCodeExport is what "opencode export" prints: the session with all its messages.
type openCodeExport struct {
	Info struct {
		ID        string `json:"id"`
		Directory string `json:"directory"`
		Version   string `json:"version"`
		Model     struct {
			ID string `json:"id"`
		} `json:"model"`
	} `json:"info"`
	Messages []struct {
		Info struct {
			Role string `json:"role"`
			Time struct {
				Created json.RawMessage `json:"created"`
			} `json:"time"`
		} `json:"info"`
		Parts []struct {
			Type string          `json:"type"`
			Text json.RawMessage `json:"text"`
		} `json:"parts"`
	} `json:"messages"`
	problem string
}

// readOpenCodeExport reads one JSON document of at most max bytes.
func readOpenCodeExport(r io.Reader, max int) (*openCodeExport, error) {
	e := &openCodeExport{}
	data, err := io.ReadAll(io.LimitReader(r, int64(max)+1))
	switch {
	case err != nil:
		e.problem = "read error"
	case len(data) > max:
		e.problem = fmt.Sprintf("more than %d bytes", max)
	case json.Unmarshal(data, e) != nil:
		*e = openCodeExport{problem: "not JSON"}
	}
	return e, err
}

func (e *openCodeExport) merge(b *transcript.Builder) {
	s := transcript.NewBuilder("opencode")
	s.T.Lines = 1
	if e.problem != "" {
		s.Reject(1, e.problem, nil)
	} else {
		s.T.Understood = 1
	}
	s.T.SessionID, s.T.Cwd = transcript.Name(e.Info.ID), transcript.Name(e.Info.Directory)
	s.T.ClientVersion, s.T.Model = transcript.Name(e.Info.Version), transcript.Name(e.Info.Model.ID)
	for _, m := range e.Messages {
		if m.Info.Role != "user" {
			continue
		}
		t := transcript.Turn{Role: transcript.RoleUser, Time: clock(m.Info.Time.Created)}
		for _, p := range m.Parts {
			if p.Type == "text" {
				t.Text += words(p.Text)
			}
		}
		s.Turn(t)
	}
	mergeSession(b, s.T, true, sameID)
}
