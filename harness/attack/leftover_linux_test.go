package attack

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOnlyTheTrialsSegmentsCount: those of other programs do not, whether they were there before, have
// another size, or both.
func TestOnlyTheTrialsSegmentsCount(t *testing.T) {
	size := unusedSize()
	segment := func(size string) string {
		out, err := exec.Command("ipcmk", "-M", size).Output()
		require.NoError(t, err)
		id := shmID.FindString(string(out))
		t.Cleanup(func() { assert.NoError(t, exec.Command("ipcrm", "-m", id).Run()) })
		return id
	}
	segment(size) // of another program, there already
	before, err := segments()
	require.NoError(t, err)
	segment("8192") // of another program, meanwhile
	found, err := newSegments(before, size)
	require.NoError(t, err)
	assert.Empty(t, found)
	mine := segment(size)
	found, err = newSegments(before, size)
	require.NoError(t, err)
	assert.Equal(t, []string{mine}, found, "the control")
	for range 100 {
		assert.NotEqual(t, size, unusedSize(), "a size in use")
	}
}
