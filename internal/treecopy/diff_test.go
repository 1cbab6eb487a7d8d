//go:build unix

package treecopy

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDiff(t *testing.T) {
	big := strings.Repeat("x", 100<<10)
	a := tree(t, map[string]string{"same": "1", "big": big, "longer": "1", "other": "ab", "gone": "1", "d/gone": "1", "exec": "!!", "becomes": "1", "empty/": ""})
	b := tree(t, map[string]string{"same": "1", "big": big[1:] + "y", "longer": "12", "other": "ac", "new": "1", "e/new": "1", "exec": "#!", "becomes/f": "1"})
	require.NoError(t, os.WriteFile(filepath.Join(b, "exec"), []byte("!!"), 0o755)) // same bytes, executable
	for dir, to := range map[string]string{a: "x", b: "y"} {
		require.NoError(t, os.Symlink("same", filepath.Join(dir, "link-same")))
		require.NoError(t, os.Symlink(to, filepath.Join(dir, "link-other")))
		require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	}
	require.NoError(t, os.Symlink("/etc", filepath.Join(b, "link-new")))
	d, err := Diff(a, b, Options{})
	require.NoError(t, err)
	assert.Equal(t, Difference{
		Added:   []string{"becomes/f", "e/new", "link-new", "new"},
		Changed: []string{"big", "exec", "link-other", "longer", "other"},
		Deleted: []string{"becomes", "d/gone", "gone"},
	}, d)
	assert.False(t, d.Empty())

	d, err = Diff(a, a, Options{})
	require.NoError(t, err)
	assert.True(t, d.Empty(), "%v", d)

	d, err = Diff(a, b, Options{Ignore: func(rel string) bool { return rel != "new" }})
	require.NoError(t, err)
	assert.Equal(t, Difference{Added: []string{"new"}}, d)

	d, err = Diff(a, b, Options{Limits: Limits{Entries: 3}})
	require.NoError(t, err)
	assert.True(t, d.Incomplete)

	_, err = Diff(a, filepath.Join(b, "nosuch"), Options{})
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestList(t *testing.T) {
	dir := tree(t, map[string]string{"b/c": "1", "a": "1", "b-": ""})
	require.NoError(t, os.Symlink("a", filepath.Join(dir, "b", "link")))
	got, err := List(dir, Options{})
	require.NoError(t, err)
	assert.Equal(t, []Entry{{"a", File}, {"b", Directory}, {"b-", File}, {"b/c", File}, {"b/link", Symlink}}, got)
	_, err = List(dir, Options{Limits: Limits{Entries: 3}})
	assert.ErrorContains(t, err, "too many entries")
	_, err = List(filepath.Join(dir, "a"), Options{})
	assert.ErrorContains(t, err, `"." is a regular file`)
}
