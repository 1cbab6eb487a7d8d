package client

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/proctor-evals/proctor/harness/transcript"
)

const (
	openStep = `{"type":"step_start","timestamp":1000,"sessionID":"S","part":{"id":"p0","messageID":"m","type":"step-start"}}`
	openStop = `{"type":"step_finish","timestamp":3000,"sessionID":"S","part":{"id":"p9","messageID":"m","reason":"stop","tokens":{"input":7,"output":2,"reasoning":1,"cache":{"read":3,"write":4}},"cost":0}}`
)

func openTool(id, tool, input, state string) string {
	return `{"type":"tool_use","timestamp":2000,"sessionID":"S","part":{"id":"t` + id + `","messageID":"m","tool":"` + tool + `","callID":"` + id + `","state":{"input":` + input + `,` + state + `}}}`
}

func openDone(output, metadata string) string {
	return `"status":"completed","output":` + quote(output) + `,"metadata":` + metadata
}

func openError(message string) string { return `"status":"error","error":` + quote(message) }

func TestOpenCodeLoads(t *testing.T) {
	exit0 := `{"exit":0}`
	for _, c := range []struct {
		name string
		tool string
		want transcript.Load
	}{
		{"skill tool", openTool("1", "skill", `{"name":"alpha"}`, openDone("<skill_content>", `{"name":"alpha"}`)), transcript.Loaded},
		{"skill not found", openTool("1", "skill", `{"name":"alpha"}`, openError(`Skill "alpha" not found. Available skills: beta`)), transcript.Attempted},
		{"skill denied", openTool("1", "skill", `{"name":"alpha"}`, openError("The user has specified a rule which prevents you from using this tool")), transcript.Attempted},
		{"read", openTool("1", "read", `{"filePath":"/t/project/.opencode/skills/alpha/SKILL.md"}`, openDone("x", `{}`)), transcript.Loaded},
		{"read, relative", openTool("1", "read", `{"filePath":".claude/skills/alpha/SKILL.md"}`, openDone("x", `{}`)), transcript.Loaded},
		{"read in the home", openTool("1", "read", `{"filePath":"/t/home/.config/opencode/skills/alpha/SKILL.md"}`, openDone("x", `{}`)), transcript.Loaded},
		{"read failed", openTool("1", "read", `{"filePath":"/t/project/.opencode/skills/alpha/SKILL.md"}`, openError("File not found")), transcript.Attempted},
		{"read elsewhere", openTool("1", "read", `{"filePath":"/t/registry/.opencode/skills/alpha/SKILL.md"}`, openDone("x", `{}`)), transcript.NotObserved},
		{"shell", openTool("1", "bash", `{"command":"cat .opencode/skills/alpha/SKILL.md"}`, openDone(skillBody, exit0)), transcript.Loaded},
		{"shell in its folder", openTool("1", "bash", `{"command":"cat SKILL.md","workdir":".opencode/skills/alpha"}`, openDone("x", exit0)), transcript.Loaded},
		{"shell, cd and a pipe", openTool("1", "bash", `{"command":"cd .opencode && cat skills/alpha/SKILL.md | head -3"}`, openDone("x", exit0)), transcript.Loaded},
		{"shell, failing later", openTool("1", "bash", `{"command":"cat .opencode/skills/alpha/SKILL.md; exit 3"}`, openDone(skillBody, `{"exit":3}`)), transcript.Loaded},
		{"shell, failed", openTool("1", "bash", `{"command":"cat .opencode/skills/alpha/SKILL.md"}`, openDone("cat: no such file: No such file or directory", `{"exit":1}`)), transcript.Attempted},
		{"shell listing", openTool("1", "bash", `{"command":"ls .opencode/skills/alpha/SKILL.md"}`, openDone("SKILL.md", exit0)), transcript.NotObserved},
		{"shell killed", openTool("1", "bash", `{"command":"cat .opencode/skills/alpha/SKILL.md; sleep 99"}`, openDone("x", `{"exit":null}`)), transcript.Unknown},
		{"written", openTool("1", "write", `{"filePath":"/t/project/.opencode/skills/alpha/SKILL.md","content":"x"}`, openDone("ok", `{}`)), transcript.NotObserved},
		{"a server's tool", openTool("1", "fs_read", `{"path":"/t/project/.opencode/skills/alpha/SKILL.md"}`, openDone("x", `{}`)), transcript.Unknown},
		{"a text that names it", `{"type":"text","sessionID":"S","part":{"messageID":"m","text":"I loaded .opencode/skills/alpha/SKILL.md"}}`, transcript.NotObserved},
		{"an unknown event", `{"type":"brand_new","sessionID":"S"}`, transcript.Unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := decodeText(t, OpenCode{}, stream(openStep, c.tool, openStop), "")
			assert.Equal(t, c.want, tr.LoadOf("alpha"), "%+v", tr.SkillLoads)
		})
	}
	assert.Equal(t, transcript.Unknown, decodeText(t, OpenCode{}, stream(openStep), "").LoadOf("alpha"), "cut short")
}

