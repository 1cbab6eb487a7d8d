package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// committed makes a repository with one commit of its own.
func committed(t *testing.T, dir string) {
	t.Helper()
	files(t, dir, map[string]string{"evals/tasks/t/checks/c.rs": dir})
	git(t, dir, "init", "-q", "-b", "trunk")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", dir)
}

// TestRepositoryShares: clones of one history are told from other repositories, bare or not, by
// what their files say.
func TestRepositoryShares(t *testing.T) {
	base := realTemp(t)
	at := func(name string) string { return filepath.Join(base, name) }
	committed(t, at("origin"))
	committed(t, at("other"))
	git(t, base, "clone", "-q", "--bare", at("origin"), at("bare.git"))
	git(t, base, "clone", "-q", "--mirror", at("origin"), at("mirror.git"))
	git(t, base, "clone", "-q", at("origin"), at("clone"))
	git(t, base, "clone", "-q", "--bare", at("other"), at("otherbare.git"))
	// A clone whose names all stand for other commits is known by where it came from, or by the log
	// of what the names stood for.
	git(t, base, "clone", "-q", at("bare.git"), at("older"))
	git(t, at("older"), "remote", "remove", "origin")
	git(t, at("origin"), "commit", "-q", "--allow-empty", "-m", "later")
	require.NoError(t, os.MkdirAll(at("fake/objects"), 0o755))
	require.NoError(t, os.WriteFile(at("fake/HEAD"), []byte("no repository"), 0o644))

	r := RepositoryOf(at("origin/evals"))
	for head, want := range map[string]bool{
		"bare.git/HEAD": true, "mirror.git/HEAD": true, "clone/.git/HEAD": true, "older/.git/HEAD": true, "origin/.git/HEAD": true,
		"other/.git/HEAD": false, "otherbare.git/HEAD": false, "fake/HEAD": false, "nothing/HEAD": false,
	} {
		assert.Equal(t, want, r.Shares(at(head)), head)
	}
	assert.False(t, RepositoryOf(base).Shares(at("bare.git/HEAD")), "no repository, no relatives")
	assert.Equal(t, []string{at("clone"), at("bare.git")}, []string{WorkTree(at("clone/.git")), WorkTree(at("bare.git"))})
}

// TestNeighbours: what lies beside the checkout of an evals root is found, repositories and plain
// copies, and nothing else.
func TestNeighbours(t *testing.T) {
	base := realTemp(t)
	at := func(name string) string { return filepath.Join(base, name) }
	files(t, base, map[string]string{
		"main/.git/HEAD": "x", "main/evals/tasks/t/checks/c.rs": "x",
		"copy/tasks/t/checks/c.rs":        "x",
		"copy2/evals/tasks/t/checks/c.rs": "x",
		"clone/.git/HEAD":                 "x",
		"worktree/.git":                   "gitdir: /x",
		"bare.git/HEAD":                   "x", "bare.git/objects/": "", "bare.git/refs/": "",
		"backup/deep.git/HEAD": "x", "backup/deep.git/objects/": "", "backup/deep.git/refs/": "",
		"innocent/src/lib.rs": "x",
		"tasks/list":          "x",
		"file":                "x",
		"link":                "-> main",
	})
	want := []string{at("backup/deep.git"), at("bare.git"), at("clone"), at("copy"), at("copy2"), at("worktree")}
	found, whole := Neighbours(at("main/evals"))
	assert.Equal(t, want, found)
	assert.True(t, whole)

	found, _ = Neighbours(at("copy"))
	assert.Contains(t, found, at("main"), "an evals root that is in no repository has neighbours too")

	for i := range maxNeighbours {
		files(t, base, map[string]string{fmt.Sprintf("more%03d/.git/HEAD", i): "x"})
	}
	found, whole = Neighbours(at("main/evals"))
	assert.Len(t, found, maxNeighbours)
	assert.False(t, whole, "more than are looked at is said")
}
