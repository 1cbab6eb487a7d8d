package assertion

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/proctor-evals/proctor/harness/suite"
	"github.com/proctor-evals/proctor/harness/transcript"
)

// Rows F11 to F14, and what is ours: inputs and order.
func TestCalls(t *testing.T) {
	whole := session(
		says("", call("Agent", "ok", `{"prompt":"look"}`)),
		says("Agent", call("WebFetch", "denied", `{"url":"https://example.org"}`), call("Grep", "ok", "")),
		says("", call("Bash", "error", `{"command":"cargo test --all","env":{"A":"1"},"list":["x",{"y":2}],"a.b":"dotted","n":12}`), call("Skill", "ok", "")),
	)
	cut := session(says("", call("Bash", "ok", "")))
	cut.Completed = false
	large := session(says("", transcript.ToolCall{ID: "b", Name: "Bash", InputCut: true}))
	dropped := session()
	dropped.Dropped.ToolCalls = 1
	input := func(pairs ...string) map[string]*suite.Regexp {
		m := map[string]*suite.Regexp{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = re(t, pairs[i+1])
		}
		return m
	}
	tests := []struct {
		name    string
		session *transcript.Transcript
		check   suite.Check
		want    string
		reason  string
	}{
		{"called", whole, suite.ToolCalled{Name: "Bash"}, passes, "Bash called 1 time(s)"},
		{"called: exact name", whole, suite.ToolCalled{Name: "bash"}, fails, "bash called 0 time(s)"},
		{"called in a subagent, denied", whole, suite.ToolCalled{Name: "WebFetch"}, passes, ""},
		{"called: skill tools count", whole, suite.ToolCalled{Name: "Skill"}, passes, ""},
		{"F11 not called", whole, suite.ToolNotCalled{Name: "WebFetch"}, fails, "WebFetch called 1 time(s)"},
		{"not called", whole, suite.ToolNotCalled{Name: "Write"}, passes, ""},
		{"not called, in a cut stream", cut, suite.ToolNotCalled{Name: "Write"}, undecided, "no completion marker"},
		{"called, in a cut stream", cut, suite.ToolCalled{Name: "Bash"}, passes, ""},
		{"called: perhaps in the rest", cut, suite.ToolCalled{Name: "Write"}, undecided, ""},
		{"calls were dropped", dropped, suite.ToolNotCalled{Name: "Write"}, undecided, "too long"},

		{"input", whole, suite.ToolCalled{Name: "Bash", Input: input("command", `^cargo\b`)}, passes, `Bash with command matching "^cargo\\b"`},
		{"input: no match", whole, suite.ToolCalled{Name: "Bash", Input: input("command", `^npm`)}, fails, ""},
		{"input: all keys", whole, suite.ToolCalled{Name: "Bash", Input: input("command", `cargo`, "n", `^13$`)}, fails, ""},
		{"input: number", whole, suite.ToolCalled{Name: "Bash", Input: input("n", `^12$`)}, passes, ""},
		{"input: deeper", whole, suite.ToolCalled{Name: "Bash", Input: input("env.A", `^1$`)}, passes, ""},
		{"input: in a list", whole, suite.ToolCalled{Name: "Bash", Input: input("list.1.y", `^2$`)}, passes, ""},
		{"input: whole object", whole, suite.ToolCalled{Name: "Bash", Input: input("env", `"A":"1"`)}, passes, ""},
		{"input: key with a dot", whole, suite.ToolCalled{Name: "Bash", Input: input("a.b", `^dotted$`)}, passes, ""},
		{"input: no such key", whole, suite.ToolCalled{Name: "Bash", Input: input("x.y", ``)}, fails, ""},
		{"input: not called so", whole, suite.ToolNotCalled{Name: "Bash", Input: input("command", `rm -rf`)}, passes, ""},
		{"input: called so", whole, suite.ToolNotCalled{Name: "Bash", Input: input("command", `--all`)}, fails, ""},
		{"input too large", large, suite.ToolCalled{Name: "Bash", Input: input("command", `x`)}, fails, "too large"},
		{"input too large to rule out", large, suite.ToolNotCalled{Name: "Bash", Input: input("command", `x`)}, fails, "may have been called"},

		{"exactly", whole, suite.ToolCount{Name: "Grep", Exactly: num(1)}, passes, "Grep called 1× (expected exactly 1)"},
		{"exactly: not", whole, suite.ToolCount{Name: "Grep", Exactly: num(2)}, fails, ""},
		{"exactly 0", whole, suite.ToolCount{Name: "Write", Exactly: num(0)}, passes, ""},
		{"range", whole, suite.ToolCount{Name: "Grep", Min: num(1), Max: num(3)}, passes, "Grep called 1× (min=1, max=3)"},
		{"above", whole, suite.ToolCount{Name: "Grep", Max: num(0)}, fails, "(max=0)"},
		{"below", whole, suite.ToolCount{Name: "Grep", Min: num(2)}, fails, ""},
		{"min 0", whole, suite.ToolCount{Name: "Write", Min: num(0)}, passes, ""},
		{"cut: enough", cut, suite.ToolCount{Name: "Bash", Min: num(1)}, passes, ""},
		{"cut: too many", cut, suite.ToolCount{Name: "Bash", Max: num(0)}, fails, ""},
		{"cut: perhaps more", cut, suite.ToolCount{Name: "Bash", Max: num(1)}, undecided, ""},
		{"cut: perhaps enough", cut, suite.ToolCount{Name: "Bash", Min: num(2)}, undecided, ""},

		{"order", whole, suite.ToolOrder{Names: []string{"Agent", "Grep", "Bash"}}, passes, "Agent, Grep, Bash"},
		{"order: wrong", whole, suite.ToolOrder{Names: []string{"Bash", "Grep"}}, fails, "no call of Grep after Bash"},
		{"order: each call once", whole, suite.ToolOrder{Names: []string{"Bash", "Bash"}}, fails, "no call of Bash after Bash"},
		{"order: first missing", whole, suite.ToolOrder{Names: []string{"Write"}}, fails, "from the start"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := one(t, Attempt{Transcript: tt.session}, tt.check, Tools{})
			assert.Equal(t, tt.want, outcome(r), r.Reason)
			assert.Contains(t, r.Reason, tt.reason)
		})
	}
}

