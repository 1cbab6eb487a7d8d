package proc_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/proctor-evals/proctor/internal/proc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func bwrap(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("bwrap")
	require.NoError(t, err, "bubblewrap is required: run `proctor setup sandbox`")
	return path
}

// marked lists processes anywhere on the machine whose environment holds the marker.
func marked(t *testing.T, marker string) []string {
	t.Helper()
	var found []string
	dirs, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	for _, d := range dirs {
		env, err := os.ReadFile(filepath.Join(d, "environ"))
		if err == nil && bytes.Contains(env, []byte(marker)) {
			found = append(found, filepath.Base(d))
		}
	}
	return found
}

func TestRunPassesExitCodeAndOutput(t *testing.T) {
	var out, errOut bytes.Buffer
	res, err := proc.Run(context.Background(), proc.Command{
		Argv: []string{"/bin/sh", "-c", "cat; echo err >&2; exit 37"}, Stdin: strings.NewReader("in"),
		Stdout: &out, Stderr: &errOut, Bwrap: bwrap(t),
	})
	require.NoError(t, err)
	assert.Equal(t, 37, res.ExitCode)
	assert.NoError(t, res.Cause)
	assert.Equal(t, "in", out.String())
	assert.Equal(t, "err\n", errOut.String())
	assert.Empty(t, res.Survivors)
}

// What a command prints cannot be added to by what it starts: its output, when sealed, opens for nobody.
func TestSealedStdout(t *testing.T) {
	for sealed, want := range map[bool]string{false: "own 1\nforged\nown 2\n", true: "own 1\nown 2\n"} {
		var out, errOut bytes.Buffer
		res, err := proc.Run(t.Context(), proc.Command{
			Argv:   []string{"/bin/sh", "-c", `echo own 1; sh -c "echo forged >/proc/$$/fd/1"; echo own 2; exit 3`},
			Stdout: &out, Stderr: &errOut, SealedStdout: sealed, Bwrap: bwrap(t),
		})
		require.NoError(t, err)
		assert.Equal(t, 3, res.ExitCode)
		assert.Equal(t, want, out.String(), errOut.String())
	}
	t.Run("large, and a writer left behind", func(t *testing.T) {
		var out bytes.Buffer
		res, err := proc.Run(t.Context(), proc.Command{
			Argv: []string{"/bin/sh", "-c", `head -c 3000000 /dev/zero; setsid sleep 600 & exit 0`}, Stdout: &out, SealedStdout: true, Bwrap: bwrap(t),
		})
		require.NoError(t, err)
		assert.Zero(t, res.ExitCode)
		assert.Equal(t, 3000000, out.Len())
	})
	t.Run("a writer that takes no more", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		full := errors.New("full")
		res, err := proc.Run(ctx, proc.Command{
			Argv: []string{"/bin/sh", "-c", "yes"}, Stdout: refusing{func() { cancel(full) }}, SealedStdout: true, Bwrap: bwrap(t),
		})
		require.NoError(t, err)
		assert.ErrorIs(t, res.Cause, full)
	})
}

type refusing struct{ told func() }

func (r refusing) Write([]byte) (int, error) { r.told(); return 0, errors.New("no more") }

