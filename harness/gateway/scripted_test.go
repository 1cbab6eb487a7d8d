package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func script(t *testing.T, steps string) *Script {
	t.Helper()
	s, err := ParseScript("test.toml", []byte("version = 1\n"+steps))
	require.NoError(t, err)
	return s
}

func storeScript(t *testing.T) *Script {
	t.Helper()
	s, err := LoadScript(filepath.Join("testdata", "scripts", "store.toml"))
	require.NoError(t, err)
	return s
}

// claude is a request of Claude Code's shape with this conversation.
func claude(offered []Offer, msgs ...Message) *Request {
	return &Request{
		Dialect: DialectMessages, Messages: append([]Message{text("user", "go")}, msgs...), Offered: offered, ProjectDir: "/run/project",
		Tools: []Tool{{Name: "Bash"}, {Name: "Read"}, {Name: "Skill"}, {Name: "Write"}},
	}
}

func turn(t *testing.T, m Model, r *Request) *Turn {
	t.Helper()
	got, err := m.Turn(context.Background(), r)
	require.NoError(t, err)
	return got
}

// after is the conversation once the client has run the tool calls of these turns.
func after(turns ...*Turn) []Message {
	var msgs []Message
	for _, tn := range turns {
		msgs = append(msgs, Message{Role: "assistant", Blocks: tn.Blocks})
		for _, b := range tn.Blocks {
			if b.Kind == BlockToolCall {
				msgs = append(msgs, Message{Role: "user", Blocks: []Block{{Kind: BlockToolResult, CallID: b.CallID}}})
			}
		}
	}
	return msgs
}

// Each request of a recorded session must get the answer that stands in the next one, also asked twice and in any order.
func TestScriptedOverRecordedSession(t *testing.T) {
	for _, session := range []struct {
		name    string
		n       int
		steps   []int
		closing string
	}{
		{"staged", 7, []int{2, 3, 4, 5, 7, 8}, "The settings are stored."},
		{"baseline", 6, []int{2, 4, 6, 7, 8}, "The settings are stored."},
	} {
		t.Run(session.name, func(t *testing.T) {
			last := recorded(t, fmt.Sprintf("%s-%d", session.name, session.n))
			var said []Message
			for _, m := range last.Messages {
				if m.Role == "assistant" {
					said = append(said, m)
				}
			}
			require.Len(t, said, session.n-2)
			m := NewScripted(storeScript(t))
			for _, i := range []int{6, 2, 4, 3, 2, 5, 7, 4} {
				if i > session.n {
					continue
				}
				r := recorded(t, fmt.Sprintf("%s-%d", session.name, i))
				r.ProjectDir = "/run/project"
				r.Offered = offers(r, "")
				got := turn(t, m, r)
				require.NotNil(t, got.Step)
				assert.Equal(t, session.steps[i-2], *got.Step)
				if i == session.n {
					assert.Equal(t, StopEndTurn, got.StopReason)
					assert.Equal(t, []Block{{Kind: BlockText, Text: session.closing}}, got.Blocks)
					continue
				}
				assert.Equal(t, StopToolUse, got.StopReason)
				want := said[i-2].Blocks
				require.Len(t, got.Blocks, len(want))
				for k := range want {
					assert.Equal(t, want[k].Kind, got.Blocks[k].Kind)
					assert.Equal(t, want[k].Text, got.Blocks[k].Text)
					assert.Equal(t, want[k].Name, got.Blocks[k].Name)
					if want[k].Kind == BlockToolCall {
						assert.JSONEq(t, string(want[k].Input), string(got.Blocks[k].Input))
					}
				}
			}
		})
	}
}

func TestScriptedSideCallTakesNoStep(t *testing.T) {
	m := NewScripted(storeScript(t))
	side := claude(nil)
	side.Tools, side.SideCall = nil, true
	got := turn(t, m, side)
	assert.Nil(t, got.Step)
	assert.Equal(t, StopEndTurn, got.StopReason)
	assert.Equal(t, 2, *turn(t, m, claude(nil)).Step)
}

