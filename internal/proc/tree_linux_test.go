package proc_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/internal/proc"
)

// TestOddTreesDie: trees that are large, keep growing, stand still or hide behind another name are
// killed whole by the deadline, and seen by the search before it.
func TestOddTreesDie(t *testing.T) {
	deadline := errors.New("deadline")
	for _, c := range []struct {
		name, script string
		least        int // processes the search finds while the tree is alive
	}{
		{"200 children", `i=0; while [ $i -lt 200 ]; do sleep 600 & i=$((i+1)); done; echo ready; wait`, 200},
		{"200 children in sessions of their own", `i=0; while [ $i -lt 200 ]; do setsid sleep 600 & i=$((i+1)); done; echo ready; wait`, 200},
		{"a chain of 60", `chain() { [ $1 = 0 ] && { echo ready; exec sleep 600; }; (chain $(($1-1))); :; }; chain 60`, 60},
		// Each keeps forking, so that some are always just being born when the kill comes.
		{"never stops forking", `grow() { while :; do (sleep 0.2 &) ; sleep 0.01; done; }; for i in 1 2 3 4 5 6 7 8; do setsid sh -c "$(command -V grow | tail -n +2); grow" & done; sleep 0.3; echo ready; grow`, 8},
		{"stopped children", `for i in 1 2 3; do sleep 600 & kill -STOP $!; done; echo ready; wait`, 3},
		{"stops itself", `sleep 600 & echo ready; kill -STOP $$`, 2},
		{"another name", `for n in '[kworker/0:0]' 'x) Z (y' '-bash'; do (exec -a "$n" sleep 600) & done; echo ready; wait`, 3},
		{"another kernel name", `printf 'x) Z 1 (y' >/proc/$$/comm; echo ready; sleep 600; :`, 2},
		{"a traced child", `PROC_TEST_TRACER=1 "$PROC_TEST_BINARY" -test.run='^TestTracer$'; :`, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			marker := "PROC_TEST_MARKER=" + strconv.FormatInt(time.Now().UnixNano(), 36)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			var seen int
			var w writerFunc = func(b []byte) (int, error) {
				if seen == 0 {
					// The last of them may not have left its parent's image yet.
					assert.Eventually(t, func() bool { seen = len(marked(t, marker)); return seen >= c.least }, 20*time.Second, 10*time.Millisecond)
					cancel(deadline)
				}
				return len(b), nil
			}
			res, err := proc.Run(ctx, proc.Command{
				Argv: []string{"/bin/bash", "-c", c.script}, Env: []string{marker, "PATH=/usr/bin:/bin", "PROC_TEST_BINARY=" + os.Args[0]},
				Stdout: w, Bwrap: bwrap(t),
			})
			require.NoError(t, err)
			require.Equal(t, deadline, res.Cause, "the tree ended before it was ready: exit code %d", res.ExitCode)
			assert.GreaterOrEqual(t, seen, c.least)
			assert.Empty(t, res.Survivors)
			assert.Empty(t, marked(t, marker), "processes left")
		})
	}
}

// TestTracer is a process of another test's tree: it starts a child under ptrace(2), which stands
// still at its first instruction.
func TestTracer(t *testing.T) {
	if os.Getenv("PROC_TEST_TRACER") == "" {
		return // run by TestOddTreesDie
	}
	runtime.LockOSThread()
	child := exec.Command("/bin/sleep", "600")
	child.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	require.NoError(t, child.Start())
	fmt.Println("ready")
	select {}
}

// TestWriterLeftBehind: what a tree leaves running does not write after Run has returned.
func TestWriterLeftBehind(t *testing.T) {
	dir := t.TempDir()
	res, err := proc.Run(t.Context(), proc.Command{
		Argv: []string{"/bin/sh", "-c", `(setsid sh -c 'while :; do echo x >>f; done' &) ; while [ ! -s f ]; do :; done`},
		Env:  []string{"PATH=/usr/bin:/bin"}, Dir: dir, Bwrap: bwrap(t),
	})
	require.NoError(t, err)
	assert.Zero(t, res.ExitCode)
	before, err := os.Stat(dir + "/f")
	require.NoError(t, err)
	require.Positive(t, before.Size())
	assert.Never(t, func() bool {
		now, err := os.Stat(dir + "/f")
		return err != nil || now.Size() != before.Size()
	}, 300*time.Millisecond, 20*time.Millisecond, "the file still grows")
}
