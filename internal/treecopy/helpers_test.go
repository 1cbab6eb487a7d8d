//go:build unix

package treecopy

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// tree makes a folder from paths and contents; a path that ends in a slash is a
// directory, a content that begins with "#!" makes the file executable.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tree")
	require.NoError(t, os.Mkdir(dir, 0o755))
	t.Cleanup(func() { require.NoError(t, Remove(dir)) })
	for name, content := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if name[len(name)-1] == '/' {
			require.NoError(t, os.MkdirAll(at, 0o755))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
		mode := os.FileMode(0o644)
		if len(content) > 1 && content[:2] == "#!" {
			mode = 0o755
		}
		require.NoError(t, os.WriteFile(at, []byte(content), mode))
	}
	return dir
}

// contents reads a tree the plain way, as an independent check: path -> content,
// directories as "" with a final slash, and fails on anything else.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	got := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		require.NoError(t, err)
		rel, err := filepath.Rel(dir, p)
		require.NoError(t, err)
		switch {
		case rel == ".":
		case d.IsDir():
			got[filepath.ToSlash(rel)+"/"] = ""
		default:
			require.True(t, d.Type().IsRegular(), "%s is %s", rel, d.Type())
			data, err := os.ReadFile(p)
			require.NoError(t, err)
			got[filepath.ToSlash(rel)] = string(data)
		}
		return nil
	}))
	return got
}

// hostile is one bad entry "bad" beside a good file "good", whose content is
// "good". Where wantContent is set, the entry is only awkward and must be read.
var hostile = []struct {
	name        string
	kind        Kind
	wantContent string
	make        func(t *testing.T, dir, at string)
}{
	{name: "link to a file outside", kind: Symlink, make: func(t *testing.T, dir, at string) {
		secret := filepath.Join(t.TempDir(), "secret")
		require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o600))
		require.NoError(t, os.Symlink(secret, at))
	}},
	{name: "link to a file inside", kind: Symlink, make: func(t *testing.T, dir, at string) {
		require.NoError(t, os.Symlink("good", at))
	}},
	{name: "link to a directory outside", kind: Symlink, make: func(t *testing.T, dir, at string) {
		require.NoError(t, os.Symlink(t.TempDir(), at))
	}},
	{name: "dangling link", kind: Symlink, make: func(t *testing.T, dir, at string) {
		require.NoError(t, os.Symlink("nowhere", at))
	}},
	{name: "link loop", kind: Symlink, make: func(t *testing.T, dir, at string) {
		require.NoError(t, os.Symlink("bad", at))
	}},
	{name: "fifo", kind: FIFO, make: func(t *testing.T, dir, at string) {
		require.NoError(t, syscall.Mkfifo(at, 0o644))
	}},
	{name: "socket", kind: Socket, make: func(t *testing.T, dir, at string) {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: at, Net: "unix"})
		require.NoError(t, err)
		l.SetUnlinkOnClose(false)
		require.NoError(t, l.Close())
	}},
	{name: "hard link to a file outside", kind: HardLink, make: func(t *testing.T, dir, at string) {
		secret := filepath.Join(filepath.Dir(dir), "secret")
		require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o600))
		require.NoError(t, os.Link(secret, at))
	}},
	{name: "sparse terabyte", kind: TooLarge, make: func(t *testing.T, dir, at string) {
		f, err := os.Create(at)
		require.NoError(t, err)
		defer f.Close()
		require.NoError(t, f.Truncate(1<<40))
	}},
	{name: "file of mode 000", kind: File, wantContent: "awkward", make: func(t *testing.T, dir, at string) {
		require.NoError(t, os.WriteFile(at, []byte("awkward"), 0o600))
		require.NoError(t, os.Chmod(at, 0))
	}},
	{name: "write-only file with the sticky bit", kind: File, wantContent: "awkward", make: func(t *testing.T, dir, at string) {
		require.NoError(t, os.WriteFile(at, []byte("awkward"), 0o600))
		require.NoError(t, os.Chmod(at, 0o200|os.ModeSticky))
	}},
}
