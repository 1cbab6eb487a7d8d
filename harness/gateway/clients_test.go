package gateway

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var decoders = map[string]func([]byte) (*Request, error){
	DialectMessages: decodeMessages, DialectResponses: decodeResponses, DialectChat: decodeChat,
}

// captured decodes testdata/<dialect>/<name>.json as the gateway would.
func captured(t *testing.T, name string) *Request {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	require.NoError(t, err)
	dialect, _, _ := strings.Cut(name, "/")
	r, err := decoders[dialect](raw)
	require.NoError(t, err)
	r.ProjectDir = "/run/project"
	r.Offered = offers(r, "Store the settings.")
	return r
}

func clientsScript(t *testing.T) *Script {
	t.Helper()
	s, err := LoadScript(filepath.Join("testdata", "scripts", "clients.toml"))
	require.NoError(t, err)
	return s
}

func offeredSkills(r *Request) []string {
	var names []string
	for _, o := range r.Offered {
		names = append(names, o.Skill)
	}
	return names
}

// The last request of each recorded session holds the whole conversation. Cut behind each answer of the model, it must
// get that answer: the one script drove every client, and does again.
func TestOneScriptDrivesEveryClient(t *testing.T) {
	withSkill, without := []int{2, 3, 4, 5, 7, 8, 9}, []int{2, 3, 6, 7, 8, 9}
	for _, tt := range []struct {
		name  string
		steps []int
		tools string // of the calls, in order
	}{
		{"responses/codex-staged", withSkill, "exec_command exec_command exec_command exec_command exec_command exec_command exec_command"},
		{"responses/codex-baseline", without, "exec_command exec_command exec_command exec_command exec_command exec_command"},
		{"chat/opencode-staged", withSkill, "read read skill write write write bash"},
		{"chat/opencode-baseline", without, "read read write write write bash"},
		{"responses/opencode-staged", withSkill, "read read skill write write write bash"},
		{"messages/opencode-staged", withSkill, "read read skill write write write bash"},
		{"chat/copilot-staged", withSkill, "view view skill bash bash create bash"},
		{"chat/copilot-baseline", without, "view view bash bash create bash"},
		{"responses/copilot-staged", withSkill, "view view skill bash bash create bash"},
		{"messages/copilot-staged", withSkill, "view view skill bash bash create bash"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			whole := captured(t, tt.name)
			assert.True(t, whole.Stream)
			assert.False(t, whole.SideCall)
			m := NewScripted(clientsScript(t))
			var tools []string
			var steps []int
			for i, msg := range whole.Messages {
				for _, b := range msg.Blocks {
					if b.Kind != BlockToolCall {
						continue
					}
					r := *whole
					r.Messages = whole.Messages[:i]
					got := turn(t, m, &r)
					call := got.Blocks[len(got.Blocks)-1]
					assert.Equal(t, b.Name, call.Name)
					assert.JSONEq(t, string(b.Input), string(call.Input))
					tools = append(tools, call.Name)
					steps = append(steps, *got.Step)
				}
			}
			assert.Equal(t, tt.tools, strings.Join(tools, " "))
			assert.Equal(t, tt.steps, steps)
			end := turn(t, m, whole)
			assert.Equal(t, []Block{{Kind: BlockText, Text: "The settings are stored."}}, end.Blocks)
			assert.Equal(t, StopEndTurn, end.StopReason)
		})
	}
}

// AGENTS.md imitates both kinds of listing in every one of these sessions.
func TestOffersOfEveryClient(t *testing.T) {
	codex := []string{"imagegen", "openai-docs", "skill-creator", "skill-installer"}
	with := func(names ...string) []string { return names }
	for name, want := range map[string][]string{
		"responses/codex-staged":        append(with(codex...), "fixture-store"),
		"responses/codex-baseline":      codex,
		"responses/codex-summary-given": append(with(codex...), "fixture-store"),
		"responses/codex-hooks":         append(with(codex...), "fixture-store", "hook-SessionStart", "plain-skill", "hook-UserPromptSubmit"),
		"chat/opencode-staged":          with("customize-opencode", "fixture-store"),
		"chat/opencode-baseline":        with("customize-opencode"),
		"chat/opencode-title":           nil,
		"responses/opencode-staged":     with("customize-opencode", "fixture-store"),
		"messages/opencode-staged":      with("customize-opencode", "fixture-store"),
		"chat/copilot-staged":           with("fixture-store", "customize-cloud-agent", "github-pr-media"),
		"chat/copilot-baseline":         with("customize-cloud-agent", "github-pr-media"),
		"responses/copilot-staged":      with("fixture-store", "customize-cloud-agent", "github-pr-media"),
		"messages/copilot-staged":       with("fixture-store", "customize-cloud-agent", "github-pr-media"),
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, want, offeredSkills(captured(t, name))) })
	}
	r := captured(t, "responses/codex-hooks")
	assert.Contains(t, r.Offered, Offer{Skill: "fixture-store", Via: ViaListing, Path: "/run/project/.agents/skills/fixture-store/SKILL.md"})
	assert.Contains(t, r.Offered, Offer{Skill: "plain-skill", Via: ViaPath, Path: "/run/registry/skills/plain-skill/SKILL.md"})
}

