package client

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/transcript"
)

// Pieces of Codex streams and rollouts.
const (
	codexStart = `{"type":"thread.started","thread_id":"T"}` + "\n" + `{"type":"turn.started"}`
	codexEnd   = `{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":60,"cache_write_input_tokens":5,"output_tokens":9,"reasoning_output_tokens":4}}`
	codexMeta  = `{"type":"session_meta","payload":{"id":"T","cwd":"/t/project","cli_version":"0.171.0"}}`
	skillBody  = "---\nname: alpha\ndescription: d\n---\nbody"
)

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// codexRan is a command in the stream, from its start to its end.
func codexRan(id, script string, exit int, output string) string {
	command := quote("/bin/bash -lc '" + strings.ReplaceAll(script, "'", `'\''`) + "'")
	status := map[bool]string{true: "completed", false: "failed"}[exit == 0]
	item := func(state, out, code string) string {
		return `{"id":"` + id + `","type":"command_execution","command":` + command + `,"aggregated_output":` + quote(out) + `,"exit_code":` + code + `,"status":"` + state + `"}`
	}
	code, _ := json.Marshal(exit)
	return `{"type":"item.started","item":` + item("in_progress", "", "null") + "}\n" + `{"type":"item.completed","item":` + item(status, output, string(code)) + "}"
}

// codexCalled is a function call in the rollout, with what the model was told.
func codexCalled(id, name, arguments, output string) string {
	return `{"type":"response_item","payload":{"type":"function_call","name":"` + name + `","arguments":` + quote(arguments) + `,"call_id":"` + id + `"}}` + "\n" +
		`{"type":"response_item","payload":{"type":"function_call_output","call_id":"` + id + `","output":` + quote(output) + `}}`
}

func TestCodexLoads(t *testing.T) {
	const cat = "cat .agents/skills/alpha/SKILL.md"
	printed := "Chunk ID: 1\nProcess exited with code 0\nOutput:\n" + skillBody
	for _, c := range []struct {
		name    string
		stream  []string
		session []string
		want    transcript.Load
	}{
		{name: "nothing", want: transcript.NotObserved},
		{name: "read", stream: []string{codexRan("1", cat, 0, skillBody)}, want: transcript.Loaded},
		{name: "read in the home", stream: []string{codexRan("1", "head -20 ~/.codex/skills/alpha/SKILL.md", 0, "x")}, want: transcript.Loaded},
		{name: "absolute", stream: []string{codexRan("1", "sed -n 1,200p /t/project/.codex/skills/alpha/SKILL.md", 0, "x")}, want: transcript.Loaded},
		{name: "cd and read", stream: []string{codexRan("1", "cd .agents/skills/alpha && cat SKILL.md", 0, "x")}, want: transcript.Loaded},
		{name: "pipe", stream: []string{codexRan("1", cat+" | head -5", 0, "x")}, want: transcript.Loaded},
		{name: "quotes", stream: []string{codexRan("1", `cat '.agents/skills/alpha/SKILL.md'`, 0, "x")}, want: transcript.Loaded},
		{name: "a listing", stream: []string{codexRan("1", "ls .agents/skills/alpha/SKILL.md", 0, "SKILL.md")}, want: transcript.NotObserved},
		{name: "a failed read", stream: []string{codexRan("1", cat, 1, "cat: .agents/skills/alpha/SKILL.md: No such file or directory")}, want: transcript.Attempted},
		{name: "a copy elsewhere", stream: []string{codexRan("1", "cat /t/registry/skills/alpha/SKILL.md", 0, "x")}, want: transcript.NotObserved},
		{name: "another skill", stream: []string{codexRan("1", "cat .agents/skills/beta/SKILL.md", 0, "x")}, want: transcript.NotObserved},
		{name: "declined", stream: []string{`{"type":"item.completed","item":{"id":"1","type":"command_execution","command":"` + cat + `","aggregated_output":"","exit_code":null,"status":"declined"}}`}, want: transcript.Attempted},
		{name: "still running at the end", stream: []string{strings.SplitN(codexRan("1", cat, 0, ""), "\n", 2)[0]}, want: transcript.Unknown},
		{name: "still running, its output in the rollout", stream: []string{strings.SplitN(codexRan("1", cat, 0, ""), "\n", 2)[0]},
			session: []string{codexCalled("c", "exec_command", `{"cmd":"`+cat+`"}`, printed)}, want: transcript.Loaded},
		{name: "only in the rollout", session: []string{codexCalled("c", "exec_command", `{"cmd":"`+cat+`"}`, printed)}, want: transcript.Loaded},
		{name: "a folder only the rollout tells", stream: []string{codexRan("1", "cat alpha/SKILL.md", 0, "x")},
			session: []string{codexCalled("c", "exec_command", `{"cmd":"cat alpha/SKILL.md","workdir":"/t/project/.agents/skills"}`, "Process exited with code 0\nOutput:\nx")}, want: transcript.Loaded},
		{name: "a folder nobody tells", stream: []string{codexRan("1", "cat alpha/SKILL.md", 0, "x")}, want: transcript.Unknown},
		{name: "a folder nobody tells, the skill's own words", stream: []string{codexRan("1", "cat alpha/SKILL.md", 0, skillBody)}, want: transcript.Loaded},
		{name: "failed in the rollout only", session: []string{codexCalled("c", "exec_command", `{"cmd":"`+cat+`"}`, "Process exited with code 1\nOutput:\ncat: .agents/skills/alpha/SKILL.md: Permission denied")}, want: transcript.Attempted},
		{name: "$name", session: []string{`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<skill>\n<name>alpha</name>\n<path>/t/project/.agents/skills/alpha/SKILL.md</path>\nBODY\n</skill>"}]}}`}, want: transcript.Loaded},
		{name: "the same words in the prompt", session: []string{`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<skill>\n<name>alpha</name>"}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["user.text"]}}}`}, want: transcript.NotObserved},
		{name: "the same words of the model", session: []string{`{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"<skill>\n<name>alpha</name>"}]}}`}, want: transcript.NotObserved},
		{name: "the client's listing", session: []string{`{"type":"world_state","payload":{"state":{"host_skills":{"body":"- ` + "`r0` = `/t/project/.agents/skills`" + `\n- alpha: d (file: r0/alpha/SKILL.md)"}}}}`}, want: transcript.NotObserved},
		{name: "garbage in the stream", stream: []string{"{oops"}, want: transcript.Unknown},
		{name: "garbage in the rollout only", session: []string{"{oops"}, want: transcript.NotObserved},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines := append(append([]string{codexStart}, c.stream...), codexEnd)
			session := ""
			if c.session != nil {
				session = stream(append([]string{codexMeta}, c.session...)...)
			}
			tr := decodeText(t, Codex{}, stream(lines...), session)
			assert.Equal(t, c.want, tr.LoadOf("alpha"), "%+v", tr.SkillLoads)
		})
	}
	// A rollout of another session adds nothing.
	other := strings.Replace(codexMeta, `"T"`, `"U"`, 1)
	tr := decodeText(t, Codex{}, stream(codexStart, codexEnd), stream(other, codexCalled("c", "exec_command", `{"cmd":"`+cat+`"}`, printed)))
	assert.Equal(t, transcript.NotObserved, tr.LoadOf("alpha"))
	assert.False(t, tr.Session.Matches)
	assert.Empty(t, tr.Turns)
}

