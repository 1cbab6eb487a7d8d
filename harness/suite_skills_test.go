package harness

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/suite"
)

func lay(t *testing.T, dir string, files ...string) {
	t.Helper()
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(f), 0o644))
	}
}

// TestStageSkills: the skills of a configuration lie in the client's folder; what is taken away is
// nowhere, also where a fixture brought it.
func TestStageSkills(t *testing.T) {
	src := t.TempDir()
	lay(t, src, "a/SKILL.md", "a/more/x.md", "b/SKILL.md")
	skills := []suite.Skill{{Name: "a", Dir: filepath.Join(src, "a")}, {Name: "b", Dir: filepath.Join(src, "b")}}
	for name, row := range map[string]struct {
		configuration  string
		excluded       []string
		staged         []string
		there, notHere []string
	}{
		"all": {plan.WithSkills, nil, []string{"a", "b"},
			[]string{".claude/skills/a/more/x.md", ".claude/skills/b/SKILL.md", ".claude/skills/own/SKILL.md", ".github/skills/a/SKILL.md"}, nil},
		"without one": {plan.WithoutSkill, []string{"plugin:a"}, []string{"b"},
			[]string{".claude/skills/b/SKILL.md", ".claude/skills/own/SKILL.md"}, []string{".claude/skills/a", ".github/skills/a"}},
		"none": {plan.NoSkills, []string{"a", "b"}, []string{}, []string{"keep.txt"}, []string{".claude/skills/a", ".claude/skills/own", ".github/skills/a"}},
	} {
		t.Run(name, func(t *testing.T) {
			project := t.TempDir()
			lay(t, project, "keep.txt", ".claude/skills/own/SKILL.md", ".github/skills/a/SKILL.md", "empty/.gitkeep")
			staged, err := stageSkillsOf(project, ".claude/skills", row.configuration, skills, row.excluded)
			require.NoError(t, err)
			assert.Equal(t, row.staged, staged)
			for _, f := range row.there {
				assert.FileExists(t, filepath.Join(project, f))
			}
			for _, f := range row.notHere {
				assert.NoDirExists(t, filepath.Join(project, f))
			}
			require.NoError(t, removeKeepers(project))
			assert.DirExists(t, filepath.Join(project, "empty"))
			assert.NoFileExists(t, filepath.Join(project, "empty", ".gitkeep"))
		})
	}
}