func TestNothingOutlivesTheTree(t *testing.T) {
	deadline := errors.New("deadline")
	cases := []struct {
		name, script string
		cancel       bool // the script itself never ends
	}{
		{"background child holds stdout", "sleep 600 & exit 0", false},
		{"new session", "setsid sleep 600 & exit 0", false},
		{"double fork", "(setsid sh -c 'sleep 600 & sleep 600' &) ; exit 0", false},
		{"ignores SIGTERM", "trap '' TERM INT HUP; echo ready; sleep 600", true},
		{"ignores SIGTERM in a new session", "trap '' TERM; setsid sleep 600 & echo ready; sleep 600", true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			marker := "PROC_TEST_MARKER=" + strconv.FormatInt(time.Now().UnixNano(), 36)
			ctx, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			var w writerFunc = func(b []byte) (int, error) {
				if c.cancel {
					// Positive control: the search does find the living tree.
					if len(marked(t, marker)) == 0 {
						t.Error("the marker search found nothing while the tree was alive")
					}
					cancel(deadline)
				}
				return len(b), nil
			}
			res, err := proc.Run(ctx, proc.Command{
				Argv: []string{"/bin/sh", "-c", c.script}, Env: []string{marker, "PATH=/usr/bin:/bin"},
				Stdout: w, Bwrap: bwrap(t),
			})
			require.NoError(t, err)
			assert.Empty(t, res.Survivors)
			assert.Empty(t, marked(t, marker), "processes left")
			if c.cancel {
				assert.Equal(t, deadline, res.Cause)
				assert.Equal(t, -1, res.ExitCode)
			} else {
				assert.NoError(t, res.Cause)
				assert.Equal(t, 0, res.ExitCode)
			}
		})
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// TestRunnerKilled re-executes this test binary as a runner, kills it with SIGKILL and looks for its tree.
func TestRunnerKilled(t *testing.T) {
	if script := os.Getenv("PROC_TEST_RUNNER"); script != "" {
		_, err := proc.Run(context.Background(), proc.Command{
			Argv: []string{"/bin/sh", "-c", script}, Env: []string{os.Getenv("PROC_TEST_MARK"), "PATH=/usr/bin:/bin"},
			Stdout: os.Stdout, Bwrap: bwrap(t),
		})
		require.NoError(t, err)
		return
	}
	marker := "PROC_TEST_MARKER=" + strconv.FormatInt(time.Now().UnixNano(), 36)
	cmd := exec.Command(os.Args[0], "-test.run=^TestRunnerKilled$")
	cmd.Env = append(os.Environ(), "PROC_TEST_RUNNER=setsid sleep 600 & echo ready; sleep 600", "PROC_TEST_MARK="+marker)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	buf := make([]byte, 6)
	_, err = out.Read(buf)
	require.NoError(t, err)
	require.NotEmpty(t, marked(t, marker), "the tree is alive before the kill")
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	assert.Eventually(t, func() bool { return len(marked(t, marker)) == 0 }, 10*time.Second, 10*time.Millisecond, "the tree outlived its runner")
}

// TestOwnProc: a sandbox inside looks itself up in /proc by its process id there.
func TestOwnProc(t *testing.T) {
	var out bytes.Buffer
	res, err := proc.Run(context.Background(), proc.Command{
		// $$ is the shell's id in its own namespace; the loop makes ids that the host may not have.
		Argv:   []string{"/bin/bash", "-c", `for i in 1 2 3; do (:); done; test "$(cut -d' ' -f1 /proc/self/stat)" != "" && test "$(bash -c 'echo $PPID')" = "$$" && grep -q bash /proc/$$/comm && echo own`},
		Stdout: &out, Bwrap: bwrap(t),
	})
	require.NoError(t, err)
	assert.Equal(t, 0, res.ExitCode)
	assert.Equal(t, "own\n", out.String())
}

func TestPrivateTmpVanishes(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	res, err := proc.Run(context.Background(), proc.Command{
		Argv: []string{"/bin/sh", "-c", "echo x >" + dir + "/f && cat " + dir + "/f"}, Stdout: &out, Bwrap: bwrap(t), PrivateTmp: dir,
	})
	require.NoError(t, err)
	assert.Equal(t, 0, res.ExitCode)
	assert.Equal(t, "x\n", out.String())
	assert.NoFileExists(t, filepath.Join(dir, "f"))
}

func TestStartFailureIsTheRunnersError(t *testing.T) {
	_, err := proc.Run(context.Background(), proc.Command{Argv: []string{"/bin/true"}, Bwrap: filepath.Join(t.TempDir(), "bwrap")})
	require.ErrorContains(t, err, "start bwrap")
}
