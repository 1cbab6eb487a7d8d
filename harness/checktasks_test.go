package harness

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/task"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

func loadTask(t *testing.T, root, name string) *task.Task {
	t.Helper()
	loaded, err := task.Load(root, name)
	require.NoError(t, err)
	return loaded
}

// TestSubmissions looks at what each submission of a task check leaves of the project, beside what
// the sandbox makes of it.
func TestSubmissions(t *testing.T) {
	tk := loadTask(t, "../testdata/broken", "good")
	starter := map[string]string{"Cargo.toml": "", "Cargo.lock": "", "src/lib.rs": "    0\n"}
	with := func(more map[string]string) map[string]string {
		out := maps.Clone(starter)
		maps.Copy(out, more)
		return out
	}
	want := map[string]map[string]string{
		"solution":          with(map[string]string{"src/lib.rs": "    42\n"}),
		"untouched starter": starter,
		"empty submission":  {},
		"starter, tests and build settings replaced":         with(map[string]string{"tests/answers.rs": "fn passes", ".cargo/config.toml": "runner", "rust-toolchain.toml": "1.0.0"}),
		"starter that exits with 0":                          with(map[string]string{"src/lib.rs": "exit(0)"}),
		"starter that prints a passed test and exits with 0": with(map[string]string{"src/lib.rs": `running 1 test\n`}),
	}
	got := submissions(tk)
	assert.Len(t, got, len(want))
	for i, s := range got {
		assert.Equal(t, i == 0, s.mustPass, s.name)
		dir := t.TempDir()
		require.NoError(t, s.make(tk, dir), s.name)
		require.Contains(t, want, s.name)
		entries, err := treecopy.List(dir, treecopy.Options{})
		require.NoError(t, err)
		var files []string
		for _, e := range entries {
			if e.Kind == treecopy.File {
				files = append(files, e.Path)
				content, err := os.ReadFile(filepath.Join(dir, e.Path))
				require.NoError(t, err)
				assert.Contains(t, string(content), want[s.name][e.Path], "%s: %s", s.name, e.Path)
			}
		}
		slices.Sort(files)
		assert.Equal(t, slices.Sorted(maps.Keys(want[s.name])), files, s.name)
	}

	tk.Solution = ""
	for _, s := range submissions(tk) {
		assert.False(t, s.mustPass, s.name)
	}
}

func TestEditableSource(t *testing.T) {
	starter := t.TempDir()
	for rel, content := range map[string]string{"Cargo.toml": "[lib]\npath = \"./lib/root.rs\"\n", "lib/root.rs": "", "lib/a.rs": "", "src/b.rs": "", "src/notes.md": ""} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(starter, rel)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(starter, rel), []byte(content), 0o644))
	}
	for editable, want := range map[string]string{".": "lib/root.rs", "lib": "lib/root.rs", "lib/a.rs": "lib/a.rs", "src": "src/b.rs", "src/notes.md": "", "sr": ""} {
		assert.Equal(t, want, editableSource(&task.Task{Starter: starter, Editable: []string{editable}}), editable)
	}
}

// TestCheckTasksFiles is the part of a check that runs nothing.
func TestCheckTasksFiles(t *testing.T) {
	check := func(names ...string) ([]*TaskCheck, error) {
		return CheckTasks(t.Context(), CheckOptions{Options: Options{Evals: "../testdata/broken"}, Tasks: names, Static: true})
	}
	checks, err := check("good", "swallows", "quotes-skill")
	require.NoError(t, err)
	require.Len(t, checks, 3)
	good, swallows, quotes := checks[0], checks[1], checks[2]
	assert.True(t, good.Good(), good.Problems)
	assert.Empty(t, good.NotProved)
	assert.False(t, swallows.Good())
	assert.NotEmpty(t, swallows.NotProved, "it cannot be built as it is")
	assert.False(t, quotes.Good())
	assert.Empty(t, quotes.NotProved, "a prompt does not keep a task from being tried")
	for _, p := range swallows.Problems {
		assert.True(t, strings.HasPrefix(p.File, "tasks/swallows/") || strings.HasPrefix(p.File, "fixtures/store/"), p.File)
	}

	// A plugin's problems are told once, with the first task that names it.
	checks, err = check("broken-plugin", "never-installed")
	require.NoError(t, err)
	assert.Contains(t, checks[0].Problems.Error(), "plugins/broken/SYMPOSIUM.toml")
	assert.NotContains(t, checks[1].Problems.Error(), "plugins/broken")

	_, err = check("nosuch")
	var usage *UsageError
	require.ErrorAs(t, err, &usage)
	var unknown *task.UnknownTaskError
	require.ErrorAs(t, err, &unknown)
	_, err = CheckTasks(t.Context(), CheckOptions{Options: Options{Evals: t.TempDir()}, Static: true})
	require.ErrorAs(t, err, &usage)
}

// TestProofs maps what was graded to what is said of the task.
func TestProofs(t *testing.T) {
	tk := &task.Task{Name: "x"}
	for name, tt := range map[string]struct {
		proof Proof
		good  bool
		want  string // of the problem, where there is one
	}{
		"solution passes":        {Proof{Submission: "solution", MustPass: true, Passed: true}, true, ""},
		"solution fails":         {Proof{Submission: "solution", MustPass: true, Reason: "build: exit code 101"}, false, "tasks/x/solution: the solution does not pass: build: exit code 101; correct it, or the check"},
		"starter fails":          {Proof{Submission: untouched, Reason: "r"}, true, ""},
		"starter passes":         {Proof{Submission: untouched, Passed: true}, false, "tasks/x/checks: the untouched starter passes, so an agent who does nothing would succeed; add a check for what the prompt asks for"},
		"tampered passes":        {Proof{Submission: "empty submission", Passed: true}, false, "tasks/x/checks: empty submission: this passes; "},
		"not graded":             {Proof{Submission: untouched, Infrastructure: "no sandbox"}, false, ""},
		"solution is not graded": {Proof{Submission: "solution", MustPass: true, Infrastructure: "no sandbox"}, false, ""},
	} {
		c := &TaskCheck{Task: tk, Proofs: []Proof{tt.proof}}
		assert.Equal(t, tt.good, tt.proof.Good(), name)
		assert.Equal(t, tt.good, c.Good(), name)
		assert.Equal(t, tt.proof.Infrastructure != "", c.Broken() != "", name)
		if tt.want == "" {
			assert.Empty(t, c.All(), "%s: the machine's fault is no problem of the task", name)
			continue
		}
		require.Len(t, c.All(), 1, name)
		assert.True(t, strings.HasPrefix(c.All()[0].String(), tt.want), c.All()[0].String())
	}
}