// What never ran stands in the rollout only.
func TestCodexRolloutCalls(t *testing.T) {
	tr := decodeText(t, Codex{}, stream(codexStart, codexRan("1", "echo a", 0, "a\n"), codexRan("2", "false", 1, ""), codexEnd),
		stream(codexMeta,
			codexCalled("a", "no_such", `{}`, "unsupported call: no_such"),
			codexCalled("b", "exec_command", `{"cmd":"echo a"}`, "Process exited with code 0\nOutput:\na\n"),
			codexCalled("c", "exec_command", `{"cmd":5}`, "failed to parse function arguments: invalid type"),
			codexCalled("d", "exec_command", `{"cmd":"touch x"}`, "exec command rejected by user"),
			codexCalled("e", "exec_command", `{"cmd":"false"}`, "Process exited with code 1\nOutput:\n"),
			codexCalled("f", "view_image", `not json`, "ok"),
			codexCalled("g", "exec_command", `{"cmd":"sleep 99"}`, "Process running with session ID 7\nOutput:\n"),
		))
	assert.Equal(t, []string{"no_such rejected", "command_execution ok", "command_execution rejected", "command_execution denied", "command_execution error", "view_image ok", "command_execution unfinished"}, statuses(tr))
	var sources []string
	for _, turn := range tr.Turns {
		for _, call := range turn.ToolCalls {
			sources = append(sources, call.Source)
		}
	}
	assert.Equal(t, []string{"session", "", "session", "session", "", "session", "session"}, sources)
	assert.Equal(t, "0.171.0", tr.ClientVersion)
}

