package task

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const goodToml = `kind = "capability"
description = "a sample"
prompt = """
Make the settings last.
"""
editable = ["src", "notes.md"]
fixtures = ["store"]
plugins = ["guide"]
fmt_check = true
trials = 3
tags = ["rust", "small"]
model_script = "model.toml"

[deadlines]
agent_secs = 60

[expected]
installed = ["store"]
used = ["store"]
not_used = ["other"]
hooks = ["SessionStart", "Stop"]
`

// base is a good evals root with one task.
func base() map[string]string {
	return map[string]string{
		"tasks/good/task.toml":            goodToml,
		"tasks/good/model.toml":           "version = 1\n",
		"tasks/good/starter/Cargo.toml":   "[package]\nname = \"starter\"\n",
		"tasks/good/starter/src/lib.rs":   "// todo\n",
		"tasks/good/checks/persist.rs":    "#[test]\nfn persists() {}\n",
		"tasks/good/checks/compiles.rs":   "#[test]\nfn compiles() {}\n",
		"tasks/good/solution/src/lib.rs":  "// done\n",
		"fixtures/store/Cargo.toml":       "[package]\nname = \"store\"\n",
		"fixtures/store/src/lib.rs":       "",
		"plugins/guide/SYMPOSIUM.toml":    "name = \"guide\"\n",
		"plugins/guide/skills/x/SKILL.md": "---\nname: store\n---\n",
	}
}

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		at := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
		require.NoError(t, os.WriteFile(at, []byte(content), 0o644))
	}
	return root
}

func TestLoad(t *testing.T) {
	root := write(t, base())
	got, err := Load(root, "good")
	require.NoError(t, err)
	dir := filepath.Join(root, "tasks", "good")
	hash := got.ContentHash
	got.ContentHash = ""
	assert.Equal(t, &Task{
		Name: "good", Root: root, Dir: dir, Kind: Capability, Description: "a sample", Prompt: "Make the settings last.\n",
		Editable: []string{"src", "notes.md"}, Fixtures: []string{"store"}, Plugins: []string{"guide"},
		FmtCheck: true, Trials: 3, Tags: []string{"rust", "small"},
		Deadlines:   Deadlines{2 * time.Minute, time.Minute, 5 * time.Minute},
		Expected:    Expected{[]string{"store"}, []string{}, []string{"store"}, []string{"other"}, []string{"SessionStart", "Stop"}},
		ModelScript: filepath.Join(dir, "model.toml"),
		Checks:      []Check{{"compiles", filepath.Join(dir, "checks", "compiles.rs")}, {"persist", filepath.Join(dir, "checks", "persist.rs")}},
		Starter:     filepath.Join(dir, "starter"), Solution: filepath.Join(dir, "solution"),
	}, got)
	assert.Equal(t, filepath.Join(root, "fixtures", "store"), got.FixtureDir("store"))
	assert.Equal(t, filepath.Join(root, "plugins", "guide"), got.PluginDir("guide"))
	assert.Len(t, hash, 64)
}

func TestLoadDefaults(t *testing.T) {
	files := base()
	for name := range files {
		if strings.Contains(name, "/solution/") || strings.Contains(name, "model.toml") || !strings.HasPrefix(name, "tasks/") {
			delete(files, name)
		}
	}
	files["tasks/good/task.toml"] = "kind = 'regression'\nprompt = 'x'\neditable = ['src']\n"
	got, err := Load(write(t, files), "good")
	require.NoError(t, err)
	assert.Equal(t, Regression, got.Kind)
	assert.Equal(t, 10, got.Trials)
	assert.Equal(t, Deadlines{120 * time.Second, 600 * time.Second, 300 * time.Second}, got.Deadlines)
	assert.Empty(t, got.Description)
	assert.False(t, got.FmtCheck)
	assert.False(t, got.EditableBuild)
	assert.Empty(t, got.ModelScript)
	assert.Empty(t, got.Solution)
	for _, list := range [][]string{got.Fixtures, got.Plugins, got.Tags, got.Expected.Installed, got.Expected.NotInstalled, got.Expected.Used, got.Expected.NotUsed, got.Expected.Hooks} {
		assert.Empty(t, list)
	}
}

