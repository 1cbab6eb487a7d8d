package sandbox_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/sandbox"
	"github.com/proctor-evals/proctor/internal/realtools"
	"github.com/proctor-evals/proctor/internal/setup"
)

// box is a denied folder in which work/ may be read and written, bin/ read, and secret/ nothing.
type box struct {
	rt  sandbox.Runtime
	dir string
}

func newBox(t *testing.T) *box {
	t.Helper()
	return newBoxIn(t, t.TempDir())
}

func newBoxIn(t *testing.T, dir string) *box {
	t.Helper()
	tools := realtools.Locate(t, setup.NeedSandbox)
	dir, err := filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	b := &box{dir: dir, rt: sandbox.Runtime{
		Node: tools.ByName[setup.Node].Path, SRT: tools.ByName[setup.SRT].Path, Bwrap: tools.ByName[setup.Bubblewrap].Path,
		PrivateTmp: realtools.ShortDir(t),
	}}
	for _, f := range []string{"work", "home", "bin", "secret", "control"} {
		require.NoError(t, os.Mkdir(b.path(f), 0o755))
	}
	return b
}

func (b *box) path(parts ...string) string {
	return filepath.Join(append([]string{b.dir}, parts...)...)
}

// sh is a launch of a shell script; id keeps launches side by side apart.
func (b *box) sh(t *testing.T, id, script string) sandbox.Launch {
	return sandbox.Launch{
		Argv: []string{"/bin/sh", "-c", script}, Env: map[string]string{"PATH": "/usr/bin:/bin"},
		Dir: b.path("work"), Home: b.path("home"),
		Policy: sandbox.Policy{
			DenyRead:   []string{b.dir},
			AllowRead:  []string{b.path("work"), b.path("home"), b.path("bin"), realtools.SRTVendor(realtools.Locate(t, setup.NeedSandbox))},
			AllowWrite: []string{b.path("work"), b.path("home")},
		},
		PolicyFile: b.path("control", "srt"+id+".json"), StartFile: b.path("bin", "start"+id),
	}
}

// run is one launch that must start, with what it printed.
func (b *box) run(t *testing.T, l sandbox.Launch) (stdout, stderr string, ended sandbox.Ended) {
	t.Helper()
	var out, errs bytes.Buffer
	l.Stdout, l.Stderr = &out, &errs
	ended, err := b.rt.Run(t.Context(), l)
	require.NoError(t, err)
	require.True(t, ended.Started, "the sandbox did not start: %s", ended.Diagnosis)
	require.Empty(t, ended.Survivors)
	return out.String(), errs.String(), ended
}

// controlled is a launch that says "ready" and then waits: ready returns once it has.
type controlled struct {
	ready chan struct{}
	done  chan struct{}
	stdin *io.PipeWriter
	out   *readyWriter
	ended sandbox.Ended
	err   error
}

// printed is what the program has said so far; call it after await.
func (c *controlled) printed() string {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	return string(c.out.seen)
}

func (b *box) start(ctx context.Context, l sandbox.Launch) *controlled {
	c := &controlled{ready: make(chan struct{}), done: make(chan struct{})}
	r, w := io.Pipe()
	c.stdin = w
	context.AfterFunc(ctx, func() { w.Close() }) // a launch ends only when its stdin can be read to its end
	c.out = &readyWriter{c: c}
	l.Stdin, l.Stdout = r, c.out
	go func() {
		defer close(c.done)
		c.ended, c.err = b.rt.Run(ctx, l)
		r.Close()
	}()
	return c
}

type readyWriter struct {
	mu   sync.Mutex
	c    *controlled
	seen []byte
	said bool
}

func (w *readyWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, p...)
	if !w.said && bytes.Contains(w.seen, []byte("ready\n")) {
		w.said = true
		close(w.c.ready)
	}
	return len(p), nil
}

// await waits for the program's word, or fails when it ended first.
func (c *controlled) await(t *testing.T) {
	t.Helper()
	select {
	case <-c.ready:
	case <-c.done:
		require.FailNow(t, "the program ended before it was ready", "%+v %v", c.ended, c.err)
	}
}

// runOutside runs a shell script without any sandbox, for controls. Leading NAME=VALUE arguments are
// its environment, the rest its own.
func runOutside(t *testing.T, script string, args ...string) string {
	t.Helper()
	var env []string
	for len(args) > 0 && strings.Contains(args[0], "=") {
		env, args = append(env, args[0]), args[1:]
	}
	cmd := exec.Command("/bin/sh", append([]string{"-c", script}, args...)...)
	cmd.Env = append(env, "PATH=/usr/bin:/bin")
	out, err := cmd.Output()
	require.NoError(t, err)
	return string(out)
}
