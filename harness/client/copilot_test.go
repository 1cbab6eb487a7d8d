package client

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/transcript"
)

const (
	copilotUser = `{"type":"user.message","data":{"content":"go","messageId":"u1"},"timestamp":"2026-01-01T00:00:00Z"}`
	copilotEnd  = `{"type":"result","sessionId":"S","exitCode":0,"usage":{"totalApiDurationMs":1,"sessionDurationMs":2}}`
)

func copilotUse(id, name, arguments, outcome string) string {
	return `{"type":"assistant.message","data":{"messageId":"m` + id + `","model":"x","content":"","toolRequests":[{"toolCallId":"` + id + `","name":"` + name + `","arguments":` + arguments + `}]}}` + "\n" +
		`{"type":"tool.execution_start","data":{"toolCallId":"` + id + `","toolName":"` + name + `","arguments":` + arguments + `}}` + "\n" +
		`{"type":"tool.execution_complete","data":{"toolCallId":"` + id + `",` + outcome + `}}`
}

func copilotOK(output string) string {
	return `"success":true,"result":{"content":` + quote(output) + `}`
}

func copilotShell(output, exit string) string {
	return copilotOK(output+"\n<shellId: 0 completed with exit code "+exit+">") + `,"shellExecution":{"exitCode":` + exit + `}`
}

func copilotFailed(message, code string) string {
	return `"success":false,"error":{"message":` + quote(message) + `,"code":"` + code + `"}`
}

func TestCopilotLoads(t *testing.T) {
	const file = "/t/project/.github/skills/alpha/SKILL.md"
	for _, c := range []struct {
		name  string
		lines []string
		want  transcript.Load
	}{
		{"skill tool", []string{copilotUse("1", "skill", `{"skill":"alpha"}`, copilotOK("loaded"))}, transcript.Loaded},
		{"skill not found", []string{copilotUse("1", "skill", `{"skill":"alpha"}`, copilotFailed("Skill not found: alpha", "failure"))}, transcript.Attempted},
		{"skill denied", []string{copilotUse("1", "skill", `{"skill":"alpha"}`, copilotFailed("denied", "denied"))}, transcript.Attempted},
		{"view", []string{copilotUse("1", "view", `{"path":"`+file+`"}`, copilotOK("x"))}, transcript.Loaded},
		{"view failed", []string{copilotUse("1", "view", `{"path":"`+file+`"}`, copilotFailed("Path does not exist", "failure"))}, transcript.Attempted},
		{"view elsewhere", []string{copilotUse("1", "view", `{"path":"/t/registry/skills/alpha/SKILL.md"}`, copilotOK("x"))}, transcript.NotObserved},
		{"shell", []string{copilotUse("1", "bash", `{"command":"cat .github/skills/alpha/SKILL.md"}`, copilotShell("x", "0"))}, transcript.Loaded},
		{"shell in the home", []string{copilotUse("1", "bash", `{"command":"cat ~/.copilot/skills/alpha/SKILL.md"}`, copilotShell("x", "0"))}, transcript.Loaded},
		{"shell that printed nothing", []string{copilotUse("1", "bash", `{"command":"cat .github/skills/alpha/SKILL.md"}`, copilotShell("", "0"))}, transcript.Attempted},
		{"shell, failed", []string{copilotUse("1", "bash", `{"command":"cat .github/skills/alpha/SKILL.md"}`, copilotShell("cat: .github/skills/alpha/SKILL.md: No such file or directory", "1"))}, transcript.Attempted},
		{"shell left running", []string{copilotUse("1", "bash", `{"command":"cat .github/skills/alpha/SKILL.md","mode":"async"}`, copilotOK("started"))}, transcript.Unknown},
		{"shell listing", []string{copilotUse("1", "bash", `{"command":"find .github -name SKILL.md"}`, copilotShell(".github/skills/alpha/SKILL.md", "0"))}, transcript.NotObserved},
		{"a folder it may be in", []string{copilotUse("1", "bash", `{"command":"cd .github/skills"}`, copilotShell("", "0")), copilotUse("2", "bash", `{"command":"cat alpha/SKILL.md"}`, copilotShell("x", "0"))}, transcript.Unknown},
		{"a folder it was in, by the skill's own words", []string{copilotUse("1", "bash", `{"command":"cd .github/skills"}`, copilotShell("", "0")), copilotUse("2", "bash", `{"command":"cat alpha/SKILL.md"}`, copilotShell(skillBody, "0"))}, transcript.Loaded},
		{"the listing", []string{`{"type":"session.skills_loaded","data":{"skills":[{"name":"alpha","source":"project","enabled":true,"path":"` + file + `"}]}}`}, transcript.NotObserved},
		{"invoked by the prompt", []string{`{"type":"skill.invoked","data":{"name":"alpha","trigger":"user-invoked"}}`}, transcript.Loaded},
		{"a passing notice nobody knows", []string{`{"type":"brand.new","ephemeral":true,"data":{}}`, `{"type":"session.brand_new","data":{}}`}, transcript.NotObserved},
		{"an event nobody knows", []string{`{"type":"brand.new","data":{}}`}, transcript.Unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := decodeText(t, Copilot{}, stream(append(append([]string{copilotUser}, c.lines...), copilotEnd)...), "")
			assert.Equal(t, c.want, tr.LoadOf("alpha"), "%+v %v", tr.SkillLoads, tr.Unparsed)
		})
	}
}

