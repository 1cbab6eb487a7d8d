//go:build linux

package sandbox_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/sandbox"
)

// Each program waits to be stopped, so a quota that is not kept hangs the test, and does not fill the
// machine's disk; the ones that stay within it end by themselves, after a look was due.
func TestQuota(t *testing.T) {
	t.Parallel()
	small := sandbox.Quota{Bytes: 8 << 20, Files: 300}
	for name, tt := range map[string]struct {
		script string
		quota  sandbox.Quota
		want   error
		says   string
	}{
		"one large file":                    {"head -c 64000000 /dev/zero >f; exec sleep 600", small, sandbox.ErrDiskLimit, "more than 8388608 bytes"},
		"in the other writable folder":      {"head -c 64000000 /dev/zero >../home/f; exec sleep 600", small, sandbox.ErrDiskLimit, "more than 8388608 bytes"},
		"the folders count together":        {"for d in . ../home; do head -c 5000000 /dev/zero >$d/f; done; exec sleep 600", small, sandbox.ErrDiskLimit, "bytes"},
		"many files":                        {"i=0; while [ $i -lt 5000 ]; do i=$((i+1)); : >f$i; done; exec sleep 600", small, sandbox.ErrFileLimit, "more than 300 files"},
		"many folders":                      {"i=0; while [ $i -lt 400 ]; do i=$((i+1)); mkdir d$i; done; exec sleep 600", small, sandbox.ErrFileLimit, "more than 300 files"},
		"deeper than a path can name":       {"d=$(printf %0200d 0); for i in $(seq 30); do mkdir $d && cd -P $d || break; done; exec sleep 600", sandbox.Quota{}, sandbox.ErrFileLimit, "nested deeper"},
		"many processes":                    {"i=0; while [ $i -lt 90 ]; do i=$((i+1)); sleep 600 & done; wait", sandbox.Quota{Processes: 80}, sandbox.ErrProcessLimit, "more than 80 processes"},
		"much memory":                       {`exec perl -e '$x = "a" x (400 << 20); sleep 600'`, sandbox.Quota{Memory: 300 << 20}, sandbox.ErrMemoryLimit, "more than 314572800 bytes"},
		"files in memory":                   {"head -c 400000000 /dev/zero >/dev/shm/f; exec sleep 600", sandbox.Quota{Memory: 300 << 20}, sandbox.ErrMemoryLimit, "more than 314572800 bytes"},
		"files in a denied folder":          {"head -c 400000000 /dev/zero >../f; exec sleep 600", sandbox.Quota{Memory: 300 << 20}, sandbox.ErrMemoryLimit, "more than 314572800 bytes"},
		"some processes and memory":         {`for i in 1 2 3; do sleep 1 & done; perl -e '$x = "a" x (20 << 20)'; wait`, sandbox.Quota{Processes: 80, Memory: 300 << 20}, nil, ""},
		"sparse 1 TB takes no room":         {"truncate -s 1T f && sleep 2.5 && stat -c %s f", small, nil, ""},
		"within the limits":                 {"head -c 1000000 /dev/zero >f; for i in 1 2 3; do : >f$i; done; sleep 2.5", small, nil, ""},
		"links to one file take room once":  {"head -c 1000000 /dev/zero >f; for i in $(seq 40); do ln f l$i; done; sleep 2.5", small, nil, ""},
		"the defaults are far above a test": {"head -c 30000000 /dev/zero >f; sleep 1.5", sandbox.Quota{}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			l := b.sh(t, "", tt.script)
			l.Quota = tt.quota
			_, _, ended := b.run(t, l)
			if tt.want == nil {
				assert.NoError(t, ended.Cause)
				assert.Zero(t, ended.ExitCode)
				return
			}
			assert.ErrorIs(t, ended.Cause, tt.want)
			assert.ErrorContains(t, ended.Cause, tt.says)
			assert.Equal(t, -1, ended.ExitCode)
		})
	}
}

// What a program left when it ended by itself has the same outcome as what it is caught with: the
// limits do not hang on whether a look came in time.
func TestQuotaAtTheEnd(t *testing.T) {
	t.Parallel()
	small := sandbox.Quota{Bytes: 8 << 20, Files: 300}
	const deep = "d=$(printf 'd/%.0s' $(seq 1000)); for i in 1 2 3; do mkdir -p $d && cd -P $d || exit 1; done"
	for name, tt := range map[string]struct {
		script string
		quota  sandbox.Quota
		want   error
	}{
		"3000 folders deep":   {deep, sandbox.Quota{}, sandbox.ErrFileLimit},
		"in the home":         {"cd ../home; " + deep, sandbox.Quota{}, sandbox.ErrFileLimit},
		"100 folders deep":    {"mkdir -p $(printf 'd/%.0s' $(seq 100))", sandbox.Quota{}, nil},
		"one large file":      {"head -c 64000000 /dev/zero >f", small, sandbox.ErrDiskLimit},
		"gone before the end": {"head -c 64000000 /dev/zero >f; rm f", sandbox.Quota{}, nil},
		"within the limits":   {": >f", small, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			l := b.sh(t, "", tt.script)
			l.Quota = tt.quota
			_, errs, ended := b.run(t, l)
			if tt.want == nil {
				assert.NoError(t, ended.Cause, errs)
				assert.Zero(t, ended.ExitCode, errs)
				return
			}
			assert.ErrorIs(t, ended.Cause, tt.want, errs)
		})
	}
}

// What the launch may not write is not counted: a large starter or toolchain is not its doing.
func TestQuotaCountsWritableFoldersOnly(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	for i := range 20 {
		require.NoError(t, os.WriteFile(b.path("bin", fmt.Sprint(i)), make([]byte, 1<<20), 0o644))
	}
	l := b.sh(t, "", "sleep 1.5")
	l.Quota = sandbox.Quota{Bytes: 1 << 20, Files: 100}
	_, _, ended := b.run(t, l)
	assert.NoError(t, ended.Cause)
}
