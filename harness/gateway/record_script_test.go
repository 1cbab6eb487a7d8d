package gateway

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/transcript"
)

// sessionOf is the transcript of a recorded conversation, as the client's adapter would have it.
func sessionOf(msgs []Message) *transcript.Transcript {
	t := &transcript.Transcript{Client: "a client", Cwd: "/run/project"}
	for _, m := range msgs {
		if m.Role != "assistant" {
			continue
		}
		turn := transcript.Turn{Role: transcript.RoleAssistant, Text: strings.Join(textsOf(m), "\n\n")}
		for _, b := range m.Blocks {
			if b.Kind == BlockToolCall {
				turn.ToolCalls = append(turn.ToolCalls, transcript.ToolCall{ID: b.CallID, Name: b.Name, Input: b.Input, Status: transcript.StatusOK})
			}
		}
		t.Turns = append(t.Turns, turn)
	}
	return t
}

// What a session of each client becomes must make that client call the same tools with the same inputs again.
func TestRecordedScriptReplays(t *testing.T) {
	for _, name := range []string{
		"responses/codex-staged", "responses/codex-baseline", "chat/opencode-staged", "chat/opencode-baseline",
		"chat/copilot-staged", "chat/copilot-baseline", "messages/opencode-staged", "messages/copilot-staged",
		"messages/staged-7", "messages/baseline-6",
	} {
		t.Run(name, func(t *testing.T) {
			whole := captured(t, name)
			data, left := ScriptOf(ScriptSource{Transcript: sessionOf(whole.Messages)})
			assert.Zero(t, left)
			s, err := ParseScript("recorded.toml", data)
			require.NoError(t, err, string(data))
			m := NewScripted(s)
			calls := 0
			r := *whole
			r.Messages = nil
			for _, msg := range whole.Messages { // the client's side of the recorded session, with the new model's answers
				if msg.Role != "assistant" {
					r.Messages = append(r.Messages, msg)
				}
				for _, b := range msg.Blocks {
					if b.Kind != BlockToolCall {
						continue
					}
					got := turn(t, m, &r)
					call := got.Blocks[len(got.Blocks)-1]
					assert.Equal(t, b.Name, call.Name)
					assert.JSONEq(t, string(b.Input), string(call.Input))
					r.Messages = append(r.Messages, Message{Role: "assistant", Blocks: got.Blocks})
					calls++
				}
			}
			assert.Greater(t, calls, 3)
			assert.Equal(t, StopEndTurn, turn(t, m, &r).StopReason)
		})
	}
}

func TestScriptOf(t *testing.T) {
	call := func(name, input string, status transcript.Status) transcript.ToolCall {
		return transcript.ToolCall{Name: name, Input: json.RawMessage(input), Status: status}
	}
	tr := &transcript.Transcript{Client: "claude", Model: "m\x1b[31m", Cwd: "/run/project", Turns: []transcript.Turn{
		{Role: transcript.RoleUser, Text: "go"},
		{Role: transcript.RoleAssistant, Text: "one\ntwo", ToolCalls: []transcript.ToolCall{
			call("Read", `{"file_path":"/run/project/src/lib.rs"}`, transcript.StatusOK),
			call("Read", `{"file_path":"/etc/hosts"}`, transcript.StatusOK),
			call("Read", `{"file_path":"/run/registry/skills/s/SKILL.md"}`, transcript.StatusOK),
			call("Edit", `{"file_path":"/run/project/src/lib.rs","old_string":"a"}`, transcript.StatusOK),
			call("Edit", `{"file_path":"/run/project/src/lib.rs","old_string":"b"}`, transcript.StatusOK),
			call("Edit", `{"file_path":"/run/project/gone.rs"}`, transcript.StatusOK),
			call("Bash", `{"command":"cd /run/project && ls /run/projects"}`, transcript.StatusError),
			call("Write", `{"file_path":"/run/project/../up","content":"x"}`, transcript.StatusDenied),
			call("Grep", "{\"pattern\":\"\u202e\"}", transcript.StatusOK),
			call("write_stdin", `{"session_id":1,"chars":""}`, transcript.StatusOK),
			call("file_change", `{"changes":[{"path":"/run/project/new.rs","kind":"add"},{"path":"x","kind":"delete"}]}`, transcript.StatusOK),
			{Name: "Write", Input: json.RawMessage(`{"file_path":"/run/project/a","content":"cut"}`), InputCut: true},
		}},
		{Role: transcript.RoleAssistant, ParentID: "sub", Text: "hidden", ToolCalls: []transcript.ToolCall{call("Bash", `{"command":"ls"}`, transcript.StatusOK)}},
		{Role: transcript.RoleAssistant, Text: "The end."},
	}}
	data, left := ScriptOf(ScriptSource{Transcript: tr, File: func(rel string) (string, bool) {
		return map[string]string{"src/lib.rs": "final '''\n", "new.rs": "new\n"}[rel], rel != "gone.rs"
	}})
	s, err := ParseScript("recorded.toml", data)
	require.NoError(t, err, string(data))
	var got []Step
	for _, st := range s.Steps {
		st.Line, st.Times = 0, 0
		got = append(got, st)
	}
	assert.Equal(t, []Step{
		{Action: ActionSay, Arg: "one\ntwo"},
		{Action: ActionRead, Arg: "src/lib.rs"},
		{Action: ActionLoadSkill, Arg: "s", WhenSkillOffered: "s"},
		{Action: ActionWrite, Arg: "src/lib.rs", Content: "final '''\n"},
		{Action: ActionRun, Arg: "cd . && ls /run/projects"},
		{Action: ActionWrite, Arg: "new.rs", Content: "new\n"},
		{Action: ActionSay, Arg: "The end."},
	}, got)
	assert.Equal(t, 7, left)
	assert.NotContains(t, string(data), "\x1b")
	assert.NotContains(t, string(data), "\u202e")
	for _, line := range []string{
		"# the next call ended as: error\n", "# no step does this: Read {\"file_path\":\"/etc/hosts\"}\n",
		"# a later edit of src/lib.rs has the file's final content: Edit ", "# the final content of gone.rs is not known: Edit ",
		"# input too long to have been kept: Write ", "# a subagent called: Bash ",
	} {
		assert.Contains(t, string(data), line)
	}
}