// A checkout with Windows line ends, or an editor's byte order mark, changes
// nothing but the hash.
func TestLoadLineEnds(t *testing.T) {
	plain, err := Load(write(t, base()), "good")
	require.NoError(t, err)
	files := base()
	for name, content := range files {
		files[name] = strings.ReplaceAll(content, "\n", "\r\n")
	}
	files["tasks/good/task.toml"] = "\ufeff" + files["tasks/good/task.toml"]
	files["tasks/good/starter/Cargo.toml"] = "\ufeff" + files["tasks/good/starter/Cargo.toml"]
	other, err := Load(write(t, files), "good")
	require.NoError(t, err)
	assert.Equal(t, plain.Prompt, other.Prompt)
	assert.Equal(t, plain.Expected, other.Expected)

	files["tasks/good/task.toml"] = "\ufeffkind = \"capability\"\r\nprompt = \"x\"\r\neditable = [\r\n  \"src\",\r\n  \"../x\",\r\n]\r\n"
	_, err = Load(write(t, files), "good")
	require.ErrorContains(t, err, "task.toml:5:3: editable path")
}

func TestLoadAll(t *testing.T) {
	files := base()
	for name, content := range base() {
		if rest, ok := strings.CutPrefix(name, "tasks/good/"); ok {
			files["tasks/another/"+rest] = content
			files["tasks/broken/"+rest] = content
		}
	}
	files["tasks/README.md"] = "not a task"
	files["tasks/.hidden/x"] = "not a task"
	root := write(t, files)
	all, err := LoadAll(root)
	require.NoError(t, err)
	require.Len(t, all, 3)
	assert.Equal(t, "another", all[0].Name)
	assert.Equal(t, all[0].ContentHash, all[1].ContentHash, "the name is not part of the hash")

	require.NoError(t, os.Remove(filepath.Join(root, "tasks", "broken", "starter", "Cargo.toml")))
	require.NoError(t, os.WriteFile(filepath.Join(root, "tasks", "another", "task.toml"), []byte("kind = 1"), 0o644))
	require.NoError(t, os.Symlink("good", filepath.Join(root, "tasks", "linked")))
	all, err = LoadAll(root)
	var problems Problems
	require.ErrorAs(t, err, &problems)
	require.Len(t, all, 1, "the good ones are still there")
	assert.Equal(t, "good", all[0].Name)
	assert.Contains(t, err.Error(), "tasks/another/task.toml:1:1: kind must be a string, not an integer")
	assert.Contains(t, err.Error(), "tasks/broken/starter/Cargo.toml: the file is missing")
	assert.Contains(t, err.Error(), `tasks/linked/task.toml:1: the file cannot be read: "." is a symbolic link`)

	_, err = Load(root, "god")
	var unknown *UnknownTaskError
	require.ErrorAs(t, err, &unknown)
	assert.Equal(t, []string{"another", "broken", "good", "linked"}, unknown.Known)
	assert.Equal(t, fmt.Sprintf(`there is no task "god" in %s; did you mean "good"?; the tasks are another, broken, good, linked`, filepath.Join(root, "tasks")), err.Error())
	for _, name := range []string{"", "..", "../tasks/good", "good/", "README.md", "GOOD\n"} {
		_, err = Load(root, name)
		assert.ErrorAs(t, err, &unknown, "%q", name)
	}
}

func TestNoTasks(t *testing.T) {
	root := t.TempDir()
	all, err := LoadAll(root)
	require.NoError(t, err)
	assert.Empty(t, all)
	_, err = Load(root, "x")
	assert.ErrorContains(t, err, "holds no tasks")
	_, err = LoadAll(filepath.Join(root, "nosuch"))
	assert.ErrorContains(t, err, "PROCTOR_EVALS")
}

// Each archive in testdata/problems is laid over the good evals root; a file
// whose content is "absent" is taken away. Its section "want" holds the problems
// as printed. PROCTOR_UPDATE=1 rewrites them.
func TestProblems(t *testing.T) {
	archives, err := filepath.Glob("testdata/problems/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, archives)
	for _, archive := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(archive), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(archive)
			require.NoError(t, err)
			files, want := base(), ""
			for _, f := range ar.Files {
				switch content := string(f.Data); {
				case f.Name == "want":
					want = content
				case content == "absent\n":
					require.Contains(t, files, f.Name)
					delete(files, f.Name)
				default:
					files[f.Name] = content
				}
			}
			all, err := LoadAll(write(t, files))
			var problems Problems
			require.ErrorAs(t, err, &problems)
			assert.Empty(t, all)
			got := problems.Error() + "\n"
			if os.Getenv("PROCTOR_UPDATE") != "" {
				ar.Files = slices.DeleteFunc(ar.Files, func(f txtar.File) bool { return f.Name == "want" })
				ar.Files = append(ar.Files, txtar.File{Name: "want", Data: []byte(got)})
				require.NoError(t, os.WriteFile(archive, txtar.Format(ar), 0o644))
				return
			}
			assert.Equal(t, want, got)
		})
	}
}

