package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.invalid"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// TestRelatives: what a repository shares its content with is found from its own files.
func TestRelatives(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	origin, clone, tree := filepath.Join(base, "origin"), filepath.Join(base, "clone"), filepath.Join(base, "tree")
	require.NoError(t, os.MkdirAll(filepath.Join(origin, "evals"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(origin, "evals", "f"), nil, 0o644))
	git(t, origin, "init", "-q")
	git(t, origin, "add", ".")
	git(t, origin, "commit", "-qm", "x")
	assert.Empty(t, Relatives(filepath.Join(origin, "evals")), "a repository alone has none")

	git(t, base, "clone", "-q", "--shared", origin, clone)
	git(t, clone, "worktree", "add", "-q", tree)
	assert.Equal(t, []string{origin, tree}, Relatives(filepath.Join(clone, "evals")), "origin (and its objects) and the linked worktree")
	assert.Empty(t, Relatives(filepath.Join(base)), "no repository, no relatives")
}

func TestCopyRoot(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for name, c := range map[string]struct{ file, want string }{
		"a plain copy of an evals root": {"copy/tasks/t/checks/c.rs", "copy"},
		"a file by itself":              {"elsewhere/c.rs", "elsewhere"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, []string{filepath.Join(base, c.want)}, CopyRoot(filepath.Join(base, c.file)))
		})
	}
}

// TestSurveyLooksEverywhere: also where no package puts a program.
func TestSurveyLooksEverywhere(t *testing.T) {
	const name = "planted-name-91bc"
	var want []string
	for _, parent := range []string{"/usr/libexec", "/usr/share/man", "/var/spool", "/var/opt", "/etc", "/srv", "/opt", "/"} {
		dir, err := os.MkdirTemp(parent, "proctor-survey-")
		if err != nil {
			t.Logf("not allowed to plant a file in %s: %v", parent, err)
			continue
		}
		defer os.RemoveAll(dir)
		want = append(want, filepath.Join(dir, name))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o755))
	}
	found, whole := Survey{Names: []string{name}, Limit: time.Minute}.Find()
	assert.True(t, whole)
	assert.ElementsMatch(t, want, found, "each once")
	_, whole = Survey{Names: []string{name}, Limit: time.Nanosecond}.Find()
	assert.False(t, whole, "one that was cut short says so")
}

func TestUsual(t *testing.T) {
	for path, want := range map[string]bool{
		"/opt/x": true, "/srv/a/b": true, "/data/x": true, "/usr/local/lib/x": true, "/var/opt/x": true, "/var/lib/x": true,
		"/usr/share/x": false, "/usr/localx/x": false, "/var/spool/x": false, "/etc/x": false,
	} {
		assert.Equal(t, want, Usual(path), path)
	}
}

// TestSurvey finds a planted file in a usual place, and not below what is skipped.
func TestSurvey(t *testing.T) {
	dir, err := os.MkdirTemp("/opt", "proctor-survey-")
	if err != nil {
		t.Logf("not allowed to plant a file in /opt: %v; the search itself is exercised", err)
		_, whole := Survey{Names: []string{"no-such-name-anywhere"}}.Find()
		assert.True(t, whole)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "a", "b", "planted-name-7f3a")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, nil, 0o755))
	link := filepath.Join(dir, "b", "planted-name-7f3a")
	require.NoError(t, os.Mkdir(filepath.Dir(link), 0o755))
	require.NoError(t, os.Symlink("/usr/bin/true", link))
	found, _ := Survey{Names: []string{"planted-name-7f3a"}}.Find()
	assert.Equal(t, []string{file, link}, found, "a link by that name counts: what it leads to is what is denied")
	found, _ = Survey{Names: []string{"planted-name-7f3a"}, Skip: []string{dir}}.Find()
	assert.Empty(t, found)
}