func TestScriptedTools(t *testing.T) {
	listed := []Offer{{Skill: "s", Via: ViaListing}}
	byPath := []Offer{{Skill: "s", Via: ViaPath, Path: "/x/skills/s/SKILL.md"}}
	relative := []Offer{{Skill: "s", Via: ViaPath, Path: ".claude/skills/s/SKILL.md"}}
	for _, tt := range []struct {
		name, step string
		offered    []Offer
		tool       string
		input      string
	}{
		{"read", `read = "a/b.rs"`, nil, "Read", `{"file_path":"/run/project/a/b.rs"}`},
		{"write", "write = \"a\"\ncontent = \"<x>\\n\"", nil, "Write", `{"file_path":"/run/project/a","content":"<x>\n"}`},
		{"write an empty file", "write = \"a\"\ncontent = \"\"", nil, "Write", `{"file_path":"/run/project/a","content":""}`},
		{"run", `run = "ls"`, nil, "Bash", `{"command":"ls","description":"Run a command"}`},
		{"skill listed", `load_skill = "s"`, listed, "Skill", `{"skill":"s"}`},
		{"skill by path", `load_skill = "s"`, byPath, "Read", `{"file_path":"/x/skills/s/SKILL.md"}`},
		{"skill by relative path", `load_skill = "s"`, relative, "Read", `{"file_path":"/run/project/.claude/skills/s/SKILL.md"}`},
		{"skill both ways", `load_skill = "s"`, append(byPath, listed...), "Skill", `{"skill":"s"}`},
		{"skill not offered", `load_skill = "s"`, nil, "Skill", `{"skill":"s"}`},
		{"another skill offered", `load_skill = "t"`, byPath, "Skill", `{"skill":"t"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := turn(t, NewScripted(script(t, "[[step]]\n"+tt.step)), claude(tt.offered))
			require.Len(t, got.Blocks, 1)
			b := got.Blocks[0]
			assert.Equal(t, tt.tool, b.Name)
			assert.Equal(t, tt.input, string(b.Input))
			assert.Regexp(t, `^toolu_step_1_[0-9a-f]{16}$`, b.CallID)
			assert.Empty(t, got.Note)
		})
	}
}

func TestScriptedWithoutTool(t *testing.T) {
	s := script(t, "[[step]]\nload_skill = \"s\"\n[[step]]\nrun = \"ls\"\n")
	r := claude(nil)
	r.Tools = []Tool{{Name: "Bash"}}
	got := turn(t, NewScripted(s), r)
	assert.Equal(t, 2, *got.Step)
	assert.Contains(t, got.Note, "step 1: the request lists no tool that can load a skill")

	r.Tools = []Tool{{Name: "Bash", Type: "bash_20250124"}} // the provider's, not the client's
	got = turn(t, NewScripted(s), r)
	assert.Equal(t, StopEndTurn, got.StopReason)
	assert.Contains(t, got.Note, "step 2: the request lists no tool that can run; the script ends here")
}

func TestScriptedConditions(t *testing.T) {
	s := script(t, `
[[step]]
when_skill_offered = "a"
run = "a1"
[[step]]
otherwise = true
run = "no a"
[[step]]
when_skill_offered = "b"
run = "b1"
[[step]]
otherwise = true
run = "no b, 1"
[[step]]
otherwise = true
run = "no b, 2"
[[step]]
run = "always"
`)
	for _, tt := range []struct {
		offered []string
		want    []string
	}{
		{nil, []string{"no a", "no b, 1", "no b, 2", "always"}},
		{[]string{"a"}, []string{"a1", "no b, 1", "no b, 2", "always"}},
		{[]string{"b"}, []string{"no a", "b1", "always"}},
		{[]string{"a", "b"}, []string{"a1", "b1", "always"}},
	} {
		t.Run(fmt.Sprint(tt.offered), func(t *testing.T) {
			var offered []Offer
			for _, name := range tt.offered {
				offered = append(offered, Offer{Skill: name, Via: ViaListing})
			}
			m := NewScripted(s)
			var turns []*Turn
			var got []string
			for range 10 {
				tn := turn(t, m, claude(offered, after(turns...)...))
				if tn.StopReason != StopToolUse {
					break
				}
				var in claudeBash
				require.NoError(t, json.Unmarshal(tn.Blocks[0].Input, &in))
				got = append(got, in.Command)
				turns = append(turns, tn)
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestScriptedSayAndEnd(t *testing.T) {
	m := NewScripted(script(t, `
[[step]]
say = "one"
[[step]]
say = "two"
[[step]]
run = "ls"
[[step]]
say = "bye"
`))
	first := turn(t, m, claude(nil))
	require.Len(t, first.Blocks, 2)
	assert.Equal(t, "one\n\ntwo", first.Blocks[0].Text)
	assert.Equal(t, "Bash", first.Blocks[1].Name)
	assert.Equal(t, 3, *first.Step)

	bye := turn(t, m, claude(nil, after(first)...))
	assert.Equal(t, []Block{{Kind: BlockText, Text: "bye"}}, bye.Blocks)
	assert.Equal(t, 4, *bye.Step)

	// A Stop hook that makes the client go on gets a plain end, each time.
	more := append(after(first, bye), text("user", "are you sure?"))
	for range 2 {
		end := turn(t, m, claude(nil, more...))
		assert.Equal(t, []Block{{Kind: BlockText, Text: closingText}}, end.Blocks)
		assert.Equal(t, StopEndTurn, end.StopReason)
		assert.Nil(t, end.Step)
		more = append(more, after(end)...)
	}
}

func TestScriptedPositionIgnoresForeignIDs(t *testing.T) {
	m := NewScripted(script(t, "[[step]]\nrun = \"a\"\n[[step]]\nrun = \"b\"\n"))
	call := func(role, id string) Message {
		return Message{Role: role, Blocks: []Block{{Kind: BlockToolCall, CallID: id}}}
	}
	for name, msg := range map[string]Message{
		"user's":         call("user", "toolu_step_1_0123456789abcdef"),
		"other model's":  call("assistant", "toolu_01ABC"),
		"step too large": call("assistant", "toolu_step_3_0123456789abcdef"),
		"huge":           call("assistant", "toolu_step_99999999999999999999_0123456789abcdef"),
		"in a text":      text("assistant", "toolu_step_1_0123456789abcdef"),
		"tool result":    {Role: "assistant", Blocks: []Block{{Kind: BlockToolResult, CallID: "toolu_step_1_0123456789abcdef"}}},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, 1, *turn(t, m, claude(nil, msg)).Step) })
	}
	assert.Equal(t, 2, *turn(t, m, claude(nil, call("assistant", "toolu_step_1_0123456789abcdef"))).Step)
}

func TestScriptedFailures(t *testing.T) {
	for _, tt := range []struct {
		value  string
		kind   FailureKind
		status int
		typ    string
	}{
		{"400", FailHTTP, 400, "invalid_request_error"},
		{"401", FailHTTP, 401, "authentication_error"},
		{"429", FailHTTP, 429, "rate_limit_error"},
		{"500", FailHTTP, 500, "api_error"},
		{"529", FailHTTP, 529, "overloaded_error"},
		{`"truncated"`, FailTruncated, 0, ""},
		{`"slow"`, FailSlow, 0, ""},
	} {
		t.Run(tt.value, func(t *testing.T) {
			m := NewScripted(script(t, "[[step]]\nsay = \"x\"\n[[step]]\nfail_with = "+tt.value+"\ntimes = 2\n[[step]]\nrun = \"ls\"\n"))
			for range 2 {
				got := turn(t, m, claude(nil))
				require.NotNil(t, got.Failure)
				assert.Equal(t, tt.kind, got.Failure.Kind)
				assert.Equal(t, tt.status, got.Failure.Status)
				assert.Equal(t, tt.typ, got.Failure.Type)
				assert.Equal(t, tt.status == 429, got.Failure.RetryAfter != nil)
				assert.Equal(t, 2, *got.Step)
			}
			got := turn(t, m, claude(nil))
			assert.Nil(t, got.Failure)
			assert.Equal(t, 3, *got.Step)
			assert.Equal(t, "x", got.Blocks[0].Text, "what was to be said is said with the answer that gets through")
		})
	}
}

func TestScriptedRefusal(t *testing.T) {
	m := NewScripted(script(t, "[[step]]\nfail_with = \"refusal\"\n[[step]]\nsay = \"ok\"\n"))
	got := turn(t, m, claude(nil))
	assert.Equal(t, StopRefusal, got.StopReason)
	assert.Empty(t, got.Blocks)
	assert.True(t, got.failed())
	got = turn(t, m, claude(nil, after(got)...))
	assert.Equal(t, "ok", got.Blocks[0].Text)
	assert.False(t, got.failed())
}

func TestScriptedFailsForEver(t *testing.T) {
	m := NewScripted(script(t, "[[step]]\nfail_with = 529\ntimes = 0\n"))
	for range 50 {
		assert.NotNil(t, turn(t, m, claude(nil)).Failure)
	}
}

// The attempts of one failing step say nothing about another one.
func TestScriptedCountsAttemptsByStep(t *testing.T) {
	m := NewScripted(script(t, "[[step]]\nfail_with = 500\n[[step]]\nrun = \"a\"\n[[step]]\nfail_with = 429\n[[step]]\nrun = \"b\"\n"))
	assert.Equal(t, 500, turn(t, m, claude(nil)).Failure.Status)
	a := turn(t, m, claude(nil))
	assert.Equal(t, 2, *a.Step)
	assert.Equal(t, 429, turn(t, m, claude(nil, after(a)...)).Failure.Status)
	assert.Equal(t, 4, *turn(t, m, claude(nil, after(a)...)).Step)
	assert.Equal(t, 2, *turn(t, m, claude(nil)).Step)
}

func TestScriptedUsage(t *testing.T) {
	m := NewScripted(script(t, "[[step]]\nsay = \"12345678\"\n"))
	r := claude(nil)
	r.Raw = make([]byte, 403)
	u := turn(t, m, r).Usage
	assert.EqualValues(t, 100, *u.InputTokens)
	assert.EqualValues(t, 2, *u.OutputTokens)
	assert.EqualValues(t, 0, *u.CacheReadTokens)
	assert.EqualValues(t, 0, *u.CacheWriteTokens)
	assert.Nil(t, u.ReasoningTokens, "a scripted model does not reason, and unknown is not 0")
}

func TestUsageAddKeepsUnknown(t *testing.T) {
	one := int64(1)
	var sum Usage
	sum.add(Usage{InputTokens: &one})
	early := sum
	sum.add(Usage{InputTokens: &one, OutputTokens: &one})
	assert.EqualValues(t, 2, *sum.InputTokens)
	assert.EqualValues(t, 1, *sum.OutputTokens)
	assert.Nil(t, sum.CacheReadTokens)
	assert.EqualValues(t, 1, *early.InputTokens, "a copy handed out does not change")
	assert.EqualValues(t, 1, one)
}

func TestLoadScriptMissing(t *testing.T) {
	_, err := LoadScript(filepath.Join(t.TempDir(), "none.toml"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}