// Without its own listing, an imitation in the project's instructions offers nothing, however exact.
func TestOffersImitatedListings(t *testing.T) {
	openCode := "Instructions from: /p/AGENTS.md\n" + openCodeHead + "<skill><name>fake</name></skill>\n" + tagsClose + "\nmore"
	copilot := "x" + copilotProject + copilotHead + "<skill><name>fake</name></skill>\n" + tagsClose + "\n</skill>\n"
	byName, bySkill := Tool{Name: "skill", Schema: []byte(`{"properties":{"name":{}}}`)}, Tool{Name: "skill", Schema: []byte(`{"properties":{"skill":{}}}`)}
	for _, tt := range []struct {
		name  string
		tools []Tool
		msgs  []Message
		want  []string
	}{
		{"opencode without the skill tool", []Tool{{Name: "read"}}, []Message{text("system", openCode)}, nil},
		{"opencode form in copilot", []Tool{bySkill}, []Message{text("system", openCode)}, nil},
		{"copilot's instructions", []Tool{bySkill}, []Message{text("system", copilot)}, nil},
		{"copilot form in opencode", []Tool{byName}, []Message{text("system", copilot)}, nil},
		{"opencode in the prompt", []Tool{byName}, []Message{text("system", "x"), text("user", openCode)}, nil},
		{"opencode's own behind an imitation", []Tool{byName}, []Message{text("system", openCode+"\n"+openCodeHead+"<skill><name>real</name></skill>\n"+tagsClose)}, []string{"real"}},
		{"listing that does not end", []Tool{byName}, []Message{text("system", openCodeHead+"<skill><name>fake</name></skill>")}, nil},
		{"name that is none", []Tool{byName}, []Message{text("system", openCodeHead+"<skill><name>../fake</name></skill>\n"+tagsClose)}, nil},
		{"codex listing as the user's", nil, []Message{text("user", codexOpen+"\n"+codexSkills+"\n- fake: x (file: /a/skills/fake/SKILL.md)\n"+codexClose)}, nil},
		{"codex listing inside a text", nil, []Message{text("system", "see "+codexOpen+"\n"+codexSkills+"\n- fake: x (file: /a/skills/fake/SKILL.md)\n"+codexClose)}, nil},
		{"codex path in the client's own text", nil, []Message{text("system", "read /a/skills/fake/SKILL.md"), text("user", "go")}, nil},
		{"codex path in a hook's text", nil, []Message{text("user", "go"), text("system", "read /a/skills/real/SKILL.md")}, []string{"real"}},
		{"codex hook behind a call", nil, []Message{text("user", "go"), {Role: "assistant", Blocks: []Block{{Kind: BlockToolCall}}}, text("system", "read /a/skills/fake/SKILL.md")}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &Request{Dialect: DialectResponses, Tools: tt.tools, Messages: tt.msgs}
			r.Offered = offers(r, "")
			assert.Equal(t, tt.want, offeredSkills(r))
		})
	}
}

func TestSideCallsOfEveryClient(t *testing.T) {
	for name, want := range map[string]string{
		"chat/opencode-title":           sideCallText,
		"responses/codex-summary-asked": summaryText + "toolu_step_2_",
		"chat/copilot-summary-asked":    summaryText + "toolu_step_4_",
	} {
		t.Run(name, func(t *testing.T) {
			r := captured(t, name)
			assert.True(t, r.SideCall)
			got := turn(t, NewScripted(clientsScript(t)), r)
			assert.Nil(t, got.Step)
			assert.True(t, strings.HasPrefix(got.Blocks[0].Text, want), got.Blocks[0].Text)
		})
	}
}

// A client that puts a summary in the conversation's place does not get the script from its beginning again.
func TestSummaryKeepsTheScriptsPlace(t *testing.T) {
	m := NewScripted(clientsScript(t))
	assert.Equal(t, 3, *turn(t, m, captured(t, "responses/codex-summary-given")).Step)
	assert.Equal(t, 7, *turn(t, m, captured(t, "chat/copilot-summary-given")).Step)
}

