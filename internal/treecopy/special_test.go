//go:build unix

package treecopy

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An ordinary user cannot make device files, so the machine's own serve.
func TestDevice(t *testing.T) {
	only := func(rel string) bool { return rel != "null" }
	rep, err := Copy(filepath.Join(t.TempDir(), "dst"), "/dev", CopyOptions{Options: Options{Untrusted: true, Ignore: only}})
	require.NoError(t, err)
	assert.Equal(t, Report{Skipped: []Entry{{"null", Device}}}, rep)
	_, _, err = ReadFile("/dev", "zero", 10)
	assert.ErrorContains(t, err, `"zero" is a device`)
}

// The walk's idea of the tree's device decides, so no mount is needed to see a
// directory on another one.
func TestOtherFileSystem(t *testing.T) {
	dir := tree(t, map[string]string{"d/f": "x"})
	for _, untrusted := range []bool{true, false} {
		root, info, done, err := openTree(dir, false)
		require.NoError(t, err)
		var entered []string
		w := walker{Options: Options{Untrusted: untrusted}, dev: device(info) + 1}
		w.Limits = w.Limits.orDefaults()
		w.enter = func(rel string) error { entered = append(entered, rel); return nil }
		w.leave = func(string) error { return nil }
		w.file = func(string, os.FileInfo, func() (*os.File, error)) (int64, error) { return 0, nil }
		require.NoError(t, w.dir(root, ".", 0))
		done()
		if untrusted {
			assert.Equal(t, []Entry{{"d", Mount}}, w.skipped)
			assert.Equal(t, []string{"."}, entered)
		} else {
			assert.Empty(t, w.skipped)
			assert.Equal(t, []string{".", "d"}, entered)
		}
	}
	root, info, done, err := openTree(dir, false)
	require.NoError(t, err)
	defer done()
	r := remover{tree: root, dev: device(info) + 1}
	assert.ErrorContains(t, r.empty(root, ".", 0), "another file system")
	assert.FileExists(t, filepath.Join(dir, "d", "f"))
}
