package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/suite"
)

// workingDirectory is where Claude Code tells its model where it works.
var workingDirectory = regexp.MustCompile(`(?i)working directory: (\S+)`)

// manyTasks is the scripted model for a program that has one endpoint for all its attempts: it finds out of which task
// a conversation is by the prompt in it, which must be part of no other.
type manyTasks struct {
	cases map[string]*gateway.Script // by prompt

	mu     sync.Mutex
	models map[string]*gateway.Scripted
}

// newManyTasks loads the model script of each case.
func newManyTasks(cases []suite.Case) (*manyTasks, error) {
	m := &manyTasks{cases: map[string]*gateway.Script{}, models: map[string]*gateway.Scripted{}}
	for _, c := range cases {
		for other := range m.cases {
			if strings.Contains(other, c.Prompt) || strings.Contains(c.Prompt, other) {
				return nil, fmt.Errorf("%s: its prompt is part of another's: %q", c.Task.File, c.Prompt)
			}
		}
		if c.Task.ModelScript == "" {
			return nil, fmt.Errorf("%s: the task has no model script", c.Task.File)
		}
		script, err := gateway.LoadScript(c.Task.ModelScript)
		if err != nil {
			return nil, err
		}
		m.cases[c.Prompt] = script
	}
	if len(m.cases) == 0 {
		return nil, errors.New("no task to run")
	}
	return m, nil
}

// Kind is KindScripted.
func (m *manyTasks) Kind() string { return gateway.KindScripted }

// Turn answers as the task's script has it: a judge's question from its [[judge]] tables.
func (m *manyTasks) Turn(ctx context.Context, r *gateway.Request) (*gateway.Turn, error) {
	text := userText(r)
	for _, prompt := range slices.Sorted(maps.Keys(m.cases)) {
		if !strings.Contains(text, prompt) {
			continue
		}
		if strings.Contains(text, "\nCRITERION:\n") {
			return gateway.NewScriptedJudge(m.cases[prompt]).Turn(ctx, r)
		}
		own := *r
		own.Prompt = prompt
		for _, s := range append(slices.Clone(r.System), text) {
			if found := workingDirectory.FindStringSubmatch(s); found != nil {
				own.ProjectDir = found[1]
				break
			}
		}
		return m.scripted(prompt).Turn(ctx, &own)
	}
	return nil, fmt.Errorf("a conversation that holds the prompt of no task: %.200q", text)
}

func (m *manyTasks) scripted(prompt string) *gateway.Scripted {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.models[prompt] == nil {
		m.models[prompt] = gateway.NewScripted(m.cases[prompt])
	}
	return m.models[prompt]
}

// userText is all that the user's side of the conversation says.
func userText(r *gateway.Request) string {
	var b strings.Builder
	for _, msg := range r.Messages {
		for _, block := range msg.Blocks {
			if msg.Role != "assistant" && block.Kind == gateway.BlockText {
				b.WriteString(block.Text + "\n")
			}
		}
	}
	return b.String()
}