// Row F17.
func TestPermissionErrors(t *testing.T) {
	denied := call("Bash", "denied", `{"command":"rm -rf `+strings.Repeat("x", 200)+`","z":1}`)
	denied.Output = "This command\nrequires approval " + strings.Repeat("y", 300)
	tests := []struct {
		name      string
		session   *transcript.Transcript
		denials   []transcript.Denial
		want      string
		offending int
	}{
		{"ok and error", session(says("", call("A", "ok", ""), call("B", "error", ""), call("C", "rejected", ""))), nil, passes, 0},
		{"one denied", session(says("", call("A", "ok", ""), denied)), []transcript.Denial{{Tool: "Bash", CallID: "Bash"}}, fails, 1},
		{"two denied", session(says("", denied), says("Bash", call("Edit", "denied", ""))), nil, fails, 2},
		{"only in the client's list", session(says("", call("A", "ok", ""))), []transcript.Denial{{Tool: "Web", CallID: "?"}}, fails, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.session.PermissionDenials = tt.denials
			r := one(t, Attempt{Transcript: tt.session}, suite.NoPermissionErrors{}, Tools{})
			assert.Equal(t, tt.want, outcome(r), r.Reason)
			got, _ := r.Details["offending"].([]map[string]any)
			assert.Len(t, got, tt.offending)
			_, err := json.Marshal(r)
			assert.NoError(t, err)
		})
	}
	r := one(t, Attempt{Transcript: session(says("", denied))}, suite.NoPermissionErrors{}, Tools{})
	assert.Equal(t, "1 tool call(s) hit permission-denied:\n  turn 0  [Bash] rm -rf "+strings.Repeat("x", 113)+"…\n    This command requires approval "+
		strings.Repeat("y", 200-len("This command requires approval "))+"…", r.Reason)
}
