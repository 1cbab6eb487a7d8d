package judge

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/proctor-evals/proctor/harness/transcript"
)

// How much of a trajectory a judge is shown, in characters. Source: agent-exam 0.2.0.
const (
	maxText     = 5000
	maxThinking = 200
	maxInput    = 4000
	maxResult   = 4000
	// MaxTrajectory is the limit of the whole.
	MaxTrajectory = 50_000
)

// Render writes what the agent did, for a judge to read: a block a turn, a line a text or tool call,
// a subagent's turns below the call that runs it. Over limit characters, subagents' turns are left
// out first, then the middle; both leave a mark.
func Render(t *transcript.Transcript, limit int) string {
	if t == nil {
		return ""
	}
	tree := transcript.NewTree(t)
	r := renderer{tree: tree, limit: limit}
	text := r.run(false)
	if r.over() {
		text = r.run(true)
	}
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	half := limit / 2
	return string(runes[:half]) + "\n...[trajectory truncated]...\n" + string(runes[len(runes)-half:])
}

type renderer struct {
	tree  *transcript.Tree
	limit int
	flat  bool // subagents' turns are left out
	b     strings.Builder
	chars int
}

func (r *renderer) run(flat bool) string {
	r.b.Reset()
	r.flat, r.chars = flat, 0
	r.turns(r.tree.Top, 0)
	return strings.TrimSuffix(r.b.String(), "\n")
}

func (r *renderer) over() bool { return r.chars-1 > r.limit }

func (r *renderer) line(depth int, format string, args ...any) {
	s := strings.Repeat("  ", min(depth, 40)) + fmt.Sprintf(format, args...) + "\n"
	r.b.WriteString(s)
	r.chars += utf8.RuneCountInString(s)
}

func (r *renderer) turns(nodes []*transcript.Node, depth int) {
	for i, n := range nodes {
		if !r.flat && r.over() {
			return // it will be rendered again, without subagents
		}
		r.line(depth, "[turn %d, %s]", i, n.Turn.Role)
		if s := oneLine(n.Turn.Text); s != "" {
			r.line(depth+1, "text: %s", cutEnd(s, maxText))
		}
		if s := oneLine(n.Turn.Reasoning); s != "" {
			r.line(depth+1, "thinking: %s", cutEnd(s, maxThinking))
		}
		for j := range n.Turn.ToolCalls {
			c := &n.Turn.ToolCalls[j]
			r.line(depth+1, "tool_use %s(%s) → %s: %s", oneLine(c.Name), cutMiddle(oneLine(string(input(c))), maxInput), c.Status, cutMiddle(oneLine(c.Output), maxResult))
			sub := n.Subagents[j]
			switch {
			case len(sub) == 0:
			case r.flat:
				r.line(depth+2, "...[%d subagent turns omitted]...", count(sub))
			default:
				r.turns(sub, depth+2)
			}
		}
	}
}

func count(nodes []*transcript.Node) int {
	n := len(nodes)
	for _, node := range nodes {
		for _, sub := range node.Subagents {
			n += count(sub)
		}
	}
	return n
}

func input(c *transcript.ToolCall) json.RawMessage {
	if len(c.Input) == 0 {
		if c.InputCut {
			return json.RawMessage("...")
		}
		return json.RawMessage("{}")
	}
	return c.Input
}

func oneLine(s string) string {
	return strings.TrimSpace(strings.ReplaceAll(unify(s), "\n", " "))
}

// cutEnd keeps the first max characters.
func cutEnd(s string, max int) string {
	runes := []rune(s)
	if len(runes) <= max {
		return s
	}
	return string(runes[:max]) + "..."
}

// cutMiddle keeps max characters, half of them from each end.
func cutMiddle(s string, max int) string {
	runes := []rune(s)
	if len(runes) <= max {
		return s
	}
	head := max / 2
	tail := max - head
	return string(runes[:head]) + fmt.Sprintf("...[%d chars removed]...", len(runes)-max) + string(runes[len(runes)-tail:])
}
