package proc_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/proctor-evals/proctor/internal/proc"
)

// TestKeyringsAreClosed asks for the caller's own session keyring, which every process may, outside
// (the control) and inside a tree.
func TestKeyringsAreClosed(t *testing.T) {
	// KEYCTL_GET_KEYRING_ID of KEY_SPEC_SESSION_KEYRING, creating it.
	script := fmt.Sprintf("$! = 0; syscall(%d, 0, -3, 1); print $!+0", unix.SYS_KEYCTL)
	outside, err := exec.Command("perl", "-e", script).Output()
	require.NoError(t, err)
	if errno := string(outside); errno != fmt.Sprint(int(unix.EPERM)) { // a container's own filter
		require.Equal(t, "0", errno, "the control")
	}
	var out bytes.Buffer
	res, err := proc.Run(t.Context(), proc.Command{Argv: []string{"/usr/bin/perl", "-e", script}, Stdout: &out, Bwrap: bwrap(t)})
	require.NoError(t, err)
	assert.Equal(t, 0, res.ExitCode)
	assert.Contains(t, []string{fmt.Sprint(int(unix.ENOSYS)), fmt.Sprint(int(unix.EPERM))}, out.String())
}

// TestInheritedFilesStayOutside leaves a descriptor open across exec, as a runner started from a
// shell with one has.
func TestInheritedFilesStayOutside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(path, []byte("canary\n"), 0o600))
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	const fd = 200
	require.NoError(t, unix.Dup3(int(f.Fd()), fd, 0))
	defer unix.Close(fd)
	// Opened anew: the descriptor's offset is shared, and the control would read it to its end.
	script := "cat /proc/self/fd/200; :"
	control, err := exec.Command("/bin/bash", "-c", script).Output()
	require.NoError(t, err)
	require.Equal(t, "canary\n", string(control), "the control")
	var out bytes.Buffer
	_, err = proc.Run(t.Context(), proc.Command{Argv: []string{"/bin/bash", "-c", script}, Stdout: &out, Bwrap: bwrap(t)})
	require.NoError(t, err)
	assert.Empty(t, out.String())
}