func TestStepOfOtherShells(t *testing.T) {
	for _, tt := range []struct {
		tool, input string
		want        Step
		ok          bool
	}{
		{"command_execution", `{"command":"cat '/run/project/a.txt'"}`, Step{Action: ActionRead, Arg: "a.txt"}, true},
		{"command_execution", `{"command":"cat a.txt"}`, Step{Action: ActionRun, Arg: "cat a.txt"}, true},
		{"exec_command", `{"cmd":"cat '/etc/hosts'"}`, Step{Action: ActionRun, Arg: "cat '/etc/hosts'"}, true},
		{"exec_command", `{"cmd":"cat '/run/project/.agents/skills/s/SKILL.md'"}`, Step{Action: ActionLoadSkill, Arg: "s"}, true},
		{"exec_command", `{"cmd":"cat 'a' 'b'"}`, Step{Action: ActionRun, Arg: "cat 'a' 'b'"}, true},
		{"bash", `{"command":["ls"]}`, Step{}, false},
		{"bash", `{"command":" "}`, Step{}, false},
		{"skill", `{"name":"not a name"}`, Step{}, false},
		{"write", `{"filePath":"/run/project/a"}`, Step{}, false},
		{"Read", `[]`, Step{}, false},
	} {
		t.Run(tt.tool+tt.input, func(t *testing.T) {
			st, ok := stepOf(tt.tool, json.RawMessage(tt.input), "/run/project")
			assert.Equal(t, tt.ok, ok)
			if ok {
				assert.Equal(t, tt.want, st)
			}
		})
	}
}

func FuzzTOMLString(f *testing.F) {
	for _, s := range []string{"", "a", "a\nb", "'''\n", "\n'", "\x00\x7f\u0085\u202e", "\r\n", `\u0041`, "\xff", "\U000E0001", "'''"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var doc struct{ S string }
		require.NoError(t, toml.Unmarshal([]byte("S = "+tomlString(s)+"\n"), &doc))
		require.Equal(t, strings.ToValidUTF8(s, "\uFFFD"), doc.S)
	})
}

func FuzzStepOf(f *testing.F) {
	f.Add("exec_command", `{"cmd":"apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: /p/a\n+x\n*** End Patch\nEOF"}`)
	f.Add("bash", `{"command":"mkdir -p '/p/b' && printf %s 'a' > '/p/b/c'"}`)
	f.Add("Read", `{"file_path":"/p/a"}`)
	f.Fuzz(func(t *testing.T, tool, input string) {
		tr := &transcript.Transcript{Cwd: "/p", Turns: []transcript.Turn{{Role: transcript.RoleAssistant, Text: "x", ToolCalls: []transcript.ToolCall{{Name: tool, Input: json.RawMessage(input)}}}}}
		data, _ := ScriptOf(ScriptSource{Transcript: tr})
		_, err := ParseScript("recorded.toml", data)
		require.NoError(t, err, string(data))
	})
}

// OpenCode's stream does not tell the project, and Codex tells of an edit twice.
func TestScriptOfUnknownProject(t *testing.T) {
	patch := codexWrite("/run/project/src/lib.rs", "new\n")
	tr := &transcript.Transcript{Client: "codex", Turns: []transcript.Turn{{Role: transcript.RoleAssistant, ToolCalls: []transcript.ToolCall{
		{Name: "read", Input: json.RawMessage(`{"filePath":"/run/project/Cargo.toml"}`), Status: transcript.StatusOK},
		{Name: "exec_command", Input: encodeJSON(codexExec{Cmd: patch}), Status: transcript.StatusOK},
		{Name: "file_change", Input: json.RawMessage(`{"changes":[{"path":"/run/project/src/lib.rs","kind":"add"}]}`), Status: transcript.StatusOK},
		{Name: "file_change", Input: json.RawMessage(`{"changes":[{"path":"/run/project/src/b.rs","kind":"add"}]}`), Status: transcript.StatusOK},
	}}}}
	files := map[string]string{"src/lib.rs": "new\n", "src/b.rs": "b\n"}
	data, left := ScriptOf(ScriptSource{Transcript: tr, File: func(rel string) (string, bool) { c, ok := files[rel]; return c, ok }})
	assert.Zero(t, left)
	s, err := ParseScript("recorded.toml", data)
	require.NoError(t, err, string(data))
	var got []string
	for _, st := range s.Steps {
		got = append(got, string(st.Action)+" "+st.Arg+" "+st.Content)
	}
	assert.Equal(t, []string{"read Cargo.toml ", "write src/lib.rs new\n", "write src/b.rs b\n"}, got)
}
