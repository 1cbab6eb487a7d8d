//go:build unix

package treecopy

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The wanted digests were computed with the shell lines in Hash's comment (and,
// for the executable file, with the x put in by hand).
func TestHashVectors(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"empty", map[string]string{}, "4eb5c9e278aa20e6117ac0457e723dde9e32b1e433f9ec310128e8025ba5abca"},
		{"order of paths", map[string]string{"a/b": "1", "a-b": "2", "empty/": ""}, "79ddfe1e127a2525cd89a419f456645a28577383e4bd96c1d6be4059de591a8a"},
		{"executable", map[string]string{"run": "#!/bin/sh\n"}, "eca82cdff5539ad3e04c09780b5913b936313ea63eccd091c724d2e12e17f5cb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Hash(tree(t, tt.files), Options{})
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestHashDependsOnContentAlone(t *testing.T) {
	hash := func(dir string) string {
		h, err := Hash(dir, Options{})
		require.NoError(t, err)
		return h
	}
	files := map[string]string{"a": "1", "b": "#!", "d/c": "3"}
	base := hash(tree(t, files))
	t.Run("same", func(t *testing.T) {
		dir := tree(t, files)
		old := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
		require.NoError(t, os.Chtimes(filepath.Join(dir, "a"), old, old))
		require.NoError(t, os.Chmod(filepath.Join(dir, "a"), 0o666))
		require.NoError(t, os.Chmod(filepath.Join(dir, "b"), 0o700))
		require.NoError(t, os.Chmod(filepath.Join(dir, "d"), 0o700))
		assert.Equal(t, base, hash(dir))
		dst := filepath.Join(t.TempDir(), "copy")
		_, err := Copy(dst, dir, CopyOptions{ReadOnly: true})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, Remove(dst)) })
		assert.Equal(t, base, hash(dst), "a copy has the hash of its source")
	})
	for name, other := range map[string]map[string]string{
		"content":         {"a": "2", "b": "#!", "d/c": "3"},
		"executable":      {"a": "1", "b": "!#", "d/c": "3"},
		"renamed":         {"z": "1", "b": "#!", "d/c": "3"},
		"moved":           {"a": "1", "b": "#!", "c": "3", "d/": ""},
		"empty directory": {"a": "1", "b": "#!", "d/c": "3", "e/": ""},
		"empty file":      {"a": "1", "b": "#!", "d/c": "3", "e": ""},
		"missing":         {"a": "1", "b": "#!", "d/": ""},
	} {
		t.Run(name, func(t *testing.T) { assert.NotEqual(t, base, hash(tree(t, other))) })
	}
	t.Run("ignored", func(t *testing.T) {
		dir := tree(t, map[string]string{"a": "1", "b": "#!", "d/c": "3", "d/x": "9"})
		h, err := Hash(dir, Options{Ignore: func(rel string) bool { return rel == "d/x" }})
		require.NoError(t, err)
		assert.Equal(t, base, h)
	})
}

// Names with newlines must not make two trees look alike.
func TestHashNewlineNames(t *testing.T) {
	one := fmt.Sprintf("f - 1 %x b", sha256.Sum256([]byte("1")))
	a, err := Hash(tree(t, map[string]string{"a\n" + one: "1"}), Options{})
	require.NoError(t, err)
	b, err := Hash(tree(t, map[string]string{"a": "1", "b": "1"}), Options{})
	require.NoError(t, err)
	assert.NotEqual(t, a, b)
}
