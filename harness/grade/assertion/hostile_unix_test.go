//go:build unix

package assertion

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/grade/judge"
	"github.com/proctor-evals/proctor/harness/suite"
)

// What an agent left in place of a file is neither followed nor waited for.
func TestHostileFiles(t *testing.T) {
	secret := filepath.Join(folder(t, map[string]string{"secret": "canary"}), "secret")
	dir := folder(t, map[string]string{"plain": "canary"})
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.Symlink(secret, at("link")))
	require.NoError(t, os.Symlink("plain", at("inner-link")))
	require.NoError(t, os.Symlink(filepath.Dir(secret), at("linked")))
	require.NoError(t, os.Symlink("loop", at("loop")))
	require.NoError(t, syscall.Mkfifo(at("fifo"), 0o600))
	require.NoError(t, os.Link(secret, at("hard")))
	require.NoError(t, os.WriteFile(at("sparse"), nil, 0o600))
	require.NoError(t, os.Truncate(at("sparse"), 1<<40))

	control := one(t, Attempt{Cwd: dir}, suite.FileContains{Path: "plain", Pattern: "canary"}, Tools{})
	assert.Equal(t, passes, outcome(control))
	for name, reason := range map[string]string{
		"link": "a symbolic link", "inner-link": "a symbolic link", "linked/secret": "a symbolic link", "loop": "a symbolic link",
		"fifo": "a FIFO", "hard": "more than one hard link",
	} {
		t.Run(name, func(t *testing.T) {
			for _, c := range []suite.Check{suite.FileExists{Path: name}, suite.FileContains{Path: name, Pattern: "canary"}, suite.JSONPath{Path: name, Query: "$"}} {
				r := one(t, Attempt{Cwd: dir}, c, Tools{})
				assert.Equal(t, fails, outcome(r), "%T", c)
				assert.Contains(t, r.Reason, reason, "%T", c)
			}
		})
	}
	t.Run("sparse", func(t *testing.T) {
		assert.Equal(t, passes, outcome(one(t, Attempt{Cwd: dir}, suite.FileExists{Path: "sparse"}, Tools{})))
		assert.Equal(t, fails, outcome(one(t, Attempt{Cwd: dir}, suite.FileContains{Path: "sparse", Pattern: "x"}, Tools{})))
		assert.Equal(t, fails, outcome(one(t, Attempt{Cwd: dir}, suite.JSONPath{Path: "sparse", Query: "$"}, Tools{})))
	})
	t.Run("judge_agent", func(t *testing.T) {
		// The hash covers what is left out of the copy, and needs none of it.
		before, err := cwdHash(dir)
		require.NoError(t, err)
		again, err := cwdHash(dir)
		require.NoError(t, err)
		assert.Equal(t, before, again)
		require.NoError(t, os.Remove(at("fifo")))
		require.NoError(t, os.Symlink("plain", at("fifo")))
		after, err := cwdHash(dir)
		require.NoError(t, err)
		assert.NotEqual(t, before, after)
		tools := Tools{Judge: judge.Panel{Ask: answers("VERDICT: YES")}}
		assert.Equal(t, passes, outcome(one(t, Attempt{Cwd: dir}, suite.Judge{Criterion: "c", Agent: true}, tools)))
	})
}

func TestFileThatMayNotBeRead(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	dir := folder(t, map[string]string{"closed": "x"})
	require.NoError(t, os.Chmod(filepath.Join(dir, "closed"), 0))
	assert.Equal(t, passes, outcome(one(t, Attempt{Cwd: dir}, suite.FileExists{Path: "closed"}, Tools{})))
	assert.Equal(t, fails, outcome(one(t, Attempt{Cwd: dir}, suite.FileContains{Path: "closed", Pattern: "x"}, Tools{})))
}
