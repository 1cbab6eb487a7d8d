//go:build unix

package treecopy

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A checkout or a package store may hold hard links; that says nothing about the tree under suspicion.
func TestDiffOfHardLinks(t *testing.T) {
	source := tree(t, map[string]string{"f": "1", "d/g": "2"})
	require.NoError(t, os.Link(filepath.Join(source, "f"), filepath.Join(t.TempDir(), "elsewhere")))
	require.NoError(t, os.Link(filepath.Join(source, "f"), filepath.Join(source, "h")))
	same := tree(t, map[string]string{"f": "1", "d/g": "2", "h": "1"})
	untrusted := Options{Untrusted: true}

	d, err := Diff(source, same, untrusted)
	require.NoError(t, err)
	assert.True(t, d.Empty(), "%v", d)
	assert.False(t, d.Incomplete)

	// On the untrusted side a link may lead to what the trial could not read.
	require.NoError(t, os.Link(filepath.Join(same, "f"), filepath.Join(t.TempDir(), "elsewhere")))
	d, err = Diff(source, same, untrusted)
	require.NoError(t, err)
	assert.Equal(t, []string{"f"}, d.Changed)

	d, err = Diff(source, same, Options{})
	require.NoError(t, err)
	assert.True(t, d.Empty(), "two trusted trees may hold links alike: %v", d)
}
