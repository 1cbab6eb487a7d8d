//go:build unix

package result

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// runnerEnv makes this test binary play a runner: "hold" or "write", then the folder.
const runnerEnv = "PROCTOR_TEST_RUNNER"

func TestMain(m *testing.M) {
	if role, dir, ok := strings.Cut(os.Getenv(runnerEnv), ":"); ok {
		if err := playRunner(role, dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// playRunner holds dir with an unfinished trial and run in it, says so, and goes on until its
// input ends; or it rewrites the record without end.
func playRunner(role, dir string) error {
	if _, err := Hold(dir); err != nil {
		return err
	}
	t := sample()
	t.State, t.Execution, t.Success, t.Outcome = Started, "", "", ""
	if err := Write(dir, TrialFile, t); err != nil {
		return err
	}
	if err := Write(dir, RunFile, Run{SchemaVersion: 1, State: Started, Batches: []Batch{{Trials: []PlannedTrial{{State: Started}}}}}); err != nil {
		return err
	}
	fmt.Println("ready")
	if role == "hold" {
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	}
	for i := 0; ; i++ {
		t.Mode = strings.Repeat("m", i%5*1000) // sizes differ, so that a part would show
		t.Trial = len(t.Mode)
		if err := Write(dir, TrialFile, t); err != nil {
			return err
		}
	}
}

// startRunner starts a runner and waits until it is ready. kill is SIGKILL, and waits for its death.
func startRunner(t *testing.T, role, dir string) (kill func()) {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), runnerEnv+"="+role+":"+dir)
	cmd.Stderr = os.Stderr
	_, err = cmd.StdinPipe() // closed when the test ends, so that no runner stays behind
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	dead := false
	kill = func() {
		if !dead {
			dead = true
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)
	return kill
}

func TestRunnerKilled(t *testing.T) {
	dir := t.TempDir()
	assert.False(t, Alive(dir), "nobody has held it")
	kill := startRunner(t, "hold", dir)

	assert.True(t, Alive(dir))
	assert.True(t, Alive(dir), "asking changes nothing")
	_, err := Hold(dir)
	require.ErrorContains(t, err, "in use by another runner")
	tr, err := ReadTrial(dir, dir)
	require.NoError(t, err)
	assert.Equal(t, Started, tr.State, "the trial of a living runner")
	assert.Empty(t, tr.Execution)
	run, err := ReadRun(dir)
	require.NoError(t, err)
	assert.Equal(t, Started, run.Batches[0].Trials[0].State)

	kill()
	assert.False(t, Alive(dir))
	tr, err = ReadTrial(dir, dir)
	require.NoError(t, err)
	assert.Equal(t, []any{Finished, Cancelled, CauseLost}, []any{tr.State, tr.Execution, tr.ExecutionCause})
	run, err = ReadRun(dir)
	require.NoError(t, err)
	assert.Equal(t, CauseLost, run.Cause)
	assert.Equal(t, PlannedTrial{State: Finished, Execution: Cancelled, Cause: CauseLost}, run.Batches[0].Trials[0])

	release, err := Hold(dir)
	require.NoError(t, err, "another runner can take over")
	assert.True(t, Alive(dir))
	release()
	assert.False(t, Alive(dir))
}

func TestWriterKilled(t *testing.T) {
	for range 5 {
		dir := t.TempDir()
		kill := startRunner(t, "write", dir)
		whole := func() {
			tr, err := ReadTrial(dir, "")
			require.NoError(t, err)
			if tr.Trial != 3 { // sample's, the first write
				require.Len(t, tr.Mode, tr.Trial, "a part of a record, or a mixture of two")
			}
		}
		for range 300 {
			whole()
		}
		kill()
		whole()
		for _, name := range names(t, dir) {
			ours := name == TrialFile || name == RunFile || name == runLock
			assert.True(t, ours || strings.HasPrefix(name, "."+TrialFile), "%s: a temporary file is hidden, and beside the record", name)
		}
	}
}

// TMPDIR may be on another disk, and what a killed writer leaves there nobody would find.
func TestWriteStaysBesideTheRecord(t *testing.T) {
	tmp, dir := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", tmp)
	before := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	require.NoError(t, os.Chtimes(tmp, before, before))
	require.NoError(t, Write(dir, TrialFile, sample()))
	info, err := os.Stat(tmp)
	require.NoError(t, err)
	assert.True(t, before.Equal(info.ModTime()), "a file was made in TMPDIR")
}

// A reader that asks at the moment a runner starts must not keep it from starting.
func TestAskingDoesNotKeepARunnerOut(t *testing.T) {
	dir := t.TempDir()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				Alive(dir)
			}
		}
	}()
	for range 200 {
		release, err := Hold(dir)
		if !assert.NoError(t, err) {
			break
		}
		release()
	}
	close(stop)
	<-stopped
}

func TestOddLocks(t *testing.T) {
	t.Run("a FIFO does not block", func(t *testing.T) {
		dir := t.TempDir()
		require.NoError(t, unix.Mkfifo(filepath.Join(dir, runLock), 0o644))
		Alive(dir)
		require.NoError(t, unix.Mkfifo(filepath.Join(dir, TrialFile), 0o644))
		_, err := ReadTrial(dir, "")
		require.Error(t, err)
	})
	t.Run("a link is not followed", func(t *testing.T) {
		dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "made")
		require.NoError(t, os.Symlink(elsewhere, filepath.Join(dir, runLock)))
		_, err := Hold(dir)
		require.Error(t, err)
		assert.NoFileExists(t, elsewhere)
		assert.True(t, Alive(dir), "what cannot be found out must not read as dead")
	})
	t.Run("no folder", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "nowhere")
		assert.False(t, Alive(dir))
		_, err := Hold(dir)
		require.Error(t, err)
	})
}