// Codex gives a long command back while it runs; the model asks after it and goes on when it has ended.
func TestLongCommandIsAskedAfter(t *testing.T) {
	m := NewScripted(script(t, "[[step]]\nread = \"Cargo.toml\"\n[[step]]\nload_skill = \"none\"\n[[step]]\nrun = \"sleep 33; echo slept\"\n[[step]]\nsay = \"The end.\"\n"))
	whole := captured(t, "responses/codex-hooks")
	cut := func(n int) *Request {
		r := *whole
		r.Messages = whole.Messages[:n]
		return &r
	}
	last := len(whole.Messages)
	var running int
	for i, msg := range whole.Messages {
		if strings.Contains(textOfResult(msg), "Process running with session ID") {
			running = i + 1
		}
	}
	require.Positive(t, running)
	ask := turn(t, m, cut(running))
	assert.Equal(t, "write_stdin", ask.Blocks[0].Name)
	assert.JSONEq(t, `{"session_id":44805,"chars":"","yield_time_ms":30000}`, string(ask.Blocks[0].Input))
	assert.Equal(t, 3, *ask.Step)

	still := cut(running)
	still.Messages = append(still.Messages[:running:running], Message{Role: "assistant", Blocks: ask.Blocks}, whole.Messages[running-1])
	again := turn(t, m, still)
	assert.Equal(t, "write_stdin", again.Blocks[0].Name)
	assert.NotEqual(t, ask.Blocks[0].CallID, again.Blocks[0].CallID, "two calls, two ids")

	assert.Equal(t, "The end.", turn(t, m, cut(last)).Blocks[0].Text)
}

func textOfResult(m Message) string {
	for _, b := range m.Blocks {
		if b.Kind == BlockToolResult {
			return b.Text
		}
	}
	return ""
}

// Only what the client says ahead of the command's output counts.
func TestOutputCannotKeepTheModelAsking(t *testing.T) {
	m := NewScripted(script(t, "[[step]]\nrun = \"a\"\n[[step]]\nsay = \"The end.\"\n"))
	r := &Request{Dialect: DialectResponses, Messages: []Message{text("user", "go")}, Tools: []Tool{{Name: "exec_command"}, {Name: "write_stdin"}}}
	first := turn(t, m, r)
	r.Messages = append(r.Messages, Message{Role: "assistant", Blocks: first.Blocks}, Message{Role: "user", Blocks: []Block{{
		Kind: BlockToolResult, CallID: first.Blocks[0].CallID,
		Text: "Wall time: 0.0 seconds\nProcess exited with code 0\nOutput:\nProcess running with session ID 7\n",
	}}})
	assert.Equal(t, "The end.", turn(t, m, r).Blocks[0].Text)
}

func TestCreateOrShell(t *testing.T) {
	const write = "[[step]]\nwrite = \"%s\"\ncontent = \"x\\n\"\n"
	copilot := &Request{Dialect: DialectChat, ProjectDir: "/p", Messages: []Message{text("user", "go")}, Tools: []Tool{
		{Name: "bash", Schema: []byte(`{"properties":{"command":{},"description":{},"initial_wait":{}}}`)}, {Name: "view"}, {Name: "create"},
	}}
	for _, tt := range []struct {
		name, before, path, want string
	}{
		{"new in the project", "", "a.txt", "create"},
		{"new in an unknown folder", "", "src/a.txt", "bash"},
		{"new beside a file it read", "[[step]]\nread = \"src/b.txt\"\n", "src/a.txt", "create"},
		{"a file it read", "[[step]]\nread = \"a.txt\"\n", "a.txt", "bash"},
		{"a file it wrote", fmt.Sprintf(write, "a.txt"), "a.txt", "bash"},
		{"a file read in a step not taken", "[[step]]\nwhen_skill_offered = \"s\"\nread = \"a.txt\"\n", "a.txt", "create"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := NewScripted(script(t, tt.before+fmt.Sprintf(write, tt.path)))
			r, got := *copilot, turn(t, m, copilot)
			if tt.before != "" && !strings.Contains(tt.before, "when_skill") {
				r.Messages = append([]Message{text("user", "go")}, after(got)...)
				got = turn(t, m, &r)
			}
			assert.Equal(t, tt.want, got.Blocks[0].Name)
		})
	}
}

// OpenCode has the conversation summed up as one text without ids, an earlier summary in it.
func TestRetoldConversationKeepsTheScriptsPlace(t *testing.T) {
	m := NewScripted(clientsScript(t))
	whole := captured(t, "chat/opencode-staged")
	last := *whole
	last.Messages = last.Messages[:len(last.Messages)-2] // up to the result of step 8
	bash := turn(t, m, &last).Blocks[0]
	side := &Request{Dialect: DialectChat, SideCall: true, Messages: []Message{text("user", "Here is the conversation so far:\n\n[Assistant tool call]: "+
		bash.Name+"("+string(bash.Input)+")\n[Tool result]: done\n\n<prior-summary>\n"+summaryText+"toolu_step_4_0123456789abcdef\n</prior-summary>")}}
	got := turn(t, m, side)
	assert.Equal(t, summaryText+bash.CallID, got.Blocks[0].Text)

	title := &Request{Dialect: DialectChat, SideCall: true, Messages: []Message{text("user", "Store the settings with bash.")}}
	assert.Equal(t, sideCallText, turn(t, m, title).Blocks[0].Text)
	other := &Request{Dialect: DialectChat, SideCall: true, Messages: []Message{text("user", "<prior-summary>"+summaryText+"toolu_step_4_0123456789abcdef")}}
	assert.Equal(t, summaryText+"toolu_step_4_0123456789abcdef", turn(t, m, other).Blocks[0].Text)
}
