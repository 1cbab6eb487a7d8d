package client

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/transcript"
)

func decodeFile(t testing.TB, name string) *transcript.Transcript {
	t.Helper()
	return decodeCapture(t, Claude{}, strings.TrimSuffix(name, ".jsonl"))
}

// TestClaudeCaptureTable says of each capture what a reader must know, so that
// a golden file cannot be rewritten wrongly without notice.
func TestClaudeCaptureTable(t *testing.T) {
	const (
		ok      = transcript.ExecutionCompleted
		failed  = transcript.ExecutionClientError
		none    = transcript.NotObserved
		loaded  = transcript.Loaded
		unknown = transcript.Unknown
		tried   = transcript.Attempted
	)
	for _, c := range []struct {
		file   string
		exec   transcript.Execution
		kind   string
		status int64
		final  string
		alpha  transcript.Load
		input  any // tokens, or nil
		source string
	}{
		{"success", ok, "", 0, "All done: FINAL-ANSWER", loaded, 400, "total"},
		{"skill_read", ok, "", 0, "done", loaded, 300, "total"},
		{"skill_bash_cat", ok, "", 0, "done", loaded, 300, "total"},
		{"skill_unknown", ok, "", 0, "done", none, 300, "total"},
		{"subagent", ok, "", 0, "outer done", loaded, 500, "total"},
		{"partial_messages", ok, "", 0, "done", loaded, 300, "total"},
		{"tools_failed", ok, "", 0, "done", none, 300, "total"},
		{"thinking", ok, "", 0, "done", none, 300, "total"},
		{"denied_default_mode", ok, "", 0, "gave up", none, 300, "total"},
		{"denied_rule", ok, "", 0, "gave up", tried, 300, "total"},
		{"err429ok", ok, "", 0, "done", none, 200, "total"},
		{"err500ok", ok, "", 0, "done", none, 200, "total"},
		{"malformed", ok, "", 0, "ok", none, 105, "total"},
		{"no_key", ok, "", 0, "x", none, 200, "total"},
		{"err400", failed, "model_endpoint", 400, "", none, 100, "total"},
		{"max_turns", failed, "max_turns", 0, "", none, 300, "total"},
		{"err401", failed, "model_endpoint", 401, "", unknown, nil, ""},
		{"err500always", failed, "model_endpoint", 500, "", unknown, nil, ""},
		{"sigterm_in_tool", failed, "no_completion", 0, "", unknown, 100, "messages"},
		{"slow_model_sigterm", failed, "no_completion", 0, "", unknown, nil, ""},
	} {
		t.Run(c.file, func(t *testing.T) {
			tr := decodeFile(t, c.file+".jsonl")
			exec, cause := tr.Execution()
			assert.Equal(t, c.exec, exec)
			if c.kind == "" {
				assert.Nil(t, cause)
			} else {
				require.NotNil(t, cause)
				assert.Equal(t, c.kind, cause.Kind)
				if c.status != 0 {
					require.NotNil(t, cause.Status)
					assert.Equal(t, c.status, *cause.Status)
				}
			}
			if c.final != "" {
				assert.Equal(t, c.final, tr.FinalText)
			}
			assert.Equal(t, c.alpha, tr.LoadOf("alpha-skill"))
			if c.input == nil {
				assert.Nil(t, tr.Usage.Input)
			} else if assert.NotNil(t, tr.Usage.Input) {
				assert.EqualValues(t, c.input, *tr.Usage.Input)
			}
			assert.Equal(t, c.source, tr.Usage.Source)
			assert.Nil(t, tr.Usage.Reasoning, "the client does not report it")
			assert.Equal(t, tr.Lines, tr.Understood)
			assert.Equal(t, "2.1.197", tr.ClientVersion)
			assert.Equal(t, "claude-sonnet-4-5", tr.Model)
		})
	}
}

// statuses is every tool call of a transcript as "name status".
func statuses(tr *transcript.Transcript) []string {
	var all []string
	for _, turn := range tr.Turns {
		for _, call := range turn.ToolCalls {
			all = append(all, call.Name+" "+string(call.Status))
		}
	}
	return all
}

func TestClaudeStatuses(t *testing.T) {
	for file, want := range map[string][]string{
		"success":             {"Skill ok", "Write ok", "Bash error"},
		"tools_failed":        {"Read error", "NoSuchTool rejected", "Write rejected"},
		"denied_default_mode": {"Bash denied", "Write denied"},
		"denied_rule":         {"Bash denied", "Skill denied"},
		"skill_unknown":       {"Skill rejected"},
		"sigterm_in_tool":     {"Bash unfinished"},
		"subagent":            {"Task ok", "Read ok"},
	} {
		assert.Equal(t, want, statuses(decodeFile(t, file+".jsonl")), file)
	}
	// What a command printed is no denial, whatever it says.
	tr := decode(t, stream(initLine, bash("1", "x"), answer("1", "Exit code 1\nthis requires approval", true), resultLine))
	assert.Equal(t, []string{"Bash error"}, statuses(tr))
	assert.Equal(t, transcript.Attempted, decodeFile(t, "skill_unknown.jsonl").LoadOf("nope-skill"))
	sub := decodeFile(t, "subagent.jsonl")
	require.Len(t, sub.SkillLoads, 1)
	assert.Equal(t, "toolu_0001_0", sub.SkillLoads[0].ParentID)
}

