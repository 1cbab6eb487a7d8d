//go:build unix

package treecopy

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCopyPlain(t *testing.T) {
	files := map[string]string{"a": "1", "dir/b": "22", "dir/deep/run": "#!/bin/sh", "empty/": "", "odd\nname": "x", "caf\xe9": "y"}
	src := tree(t, files)
	require.NoError(t, os.Chmod(filepath.Join(src, "a"), 0o666|os.ModeSetuid))
	for _, readOnly := range []bool{false, true} {
		dst := filepath.Join(t.TempDir(), "new", "dst")
		t.Cleanup(func() { require.NoError(t, Remove(dst)) })
		rep, err := Copy(dst, src, CopyOptions{ReadOnly: readOnly})
		require.NoError(t, err)
		assert.Equal(t, Report{Files: 5, Bytes: 1 + 2 + 9 + 1 + 1}, rep)
		want := map[string]string{"dir/": "", "dir/deep/": ""}
		for k, v := range files {
			want[k] = v
		}
		assert.Equal(t, want, contents(t, dst))
		modes := map[string]fs.FileMode{".": 0o755, "a": 0o644, "dir": 0o755, "dir/deep/run": 0o755}
		if readOnly {
			modes = map[string]fs.FileMode{".": 0o555, "a": 0o444, "dir": 0o555, "dir/deep/run": 0o555}
		}
		for name, mode := range modes {
			info, err := os.Lstat(filepath.Join(dst, name))
			require.NoError(t, err)
			assert.Equal(t, mode, info.Mode()&^fs.ModeDir, "%s, read-only %v", name, readOnly)
		}
	}
}

func TestCopyIgnore(t *testing.T) {
	src := tree(t, map[string]string{"src/lib.rs": "1", "target/debug/x": "2", "src/target": "3"})
	require.NoError(t, os.Symlink("nowhere", filepath.Join(src, "target", "link")))
	dst := filepath.Join(t.TempDir(), "dst")
	rep, err := Copy(dst, src, CopyOptions{Options: Options{Ignore: func(rel string) bool { return rel == "target" }}})
	require.NoError(t, err, "an ignored link is no error")
	assert.Equal(t, 2, rep.Files)
	assert.Equal(t, map[string]string{"src/": "", "src/lib.rs": "1", "src/target": "3"}, contents(t, dst))
}

func TestCopyHostile(t *testing.T) {
	for _, h := range hostile {
		t.Run(h.name, func(t *testing.T) {
			src := tree(t, map[string]string{"good": "good", "sub/good": "good"})
			h.make(t, src, filepath.Join(src, "sub", "bad"))
			before, err := os.Lstat(filepath.Join(src, "sub", "bad"))
			require.NoError(t, err)

			dst := filepath.Join(t.TempDir(), "dst")
			rep, err := Copy(dst, src, CopyOptions{Options: Options{Untrusted: true}})
			require.NoError(t, err)
			want := map[string]string{"good": "good", "sub/": "", "sub/good": "good"}
			if h.wantContent != "" {
				want["sub/bad"] = h.wantContent
				assert.Empty(t, rep.Skipped)
				info, err := os.Stat(filepath.Join(dst, "sub", "bad"))
				require.NoError(t, err)
				assert.Equal(t, fs.FileMode(0o644), info.Mode(), "the odd mode is not kept")
			} else {
				assert.Equal(t, []Entry{{"sub/bad", h.kind}}, rep.Skipped)
			}
			assert.Equal(t, want, contents(t, dst))
			after, err := os.Lstat(filepath.Join(src, "sub", "bad"))
			require.NoError(t, err)
			assert.Equal(t, before.Mode(), after.Mode(), "the source keeps its mode")
		})
	}
}

