package harness

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/task"
	"github.com/proctor-evals/proctor/harness/workspace"
)

// TestCopies: of the files a survey comes by, those are denied that give away a task's skill, a
// hidden check or cargo-agents, with the folder or repository they lie in.
func TestCopies(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	at := func(name string) string { return filepath.Join(base, filepath.FromSlash(name)) }
	skill := func(name string) string { return "---\nname: " + name + "\ndescription: d\n---\nbody\n" }
	for name, content := range map[string]string{
		"evals/plugins/guide/SKILL.md":   skill("careful"),
		"a/careful/SKILL.md":             skill("careful"),
		"b/renamed/SKILL.md":             skill("careful") + "and more\n",
		"c/other/SKILL.md":               skill("other"),
		"d/bad/SKILL.md":                 "no front matter",
		"repo/.git/HEAD":                 "x",
		"repo/skills/s/SKILL.md":         skill("careful"),
		"e/tasks/t/checks/hidden.rs":     "x",
		"f/cargo-agents":                 "x",
		"g/real/SKILL.md":                skill("careful"),
		"evals/tasks/t/checks/hidden.rs": "x",
		"z/hidden.rs":                    "y",
		"zz/hidden.rs":                   "x",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(at(name)), 0o755))
		require.NoError(t, os.WriteFile(at(name), []byte(content), 0o644))
	}
	require.NoError(t, os.MkdirAll(at("h/linked"), 0o755))
	require.NoError(t, os.Symlink(at("g/real/SKILL.md"), at("h/linked/SKILL.md")))
	e := &Engine{opts: Options{Evals: at("evals")}, tasks: []*task.Task{{
		Name: "t", Root: at("evals"), Plugins: []string{"guide"}, Checks: []task.Check{{Name: "hidden", File: at("evals/tasks/t/checks/hidden.rs")}},
	}}}
	assert.Equal(t, []string{"cargo-agents", "SKILL.md", "HEAD", "hidden.rs"}, e.tellingNames())
	for file, want := range map[string][]string{
		"a/careful/SKILL.md":         {"a/careful"},
		"b/renamed/SKILL.md":         {"b/renamed"},
		"c/other/SKILL.md":           nil,
		"d/bad/SKILL.md":             nil,
		"repo/skills/s/SKILL.md":     {"repo"},
		"repo/.git/HEAD":             nil,
		"e/tasks/t/checks/hidden.rs": {"e"},
		"f/cargo-agents":             {"f/cargo-agents"},
		"h/linked/SKILL.md":          {"h/linked", "g/real"},
	} {
		var paths []string
		for _, w := range want {
			paths = append(paths, at(w))
		}
		assert.Equal(t, paths, e.copies([]string{at(file)}), file)
	}
	assert.True(t, e.isCheck(at("zz/hidden.rs")))
	assert.False(t, e.isCheck(at("z/hidden.rs")), "in the system's folders a name is not enough")
	assert.False(t, e.isCheck(at("zz")))
	assert.True(t, Survey{Neighbours: true, Machine: true}.Whole())
	assert.False(t, Survey{Machine: true}.Whole())
	assert.False(t, Survey{Neighbours: true}.Whole())
}

// TestSurveyFinding: what was not as it should be around a trial stands in its result.
func TestSurveyFinding(t *testing.T) {
	s, err := workspace.OpenScratch(filepath.Join(t.TempDir(), "s"))
	require.NoError(t, err)
	b, err := s.NewBatch()
	require.NoError(t, err)
	defer b.Close()
	tool := filepath.Join(t.TempDir(), "tool")
	require.NoError(t, os.WriteFile(tool, []byte("tool"), 0o755))
	sum, err := fileSHA256(tool)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(s.Dir, "store"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(s.Dir, "store", sum), []byte("loot"), 0o555))
	_, err = b.Stage(workspace.Common, "tool", tool, sum)
	require.NoError(t, err)

	r := &Run{engine: &Engine{opts: Options{DenyRead: []string{tool, "/no-such"}}}, scratch: s, survey: Survey{Neighbours: true}}
	r.deniedOnce.Do(func() {})
	tr := &trial{Batch: &Batch{run: r}, rec: &result.Trial{}}
	tr.surveyFinding()
	var kinds []string
	for _, f := range tr.rec.Findings {
		kinds = append(kinds, f.Kind)
	}
	assert.Equal(t, []string{"deny_read", "store_changed", "survey"}, kinds)
}