// The listing tells where a session ran, when nobody else does.
func TestCopilotPlaces(t *testing.T) {
	lines := stream(copilotUser,
		`{"type":"session.skills_loaded","data":{"skills":[{"name":"beta","source":"project","path":"/p/q/.claude/skills/beta/SKILL.md"}]}}`,
		copilotUse("1", "bash", `{"command":"cat .claude/skills/beta/SKILL.md"}`, copilotShell("x", "0")),
		copilotUse("2", "view", `{"path":"/elsewhere/.claude/skills/gamma/SKILL.md"}`, copilotOK("x")), copilotEnd)
	d, err := readCopilot(Recording{}, strings.NewReader(lines), transcript.MaxLineBytes)
	require.NoError(t, err)
	assert.Equal(t, transcript.Loaded, d.T.LoadOf("beta"))
	assert.Equal(t, transcript.NotObserved, d.T.LoadOf("gamma"))
}

func TestCopilotSession(t *testing.T) {
	usage := `{"type":"session.usage_record","data":{"usage":{"apiCallId":"c1","inputTokens":147,"outputTokens":10,"cacheReadTokens":40,"cacheWriteTokens":7}},"id":"e1"}`
	start := `{"type":"session.start","data":{"sessionId":"S","copilotVersion":"1.0.102","context":{"cwd":"/t/project"}}}`
	session := stream(start, copilotUser, usage, usage, copilotUse("9", "create", `{"path":"a"}`, copilotOK("ok")))
	tr := decodeText(t, Copilot{}, stream(copilotUser, copilotEnd), session)
	assert.Equal(t, "100 10 40 7 -", counts(tr.Usage), "once a request")
	assert.Equal(t, "messages", tr.Usage.Source)
	assert.Equal(t, "1.0.102", tr.ClientVersion)
	assert.Equal(t, []string{"create ok"}, statuses(tr))
	require.Len(t, tr.Turns, 2, "the prompt stands once")

	total := `{"type":"session.shutdown","data":{"modelMetrics":{"a":{"usage":{"inputTokens":10,"outputTokens":1,"cacheReadTokens":0,"cacheWriteTokens":0,"reasoningTokens":0}},"b":{"usage":{"inputTokens":20,"outputTokens":2,"cacheReadTokens":5,"cacheWriteTokens":0,"reasoningTokens":1}}}}}`
	tr = decodeText(t, Copilot{}, stream(copilotUser, copilotEnd), session+total+"\n")
	assert.Equal(t, "25 3 5 0 1", counts(tr.Usage))
	assert.Equal(t, "total", tr.Usage.Source)
	assert.Len(t, tr.UsageByModel, 2)

	// The session file of another run adds nothing.
	for _, other := range []string{
		stream(`{"type":"session.start","data":{"sessionId":"X"}}`, usage),
		stream(start, `{"type":"user.message","data":{"content":"go","messageId":"other"}}`, usage),
	} {
		tr = decodeText(t, Copilot{}, stream(copilotUser, copilotEnd), other)
		assert.False(t, tr.Session.Matches)
		assert.Empty(t, counts(tr.Usage))
	}
}

func TestCopilotSubagent(t *testing.T) {
	inner := `{"type":"assistant.message","data":{"messageId":"i","parentToolCallId":"1","content":"inner","toolRequests":[]}}`
	tr := decodeText(t, Copilot{}, stream(copilotUser,
		`{"type":"assistant.message","data":{"messageId":"m","content":"","toolRequests":[{"toolCallId":"1","name":"task","arguments":{}}]}}`, inner,
		`{"type":"tool.execution_complete","data":{"toolCallId":"1",`+copilotOK("done")+`}}`,
		`{"type":"assistant.message","data":{"messageId":"n","content":"outer","toolRequests":[]}}`, copilotEnd), "")
	require.Len(t, tr.Turns, 4)
	assert.Equal(t, "1", tr.Turns[2].ParentID)
	assert.Equal(t, "outer", tr.FinalText)
}

// A call that no message announced is of the model, not of the person before it.
func TestCopilotUnannouncedCall(t *testing.T) {
	tr := decodeText(t, Copilot{}, stream(copilotUser, `{"type":"tool.execution_start","data":{"toolCallId":"1","toolName":"bash","arguments":{}}}`, copilotEnd), "")
	require.Len(t, tr.Turns, 2)
	assert.Equal(t, transcript.RoleAssistant, tr.Turns[1].Role)
	assert.Equal(t, []string{"bash unfinished"}, statuses(tr))
}