func TestCopyTrustedRefuses(t *testing.T) {
	for _, h := range hostile {
		if h.wantContent != "" || h.kind == HardLink {
			continue // whether these can be read depends on the user; see TestUser
		}
		t.Run(h.name, func(t *testing.T) {
			src := tree(t, map[string]string{"good": "good"})
			h.make(t, src, filepath.Join(src, "bad"))
			dst := filepath.Join(t.TempDir(), "dst")
			_, err := Copy(dst, src, CopyOptions{})
			var bad *TreeError
			require.ErrorAs(t, err, &bad)
			assert.Equal(t, []Entry{{"bad", h.kind}}, bad.Entries)
			assert.Contains(t, err.Error(), `"bad" is `+h.kind.Phrase())
			assert.Equal(t, map[string]string{"good": "good"}, contents(t, dst))

			_, err = Hash(src, Options{})
			require.ErrorAs(t, err, &bad)
			assert.Equal(t, []Entry{{"bad", h.kind}}, bad.Entries)
		})
	}
	t.Run("hard links are fine", func(t *testing.T) {
		src := tree(t, map[string]string{"good": "good"})
		require.NoError(t, os.Link(filepath.Join(src, "good"), filepath.Join(src, "twin")))
		dst := filepath.Join(t.TempDir(), "dst")
		_, err := Copy(dst, src, CopyOptions{})
		require.NoError(t, err)
		assert.Equal(t, map[string]string{"good": "good", "twin": "good"}, contents(t, dst))
	})
}

func TestCopyDirectoriesOfMode000(t *testing.T) {
	for _, mode := range []fs.FileMode{0, 0o444, 0o111} {
		src := tree(t, map[string]string{"d/e/f": "x"})
		require.NoError(t, os.Chmod(filepath.Join(src, "d", "e"), mode))
		require.NoError(t, os.Chmod(filepath.Join(src, "d"), mode))
		require.NoError(t, os.Chmod(src, mode))
		dst := filepath.Join(t.TempDir(), "dst")
		rep, err := Copy(dst, src, CopyOptions{Options: Options{Untrusted: true}})
		require.NoError(t, err)
		assert.Empty(t, rep.Skipped)
		assert.Equal(t, map[string]string{"d/": "", "d/e/": "", "d/e/f": "x"}, contents(t, dst))
		for _, name := range []string{".", "d", "d/e"} {
			info, err := os.Lstat(filepath.Join(src, name))
			require.NoError(t, err)
			assert.Equal(t, mode, info.Mode().Perm(), "%s keeps its mode", name)
			require.NoError(t, os.Chmod(filepath.Join(src, name), 0o700)) // so that the next can be seen
		}
	}
}

func TestCopyLimits(t *testing.T) {
	deep := strings.Repeat("d/", 5) + "f"
	tests := []struct {
		name   string
		limits Limits
		files  map[string]string
		want   []Entry
		copied int
	}{
		{"bytes fit", Limits{Bytes: 4}, map[string]string{"a": "12", "b": "34"}, nil, 2},
		{"bytes", Limits{Bytes: 3}, map[string]string{"a": "12", "b": "34", "c": "5"}, []Entry{{"b", TooLarge}}, 2},
		{"entries fit", Limits{Entries: 3}, map[string]string{"d/a": "", "d/b": ""}, nil, 2},
		{"entries", Limits{Entries: 2}, map[string]string{"d/a": "", "d/b": ""}, []Entry{{"d", TooMany}}, 1},
		{"depth fits", Limits{Depth: 5}, map[string]string{deep: ""}, nil, 1},
		{"depth", Limits{Depth: 4}, map[string]string{deep: ""}, []Entry{{"d/d/d/d/d", TooDeep}}, 0},
		{"path fits", Limits{PathBytes: 5}, map[string]string{"abc/d": ""}, nil, 1},
		{"path", Limits{PathBytes: 5}, map[string]string{"abc/de": "", "x": ""}, []Entry{{"abc/de", TooLong}}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src := tree(t, tt.files)
			rep, err := Copy(filepath.Join(t.TempDir(), "dst"), src, CopyOptions{Options: Options{Untrusted: true, Limits: tt.limits}})
			require.NoError(t, err)
			assert.Equal(t, tt.want, rep.Skipped)
			assert.Equal(t, tt.copied, rep.Files)

			_, err = Copy(filepath.Join(t.TempDir(), "dst"), src, CopyOptions{Options: Options{Limits: tt.limits}})
			assert.Equal(t, tt.want != nil, err != nil, "a trusted tree beyond a limit is an error: %v", err)
		})
	}
}

