package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/suite"
)

// The example's tasks can be told apart by their prompts, and each conversation gets its own task's script.
func TestEachConversationHasItsScript(t *testing.T) {
	cases, err := casesOf("../../testdata/side-by-side", "side")
	require.NoError(t, err)
	m, err := newManyTasks(cases)
	require.NoError(t, err)
	ask := func(texts ...string) *gateway.Turn {
		r := &gateway.Request{System: []string{"Primary working directory: /w/1\nand more"}, Tools: []gateway.Tool{{Name: "Write"}, {Name: "Bash"}}}
		for _, text := range texts {
			r.Messages = append(r.Messages, gateway.Message{Role: "user", Blocks: []gateway.Block{{Kind: gateway.BlockText, Text: text}}})
		}
		turn, err := m.Turn(context.Background(), r)
		require.NoError(t, err)
		return turn
	}
	assert.Equal(t, "I greeted Bob.", ask("Say that you greeted Bob without doing so.").Blocks[0].Text)
	assert.Contains(t, string(ask("Greet Dora, which once failed.").Blocks[0].Input), "/w/1/greeting.txt")
	assert.Contains(t, ask("[turn 0] Greet Gus in the final message.\n\nCRITERION:\nThe final message is a poem.").Blocks[0].Text, "VERDICT: NO")

	_, err = m.Turn(context.Background(), &gateway.Request{})
	assert.ErrorContains(t, err, "no task")
	_, err = newManyTasks(append(cases, suite.Case{Task: cases[0].Task, Prompt: "Greet"}))
	assert.ErrorContains(t, err, "part of another's")
}

// A verdict that only one side has is a row too.
func TestTable(t *testing.T) {
	assert.Equal(t, "| attempt | agent-exam | Proctor | |\n|---|---|---|---|\n| `a` | pass | pass | same |\n| `b` | fail | - | **different** |\n", table(
		map[string]string{"a": "pass", "b": "fail"}, map[string]string{"a": "pass"}))
}
