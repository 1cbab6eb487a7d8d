//go:build unix

package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/internal/treecopy"
)

func TestRemoveLeftovers(t *testing.T) {
	b := newBatch(t)
	starter := write(t, t.TempDir(), map[string]string{"src/lib.rs": "x", ".bashrc": "", ".vscode/settings.json": "{}"})
	r, err := b.NewRun(Layout{Starter: starter, EmptyDirs: []string{".claude/skills"}})
	require.NoError(t, err)
	write(t, r.Path("project"), map[string]string{
		".gitconfig": "", ".mcp.json": "{\"own\":1}", ".zshrc": "", ".claude/commands/c.md": "own", "empty.rs": "",
	})
	require.NoError(t, os.Chmod(r.Path("project", ".gitconfig"), 0o444))
	for _, d := range []string{".idea", ".claude/agents"} {
		require.NoError(t, os.Mkdir(r.Path("project", d), 0o555))
	}
	require.NoError(t, os.Symlink("src/lib.rs", r.Path("project", ".profile")))
	r.RemoveLeftovers(starter)
	for _, gone := range []string{".gitconfig", ".zshrc", ".idea", ".claude/agents"} {
		assert.NoFileExists(t, r.Path("project", gone))
		assert.NoDirExists(t, r.Path("project", gone))
	}
	for _, kept := range []string{".bashrc", ".vscode/settings.json", ".mcp.json", ".claude/commands/c.md", "empty.rs", "src/lib.rs", ".profile"} {
		_, err := os.Lstat(r.Path("project", kept))
		assert.NoError(t, err, kept)
	}
	assert.DirExists(t, r.Path("project", ".claude/skills"))
}

// A link in the project must not lead the runner's hand out of it.
func TestRemoveLeftoversFollowsNoLink(t *testing.T) {
	b := newBatch(t)
	starter := write(t, t.TempDir(), map[string]string{"f": "x"})
	outside := write(t, t.TempDir(), map[string]string{"commands": "", "config": ""})
	r, err := b.NewRun(Layout{Starter: starter})
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(outside, "agents"), 0o755))
	require.NoError(t, os.Symlink(outside, r.Path("project", ".claude")))
	require.NoError(t, os.Symlink(outside, r.Path("project", ".git")))
	write(t, r.Path("project"), map[string]string{"own/commands": ""})
	r.RemoveLeftovers(starter)
	require.NoError(t, os.Remove(r.Path("project", ".claude")))
	require.NoError(t, os.Symlink("own", r.Path("project", ".claude")))
	r.RemoveLeftovers(starter)
	assert.FileExists(t, r.Path("project", "own", "commands"), "nor to a file of the trial's")
	assert.FileExists(t, filepath.Join(outside, "commands"))
	assert.FileExists(t, filepath.Join(outside, "config"))
	assert.DirExists(t, filepath.Join(outside, "agents"))
}

func TestCaptureOfAHostileTree(t *testing.T) {
	b := newBatch(t)
	starter := write(t, t.TempDir(), map[string]string{"src/lib.rs": "x"})
	r, err := b.NewRun(Layout{Starter: starter})
	require.NoError(t, err)
	project := r.Path("project")
	write(t, project, map[string]string{"src/lib.rs": "changed", "target/debug/big": "not kept", "src/target/f": "kept", "locked/f": "kept", "a\nb\x1b[31m": "odd"})
	special(t, project)
	outside := write(t, t.TempDir(), map[string]string{"secret": "s3cret"})
	require.NoError(t, os.Link(filepath.Join(outside, "secret"), filepath.Join(project, "hard")))
	require.NoError(t, os.Symlink(outside, filepath.Join(project, "dirlink")))
	require.NoError(t, os.Chmod(filepath.Join(project, "locked", "f"), 0o000))
	require.NoError(t, os.Chmod(filepath.Join(project, "locked"), 0o000))
	defer os.Chmod(filepath.Join(project, "locked"), 0o700)

	dst := filepath.Join(t.TempDir(), "submission")
	s, err := r.Capture(dst)
	require.NoError(t, err)
	kinds := map[string]treecopy.Kind{}
	for _, e := range s.Report.Skipped {
		kinds[e.Path] = e.Kind
	}
	assert.Equal(t, map[string]treecopy.Kind{"link": treecopy.Symlink, "fifo": treecopy.FIFO, "hard": treecopy.HardLink, "dirlink": treecopy.Symlink}, kinds)
	assert.NoDirExists(t, filepath.Join(dst, "target"))
	for rel, want := range map[string]string{"src/lib.rs": "changed", "src/target/f": "kept", "locked/f": "kept", "a\nb\x1b[31m": "odd"} {
		data, err := os.ReadFile(filepath.Join(dst, rel))
		require.NoError(t, err)
		assert.Equal(t, want, string(data))
	}
}

func TestKeep(t *testing.T) {
	b := newBatch(t)
	r, err := b.NewRun(Layout{Starter: write(t, t.TempDir(), map[string]string{"f": "x"})})
	require.NoError(t, err)
	write(t, r.Path("evidence"), map[string]string{"hook-trace.jsonl": "{}", "sub/stop.jsonl": "{}"})
	special(t, r.Path("evidence"))
	dst := filepath.Join(t.TempDir(), "evidence")
	skipped, err := r.Keep(dst, "evidence")
	require.NoError(t, err)
	assert.ElementsMatch(t, []treecopy.Entry{{Path: "link", Kind: treecopy.Symlink}, {Path: "fifo", Kind: treecopy.FIFO}}, skipped)
	assert.FileExists(t, filepath.Join(dst, "sub", "stop.jsonl"))
	skipped, err = r.Keep(filepath.Join(t.TempDir(), "none"), "no-such")
	require.NoError(t, err)
	assert.Empty(t, skipped)
}

func TestEditsOutside(t *testing.T) {
	starter := write(t, t.TempDir(), map[string]string{
		"src/lib.rs": "a", "src/other.rs": "a", "Cargo.toml": "a", "README": "a", "gone.txt": "a", "srcs/f": "a",
	})
	submission := write(t, t.TempDir(), map[string]string{
		"src/lib.rs": "b", "src/other.rs": "a", "src/new.rs": "n", "Cargo.toml": "b", "README": "a", "srcs/f": "b", "target/x": "t",
		"Cargo.lock": "l", ".claude/skills/s/SKILL.md": "s", ".claude/own": "o", "tests/t.rs": "t",
	})
	got, err := EditsOutside(starter, submission, []string{"src"}, []string{"Cargo.lock", ".claude/skills"})
	require.NoError(t, err)
	assert.Equal(t, []string{"added .claude/own", "added tests/t.rs", "changed Cargo.toml", "changed srcs/f", "deleted gone.txt"}, got)

	got, err = EditsOutside(starter, submission, []string{"."}, nil)
	require.NoError(t, err)
	assert.Empty(t, got, "the whole project is editable")
	same, err := EditsOutside(starter, starter, []string{"src"}, nil)
	require.NoError(t, err)
	assert.NotNil(t, same)
	assert.Empty(t, same)
	_, err = EditsOutside(starter, filepath.Join(starter, "none"), nil, nil)
	assert.Error(t, err)
}
