package proc_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/proctor-evals/proctor/internal/proc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// onTerminal is the environment variable that tells this test that it runs on a terminal of its own.
const onTerminal = "PROCTOR_TEST_TERMINAL"

// TestNoTerminal: the tree cannot open the runner's terminal, where it could write to the user's screen and
// push keys into their shell. The control is the runner itself, which can open it.
func TestNoTerminal(t *testing.T) {
	if os.Getenv(onTerminal) != "" {
		control, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
		require.NoError(t, err, "the runner's own terminal")
		require.NoError(t, control.Close())
		var out bytes.Buffer
		_, err = proc.Run(t.Context(), proc.Command{
			Argv: []string{"/bin/sh", "-c", "(: >/dev/tty) 2>/dev/null && echo opened; echo end"}, Env: os.Environ(), Dir: t.TempDir(),
			Stdout: &out, Stderr: os.Stderr, Bwrap: bwrap(t),
		})
		require.NoError(t, err)
		assert.Equal(t, "end\n", out.String())
		return
	}
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	defer master.Close()
	require.NoError(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	defer terminal.Close()
	cmd := exec.Command(os.Args[0], "-test.run=^TestNoTerminal$", "-test.v")
	cmd.Env = append(os.Environ(), onTerminal+"=yes")
	cmd.Stdin = terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true} // of descriptor 0
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Contains(t, string(out), "--- PASS: TestNoTerminal")
}
