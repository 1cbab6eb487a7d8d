//go:build unix

package treecopy

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A file that would run as somebody else is no part of a trial's tree; a folder's bit only says whose
// group its files get. A trusted tree's are copied without the bits.
func TestSetIDBits(t *testing.T) {
	src := tree(t, map[string]string{"plain": "x", "user": "x", "group": "x", "dir/f": "x"})
	require.NoError(t, os.Chmod(filepath.Join(src, "user"), 0o755|fs.ModeSetuid))
	require.NoError(t, os.Chmod(filepath.Join(src, "group"), 0o755|fs.ModeSetgid))
	require.NoError(t, os.Chmod(filepath.Join(src, "dir"), 0o755|fs.ModeSetgid))
	rep, err := Copy(filepath.Join(t.TempDir(), "dst"), src, CopyOptions{Options: Options{Untrusted: true}})
	require.NoError(t, err)
	assert.Equal(t, []Entry{{"group", SetID}, {"user", SetID}}, rep.Skipped)
	assert.Equal(t, 2, rep.Files)
	d, err := Diff(src, src, Options{Untrusted: true})
	require.NoError(t, err)
	assert.Equal(t, []string{"group", "user"}, d.Changed)

	dst := filepath.Join(t.TempDir(), "dst")
	_, err = Copy(dst, src, CopyOptions{})
	require.NoError(t, err)
	info, err := os.Lstat(filepath.Join(dst, "user"))
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o755), info.Mode())
}