func TestOpenCodeEnd(t *testing.T) {
	end := func(lines ...string) (transcript.Execution, string) {
		exec, cause := decodeText(t, OpenCode{}, stream(lines...), "").Execution()
		if cause == nil {
			return exec, ""
		}
		return exec, cause.Kind
	}
	reason := func(r string) string {
		return `{"type":"step_finish","sessionID":"S","part":{"id":"` + r + `","messageID":"m","reason":"` + r + `","tokens":{"input":1,"output":1,"reasoning":0,"cache":{"read":0,"write":0}}}}`
	}
	for _, c := range []struct {
		name  string
		lines []string
		kind  string
	}{
		{"stop", []string{openStep, openStop}, ""},
		{"tool calls are no end", []string{openStep, reason("tool-calls")}, transcript.ErrorNoCompletion},
		{"a step after the end", []string{openStep, openStop, openStep}, transcript.ErrorNoCompletion},
		{"an error after the end", []string{openStep, openStop, `{"type":"error","sessionID":"S","error":{"name":"UnknownError","data":{"message":"x"}}}`}, transcript.ErrorClient},
		{"cut by the limit", []string{openStep, reason("length")}, transcript.ErrorClient},
		{"a refusal", []string{openStep, reason("content-filter")}, transcript.ErrorClient},
		{"an endpoint that fails", []string{`{"type":"error","sessionID":"S","error":{"name":"APIError","data":{"message":"x","statusCode":500}}}`}, transcript.ErrorModelEndpoint},
	} {
		_, kind := end(c.lines...)
		assert.Equal(t, c.kind, kind, c.name)
	}
}

func TestOpenCodeUsage(t *testing.T) {
	zero := `{"type":"step_finish","sessionID":"S","part":{"id":"z","messageID":"m","reason":"stop","tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}},"cost":0}}`
	tr := decodeText(t, OpenCode{}, stream(openStep, openStop, openStop), "")
	assert.Equal(t, "7 3 3 4 1", counts(tr.Usage), "once a step; reasoning is part of the output")
	assert.Nil(t, tr.CostUSD, "0 is what it says without prices")
	assert.EqualValues(t, 2000, *tr.Timing.DurationMS)
	assert.Equal(t, "- - - - -", counts(decodeText(t, OpenCode{}, stream(openStep, openStop, zero), "").Usage), "a step that was not counted makes the sum unknown")
	assert.Empty(t, counts(decodeText(t, OpenCode{}, stream(openStep), "").Usage))
}

// Some models begin their ids anew with each answer.
func TestReusedCallIDs(t *testing.T) {
	use := openTool("call_0", "bash", `{"command":"ls"}`, openDone("x", `{"exit":0}`))
	tr := decodeText(t, OpenCode{}, stream(openStep, use, use, openStop), "")
	assert.Equal(t, []string{"bash ok", "bash ok"}, statuses(tr))
	assert.Equal(t, tr.Lines, tr.Understood)
	tr = decodeText(t, Copilot{}, stream(copilotUser, copilotUse("1", "bash", `{"command":"ls"}`, copilotShell("x", "0")), strings.ReplaceAll(copilotUse("1", "bash", `{"command":"ls"}`, copilotShell("y", "1")), `"m1"`, `"m2"`), copilotEnd), "")
	assert.Equal(t, []string{"bash ok", "bash error"}, statuses(tr))
	assert.Equal(t, tr.Lines, tr.Understood)
}
