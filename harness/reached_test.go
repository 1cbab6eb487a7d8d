package harness

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/task"
	"github.com/proctor-evals/proctor/harness/transcript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestExcludeIfReached: content that only stands in a hidden check or an undelivered skill, or what
// only cargo-agents prints, excludes; naming it, a denied read and code that agrees by chance do not.
func TestExcludeIfReached(t *testing.T) {
	tk, err := task.Load("..", "store-durability")
	require.NoError(t, err)
	check, err := os.ReadFile(tk.Checks[0].File)
	require.NoError(t, err)
	skill, err := os.ReadFile("../plugins/store-guide/skills/fixture-store/SKILL.md")
	require.NoError(t, err)
	starter, err := os.ReadFile(filepath.Join(tk.Starter, "src/lib.rs"))
	require.NoError(t, err)
	numbered := func(b []byte) string {
		var out strings.Builder
		for i, line := range strings.Split(string(b), "\n") {
			out.WriteString(strings.Repeat(" ", 3) + string(rune('1'+i%9)) + "\t" + line + "\n")
		}
		return out.String()
	}
	written, err := json.Marshal(map[string]string{"file_path": "tests/mine.rs", "content": string(check)})
	require.NoError(t, err)

	const base, staged, with = plan.WithoutSymposium, plan.StagedSkills, plan.WithSymposium
	for name, c := range map[string]struct {
		configuration, output, input string
		status                       transcript.Status
		want                         string
	}{
		"a check read by cat":               {base, string(check), `{"command":"cat x"}`, transcript.StatusOK, "the hidden check settings_persist was read"},
		"a check read with line numbers":    {staged, numbered(check), `{}`, transcript.StatusOK, "the hidden check settings_persist was read"},
		"a check read with a colon":         {staged, strings.ReplaceAll(strings.ReplaceAll(numbered(check), "   ", ""), "\t", ": "), `{}`, transcript.StatusOK, "the hidden check settings_persist was read"},
		"a command cut off after it":        {base, string(check), `{"command":"cat x; sleep 99"}`, transcript.StatusAborted, "the hidden check settings_persist was read"},
		"a part of a check":                 {base, strings.Join(strings.Split(string(check), "\n")[15:24], "\n"), `{}`, transcript.StatusOK, "the hidden check settings_persist was read"},
		"a failing command that printed it": {base, string(check), `{"command":"cat x; false"}`, transcript.StatusError, "the hidden check settings_persist was read"},
		"the skill in a baseline":           {base, string(skill), `{}`, transcript.StatusOK, "the skill fixture-store was read"},
		"the skill's head in a baseline":    {base, strings.Join(strings.Split(string(skill), "\n")[:10], "\n"), `{}`, transcript.StatusOK, "the skill fixture-store was read"},
		"the skill where it is delivered":   {staged, string(skill), `{}`, transcript.StatusOK, ""},
		"what cargo-agents prints":          {base, "cargo-agents 0.5.1\n", `{}`, transcript.StatusOK, "finding"},
		"cargo-agents with Symposium":       {with, "cargo-agents 0.5.1\n", `{}`, transcript.StatusOK, ""},
		"cargo-agents only named":           {base, "sh: 1: cargo-agents: not found", `{"command":"cargo-agents --version"}`, transcript.StatusOK, ""},
		"a denied read":                     {base, "cat: /x/tasks/store-durability/checks/settings_persist.rs: No such file or directory", `{"command":"cat /x/tasks/store-durability/checks/settings_persist.rs"}`, transcript.StatusOK, ""},
		"what the agent was given":          {base, string(starter), `{}`, transcript.StatusOK, ""},
		"what the agent wrote itself":       {base, string(check), string(written), transcript.StatusOK, ""},
		"a line or two that agree":          {base, "use std::path::Path;\nuse app_settings::Settings;\nlet _ = fs::remove_dir_all(&dir);", `{}`, transcript.StatusOK, ""},
		"a call that never ran":             {base, string(check), `{}`, transcript.StatusDenied, ""},
	} {
		t.Run(name, func(t *testing.T) {
			confs, err := plan.Lookup(c.configuration)
			require.NoError(t, err)
			tr := &trial{
				Batch: &Batch{Task: tk, run: &Run{engine: &Engine{opts: Options{Evals: ".."}}}},
				plan:  plan.Trial{Configuration: confs[0]}, rec: &result.Trial{},
				transcript: &transcript.Transcript{Turns: []transcript.Turn{{ToolCalls: []transcript.ToolCall{{
					ID: "t1", Name: "Bash", Input: json.RawMessage(c.input), Output: c.output, Status: c.status,
				}}}}},
			}
			require.NoError(t, tr.excludeIfReached())
			if c.want == "finding" {
				assert.Nil(t, tr.rec.Excluded, "a line anyone can print excludes nothing")
				require.Len(t, tr.rec.Findings, 1)
				assert.Equal(t, "may_have_reached", tr.rec.Findings[0].Kind)
				return
			}
			if c.want == "" {
				assert.Nil(t, tr.rec.Excluded)
				assert.Empty(t, tr.rec.Findings)
				return
			}
			require.NotNil(t, tr.rec.Excluded)
			assert.Equal(t, result.Exclusion{Kind: result.ExcludedIsolation, Cause: c.want}, *tr.rec.Excluded)
			assert.Len(t, tr.rec.Findings, 1)
		})
	}
}