func TestCopyDestination(t *testing.T) {
	src := tree(t, map[string]string{"a": "new", "d/b": "new"})
	t.Run("not empty", func(t *testing.T) {
		dst := tree(t, map[string]string{"x": ""})
		_, err := Copy(dst, src, CopyOptions{})
		assert.ErrorContains(t, err, "not empty")
	})
	t.Run("overwrite", func(t *testing.T) {
		dst := tree(t, map[string]string{"a": "longer than new", "d/keep": "kept"})
		_, err := Copy(dst, src, CopyOptions{Overwrite: true})
		require.NoError(t, err)
		assert.Equal(t, map[string]string{"a": "new", "d/": "", "d/b": "new", "d/keep": "kept"}, contents(t, dst))
	})
	t.Run("overwrite does not write through a link", func(t *testing.T) {
		dst := tree(t, map[string]string{"d/": ""})
		outside := filepath.Join(t.TempDir(), "outside")
		require.NoError(t, os.WriteFile(outside, []byte("mine"), 0o644))
		require.NoError(t, os.Symlink(outside, filepath.Join(dst, "a")))
		_, err := Copy(dst, src, CopyOptions{Overwrite: true})
		require.NoError(t, err)
		data, err := os.ReadFile(outside)
		require.NoError(t, err)
		assert.Equal(t, "mine", string(data))
		assert.Equal(t, "new", contents(t, dst)["a"])
	})
	t.Run("a linked directory in the way", func(t *testing.T) {
		dst := tree(t, map[string]string{})
		outside := t.TempDir()
		require.NoError(t, os.Symlink(outside, filepath.Join(dst, "d")))
		_, err := Copy(dst, src, CopyOptions{Overwrite: true})
		assert.ErrorContains(t, err, "a symbolic link in the destination")
		assert.Empty(t, contents(t, outside))
	})
	t.Run("file and directory clash", func(t *testing.T) {
		_, err := Copy(tree(t, map[string]string{"a/": ""}), src, CopyOptions{Overwrite: true})
		assert.ErrorContains(t, err, `"a" is a directory in the destination`)
		_, err = Copy(tree(t, map[string]string{"d": ""}), src, CopyOptions{Overwrite: true})
		assert.ErrorContains(t, err, `"d" is a regular file in the destination`)
	})
	t.Run("inside the source", func(t *testing.T) {
		_, err := Copy(filepath.Join(src, "d", "copy"), src, CopyOptions{})
		assert.ErrorContains(t, err, "inside the source")
		_, err = Copy(src, src, CopyOptions{Overwrite: true})
		assert.ErrorContains(t, err, "inside the source")
	})
	t.Run("source missing", func(t *testing.T) {
		_, err := Copy(t.TempDir(), filepath.Join(src, "nosuch"), CopyOptions{Options: Options{Untrusted: true}})
		assert.ErrorIs(t, err, fs.ErrNotExist)
	})
	t.Run("source is a link", func(t *testing.T) {
		link := filepath.Join(t.TempDir(), "link")
		require.NoError(t, os.Symlink(src, link))
		rep, err := Copy(filepath.Join(t.TempDir(), "dst"), link, CopyOptions{Options: Options{Untrusted: true}})
		require.NoError(t, err)
		assert.Equal(t, Report{Skipped: []Entry{{".", Symlink}}}, rep)
	})
}

// failing fails like a full disk.
type failing struct{}

var errFull = errors.New("no space left")

func (failing) Write([]byte) (int, error) { return 0, errFull }

func TestCopyBytesTellsWhoFailed(t *testing.T) {
	var entry *EntryError
	_, err := copyBytes(failing{}, strings.NewReader("abc"), "x", 3)
	assert.ErrorIs(t, err, errFull)
	assert.False(t, errors.As(err, &entry), "a full disk is the runner's failure, not the entry's")
	for size, kind := range map[int64]Kind{2: Changed, 3: "", 4: Changed} {
		var b strings.Builder
		n, err := copyBytes(&b, strings.NewReader("abc"), "x", size)
		assert.LessOrEqual(t, n, size+1, "never more than one byte beyond what was announced")
		if kind == "" {
			assert.NoError(t, err)
			continue
		}
		require.ErrorAs(t, err, &entry)
		assert.Equal(t, kind, entry.Kind)
	}
}