// Pieces of streams for the tests below.
const (
	initLine   = `{"type":"system","subtype":"init","cwd":"/t/project","session_id":"s","model":"m","claude_code_version":"9.9.9","skills":["alpha","beta"],"memory_paths":{"auto":"/t/home/.claude/projects/x/memory/"}}`
	resultLine = `{"type":"result","subtype":"success","is_error":false,"result":"fin","num_turns":2,"usage":{"input_tokens":7,"output_tokens":9,"cache_read_input_tokens":1,"cache_creation_input_tokens":0}}`
)

func use(id, name, input string) string {
	return `{"type":"assistant","message":{"id":"m` + id + `","content":[{"type":"tool_use","id":"` + id + `","name":"` + name + `","input":` + input + `}]},"parent_tool_use_id":null}`
}

func bash(id, command string) string {
	text, _ := json.Marshal(command)
	return use(id, "Bash", `{"command":`+string(text)+`}`)
}

func answer(id, output string, isError bool) string {
	text, _ := json.Marshal(output)
	flag := "false"
	if isError {
		flag = "true"
	}
	return `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":` + string(text) + `,"is_error":` + flag + `}]}}`
}

func stream(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

func decode(t testing.TB, s string) *transcript.Transcript {
	t.Helper()
	tr, err := Claude{}.Decode(Recording{Stream: strings.NewReader(s)})
	require.NoError(t, err)
	return tr
}

func TestClaudeLoads(t *testing.T) {
	const body = "---\nname: alpha\ndescription: d\n---\nbody"
	for _, c := range []struct {
		name  string
		lines []string
		want  transcript.Load
	}{
		{"nothing", nil, transcript.NotObserved},
		{"the name in the prompt only", []string{`{"type":"user","message":{"content":"use alpha, see .claude/skills/alpha/SKILL.md"}}`}, transcript.NotObserved},
		{"skill tool", []string{use("1", "Skill", `{"skill":"alpha"}`), answer("1", "Launching skill: alpha", false)}, transcript.Loaded},
		{"skill tool with a slash", []string{use("1", "Skill", `{"skill":"/alpha"}`), answer("1", "Launching skill: alpha", false)}, transcript.Loaded},
		{"another tool first", []string{use("0", "Glob", `{"pattern":"*"}`), answer("0", "x", false), use("1", "Skill", `{"skill":"alpha"}`), answer("1", "Launching skill: alpha", false)}, transcript.Loaded},
		{"another skill", []string{use("1", "Skill", `{"skill":"beta"}`), answer("1", "Launching skill: beta", false)}, transcript.NotObserved},
		{"blocked skill", []string{use("1", "Skill", `{"skill":"alpha"}`), answer("1", "Skill execution blocked by permission rules", true)}, transcript.Attempted},
		{"not a success", []string{use("1", "Skill", `{"skill":"alpha"}`), `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1","content":"hm"}]},"tool_use_result":{"success":false}}`}, transcript.Attempted},
		{"read", []string{use("1", "Read", `{"file_path":"/t/project/.claude/skills/alpha/SKILL.md"}`), answer("1", body, false)}, transcript.Loaded},
		{"read in the home", []string{use("1", "Read", `{"file_path":"/t/home/.claude/skills/alpha/SKILL.md"}`), answer("1", body, false)}, transcript.Loaded},
		{"read elsewhere", []string{use("1", "Read", `{"file_path":"/t/registry/skills/alpha/SKILL.md"}`), answer("1", body, false)}, transcript.NotObserved},
		{"failed read", []string{use("1", "Read", `{"file_path":"/t/project/.claude/skills/alpha/SKILL.md"}`), answer("1", "File does not exist.", true)}, transcript.Attempted},
		{"failed, then read", []string{use("1", "Skill", `{"skill":"alpha"}`), answer("1", "x", true), use("2", "Read", `{"file_path":".claude/skills/alpha/SKILL.md"}`), answer("2", body, false)}, transcript.Loaded},
		{"written, not read", []string{use("1", "Write", `{"file_path":"/t/project/.claude/skills/alpha/SKILL.md","content":"x"}`), answer("1", "ok", false)}, transcript.NotObserved},
		{"a server's tool", []string{use("1", "mcp__fs__read", `{"path":"/t/project/.claude/skills/alpha/SKILL.md"}`), answer("1", body, false)}, transcript.Unknown},
		{"no result", []string{use("1", "Skill", `{"skill":"alpha"}`)}, transcript.Attempted},
		{"shell", []string{bash("1", "cat .claude/skills/alpha/SKILL.md"), answer("1", body, false)}, transcript.Loaded},
		{"shell, folder kept", []string{bash("1", "cd .claude/skills"), answer("1", "", false), bash("2", "head -50 alpha/SKILL.md"), answer("2", "x", false)}, transcript.Loaded},
		{"shell, folder not kept after a failure", []string{bash("1", "cd .claude/skills && false"), answer("1", "Exit code 1", true), bash("2", "cat alpha/SKILL.md; ls"), answer("2", "x", false)}, transcript.NotObserved},
		{"shell, folder put back", []string{bash("1", "cd /usr"), answer("1", "Shell cwd was reset to /t/project", false), bash("2", "cat .claude/skills/alpha/SKILL.md"), answer("2", "x", false)}, transcript.Loaded},
		{"shell listing", []string{bash("1", "ls -la .claude/skills/alpha/SKILL.md"), answer("1", "-rw alpha/SKILL.md", false)}, transcript.NotObserved},
		{"unknown event in the stream", []string{`{"type":"brand_new"}`}, transcript.Unknown},
		{"garbage line", []string{`{oops`}, transcript.Unknown},
		{"garbage, but loaded", []string{`{oops`, use("1", "Skill", `{"skill":"alpha"}`), answer("1", "Launching", false)}, transcript.Loaded},
		{"unknown notice", []string{`{"type":"system","subtype":"brand_new"}`}, transcript.NotObserved},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines := append(append([]string{initLine}, c.lines...), resultLine)
			assert.Equal(t, c.want, decode(t, stream(lines...)).LoadOf("alpha"))
		})
	}
	assert.Equal(t, transcript.Unknown, decode(t, stream(initLine)).LoadOf("alpha"), "cut short")
	assert.Equal(t, transcript.Unknown, decode(t, stream(resultLine)).LoadOf("alpha"), "no opening")
	assert.Equal(t, transcript.Unknown, decode(t, "").LoadOf("alpha"), "nothing at all")
}

