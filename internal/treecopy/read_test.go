//go:build unix

package treecopy

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadFile(t *testing.T) {
	dir := tree(t, map[string]string{"a": "12345", "d/odd\nname": "x", "empty": "", "d/e/f": "deep"})
	tests := []struct {
		rel       string
		max       int64
		want      string
		truncated bool
	}{
		{"a", 10, "12345", false},
		{"a", 5, "12345", false},
		{"a", 4, "1234", true},
		{"a", 0, "", true},
		{"a", 1<<63 - 1, "12345", false},
		{"empty", 0, "", false},
		{"d/odd\nname", 10, "x", false},
		{"d/e/f", 10, "deep", false},
	}
	for _, tt := range tests {
		data, truncated, err := ReadFile(dir, tt.rel, tt.max)
		require.NoError(t, err, "%q", tt.rel)
		assert.Equal(t, tt.want, string(data), "%q max %d", tt.rel, tt.max)
		assert.Equal(t, tt.truncated, truncated, "%q max %d", tt.rel, tt.max)
	}
	_, _, err := ReadFile(dir, "a", -1)
	assert.ErrorContains(t, err, "negative")
	_, _, err = ReadFile(dir, "nosuch", 1)
	assert.ErrorIs(t, err, fs.ErrNotExist)
	_, _, err = ReadFile(dir, "d/nosuch/x", 1)
	assert.ErrorIs(t, err, fs.ErrNotExist)
	var entry *EntryError
	_, _, err = ReadFile(dir, "d", 1)
	require.ErrorAs(t, err, &entry)
	assert.Equal(t, EntryError{Path: "d", Kind: Directory}, *entry)
	_, _, err = ReadFile(dir, "a/x", 1)
	require.ErrorAs(t, err, &entry)
	assert.Equal(t, EntryError{Path: "a", Kind: File}, *entry)
	for _, rel := range []string{"", ".", "..", "/a", "a/", "d//e/f", "./a", "d/../a", "../tree/a", "a\x00"} {
		_, _, err := ReadFile(dir, rel, 1)
		assert.ErrorContains(t, err, "not a clean relative path", "%q", rel)
	}
}

func TestReadFileHostile(t *testing.T) {
	for _, h := range hostile {
		if h.wantContent != "" {
			continue
		}
		t.Run(h.name, func(t *testing.T) {
			dir := tree(t, map[string]string{"good": "good"})
			h.make(t, dir, filepath.Join(dir, "bad"))
			data, truncated, err := ReadFile(dir, "bad", 4)
			if h.kind == TooLarge { // the cap makes it harmless
				require.NoError(t, err)
				assert.Equal(t, "\x00\x00\x00\x00", string(data))
				assert.True(t, truncated)
			} else {
				var entry *EntryError
				require.ErrorAs(t, err, &entry)
				assert.Equal(t, h.kind, entry.Kind)
				assert.Empty(t, data)
			}
			data, _, err = ReadFile(dir, "good", 4)
			require.NoError(t, err)
			assert.Equal(t, "good", string(data))
		})
	}
	t.Run("link in the middle", func(t *testing.T) {
		dir := tree(t, map[string]string{"real/f": "x"})
		require.NoError(t, os.Symlink("real", filepath.Join(dir, "d")))
		var entry *EntryError
		_, _, err := ReadFile(dir, "d/f", 4)
		require.ErrorAs(t, err, &entry)
		assert.Equal(t, EntryError{Path: "d", Kind: Symlink}, *entry)
		_, _, err = ReadFile(dir, "real/f", 4)
		assert.NoError(t, err)
	})
	t.Run("dir is a link", func(t *testing.T) {
		dir := tree(t, map[string]string{"f": "x"})
		link := filepath.Join(t.TempDir(), "link")
		require.NoError(t, os.Symlink(dir, link))
		_, _, err := ReadFile(link, "f", 4)
		assert.ErrorContains(t, err, `"." is a symbolic link`)
	})
	t.Run("a source may be hard linked", func(t *testing.T) {
		dir := tree(t, map[string]string{"f": "x"})
		require.NoError(t, os.Link(filepath.Join(dir, "f"), filepath.Join(dir, "g")))
		_, _, err := ReadFile(dir, "f", 4)
		assert.ErrorContains(t, err, "more than one hard link")
		data, _, err := ReadSource(dir, "f", 4)
		require.NoError(t, err)
		assert.Equal(t, "x", string(data))
	})
}

// What lstat saw may be something else when it is opened. These call the second
// half of the guard alone, with what the first half would have seen.
func TestSwapBetweenLookAndOpen(t *testing.T) {
	dir := tree(t, map[string]string{"file": "x", "other": "secret", "d/f": "x", "e/f": "secret"})
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	file, err := root.Lstat("file")
	require.NoError(t, err)
	d, err := root.Lstat("d")
	require.NoError(t, err)
	swaps := map[string]func(at string) error{
		"link":      func(at string) error { return os.Symlink("other", at) },
		"file":      func(at string) error { return os.WriteFile(at, []byte("secret"), 0o600) },
		"fifo":      func(at string) error { return syscall.Mkfifo(at, 0o600) },
		"directory": func(at string) error { return os.Mkdir(at, 0o700) },
		"dir link":  func(at string) error { return os.Symlink("e", at) },
		"nothing":   func(string) error { return nil },
	}
	kept := filepath.Join(dir, "kept")
	for name, swap := range swaps {
		for what, info := range map[string]fs.FileInfo{"file": file, "d": d} {
			at := filepath.Join(dir, what)
			require.NoError(t, os.Rename(at, kept)) // keeps the inode number taken
			require.NoError(t, swap(at))
			var err error
			if what == "file" {
				_, err = openFile(root, what, what, info, false)
			} else {
				_, _, err = openDir(root, what, what, info, false)
			}
			var entry *EntryError
			require.ErrorAs(t, err, &entry, "%s became %s", what, name)
			assert.Equal(t, Changed, entry.Kind, "%s became %s", what, name)
			require.NoError(t, os.RemoveAll(at))
			require.NoError(t, os.Rename(kept, at))
		}
	}
	f, err := openFile(root, "file", "file", file, false)
	require.NoError(t, err)
	f.Close()
	sub, _, err := openDir(root, "d", "d", d, false)
	require.NoError(t, err)
	sub.Close()
}

func FuzzReadFile(f *testing.F) {
	for _, s := range []string{"in", "d/in", "../outside", "d/../../outside", "link", "d/link/x", "/etc/passwd", "d//in", "a\x00b", "\xff", "d/up", "up/outside"} {
		f.Add(s)
	}
	base := f.TempDir()
	dir := filepath.Join(base, "tree")
	require.NoError(f, os.MkdirAll(filepath.Join(dir, "d"), 0o755))
	for name, content := range map[string]string{"outside": "secret", "tree/in": "in", "tree/d/in": "in"} {
		require.NoError(f, os.WriteFile(filepath.Join(base, name), []byte(content), 0o644))
	}
	require.NoError(f, os.Symlink("../outside", filepath.Join(dir, "link")))
	require.NoError(f, os.Symlink("..", filepath.Join(dir, "up")))
	require.NoError(f, os.Symlink("../in", filepath.Join(dir, "d", "up")))
	f.Fuzz(func(t *testing.T, rel string) {
		data, _, err := ReadFile(dir, rel, 100)
		if err == nil && (string(data) != "in" || (rel != "in" && rel != "d/in")) {
			t.Errorf("%q read %q", rel, data)
		}
		if parts, err := split(rel); err == nil && strings.Join(parts, "/") != rel {
			t.Errorf("%q split into %q", rel, parts)
		}
	})
}
