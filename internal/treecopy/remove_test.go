//go:build unix

package treecopy

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRemove(t *testing.T) {
	base := t.TempDir()
	outside := filepath.Join(base, "outside")
	require.NoError(t, os.MkdirAll(filepath.Join(outside, "d"), 0o755))
	require.NoError(t, os.Chmod(filepath.Join(outside, "d"), 0o500))
	tests := map[string]func(dir string){
		"plain":     func(dir string) {},
		"read-only": func(dir string) { chmodAll(t, dir, 0o555, 0o444) },
		"mode 000":  func(dir string) { chmodAll(t, dir, 0, 0) },
		"links": func(dir string) {
			require.NoError(t, os.Symlink(outside, filepath.Join(dir, "link")))
			require.NoError(t, os.Symlink("loop", filepath.Join(dir, "loop")))
		},
		"fifo": func(dir string) { require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600)) },
		"many": func(dir string) {
			for i := range 2500 {
				require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600))
			}
		},
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(base, "tree")
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "a", "b", "f"), nil, 0o644))
			spoil(dir)
			require.NoError(t, Remove(dir))
			assert.NoFileExists(t, dir)
			assert.NoDirExists(t, dir)
			info, err := os.Stat(filepath.Join(outside, "d"))
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o500), info.Mode().Perm(), "what a link points to is left alone")
		})
	}
	t.Run("missing", func(t *testing.T) {
		assert.NoError(t, Remove(filepath.Join(base, "nosuch")))
		assert.NoError(t, Remove(filepath.Join(base, "nosuch", "deeper")))
	})
	t.Run("a link to a tree", func(t *testing.T) {
		link := filepath.Join(base, "link")
		require.NoError(t, os.Symlink(outside, link))
		require.NoError(t, Remove(link))
		assert.DirExists(t, outside)
	})
	t.Run("root", func(t *testing.T) { assert.ErrorContains(t, Remove("/"), "refused") })
}

func chmodAll(t *testing.T, dir string, dirs, files os.FileMode) {
	var all []string
	require.NoError(t, filepath.WalkDir(dir, func(p string, _ os.DirEntry, err error) error {
		all = append(all, p)
		return err
	}))
	for i := len(all) - 1; i >= 0; i-- { // children first
		info, err := os.Lstat(all[i])
		require.NoError(t, err)
		mode := files
		if info.IsDir() {
			mode = dirs
		}
		require.NoError(t, os.Chmod(all[i], mode))
	}
}

// A tree deeper than a path can name and than files can be open.
func TestRemoveVeryDeep(t *testing.T) {
	base := filepath.Join(t.TempDir(), "deep")
	require.NoError(t, os.Mkdir(base, 0o755))
	const depth, files = 600, 256
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	t.Cleanup(func() { require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)) })
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: files, Max: limit.Max}))
	root, err := os.OpenRoot(base)
	require.NoError(t, err)
	for i := range depth {
		require.NoError(t, root.Mkdir("dddddddd", 0o755))
		sub, err := root.OpenRoot("dddddddd")
		require.NoError(t, err)
		if i%100 == 7 {
			require.NoError(t, root.Chmod("dddddddd", 0o700))
			require.NoError(t, root.Chmod(".", 0o500))
		}
		root.Close()
		root = sub
	}
	root.Close()
	rep, err := Copy(filepath.Join(t.TempDir(), "dst"), base, CopyOptions{Options: Options{Untrusted: true}})
	require.NoError(t, err)
	require.Len(t, rep.Skipped, 1)
	assert.Equal(t, TooDeep, rep.Skipped[0].Kind)
	require.NoError(t, Remove(base))
	assert.NoDirExists(t, base)
}
