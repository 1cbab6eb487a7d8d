//go:build unix

package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What lies in the store is used only while it is what it is called: a file that was written to since,
// of the same size and mode, is made anew, and so is a folder.
func TestStoreIsVerified(t *testing.T) {
	const good, bad = "#!/bin/sh\necho good\n", "#!/bin/sh\necho evil\n"
	s := openScratch(t)
	src := write(t, t.TempDir(), map[string]string{"tool": good, "package/tool": good})
	sum := sha256.Sum256([]byte(good))
	want := hex.EncodeToString(sum[:])
	stage := func() (tool, part string) {
		b, err := s.NewBatch()
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, b.Close()) })
		tool, err = b.Stage(Common, "tool", filepath.Join(src, "tool"), want)
		require.NoError(t, err)
		dir, err := b.StageStored(Common, "package", filepath.Join(src, "package"), strings.Repeat("b", 64))
		require.NoError(t, err)
		return tool, filepath.Join(dir, "tool")
	}
	overwrite := func(path string) {
		mode, err := os.Stat(path)
		require.NoError(t, err)
		require.NoError(t, os.Chmod(path, 0o755))
		require.NoError(t, os.WriteFile(path, []byte(bad), 0o755))
		require.NoError(t, os.Chmod(path, mode.Mode()))
	}
	tool, part := stage()
	overwrite(tool) // a hard link to the store's
	overwrite(part)
	stored, err := os.ReadFile(filepath.Join(s.Dir, "store", want))
	require.NoError(t, err)
	require.Equal(t, bad, string(stored), "the store was reached")

	tool, part = stage()
	for _, path := range []string{tool, part} {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, good, string(data), path)
	}
}
