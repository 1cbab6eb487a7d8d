package proc_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/internal/proc"
)

// TestWhatATreeMayTake: each tree past a bound waits to be stopped, so a bound that is not kept fails
// by the test's own deadline; each within its bound ends by itself, after a count was due.
func TestWhatATreeMayTake(t *testing.T) {
	const mib = 1 << 20
	// Six processes that share 60 MiB.
	const shared = `perl -e '$x = "a" x (60 << 20); for (1..5) { fork or do { sleep 2; exit } } sleep 2'`
	for name, tt := range map[string]struct {
		script    string
		processes int
		memory    int64
		want      error
	}{
		"a fork bomb, slowed":              {`bomb() { sleep 0.05; bomb & bomb & wait; }; bomb`, 40, 0, proc.ErrProcessLimit},
		"in sessions of their own":         {`for i in $(seq 60); do setsid sleep 600 & done; exec sleep 600`, 40, 0, proc.ErrProcessLimit},
		"orphans":                          {`for i in $(seq 60); do (sleep 600 &); done; exec sleep 600`, 40, 0, proc.ErrProcessLimit},
		"in a namespace of their own":      {`exec "$BWRAP" --unshare-user --unshare-pid --dev-bind / / /bin/sh -c 'for i in $(seq 60); do sleep 600 & done; wait'`, 40, 0, proc.ErrProcessLimit},
		"threads":                          {`PROC_TEST_THREADS=60 exec "$BINARY" -test.run='^TestThreads$'`, 40, 0, proc.ErrProcessLimit},
		"a few processes":                  {`for i in $(seq 10); do sleep 1 & done; wait`, 40, 0, nil},
		"a memory hog":                     {`exec perl -e '$x = "a" x (200 << 20); sleep 600'`, 0, 100 * mib, proc.ErrMemoryLimit},
		"many that take a little":          {`for i in 1 2 3 4 5 6; do perl -e '$x = "a" x (30 << 20); sleep 600' & done; wait`, 0, 100 * mib, proc.ErrMemoryLimit},
		"files in memory":                  {`head -c 150000000 /dev/zero >"$TMP/f"; exec sleep 600`, 0, 100 * mib, proc.ErrMemoryLimit},
		"a program of some size":           {`perl -e '$x = "a" x (30 << 20); sleep 1'`, 0, 100 * mib, nil},
		"processes that share their pages": {shared, 0, 150 * mib, nil},
		"files in memory of the machine's": {`exec sleep 1`, 0, 20 * mib, nil},
		"neither is bounded":               {shared, 0, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("the bound is not kept"))
			defer cancel()
			tmp := t.TempDir()
			res, err := proc.Run(ctx, proc.Command{
				Argv: []string{"/bin/bash", "-c", tt.script}, Bwrap: bwrap(t), PrivateTmp: tmp, MaxProcesses: tt.processes, MaxMemory: tt.memory,
				Env: []string{"PATH=/usr/bin:/bin", "TMP=" + tmp, "BINARY=" + os.Args[0], "BWRAP=" + bwrap(t)},
			})
			require.NoError(t, err)
			assert.Empty(t, res.Survivors)
			if tt.want == nil {
				assert.NoError(t, res.Cause)
				assert.Zero(t, res.ExitCode)
				return
			}
			assert.ErrorIs(t, res.Cause, tt.want)
			assert.ErrorContains(t, res.Cause, fmt.Sprint(max(int64(tt.processes), tt.memory)))
			assert.Equal(t, -1, res.ExitCode)
		})
	}
}

// TestThreads is a process of another test's tree: it holds so many threads.
func TestThreads(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("PROC_TEST_THREADS"))
	if err != nil {
		return // run by TestWhatATreeMayTake
	}
	for range n {
		go func() {
			runtime.LockOSThread()
			select {}
		}()
	}
	time.Sleep(10 * time.Minute)
}

// TestFrozenTreesDie: a process that stands still in a freezer does not die of a kill alone. Only root
// can make one, and only where cgroup version 1 has it.
func TestFrozenTreesDie(t *testing.T) {
	const root = "/sys/fs/cgroup/freezer"
	dir := fmt.Sprintf("%s/proc-test-%d", root, os.Getpid())
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skip("nothing can freeze here: ", err)
	}
	defer func() { assert.NoError(t, os.Remove(dir)) }()
	if _, err := os.Stat(dir + "/freezer.state"); err != nil {
		t.Skip("nothing can freeze here: ", err)
	}
	deadline := errors.New("deadline")
	for _, whole := range []bool{false, true} {
		t.Run(fmt.Sprint("the first process too: ", whole), func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			// What a failed test leaves frozen would hold the next.
			defer func() { assert.NoError(t, os.WriteFile(dir+"/freezer.state", []byte("THAWED"), 0)) }()
			var w writerFunc = func(b []byte) (int, error) {
				require.NoError(t, os.WriteFile(dir+"/freezer.state", []byte("FROZEN"), 0))
				state, err := os.ReadFile(dir + "/freezer.state")
				require.NoError(t, err)
				require.Contains(t, []string{"FROZEN", "FREEZING"}, strings.TrimSpace(string(state)), "the control")
				cancel(deadline)
				return len(b), nil
			}
			script := `(echo 0 >"$DIR/cgroup.procs"; exec sleep 600) & until read -r _ <"$DIR/cgroup.procs"; do sleep 0.01; done; echo ready; wait`
			if whole {
				script = `echo 1 >"$DIR/cgroup.procs"; echo 0 >"$DIR/cgroup.procs"; echo ready; sleep 600`
			}
			res, err := proc.Run(ctx, proc.Command{
				Argv: []string{"/bin/bash", "-c", script}, Env: []string{"PATH=/usr/bin:/bin", "DIR=" + dir}, Stdout: w, Bwrap: bwrap(t),
			})
			require.NoError(t, err)
			assert.Equal(t, deadline, res.Cause)
			assert.Empty(t, res.Survivors)
		})
	}
}
