package transcript

// maxNesting bounds how far up a subagent's callers are followed.
const maxNesting = 64

// Tree is a session's turns with each subagent's turns below the call that runs it.
type Tree struct {
	// Top is the main conversation. Turns of a subagent whose call is not in the record stand at its end.
	Top []*Node
}

// Node is one turn.
type Node struct {
	Turn *Turn
	// Subagents are the turns that a tool call runs, by the call's index in the turn.
	Subagents map[int][]*Node
}

// NewTree orders the turns of a transcript. A call's id can name only one call: where a model used
// one again, the first call has the subagent.
func NewTree(t *Transcript) *Tree {
	nodes := make([]*Node, len(t.Turns))
	type place struct {
		node *Node
		call int
	}
	calls := map[string]place{}
	for i := range t.Turns {
		nodes[i] = &Node{Turn: &t.Turns[i]}
		for j, c := range t.Turns[i].ToolCalls {
			if _, taken := calls[c.ID]; !taken && c.ID != "" {
				calls[c.ID] = place{nodes[i], j}
			}
		}
	}
	tree := &Tree{}
	var orphans []*Node
	parent := map[*Node]*Node{}
	for _, n := range nodes {
		if n.Turn.ParentID == "" {
			tree.Top = append(tree.Top, n)
			continue
		}
		at, ok := calls[n.Turn.ParentID]
		// A turn that runs below itself stands nowhere else, so it is an orphan. Nobody nests so deeply.
		for up, depth := at.node, 0; ok && up != nil; up, depth = parent[up], depth+1 {
			ok = up != n && depth < maxNesting
		}
		if !ok {
			orphans = append(orphans, n)
			continue
		}
		parent[n] = at.node
		if at.node.Subagents == nil {
			at.node.Subagents = map[int][]*Node{}
		}
		at.node.Subagents[at.call] = append(at.node.Subagents[at.call], n)
	}
	tree.Top = append(tree.Top, orphans...)
	return tree
}

// Calls calls yield with every tool call, depth first: a turn's call, then what runs below it, then
// the next. turn is the index among the turns beside it, sub tells that a subagent made the call.
func (t *Tree) Calls(yield func(c *ToolCall, turn int, sub bool)) {
	var walk func(nodes []*Node, sub bool)
	walk = func(nodes []*Node, sub bool) {
		for i, n := range nodes {
			for j := range n.Turn.ToolCalls {
				yield(&n.Turn.ToolCalls[j], i, sub || n.Turn.ParentID != "")
				walk(n.Subagents[j], true)
			}
		}
	}
	walk(t.Top, false)
}

// ToolCounts are the tool calls of a session, subagents' included. Calls of skills are no work with
// tools, and not counted.
type ToolCounts struct {
	Total, Errors, Denied, Rejected int
}

// skillTools are the tools through which clients load a skill, and Copilot's for what it intends.
var skillTools = map[string]bool{"Skill": true, "skill": true, "report_intent": true}

// ToolCounts counts the calls by outcome.
func (t *Transcript) ToolCounts() ToolCounts {
	var n ToolCounts
	for i := range t.Turns {
		for _, c := range t.Turns[i].ToolCalls {
			if skillTools[c.Name] {
				continue
			}
			n.Total++
			switch c.Status {
			case StatusError:
				n.Errors++
			case StatusDenied:
				n.Denied++
			case StatusRejected:
				n.Rejected++
			}
		}
	}
	return n
}
