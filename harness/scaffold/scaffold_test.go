package scaffold

import (
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/suite"
	"github.com/proctor-evals/proctor/harness/symposium"
	"github.com/proctor-evals/proctor/harness/task"
)

// writeSkill makes DIR/skills/NAME/SKILL.md.
func writeSkill(t *testing.T, dir, name, description string) string {
	t.Helper()
	head, err := yaml.Marshal(map[string]string{"name": name, "description": description})
	require.NoError(t, err)
	file := filepath.Join(dir, "skills", name, "SKILL.md")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte("---\n"+string(head)+"---\nText.\n"), 0o644))
	return file
}

// check loads what was made as a run would.
func check(t *testing.T, made *Made, description string) {
	t.Helper()
	p, err := suite.Load(made.Evals)
	require.NoError(t, err, "%q", description)
	require.Len(t, p.Suites, 1)
	skills, err := p.Skills()
	require.NoError(t, err)
	require.Len(t, skills, 1)
	assert.Equal(t, made.Skill, skills[0].Name)
	for _, task := range p.Suites[0].Tasks {
		script, err := gateway.LoadScript(task.ModelScript)
		require.NoError(t, err)
		if task.Kind == suite.Trigger {
			step := script.Steps[0]
			cases, err := p.Select([]suite.Spec{{Suite: made.Suite, Task: task.Name, Case: -1}}, suite.Selection{})
			require.NoError(t, err)
			require.Len(t, cases.Cases, 2)
			for _, c := range cases.Cases {
				assert.Equal(t, c.Positive, step.WhenPrompt.MatchString(c.Prompt), "%q", c.Prompt)
			}
		}
	}
	if made.Task == "" {
		return
	}
	tasks, err := task.LoadAll(made.Evals)
	require.NoError(t, err)
	require.Len(t, tasks, 1)
	found, err := symposium.Skills(filepath.Join(made.Evals, "plugins", made.Skill))
	require.NoError(t, err)
	require.Len(t, found, 1)
	_, err = gateway.LoadScript(tasks[0].ModelScript)
	require.NoError(t, err)
}

func TestMake(t *testing.T) {
	for name, description := range map[string]string{
		"plain":     "Formats tables. Use it for tables.",
		"quotes":    `Says "a", 'b', """c""" and '''d''' # e: {f} [g] \h %s %d`,
		"lines":     "One.\nTwo\n\n---\n- three: four",
		"long":      "é漢 " + string(longText()),
		"one blank": " x ",
		"specials":  "$(rm -rf /) `x` * ^ ( [ + ? | \t tab",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := writeSkill(t, dir, "the-skill", description)
			made, err := Make(Options{Skill: file, Dir: dir, Task: true})
			require.NoError(t, err)
			check(t, made, description)
		})
	}
}

func longText() (b []byte) {
	for range 1000 {
		b = append(b, "and so on "...)
	}
	return b
}

// FuzzMake: a description that a skill may have makes files that load.
func FuzzMake(f *testing.F) {
	f.Add("Formats tables. Use it.")
	f.Add(`"\'#{}[]: & * ! | > % @` + "`\u2028\u0085\x7f")
	f.Fuzz(func(t *testing.T, description string) {
		if !utf8.ValidString(description) {
			return
		}
		dir := t.TempDir()
		file := writeSkill(t, dir, "the-skill", description)
		if _, err := symposium.ReadSkill(file); err != nil {
			return
		}
		made, err := Make(Options{Skill: file, Dir: dir, Task: true})
		require.NoError(t, err)
		check(t, made, description)
	})
}

func TestMakeRefuses(t *testing.T) {
	dir := t.TempDir()
	file := writeSkill(t, dir, "Big", "x")
	_, err := Make(Options{Skill: file, Dir: dir})
	require.ErrorContains(t, err, `the name "Big" cannot be a suite's`)
	file = writeSkill(t, dir, "fine", "x")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "evals", "suites", "fine-suite"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "evals", "suites", "fine-suite", "suite.yml"), []byte("mine"), 0o644))
	_, err = Make(Options{Skill: file, Dir: dir})
	require.ErrorContains(t, err, "suites/fine-suite/suite.yml")
	assert.NoFileExists(t, filepath.Join(dir, "evals", "config.yaml"))
}

// A project of Python's names the skills from its own top.
func TestMakeInPython(t *testing.T) {
	dir := t.TempDir()
	file := writeSkill(t, dir, "the-skill", "x")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pyproject.toml"), []byte("[project]\nname = \"x\"\n"), 0o644))
	made, err := Make(Options{Skill: file, Dir: dir})
	require.NoError(t, err)
	check(t, made, "x")
}