func TestClaudeUsage(t *testing.T) {
	msg := func(id, usage, stop string) string {
		return `{"type":"assistant","message":{"id":"` + id + `","stop_reason":` + stop + `,"content":[{"type":"text","text":"x"}],"usage":` + usage + `}}`
	}
	u := `{"input_tokens":10,"output_tokens":1,"cache_read_input_tokens":2,"cache_creation_input_tokens":3}`
	n := func(v int64) *int64 { return &v }
	for _, c := range []struct {
		name  string
		lines []string
		want  transcript.Usage
	}{
		{"once a message", []string{msg("a", u, "null"), msg("a", u, "null"), msg("a", u, "null"), msg("b", u, "null")},
			transcript.Usage{Input: n(20), CacheRead: n(4), CacheWrite: n(6), Source: "messages"}},
		{"ended messages have an output", []string{msg("a", u, `"end_turn"`)},
			transcript.Usage{Input: n(10), Output: n(1), CacheRead: n(2), CacheWrite: n(3), Source: "messages"}},
		{"the last count of a message", []string{msg("a", u, "null"), msg("a", `{"input_tokens":10,"output_tokens":50}`, `"end_turn"`)},
			transcript.Usage{Input: n(10), Output: n(50), Source: "messages"}},
		{"a streamed message's end tells its output", []string{
			`{"type":"stream_event","event":{"type":"message_start","message":{"id":"a"}}}`, msg("a", u, "null"),
			`{"type":"stream_event","event":{"type":"message_delta","usage":{"output_tokens":77}}}`,
			`{"type":"stream_event","event":{"type":"message_stop"}}`},
			transcript.Usage{Input: n(10), Output: n(77), CacheRead: n(2), CacheWrite: n(3), Source: "messages"}},
		{"no usage", []string{`{"type":"assistant","message":{"id":"a","content":"x"}}`}, transcript.Usage{}},
		{"absurd numbers", []string{msg("a", `{"input_tokens":-1,"output_tokens":1.5}`, `"x"`)}, transcript.Usage{}},
		{"a result wins", []string{msg("a", u, "null"), resultLine},
			transcript.Usage{Input: n(7), Output: n(9), CacheRead: n(1), CacheWrite: n(0), Source: "conversation"}},
		{"a result without usage", []string{msg("a", u, "null"), `{"type":"result","subtype":"success","is_error":false,"result":"x"}`}, transcript.Usage{}},
		{"all models", []string{`{"type":"result","subtype":"success","usage":` + u + `,"modelUsage":{"m":{"inputTokens":1,"outputTokens":2,"cacheReadInputTokens":3,"cacheCreationInputTokens":4},"n":{"inputTokens":10,"outputTokens":20,"cacheReadInputTokens":30}}}`},
			transcript.Usage{Input: n(11), Output: n(22), CacheRead: n(33), Source: "total"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, decode(t, stream(append([]string{initLine}, c.lines...)...)).Usage)
		})
	}
}
