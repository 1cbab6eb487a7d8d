package harness_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/internal/treecopy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tiny makes an evals root with one small task whose agent is a shell script.
func tiny(t *testing.T, script string) string {
	t.Helper()
	const dir = "../testdata/script"
	evals := t.TempDir()
	root := filepath.Join(evals, "tasks", "tiny")
	require.NoError(t, os.MkdirAll(filepath.Dir(root), 0o755))
	_, err := treecopy.Copy(root, filepath.Join(dir, "tiny"), treecopy.CopyOptions{})
	require.NoError(t, err)
	text := "kind = \"capability\"\neditable = [\"src\"]\nmodel_script = \"model.toml\"\nprompt = '''\n" + script + "'''\n"
	require.NoError(t, os.WriteFile(filepath.Join(root, "task.toml"), []byte(text), 0o644))
	return evals
}

// held counts what a runner must give back: open files, goroutines and children.
func held(t *testing.T) (files, goroutines, children int) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	kids, err := filepath.Glob("/proc/self/task/*/children")
	require.NoError(t, err)
	for _, k := range kids {
		b, _ := os.ReadFile(k) // a thread may end in between
		if len(b) > 0 {
			children++
		}
	}
	return len(fds), runtime.NumGoroutine(), children
}

// TestTrialsLeakNothing runs trials in one process: after each, the runner holds what it held after
// the first. A leak of one file a trial would end a long exam.
func TestTrialsLeakNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the enforced sandbox is Linux only")
	}
	if testing.Short() {
		t.Skip("trials do not run under -short")
	}
	fake, err := filepath.Abs("../testdata/script/fake-client")
	require.NoError(t, err)
	e, err := harness.Open(harness.Options{
		Evals: tiny(t, "init\nsolve\n(setsid sleep 600 &)\ndone_ok\n"), Scratch: t.TempDir(), ClientPath: fake,
		Configurations: []string{"without-symposium"}, Trials: 5,
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	run, err := e.Start(ctx, e.Tasks())
	require.NoError(t, err, "a missing tool is installed by `proctor setup`")
	b := run.Batches()[0]
	require.NoError(t, b.Prepare(ctx))

	var files, goroutines int
	for i, p := range b.Plan() {
		rec, err := b.RunTrial(ctx, p)
		require.NoError(t, err)
		require.Equal(t, result.Succeeded, rec.Outcome, "%s: %s", p.Name(), rec.ExecutionCause)
		if i == 0 {
			files, goroutines, _ = held(t)
			continue
		}
		// An idle connection's goroutine may take a moment to see its end.
		f, g, c := held(t)
		for end := time.Now().Add(10 * time.Second); (f > files || g > goroutines || c > 0) && time.Now().Before(end); f, g, c = held(t) {
			time.Sleep(20 * time.Millisecond)
		}
		assert.LessOrEqual(t, f, files, "open files after %s", p.Name())
		assert.LessOrEqual(t, g, goroutines, "goroutines after %s", p.Name())
		assert.Zero(t, c, "children after %s", p.Name())
	}
	_, err = b.Finish(nil)
	require.NoError(t, err)
	require.NoError(t, run.Close(nil))
}
