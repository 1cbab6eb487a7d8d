package transcript

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func names(t *Transcript) (all []string, subs int) {
	NewTree(t).Calls(func(c *ToolCall, _ int, sub bool) {
		all = append(all, c.Name)
		if sub {
			subs++
		}
	})
	return all, subs
}

func TestTreeIsDepthFirst(t *testing.T) {
	// In the stream, the subagent's turn comes after the turn that follows its call.
	all, subs := names(&Transcript{Turns: []Turn{
		{Role: RoleAssistant, ToolCalls: []ToolCall{{ID: "o", Name: "Outer"}}},
		{Role: RoleAssistant, ToolCalls: []ToolCall{{ID: "t", Name: "Tail"}}},
		{Role: RoleAssistant, ParentID: "o", ToolCalls: []ToolCall{{ID: "i", Name: "InnerTool"}}},
		{Role: RoleAssistant, ParentID: "i", ToolCalls: []ToolCall{{ID: "d", Name: "Deep"}}},
		{Role: RoleAssistant, ParentID: "gone", ToolCalls: []ToolCall{{ID: "x", Name: "Orphan"}}},
	}})
	assert.Equal(t, []string{"Outer", "InnerTool", "Deep", "Tail", "Orphan"}, all)
	assert.Equal(t, 3, subs)
}

// Whatever a stream says of parents, every call is met once.
func TestTreeOfImpossibleParents(t *testing.T) {
	for name, turns := range map[string][]Turn{
		"itself":   {{ParentID: "a", ToolCalls: []ToolCall{{ID: "a", Name: "A"}}}, {ToolCalls: []ToolCall{{ID: "b", Name: "B"}}}},
		"circle":   {{ParentID: "b", ToolCalls: []ToolCall{{ID: "a", Name: "A"}}}, {ParentID: "a", ToolCalls: []ToolCall{{ID: "b", Name: "B"}}}},
		"id twice": {{ToolCalls: []ToolCall{{ID: "a", Name: "A"}}}, {ParentID: "a", ToolCalls: []ToolCall{{ID: "a", Name: "B"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			all, _ := names(&Transcript{Turns: turns})
			assert.ElementsMatch(t, []string{"A", "B"}, all)
		})
	}
	var chain []Turn
	for i := range 500 {
		id := func(n int) string { return string(rune('a'+n%26)) + string(rune('0'+n/26)) }
		chain = append(chain, Turn{ParentID: id(i + 1), ToolCalls: []ToolCall{{ID: id(i), Name: "N"}}})
	}
	all, _ := names(&Transcript{Turns: chain})
	assert.Len(t, all, 500)
}

// Row F14 of agent-exam's cases.
func TestToolCounts(t *testing.T) {
	s := &Transcript{Turns: []Turn{
		{ToolCalls: []ToolCall{{ID: "a", Name: "Agent", Status: StatusOK}, {Name: "Bash", Status: StatusOK}, {Name: "Read", Status: StatusDenied}, {Name: "Edit", Status: StatusRejected}, {Name: "Skill", Status: StatusError}}},
		{ParentID: "a", ToolCalls: []ToolCall{{Name: "Grep", Status: StatusOK}, {Name: "Bash", Status: StatusError}}},
	}}
	assert.Equal(t, ToolCounts{Total: 6, Errors: 1, Denied: 1, Rejected: 1}, s.ToolCounts())
}
