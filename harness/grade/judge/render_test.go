package judge

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/proctor-evals/proctor/harness/transcript"
)

func TestRender(t *testing.T) {
	got := Render(&transcript.Transcript{Turns: []transcript.Turn{
		{Role: "user", Text: "Do it.\nNow."},
		{Role: "assistant", Text: "Yes.", Reasoning: strings.Repeat("t", 201), ToolCalls: []transcript.ToolCall{
			{ID: "a", Name: "Agent", Input: json.RawMessage(`{"prompt":"größe"}`), Status: "ok", Output: "fine"},
			{ID: "b", Name: "Bash", InputCut: true, Status: "denied"},
		}},
		{Role: "assistant", ParentID: "a", Text: "sub"},
	}}, MaxTrajectory)
	assert.Equal(t, `[turn 0, user]
  text: Do it. Now.
[turn 1, assistant]
  text: Yes.
  thinking: `+strings.Repeat("t", 200)+`...
  tool_use Agent({"prompt":"größe"}) → ok: fine
    [turn 0, assistant]
      text: sub
  tool_use Bash(...) → denied: `, got)
	assert.Empty(t, Render(&transcript.Transcript{}, MaxTrajectory))
	assert.Empty(t, Render(nil, MaxTrajectory))
}

// The rows on rendering of agent-exam's cases.
func TestRenderLimits(t *testing.T) {
	assert.Equal(t, "aa...[6 chars removed]...aa", cutMiddle("aaaaaaaaaa", 4))
	assert.Equal(t, "aaaa...", cutEnd("aaaaaaaaaa", 4))
	assert.Equal(t, "äää", cutMiddle("äää", 3))

	s := &transcript.Transcript{}
	turn := func(parent string, n int) {
		s.Turns = append(s.Turns, transcript.Turn{Role: "assistant", ParentID: parent, Text: strings.Repeat("x", n)})
	}
	turn("", 1000)
	s.Turns[0].ToolCalls = []transcript.ToolCall{{ID: "a", Name: "Agent", Status: "ok"}}
	for range 10 {
		turn("a", 4000)
	}
	turn("", 1000)
	got := Render(s, 20_000)
	assert.Contains(t, got, "...[10 subagent turns omitted]...")
	assert.NotContains(t, got, "[trajectory truncated]")
	assert.Contains(t, got, "[turn 1, assistant]")
	assert.NotContains(t, Render(s, 50_000), "omitted")

	s = &transcript.Transcript{}
	for range 50 {
		turn("", 2000)
	}
	got = Render(s, 5000)
	assert.Contains(t, got, "\n...[trajectory truncated]...\n")
	assert.Less(t, utf8.RuneCountInString(got), 6000)
}

// A subagent's work is not rendered over and over.
func TestRenderOfDeepNesting(t *testing.T) {
	s := &transcript.Transcript{}
	for i := range 20_000 {
		s.Turns = append(s.Turns, transcript.Turn{
			Role: "assistant", ParentID: fmt.Sprint(i + 1), ToolCalls: []transcript.ToolCall{{ID: fmt.Sprint(i), Name: "Agent"}},
		})
	}
	assert.LessOrEqual(t, utf8.RuneCountInString(Render(s, 5000)), 5100)
}