// TestReachedThenWritten: what the agent writes after it read a secret is a copy, and hides nothing;
// what it wrote before is its own.
func TestReachedThenWritten(t *testing.T) {
	tk, err := task.Load("..", "store-durability")
	require.NoError(t, err)
	check, err := os.ReadFile(tk.Checks[0].File)
	require.NoError(t, err)
	skill, err := os.ReadFile("../plugins/store-guide/skills/fixture-store/SKILL.md")
	require.NoError(t, err)
	for name, text := range map[string][]byte{"check": check, "skill": skill} {
		input, err := json.Marshal(map[string]string{"file_path": "tests/mine.rs", "content": string(text)})
		require.NoError(t, err)
		read := transcript.ToolCall{ID: "r", Name: "Bash", Input: json.RawMessage(`{"command":"cat x"}`), Output: string(text), Status: transcript.StatusOK}
		write := transcript.ToolCall{ID: "w", Name: "Write", Input: input, Output: "ok", Status: transcript.StatusOK}
		for order, calls := range map[string][]transcript.ToolCall{"read, then written": {read, write}, "written, then read": {write, read}} {
			t.Run(name+" "+order, func(t *testing.T) {
				confs, err := plan.Lookup(plan.WithoutSymposium)
				require.NoError(t, err)
				tr := &trial{
					Batch: &Batch{Task: tk, run: &Run{engine: &Engine{opts: Options{Evals: ".."}}}},
					plan:  plan.Trial{Configuration: confs[0]}, rec: &result.Trial{},
					transcript: &transcript.Transcript{Turns: []transcript.Turn{{ToolCalls: calls[:1]}, {ToolCalls: calls[1:]}}},
				}
				require.NoError(t, tr.excludeIfReached())
				assert.Equal(t, calls[0].ID == "r", tr.rec.Excluded != nil)
			})
		}
	}
}

// TestWrittenInAnySpelling: what the agent wrote is its own however its client spells it: as a patch, within
// a command, or in the session file alone, where the stream tells of an edit without its text.
func TestWrittenInAnySpelling(t *testing.T) {
	tk, err := task.Load("..", "store-durability")
	require.NoError(t, err)
	skill, err := os.ReadFile("../plugins/store-guide/skills/fixture-store/SKILL.md")
	require.NoError(t, err)
	object := func(key, text string) json.RawMessage {
		b, err := json.Marshal(map[string]string{key: text})
		require.NoError(t, err)
		return b
	}
	patch := "*** Begin Patch\n*** Add File: src/mine.rs\n+" + strings.ReplaceAll(string(skill), "\n", "\n+") + "\n*** End Patch"
	named := json.RawMessage(`{"changes":[{"path":"src/mine.rs","kind":"add"}]}`)
	for name, c := range map[string]struct {
		write transcript.ToolCall
		own   bool
	}{
		"a patch":                {transcript.ToolCall{Input: object("input", patch)}, true},
		"a patch in a command":   {transcript.ToolCall{Input: object("command", "apply_patch <<'EOF'\n"+patch+"\nEOF")}, true},
		"escaped in a command":   {transcript.ToolCall{Input: object("command", "printf '"+strings.ReplaceAll(string(skill), "\n", `\n`)+"' >src/mine.rs")}, true},
		"in the session file":    {transcript.ToolCall{Input: named, Session: object("input", patch)}, true},
		"only named (a control)": {transcript.ToolCall{Input: named}, false},
	} {
		t.Run(name, func(t *testing.T) {
			confs, err := plan.Lookup(plan.WithoutSymposium)
			require.NoError(t, err)
			c.write.ID, c.write.Name, c.write.Status = "w", "write", transcript.StatusOK
			tr := &trial{
				Batch: &Batch{Task: tk, run: &Run{engine: &Engine{opts: Options{Evals: ".."}}}},
				plan:  plan.Trial{Configuration: confs[0]}, rec: &result.Trial{},
				transcript: &transcript.Transcript{Turns: []transcript.Turn{{ToolCalls: []transcript.ToolCall{
					c.write, {ID: "r", Name: "shell", Input: object("command", "cat src/mine.rs"), Output: string(skill), Status: transcript.StatusOK},
				}}}},
			}
			require.NoError(t, tr.excludeIfReached())
			assert.Equal(t, c.own, tr.rec.Excluded == nil)
		})
	}
}