// A patch given as a command is a file change in the stream, and stands once.
func TestCodexPatch(t *testing.T) {
	patch := func(id, output string) string {
		return codexCalled(id, "exec_command", `{"cmd":"apply_patch <<'EOF'\n*** Begin Patch\nEOF"}`, output)
	}
	change := `{"type":"item.completed","item":{"id":"1","type":"file_change","changes":[{"path":"a","kind":"add"}],"status":"completed"}}`
	const applied = "Wall time: 0.0000 seconds\nOutput:\nExit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nA a\n"
	tr := decodeText(t, Codex{}, stream(codexStart, change, codexEnd), stream(codexMeta, patch("p", applied)))
	assert.Equal(t, []string{"file_change ok"}, statuses(tr))
	tr = decodeText(t, Codex{}, stream(codexStart, codexEnd), stream(codexMeta, patch("p", applied), patch("q", strings.Replace(applied, "code: 0", "code: 1", 1))))
	assert.Equal(t, []string{"command_execution ok", "command_execution error"}, statuses(tr))
	// What a command printed is not its exit code.
	tr = decodeText(t, Codex{}, stream(codexStart, codexEnd), stream(codexMeta, codexCalled("r", "exec_command", `{"cmd":"x"}`, "Process exited with code 2\nOutput:\nExit code: 0\n")))
	assert.Equal(t, []string{"command_execution error"}, statuses(tr))
}

func TestCodexItems(t *testing.T) {
	done := func(item string) string { return `{"type":"item.completed","item":` + item + `}` }
	tr := decodeText(t, Codex{}, stream(codexStart,
		done(`{"id":"0","type":"reasoning","text":"hm"}`),
		done(`{"id":"1","type":"agent_message","text":"I look"}`),
		done(`{"id":"2","type":"mcp_tool_call","server":"fs","tool":"read","arguments":{"p":1},"result":{"content":[{"type":"text","text":"out"}]},"status":"completed"}`),
		done(`{"id":"3","type":"mcp_tool_call","server":"fs","tool":"read","arguments":{},"error":{"message":"bad"},"status":"failed"}`),
		done(`{"id":"4","type":"file_change","changes":[{"path":"a","kind":"add"}],"status":"completed"}`),
		done(`{"id":"5","type":"web_search","query":"q"}`),
		`{"type":"item.started","item":{"id":"6","type":"todo_list","items":[]}}`, `{"type":"item.updated","item":{"id":"6","type":"todo_list","items":[]}}`, done(`{"id":"6","type":"todo_list","items":[]}`),
		done(`{"id":"7","type":"collab_tool_call","tool":"spawn_agent","prompt":"p","status":"completed"}`),
		done(`{"id":"8","type":"error","message":"a warning"}`),
		done(`{"id":"9","type":"agent_message","text":"done"}`), codexEnd), "")
	assert.Equal(t, []string{"mcp__fs__read ok", "mcp__fs__read error", "file_change ok", "web_search ok", "todo_list ok", "spawn_agent ok"}, statuses(tr))
	assert.Equal(t, "hm", tr.Turns[0].Reasoning)
	assert.Equal(t, "I look", tr.Turns[0].Text)
	assert.Equal(t, "done", tr.FinalText)
	assert.Equal(t, tr.Lines, tr.Understood)
	assert.EqualValues(t, 1, tr.Ignored["item/error"])
}

// turn.completed has the run's total: several are not added up, and none is
// taken where the run's last turn is missing.
func TestCodexUsage(t *testing.T) {
	tr := decodeText(t, Codex{}, stream(codexStart, codexEnd, `{"type":"turn.started"}`, strings.ReplaceAll(codexEnd, "100", "300")), "")
	assert.Equal(t, "235 9 60 5 4", counts(tr.Usage))
	assert.EqualValues(t, 2, *tr.NumTurns)

	exec, cause := decodeText(t, Codex{}, stream(codexStart, codexEnd, `{"type":"turn.started"}`), "").Execution()
	assert.Equal(t, transcript.ExecutionClientError, exec)
	require.NotNil(t, cause)
	assert.Equal(t, transcript.ErrorNoCompletion, cause.Kind)

	// Without a total, the rollout's responses count, each once.
	used := `{"type":"token_usage_record","payload":{"response_id":"r1","usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":3,"reasoning_output_tokens":1}}}`
	tr = decodeText(t, Codex{}, stream(codexStart), stream(codexMeta, used, used, strings.Replace(used, "r1", "r2", 1)))
	assert.Equal(t, "12 6 8 - 2", counts(tr.Usage), "cache writes are not told, so they are unknown")
	assert.Equal(t, "messages", tr.Usage.Source)
	assert.Empty(t, counts(decodeText(t, Codex{}, stream(codexStart), stream(codexMeta)).Usage), "unknown, not 0")
}

// TestCodexPatchText: the stream tells of a patch by its files alone; what it wrote stands in the rollout.
func TestCodexPatchText(t *testing.T) {
	tr := decodeCapture(t, Codex{}, "patch")
	found := false
	for _, turn := range tr.Turns {
		for _, call := range turn.ToolCalls {
			if call.Name != "file_change" {
				continue
			}
			found = true
			assert.NotContains(t, string(call.Input), "self.store.rotate()")
			assert.Contains(t, string(call.Session), "+        self.store.rotate()")
		}
	}
	assert.True(t, found)
}
