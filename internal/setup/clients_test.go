//go:build unix

package setup

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNeedOf(t *testing.T) {
	for _, need := range clientNeeds {
		got, err := NeedOf(string(need))
		require.NoError(t, err)
		assert.Equal(t, need, got)
	}
	_, err := NeedOf("rust")
	assert.EqualError(t, err, `setup knows no client "rust"; it knows claude, codex, opencode, copilot`)
}

// TestCopilotIsKeptUnpacked: what the client would unpack into every home lies beside it, and counts
// in its hash.
func TestCopilotIsKeptUnpacked(t *testing.T) {
	m := newMachine(t).complete()
	tools, err := Install(t.Context(), m.options(), NeedCopilot, NeedCodex)
	require.NoError(t, err)
	tool := tools.ByName[Copilot]
	assert.Equal(t, filepath.Dir(tool.Path), tool.Dir)
	part := filepath.Join(tool.Dir, CopilotUnpacked, "pkg", "part")
	assert.FileExists(t, part)
	assert.Empty(t, tools.ByName[Codex].Dir, "one file")

	require.NoError(t, os.WriteFile(part, []byte("another\n"), 0o644))
	_, err = Locate(t.Context(), m.options(), NeedCopilot)
	assert.ErrorContains(t, err, "copilot 1.0.102 has changed since it was installed")
}

func TestCopilotUnpacksNothing(t *testing.T) {
	m := newMachine(t).complete()
	require.NoError(t, os.WriteFile(m.path("copilot-unpacks-nothing"), nil, 0o644))
	_, err := Install(t.Context(), m.options(), NeedCopilot)
	assert.ErrorContains(t, err, "copilot unpacked nothing into")
	assert.Empty(t, list(t, m.path("cache/tmp")), "nothing temporary is left")
	_, err = Locate(t.Context(), m.options(), NeedCopilot)
	assert.ErrorContains(t, err, "copilot 1.0.102 is not installed")
}
