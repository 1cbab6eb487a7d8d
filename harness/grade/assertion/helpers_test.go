package assertion

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/suite"
	"github.com/proctor-evals/proctor/harness/transcript"
)

// session is a transcript that was understood whole.
func session(turns ...transcript.Turn) *transcript.Transcript {
	return &transcript.Transcript{Turns: turns, Lines: 3, Understood: 3, Started: true, Completed: true}
}

// says is an assistant's turn with tool calls by name, their ids being their names.
func says(parent string, calls ...transcript.ToolCall) transcript.Turn {
	return transcript.Turn{Role: transcript.RoleAssistant, ParentID: parent, ToolCalls: calls}
}

func call(name string, status transcript.Status, input string) transcript.ToolCall {
	c := transcript.ToolCall{ID: name, Name: name, Status: status}
	if input != "" {
		c.Input = json.RawMessage(input)
	}
	return c
}

func load(skill string, state transcript.LoadState, how, id string) transcript.SkillLoad {
	return transcript.SkillLoad{Skill: skill, State: state, How: how, CallID: id}
}

// folder is a working directory with files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return dir
}

// one grades one assertion.
func one(t *testing.T, a Attempt, c suite.Check, tools Tools) Result {
	t.Helper()
	if a.Transcript == nil {
		a.Transcript = session()
	}
	if a.Cwd == "" {
		a.Cwd = t.TempDir()
	}
	results := Grade(t.Context(), a, []suite.Assertion{{Type: "t", Check: c, Raw: "raw"}}, tools)
	require.Len(t, results, 1)
	return results[0]
}

// The three outcomes of an assertion.
const (
	passes    = "pass"
	fails     = "fail"
	undecided = "undecided"
)

func outcome(r Result) string {
	switch {
	case r.Error != "":
		return undecided
	case r.Pass:
		return passes
	}
	return fails
}

func re(t *testing.T, expr string) *suite.Regexp {
	t.Helper()
	r, err := suite.Compile(expr)
	require.NoError(t, err)
	return r
}

func num(n int) *int { return &n }
