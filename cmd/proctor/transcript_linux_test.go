package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Colours go to a terminal that wants them, and nowhere else.
func TestColored(t *testing.T) {
	tty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	defer tty.Close()
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	assert.True(t, colored(tty))
	file, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer file.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer null.Close()
	assert.False(t, colored(file))
	assert.False(t, colored(null))
	assert.False(t, colored(&bytes.Buffer{}))
	t.Setenv("NO_COLOR", "1")
	assert.False(t, colored(tty))
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "dumb")
	assert.False(t, colored(tty))
}
