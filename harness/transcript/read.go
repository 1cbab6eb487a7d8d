package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxDocumentBytes bounds a [Document] that is read: what a session keeps, with room for escapes.
const MaxDocumentBytes = 256 << 20

// ErrNoDocument says that what was read is no [Document], but perhaps a client's stream.
var ErrNoDocument = errors.New("no transcript in the normalised form")

// ReadDocument reads the JSON form of a transcript, as [Document] writes it. It also takes the
// trajectory.json of the public tool agent-exam (0.2.0), which has less: see [Transcript.Lines].
func ReadDocument(r io.Reader) (*Transcript, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxDocumentBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxDocumentBytes {
		return nil, fmt.Errorf("the transcript is larger than %d MiB", MaxDocumentBytes>>20)
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	var form struct {
		SchemaVersion *int            `json:"schema_version"`
		Turns         json.RawMessage `json:"turns"`
	}
	// A stream is several JSON values, or one that has no turns.
	if json.Unmarshal(data, &form) != nil || len(form.Turns) == 0 || form.Turns[0] != '[' {
		return nil, ErrNoDocument
	}
	if form.SchemaVersion == nil {
		return readExam(form.Turns)
	}
	if *form.SchemaVersion != SchemaVersion {
		return nil, fmt.Errorf("the transcript has schema_version %d; this program reads %d", *form.SchemaVersion, SchemaVersion)
	}
	t := &Transcript{}
	if err := json.Unmarshal(data, t); err != nil {
		return nil, fmt.Errorf("the transcript is not in the normalised form: %w", err)
	}
	for i := range t.Turns {
		for j := range t.Turns[i].ToolCalls {
			if c := &t.Turns[i].ToolCalls[j]; string(c.Input) == "null" {
				c.Input = nil // encoding/json keeps the word
			}
		}
	}
	return t, nil
}

// examTurn is a turn of agent-exam's trajectory.json.
type examTurn struct {
	Role    Role   `json:"role"`
	Model   string `json:"model"`
	Content []struct {
		Type     string          `json:"type"` // text, thinking or tool_call
		Text     string          `json:"text"`
		ID       string          `json:"tool_use_id"`
		Name     string          `json:"name"`
		Input    json.RawMessage `json:"input"`
		Status   string          `json:"status"`
		Result   string          `json:"result"`
		Subagent []examTurn      `json:"subagent"`
	} `json:"content"`
	Skills []struct {
		Name string  `json:"skill_name"`
		Kind string  `json:"trigger_kind"`
		Call *string `json:"triggered_by_tool_use_id"`
	} `json:"skill_invocations"`
}

var examStatus = map[string]Status{
	"ok": StatusOK, "error": StatusError, "permission_denied": StatusDenied, "rejected": StatusRejected, "aborted": StatusAborted,
}

var examKind = map[string]string{"skill_tool": "skill_tool", "skill_md_read": "file_tool", "explicit_skill": "injected"}

func readExam(turns json.RawMessage) (*Transcript, error) {
	var in []examTurn
	if err := json.Unmarshal(turns, &in); err != nil {
		return nil, fmt.Errorf("the transcript is neither in the normalised form nor agent-exam's: %w", err)
	}
	e := &examReader{t: NewBuilder("").T}
	if err := e.turns(in, ""); err != nil {
		return nil, err
	}
	for i := len(e.t.Turns) - 1; i >= 0; i-- {
		if turn := e.t.Turns[i]; turn.Role == RoleAssistant && turn.ParentID == "" {
			e.t.FinalText = turn.Text
			break
		}
	}
	return e.t, nil
}

type examReader struct {
	t     *Transcript
	calls int
}

func (e *examReader) turns(in []examTurn, parent string) error {
	for _, from := range in {
		if from.Role != RoleUser && from.Role != RoleAssistant {
			return fmt.Errorf("the transcript has a turn of role %q; known are user and assistant", from.Role)
		}
		turn := Turn{Role: from.Role, ParentID: parent, ToolCalls: []ToolCall{}}
		if e.t.Model == "" {
			e.t.Model = from.Model
		}
		ids := map[string]string{}
		subs := map[string][]examTurn{}
		var order []string
		for _, block := range from.Content {
			switch block.Type {
			case "text":
				turn.Text = join(turn.Text, block.Text, "\n")
			case "thinking":
				turn.Reasoning = join(turn.Reasoning, block.Text, "\n\n")
			case "tool_call":
				status, ok := examStatus[block.Status]
				if !ok {
					return fmt.Errorf("the transcript has a tool call of status %q", block.Status)
				}
				// Theirs may be missing or stand twice; a subagent's turns need one of their own.
				e.calls++
				id := fmt.Sprintf("call-%d", e.calls)
				ids[block.ID] = id
				turn.ToolCalls = append(turn.ToolCalls, ToolCall{
					ID: id, Name: block.Name, Input: block.Input, Output: block.Result, OutputBytes: int64(len(block.Result)), Status: status, ParentID: parent,
				})
				if len(block.Subagent) > 0 {
					subs[id] = block.Subagent
					order = append(order, id)
				}
			}
		}
		for _, s := range from.Skills {
			how, ok := examKind[s.Kind]
			if !ok {
				how = "skill_tool"
			}
			// What is recorded is that the skill was asked for; whether it came is not.
			l := SkillLoad{Skill: s.Name, State: LoadAttempted, How: how, ParentID: parent}
			if s.Call != nil {
				l.CallID = ids[*s.Call]
			}
			for _, c := range turn.ToolCalls {
				if c.ID == l.CallID && c.Status == StatusOK {
					l.State = LoadLoaded
				}
			}
			if how == "injected" {
				l.State = LoadLoaded
			}
			e.t.SkillLoads = append(e.t.SkillLoads, l)
		}
		e.t.Turns = append(e.t.Turns, turn)
		for _, id := range order {
			if err := e.turns(subs[id], id); err != nil {
				return err
			}
		}
	}
	return nil
}

func join(a, b, between string) string {
	if a == "" {
		return b
	}
	return a + between + b
}
