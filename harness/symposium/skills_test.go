package symposium

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const skillText = "---\nname: %s\ndescription: About it.\n---\nBody.\n"

func skillMD(name string) string { return strings.ReplaceAll(skillText, "%s", name) }

// write makes files below dir, by slash path.
func write(t testing.TB, dir string, files map[string]string) string {
	t.Helper()
	for rel, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(rel))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	return dir
}

func TestSkills(t *testing.T) {
	manifest := func(paths ...string) string {
		s := "name = \"p\"\ndepends-on = [\"x\"]\n"
		for _, p := range paths {
			s += "[[skills]]\nsource.path = '" + p + "'\n"
		}
		return s
	}
	tests := map[string]struct {
		files map[string]string
		want  map[string]string // skill → folder
		err   string
	}{
		"by its manifest": {map[string]string{"SYMPOSIUM.toml": manifest("skills"), "skills/a/SKILL.md": skillMD("a"), "skills/deep/er/b/SKILL.md": skillMD("b"), "other/c/SKILL.md": skillMD("c")},
			map[string]string{"a": "skills/a", "b": "skills/deep/er/b"}, ""},
		"two groups, one inside the other": {map[string]string{"SYMPOSIUM.toml": manifest("skills", "skills/a"), "skills/a/SKILL.md": skillMD("a")}, map[string]string{"a": "skills/a"}, ""},
		"without a manifest":               {map[string]string{"SKILL.md": skillMD("whole")}, map[string]string{"whole": ""}, ""},
		"the front matter names it":        {map[string]string{"folder/SKILL.md": skillMD("other-name")}, map[string]string{"other-name": "folder"}, ""},
		"CRLF and a byte order mark":       {map[string]string{"a/SKILL.md": "\xef\xbb\xbf" + strings.ReplaceAll(skillMD("a"), "\n", "\r\n")}, map[string]string{"a": "a"}, ""},
		"blank lines before":               {map[string]string{"a/SKILL.md": "\n\n" + skillMD("a")}, map[string]string{"a": "a"}, ""},
		"a git source is left out":         {map[string]string{"SYMPOSIUM.toml": manifest("skills") + "[[skills]]\nsource.git = 'https://git.example/x'\n", "skills/a/SKILL.md": skillMD("a")}, map[string]string{"a": "skills/a"}, ""},
		"no skills at all":                 {map[string]string{"README": "x"}, map[string]string{}, ""},
		"manifest without skills":          {map[string]string{"SYMPOSIUM.toml": "name = 'p'\n", "skills/a/SKILL.md": skillMD("a")}, map[string]string{}, ""},

		"path leaves the plugin":   {map[string]string{"SYMPOSIUM.toml": manifest("../other")}, nil, `"../other" leaves the plugin's folder`},
		"absolute path":            {map[string]string{"SYMPOSIUM.toml": manifest("/etc")}, nil, `"/etc" leaves the plugin's folder`},
		"path is not there":        {map[string]string{"SYMPOSIUM.toml": manifest("none")}, nil, "none"},
		"manifest is not TOML":     {map[string]string{"SYMPOSIUM.toml": "name ="}, nil, "SYMPOSIUM.toml"},
		"two skills of one name":   {map[string]string{"a/SKILL.md": skillMD("same"), "b/SKILL.md": skillMD("same")}, nil, `the skill "same" is also in`},
		"no front matter":          {map[string]string{"a/SKILL.md": "# Title\n"}, nil, "no front matter"},
		"front matter not closed":  {map[string]string{"a/SKILL.md": "---\nname: a\ndescription: d\n"}, nil, "no front matter"},
		"empty file":               {map[string]string{"a/SKILL.md": ""}, nil, "no front matter"},
		"no name":                  {map[string]string{"a/SKILL.md": "---\ndescription: d\n---\n"}, nil, "name and description are required"},
		"no description":           {map[string]string{"a/SKILL.md": "---\nname: a\n---\n"}, nil, "name and description are required"},
		"front matter not YAML":    {map[string]string{"a/SKILL.md": "---\nname: [a\n---\n"}, nil, "front matter"},
		"name is a list":           {map[string]string{"a/SKILL.md": "---\nname: [a]\ndescription: d\n---\n"}, nil, "front matter"},
		"name is a path":           {map[string]string{"a/SKILL.md": skillMD("../../x")}, nil, "not a folder name"},
		"name is the folder above": {map[string]string{"a/SKILL.md": skillMD("..")}, nil, "not a folder name"},
		"too large":                {map[string]string{"a/SKILL.md": skillMD("a") + strings.Repeat("x", maxSkillFile)}, nil, "larger than"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := write(t, t.TempDir(), tt.files)
			got, err := Skills(dir)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				assert.ErrorContains(t, err, filepath.Base(dir), "it says where")
				return
			}
			require.NoError(t, err)
			found := map[string]string{}
			for _, s := range got {
				rel, err := filepath.Rel(dir, s.Dir)
				require.NoError(t, err)
				if rel == "." {
					rel = ""
				}
				found[s.Name] = filepath.ToSlash(rel)
				assert.Equal(t, "About it.", s.Description)
			}
			assert.Equal(t, tt.want, found)
		})
	}
	_, err := Skills(filepath.Join(t.TempDir(), "none"))
	assert.Error(t, err)
}

func FuzzFrontMatter(f *testing.F) {
	for _, s := range []string{skillMD("a"), "---\r\nname: a\r\n---", "---\n---\n", "\xef\xbb\xbf---\nname: &a [*a]\n---\n", "---\nname: ../x\ndescription: d\n---", ""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if split, err := SplitFrontMatter(data); err == nil {
			require.GreaterOrEqual(t, split.Line, 2)
			require.LessOrEqual(t, split.Line, 2+strings.Count(string(data), "\n"))
			require.LessOrEqual(t, len(split.YAML)+len(split.Body), len(data))
		}
		head, err := ReadFrontMatter(data)
		if err != nil {
			return
		}
		require.NotEmpty(t, head.Description)
		require.Equal(t, filepath.Base(head.Name), head.Name)
		require.NotContains(t, []string{"", ".", ".."}, head.Name)
		require.NotContains(t, head.Name, "/")
	})
}