func TestLinksAreProblems(t *testing.T) {
	root := write(t, base())
	for _, link := range []string{"tasks/good/starter/src/link.rs", "tasks/good/checks/link.rs", "fixtures/store/link", "plugins/guide/link", "tasks/good/solution/link"} {
		require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(root, filepath.FromSlash(link))))
	}
	require.NoError(t, os.Symlink("store", filepath.Join(root, "fixtures", "alias")))
	toml := strings.Replace(goodToml, `["store"]`, `["store", "alias"]`, 1)
	require.NoError(t, os.WriteFile(filepath.Join(root, "tasks", "good", "task.toml"), []byte(toml), 0o644))
	_, err := Load(root, "good")
	const why = ": this is a symbolic link; only readable regular files and folders are used: replace or remove it\n"
	require.Error(t, err)
	assert.Contains(t, err.Error(), "fixtures/alias: ")
	assert.Contains(t, err.Error(), `"." is a symbolic link`)
	for _, link := range []string{"fixtures/store/link", "plugins/guide/link", "tasks/good/checks/link.rs", "tasks/good/solution/link", "tasks/good/starter/src/link.rs"} {
		assert.Contains(t, err.Error()+"\n", link+why)
	}
}

func TestSuiteOfTheSameName(t *testing.T) {
	files := base()
	files["suites/good/suite.yaml"] = ""
	_, err := Load(write(t, files), "good")
	assert.EqualError(t, err, "tasks/good: a suite has the same name; rename the task or suites/good")
}

// The vector ties the combination down: it is computed here from the documented
// lines, with the folders' hashes from the shell lines in treecopy.Hash's comment.
func TestContentHash(t *testing.T) {
	load := func(change func(files map[string]string)) string {
		files := base()
		change(files)
		got, err := Load(write(t, files), "good")
		require.NoError(t, err)
		return got.ContentHash
	}
	first := load(func(map[string]string) {})
	lines := "proctor task content 1\n" +
		"task be26efa1ffb9cef38cbfba1fb86998b749c5fd9c886fe1ce35bb20976128006c\n" +
		"fixture store d0dedb34cf905439bcdeb409b642da457721a75d3e678a2bd1230d85bec90056\n" +
		"plugin guide 29e9bef50e9b93872a8e4c62bdff45f8abbf6bf4067bd6f92d26993e4730879b\n"
	assert.Equal(t, fmt.Sprintf("%x", sha256.Sum256([]byte(lines))), first)
	assert.Equal(t, first, load(func(map[string]string) {}))
	for name := range base() {
		assert.NotEqual(t, first, load(func(files map[string]string) { files[name] += "\n# more\n" }), name)
	}
	assert.Equal(t, first, load(func(files map[string]string) { files["plugins/unused/SKILL.md"] = "x" }))
}

func TestNamesRule(t *testing.T) {
	for _, good := range []string{"a", "store-durability", "a1", "1a", "com10", "console", strings.Repeat("a", 64)} {
		assert.Empty(t, badName(good), good)
	}
	for _, bad := range []string{"", "-a", "a-", "A", "a_b", "a.b", "a/b", "..", "con", "nul", "com1", "lpt9", "é", "a b", "a\n", strings.Repeat("a", 65)} {
		assert.NotEmpty(t, badName(bad), "%q", bad)
	}
}

func TestKnownKeysAreAllUsed(t *testing.T) {
	// Each documented key must be accepted: a key in the table that values() does
	// not read would be silently ignored.
	toml := goodToml + "not_installed = []\n"
	toml = strings.Replace(toml, "[deadlines]\n", "editable_build = true\n[deadlines]\nsetup_secs = 1\ngrading_secs = 604800\n", 1)
	s, problems := parse("f", []byte(toml))
	require.Empty(t, problems)
	assert.Equal(t, Deadlines{time.Second, time.Minute, 7 * 24 * time.Hour}, s.deadlines)
	assert.True(t, s.editableBuild)
	keys := slices.Concat(topKeys, deadlineKeys, expectedKeys)
	for key := range maps.Keys(s.at.spans) {
		parts := strings.Split(key, "\x00")
		last := parts[len(parts)-1]
		if !strings.HasPrefix(last, "[") {
			assert.Contains(t, keys, last)
			keys = slices.DeleteFunc(keys, func(k string) bool { return k == last })
		}
	}
	assert.Empty(t, keys, "not covered above")
}
