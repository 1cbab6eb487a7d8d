package suite

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Row I16.
func TestHygiene(t *testing.T) {
	dir := files{
		".gitignore":                              ".venv/\n*.pyc\n/evals/fixtures/kept/*\n",
		"pyproject.toml":                          "",
		"evals/suites/s/tasks/t.yaml":             "{prompt: x, setup: {fixture: used}}",
		"evals/suites/s/tasks/u.yaml":             "{prompt: x, setup: {fixture: kept}}",
		"evals/fixtures/used/proj/.venv/lib/a.py": "", "evals/fixtures/used/proj/.venv/b.pyc": "",
		"evals/fixtures/used/src/a.py": "", "evals/fixtures/used/src/a.pyc": "",
		"evals/fixtures/used/new":           "", // not added, and not ignored
		"evals/fixtures/used/empty/sub/":    "",
		"evals/fixtures/used/logs/.gitkeep": "",
		"evals/fixtures/kept/deep/wanted":   "",
		"evals/fixtures/kept/deep/other":    "",
		"evals/fixtures/unused/x.pyc":       "",
	}.write(t)
	p, err := Load(dir)
	require.NoError(t, err)
	selected, err := p.Select([]Spec{{"*", "", -1}}, Selection{})
	require.NoError(t, err)

	problems, err := p.Hygiene(t.Context(), selected.Cases)
	require.NoError(t, err)
	assert.Empty(t, problems, "outside a repository")

	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"add", "-f", "evals/fixtures/kept/deep/wanted"}} {
		out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	t.Setenv("GIT_DIR", filepath.Join(t.TempDir(), "none")) // another repository's
	problems, err = p.Hygiene(t.Context(), selected.Cases)
	require.NoError(t, err)
	var got []string
	for _, problem := range problems {
		got = append(got, problem.File)
	}
	assert.Equal(t, []string{
		"evals/fixtures/kept/deep/other", // beside something wanted
		"evals/fixtures/used/empty",
		"evals/fixtures/used/proj/.venv",
		"evals/fixtures/used/src/a.pyc",
	}, got)
	assert.Contains(t, problems.Error(), "evals/fixtures/used/proj/.venv: the fixture holds what git ignores, so other machines do not have it; remove it, or change the ignore rules")

	problems, err = p.Hygiene(t.Context(), selected.Cases[:0])
	require.NoError(t, err)
	assert.Empty(t, problems, "no fixture is used")
}
