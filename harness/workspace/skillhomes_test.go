package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// files writes files below dir; a name that ends in / is a folder, a content "-> x" a link to x.
func files(t *testing.T, dir string, tree map[string]string) {
	t.Helper()
	for name, content := range tree {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		var target string
		switch n, _ := fmt.Sscanf(content, "-> %s", &target); {
		case name[len(name)-1] == '/':
			require.NoError(t, os.MkdirAll(path, 0o755))
		case n == 1:
			require.NoError(t, os.Symlink(target, path))
		default:
			require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
		}
	}
}

func realTemp(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}

// TestSkillHomes: where a user keeps skills is found, in the home and out of it, also through links
// and through the settings that name it.
func TestSkillHomes(t *testing.T) {
	base := realTemp(t)
	home, far := filepath.Join(base, "home"), filepath.Join(base, "far")
	files(t, base, map[string]string{
		"home/.claude/skills/own/SKILL.md":             "x",
		"home/.claude/skills/linked":                   "-> " + far + "/single/skill",
		"home/.claude/skills/broken":                   "-> " + far + "/nothing",
		"home/.agents/skills":                          "-> " + far + "/whole",
		"home/.codex/config.toml":                      "model = \"x\"\n[[registry]]\nname = \"n\"\n",
		"home/.claude/plugins/linked":                  "-> " + far + "/repo/plugins/p",
		"home/.claude/plugins/known_marketplaces.json": `{"m":{"source":{"source":"directory","path":"` + far + `/market"},"installLocation":"` + far + `/market","more":["relative",7,null]}}`,
		"home/.symposium/config.toml":                  "[[registry]]\nname = \"a\"\npath = \"" + far + "/registry\"\n[[registry]]\nname = \"g\"\ngit = \"https://x.invalid\"\n",
		"moved/config.toml":                            "[[plugin-source]]\nname = \"a\"\npath = \"../far/older\"\n",
		"home/.config/symposium/config.toml":           "not toml [",
		"far/single/skill/SKILL.md":                    "x",
		"far/whole/s/SKILL.md":                         "x",
		"far/repo/.git/HEAD":                           "x",
		"far/repo/plugins/p/SKILL.md":                  "x",
		"far/market/plugin/SKILL.md":                   "x",
		"far/registry/p/SYMPOSIUM.toml":                "x",
		"far/older/p/SYMPOSIUM.toml":                   "x",
		"far/innocent/x":                               "x",
	})
	got := SkillHomes(home, func(name string) string {
		return map[string]string{"SYMPOSIUM_HOME": filepath.Join(base, "moved"), "CODEX_HOME": filepath.Join(base, "codex"), "XDG_CONFIG_HOME": "relative"}[name]
	})
	for _, want := range []string{
		"home/.claude", "home/.codex", "home/.agents", "home/.config/opencode", "home/.copilot", "home/.symposium", "moved", "codex",
		"far/single/skill", "far/whole", "far/repo", "far/repo/plugins/p", "far/market", "far/registry", "far/older",
	} {
		assert.Contains(t, got, filepath.Join(base, filepath.FromSlash(want)))
	}
	assert.NotContains(t, got, filepath.Join(far, "innocent"))
	assert.NotContains(t, got, "relative/opencode")
	for _, p := range got {
		assert.True(t, filepath.IsAbs(p), p)
	}
	// What lies in a denied region is denied already, and nothing a sandbox needs ever is.
	assert.Equal(t, []string{filepath.Join(base, "far/repo"), filepath.Join(base, "far/whole")},
		NotIn([]string{filepath.Join(home, ".claude"), filepath.Join(far, "repo"), filepath.Join(far, "repo/plugins/p"), filepath.Join(home, ".agents/skills"), "/usr", "/", filepath.Join(base, "none")}, []string{home}))
	assert.ElementsMatch(t, skillSystem, SkillHomes("", func(string) string { return "" }), "without a home, the machine's own are left")
}
