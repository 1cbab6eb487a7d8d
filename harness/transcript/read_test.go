package transcript

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadDocumentReadsWhatIsWritten(t *testing.T) {
	b := NewBuilder("claude")
	i := b.Turn(Turn{Role: RoleAssistant, Text: "hi"})
	b.Call(i, "c", "Bash", json.RawMessage(`{"command":"ls"}`))
	b.Result("c", "out", StatusOK)
	b.Call(i, "d", "Bash", nil)
	b.Load(SkillLoad{Skill: "s", State: LoadLoaded, How: "skill_tool", CallID: "c"})
	b.Final("hi")
	b.T.Lines, b.T.Understood, b.T.Started, b.T.Completed = 2, 2, true, true
	data, err := json.Marshal(b.T.Document())
	require.NoError(t, err)
	got, err := ReadDocument(bytes.NewReader(data))
	require.NoError(t, err)
	assert.Equal(t, b.T, got)
}

// The trajectory.json of agent-exam.
func TestReadExamTrajectory(t *testing.T) {
	got, err := ReadDocument(strings.NewReader(`{"turns": [
		{"role": "user", "content": [{"type": "text", "text": "Do it."}], "skill_invocations": [{"skill_name": "x", "trigger_kind": "explicit_skill", "triggered_by_tool_use_id": null}]},
		{"role": "assistant", "model": "m", "content": [
			{"type": "thinking", "text": "hm"}, {"type": "text", "text": "text"}, {"type": "new", "text": "?"}, {"type": "text", "text": "second"},
			{"type": "tool_call", "tool_use_id": "t1", "name": "Agent", "input": {"a": 1}, "status": "ok", "result": "r",
			 "subagent": [{"role": "assistant", "content": [{"type": "tool_call", "tool_use_id": "t1", "name": "Bash", "input": {}, "status": "permission_denied", "result": "no"}]}]},
			{"type": "tool_call", "tool_use_id": "t2", "name": "Skill", "input": {"skill": "y"}, "status": "aborted", "result": ""}],
		 "skill_invocations": [{"skill_name": "y", "trigger_kind": "skill_tool", "triggered_by_tool_use_id": "t2"}]}]}`))
	require.NoError(t, err)
	require.Len(t, got.Turns, 3)
	assert.Equal(t, "text\nsecond", got.FinalText)
	assert.Equal(t, "m", got.Model)
	var all []string
	NewTree(got).Calls(func(c *ToolCall, _ int, sub bool) {
		all = append(all, c.Name+" "+string(c.Status))
		assert.Equal(t, c.Name == "Bash", sub)
	})
	assert.Equal(t, []string{"Agent ok", "Bash denied", "Skill aborted"}, all)
	assert.Equal(t, []SkillLoad{
		{Skill: "x", State: LoadLoaded, How: "injected"}, {Skill: "y", State: LoadAttempted, How: "skill_tool", CallID: "call-2"},
	}, got.SkillLoads)
}

func TestReadDocumentRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ doc, want string }{
		"a stream":         {`{"type":"system"}` + "\n" + `{"type":"result"}`, ErrNoDocument.Error()},
		"one event":        {`{"type":"system"}`, ErrNoDocument.Error()},
		"nothing":          {``, ErrNoDocument.Error()},
		"turns of a kind":  {`{"turns": {}}`, ErrNoDocument.Error()},
		"another version":  {`{"schema_version": 99, "turns": []}`, "schema_version 99"},
		"wrong types":      {`{"schema_version": 1, "turns": [1]}`, "not in the normalised form"},
		"neither form":     {`{"turns": [1]}`, "neither"},
		"an unknown role":  {`{"turns": [{"role": "system"}]}`, `role "system"`},
		"unknown statuses": {`{"turns": [{"role": "user", "content": [{"type": "tool_call", "status": "fine"}]}]}`, `status "fine"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadDocument(strings.NewReader(tt.doc))
			assert.ErrorContains(t, err, tt.want)
		})
	}
}

func FuzzReadDocument(f *testing.F) {
	f.Add([]byte(`{"schema_version": 1, "turns": [{"role": "assistant", "tool_calls": [{"id": "a"}]}, {"parent_id": "a"}]}`))
	f.Add([]byte(`{"turns": [{"role": "assistant", "content": [{"type": "tool_call", "status": "ok", "subagent": [{"role": "user"}]}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := ReadDocument(bytes.NewReader(data))
		if err != nil {
			return
		}
		n, calls := 0, 0
		NewTree(got).Calls(func(*ToolCall, int, bool) { n++ })
		for _, turn := range got.Turns {
			calls += len(turn.ToolCalls)
		}
		if n != calls {
			t.Fatalf("%d of %d calls", n, calls)
		}
	})
}
