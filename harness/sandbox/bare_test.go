//go:build linux

package sandbox_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"context"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/sandbox"
)

func TestModes(t *testing.T) {
	assert.Equal(t, "enforced", sandbox.Runtime{}.Mode())
	assert.Equal(t, "exploratory", sandbox.Bare{}.Mode())
}

// Bare keeps the environment, the limits and the process tree; the policy is the client's to keep.
func TestBare(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	bare := sandbox.Bare{Bwrap: b.rt.Bwrap}
	require.NoError(t, os.WriteFile(b.path("secret", "f"), []byte("canary"), 0o644))

	t.Run("environment, folder, streams and exit code", func(t *testing.T) {
		l := b.sh(t, "bare", "pwd; env | grep -v -e ^PWD= -e ^SHLVL= -e ^_= | sort; cat; echo err >&2; exit 37")
		l.Env = map[string]string{"PATH": "/usr/bin:/bin", "KEY": "a value\nof two lines"}
		var out, errs bytes.Buffer
		l.Stdin, l.Stdout, l.Stderr = strings.NewReader("given"), &out, &errs
		ended, err := bare.Run(t.Context(), l)
		require.NoError(t, err)
		assert.True(t, ended.Started)
		assert.Equal(t, 37, ended.ExitCode)
		assert.Equal(t, b.path("work")+"\nKEY=a value\nPATH=/usr/bin:/bin\nof two lines\ngiven", out.String())
		assert.Equal(t, "err\n", errs.String())
		assert.NoFileExists(t, l.PolicyFile)
		assert.NoFileExists(t, l.StartFile)
	})
	// So no result made with it may ever pass for an enforced one.
	t.Run("keeps no policy", func(t *testing.T) {
		l := b.sh(t, "bare", "cat ../secret/f")
		var out bytes.Buffer
		l.Stdout = &out
		ended, err := bare.Run(t.Context(), l)
		require.NoError(t, err)
		assert.Zero(t, ended.ExitCode)
		assert.Equal(t, "canary", out.String())
	})
	t.Run("limits", func(t *testing.T) {
		for script, want := range map[string]error{
			"head -c 64000000 /dev/zero; exec sleep 600":                sandbox.ErrOutputLimit,
			"head -c 64000000 /dev/zero >f; exec sleep 600":             sandbox.ErrDiskLimit,
			"for i in $(seq 400); do : >f$i; done; exec sleep 600":      sandbox.ErrFileLimit,
			"(setsid head -c 64000000 /dev/zero >g &) ; exec sleep 600": sandbox.ErrDiskLimit,
			"for i in $(seq 80); do sleep 600 & done; wait":             sandbox.ErrProcessLimit,
		} {
			own := newBox(t)
			l := own.sh(t, "bare", script)
			l.MaxOutput, l.Quota = 1<<20, sandbox.Quota{Bytes: 4 << 20, Files: 100, Processes: 60}
			ended, err := bare.Run(t.Context(), l)
			require.NoError(t, err)
			assert.ErrorIs(t, ended.Cause, want, script)
			assert.Empty(t, ended.Survivors)
		}
	})
	t.Run("the end is the whole tree's", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		mark := "MARK-bare-" + filepath.Base(b.rt.PrivateTmp)
		l := b.sh(t, "bare", `trap '' TERM INT HUP; (setsid sh -c 'trap "" TERM; sleep 600' &); echo ready; sleep 600`)
		l.Env["MARK"] = mark
		l.Stdout = onReady(func() {
			assert.NotZero(t, marked(t, mark), "the test does not see the tree it looks for")
			cancel(errors.New("deadline"))
		})
		ended, err := bare.Run(ctx, l)
		require.NoError(t, err)
		assert.ErrorContains(t, ended.Cause, "deadline")
		assert.Zero(t, marked(t, mark))
	})
	// What did not run must not pass for a client that failed.
	t.Run("bubblewrap that refuses", func(t *testing.T) {
		fake := b.path("control", "fake-bwrap")
		require.NoError(t, os.WriteFile(fake, []byte("#!/bin/sh\necho 'bwrap: fake refusal' >&2\nexit 1\n"), 0o755))
		l := b.sh(t, "bare", "echo ran > ran")
		ended, err := sandbox.Bare{Bwrap: fake}.Run(t.Context(), l)
		require.NoError(t, err)
		assert.False(t, ended.Started)
		assert.Contains(t, ended.Diagnosis, "fake refusal")
		assert.NoFileExists(t, b.path("work", "ran"))
		require.NoError(t, os.WriteFile(fake, []byte("#!/bin/sh\nexit 1\n"), 0o755))
		ended, err = sandbox.Bare{Bwrap: fake}.Run(t.Context(), l)
		require.NoError(t, err)
		assert.Equal(t, "bubblewrap ended with exit code 1 and no message", ended.Diagnosis)
	})
	t.Run("nothing to run", func(t *testing.T) {
		_, err := bare.Run(t.Context(), sandbox.Launch{})
		assert.ErrorContains(t, err, "no program")
	})
}

// onReady calls itself when something is printed.
type onReady func()

func (f onReady) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}
