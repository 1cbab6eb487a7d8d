//go:build linux

package sandbox_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/sandbox"
)

func TestExitCodeAndStreams(t *testing.T) {
	t.Parallel()
	for id, tt := range map[string]struct {
		script string
		want   int
	}{
		"zero":      {"cat; echo oops >&2", 0},
		"own":       {"cat; echo oops >&2; exit 37", 37},
		"by-signal": {"cat; echo oops >&2; kill -9 $$", 137},
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			l := b.sh(t, id, tt.script)
			l.Stdin = strings.NewReader("given\x00 on stdin")
			out, errs, ended := b.run(t, l)
			assert.Equal(t, tt.want, ended.ExitCode)
			assert.NoError(t, ended.Cause)
			assert.Equal(t, "given\x00 on stdin", out)
			// Neither the start mark nor a word of srt's is left in it.
			assert.Equal(t, "oops\n", errs)
		})
	}
}

func TestEnvironmentIsExactlyTheLaunchs(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	l := b.sh(t, "", "")
	l.Argv = []string{"/usr/bin/env", "-0"}
	l.Env = map[string]string{
		"HOME": b.path("work"), "PATH": "/usr/bin:/bin", "TMPDIR": "/nowhere", "EMPTY": "", "_x9": "name",
		"QUOTES": `'"` + "`\\", "DOLLAR": "$HOME ${V0} $(id)", "UNICODE": "žluť ☃ \u202e",
		"LINES": "one\ntwo\r\n\n", "SPACES": "  \t a  b ", "GLOB": "* [a-z] ?",
		// What the start script reads back from the shell must not take a value for a variable.
		"FORGED": "x\nexport V3='gone'\nexport HOME='gone'\n", "NO_PROXY": "own", "EQUALS": "a=b=c", "LONG": strings.Repeat("v", 100_000),
	}
	out, _, _ := b.run(t, l)
	got := map[string]string{}
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		name, value, _ := strings.Cut(entry, "=")
		got[name] = value
	}
	assert.Equal(t, l.Env, got)
}

// A value is in no command line, no file and not in what srt encodes of the command, at any level
// of the tree while the program runs.
func TestValuesStayOutOfSight(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	const secret = "s3cret-8d1f0c5e77aa"
	l := b.sh(t, "", `test ${#KEY} = 19 || exit 9; echo ready; read x`)
	l.Env["KEY"], l.Env["MARK"] = secret, b.dir
	c := b.start(t.Context(), l)
	c.await(t)
	seen := 0
	encoded := base64.StdEncoding.EncodeToString([]byte(secret))
	for _, p := range processes(t) {
		if !strings.Contains(p.environ, b.dir) {
			continue
		}
		seen++
		assert.NotContains(t, p.cmdline, secret)
		assert.NotContains(t, p.environ, encoded[:len(encoded)-4])
	}
	require.GreaterOrEqual(t, seen, 3, "the test did not see the tree it looks at")
	require.NoError(t, c.stdin.Close())
	<-c.done
	require.NoError(t, c.err)
	for _, file := range []string{l.PolicyFile, l.StartFile} {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.NotContains(t, string(data), secret)
		assert.NotContains(t, string(data), encoded[:len(encoded)-4])
	}
}

type process struct{ cmdline, environ string }

func processes(t *testing.T) []process {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	var out []process
	for _, dir := range dirs {
		cmdline, errC := os.ReadFile(filepath.Join(dir, "cmdline"))
		environ, errE := os.ReadFile(filepath.Join(dir, "environ"))
		if errC == nil && errE == nil {
			out = append(out, process{string(cmdline), string(environ)})
		}
	}
	return out
}

func TestArgumentsArriveAsTheyAre(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	l := b.sh(t, "", "")
	args := []string{"", "it's", `"$HOME" \n $(id) ` + "`id`", "two\nlines", "-e", "--", "☃", "a=b", "*"}
	l.Argv = append([]string{"/bin/sh", "-c", `for a in "$@"; do printf '%s\0' "$a"; done`, "sh"}, args...)
	out, _, _ := b.run(t, l)
	assert.Equal(t, args, strings.Split(strings.TrimSuffix(out, "\x00"), "\x00"))
}

// env(1) would take such a program for an assignment.
func TestProgramWithEqualsSignInItsPath(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	prog := b.path("bin", "a=b")
	require.NoError(t, os.Symlink("/usr/bin/env", prog))
	l := b.sh(t, "", "")
	l.Argv = []string{prog}
	out, _, ended := b.run(t, l)
	assert.Zero(t, ended.ExitCode)
	assert.Contains(t, out, "PATH=/usr/bin:/bin\n")
}

func TestBadLaunchesAreRefusedAtOnce(t *testing.T) {
	b := newBox(t)
	l := b.sh(t, "", "")
	l.Argv = []string{"/bin/true", "a\x00b"}
	l.Env = map[string]string{"": "1", "A B": "1", "9A": "1", "A;id": "1", "V0": "1", "KEY": "s3cret\x00", "RAW": "s3cret\xff"}
	_, err := b.rt.Run(t.Context(), l)
	require.Error(t, err)
	for _, want := range []string{`""`, `"A B"`, `"9A"`, `"A;id"`, `"V0"`, "variable KEY", "variable RAW", "argument 1"} {
		assert.ErrorContains(t, err, want)
	}
	assert.NotContains(t, err.Error(), "s3cret")
	assert.NoFileExists(t, l.StartFile)

	l.Argv, l.Env = nil, nil
	_, err = b.rt.Run(t.Context(), l)
	assert.ErrorContains(t, err, "no program")
}

func TestSandboxThatDoesNotStart(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(t *testing.T, b *box, l *sandbox.Launch)
		want   string
	}{
		"bubblewrap refuses srt": {func(t *testing.T, b *box, _ *sandbox.Launch) {
			// srt finds bwrap by name on the PATH it is given. Proctor's own call is let through.
			fake := b.path("control", "bwrap")
			script := "#!/bin/sh\ncase \"$*\" in *--info-fd*) exec " + b.rt.Bwrap + " \"$@\";; esac\necho 'bwrap: fake refusal' >&2\nexit 1\n"
			require.NoError(t, os.WriteFile(fake, []byte(script), 0o755))
			b.rt.Bwrap = fake
		}, "fake refusal"},
		"srt is not there": {func(_ *testing.T, b *box, _ *sandbox.Launch) {
			b.rt.SRT = b.path("control", "no-srt.js")
		}, "no-srt.js"},
		// facts: the run's folder as a whole in allowRead, with the working directory below it.
		"a mount point cannot be made": {func(_ *testing.T, b *box, l *sandbox.Launch) {
			l.Policy.AllowRead = append(l.Policy.AllowRead, b.dir)
		}, "Read-only file system"},
		"what srt needs is missing": {func(t *testing.T, b *box, _ *sandbox.Launch) {
			b.rt.SRT = b.path("control", "missing.js")
			require.NoError(t, os.WriteFile(b.rt.SRT, []byte("console.error('socat not found in PATH'); process.exit(1)"), 0o644))
		}, "socat not found in PATH"},
		"the start script cannot be read": {func(_ *testing.T, b *box, l *sandbox.Launch) {
			l.Policy.AllowRead = []string{b.path("work"), l.Policy.AllowRead[3]}
		}, "start"},
		"srt says nothing": {func(t *testing.T, b *box, _ *sandbox.Launch) {
			b.rt.SRT = b.path("control", "silent.js")
			require.NoError(t, os.WriteFile(b.rt.SRT, []byte("process.exit(0)"), 0o644))
		}, "exit code 0 and no message"},
		"srt floods stderr": {func(t *testing.T, b *box, _ *sandbox.Launch) {
			b.rt.SRT = b.path("control", "flood.js")
			require.NoError(t, os.WriteFile(b.rt.SRT, []byte("for (let i = 0; i < 200; i++) console.error('first '.repeat(10) + 'x'.repeat(20000))"), 0o644))
		}, "first first"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			l := b.sh(t, "", "echo ran > ran")
			tt.change(t, b, &l)
			ended, err := b.rt.Run(t.Context(), l)
			require.NoError(t, err)
			assert.False(t, ended.Started)
			assert.Contains(t, ended.Diagnosis, tt.want)
			assert.LessOrEqual(t, len(ended.Diagnosis), 16<<10)
			assert.NoFileExists(t, b.path("work", "ran"))
		})
	}
}

// srt gives its own look-ups one second, which a busy machine may not have.
func TestSandboxThatStartsAtASecondAttempt(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	real, flaky := b.rt.SRT, b.path("control", "flaky.mjs")
	require.NoError(t, os.WriteFile(flaky, []byte(`import fs from 'node:fs'
const seen = process.argv[1] + '.seen'
if (fs.existsSync(seen)) { process.argv[1] = '`+real+`'; await import('`+real+`') }
else { fs.writeFileSync(seen, ''); fs.readSync(0, Buffer.alloc(3)); console.error("Error: Shell 'bash' not found in PATH"); process.exit(1) }
`), 0o644))
	b.rt.SRT = flaky
	l := b.sh(t, "", "cat; echo own >&2")
	l.Stdin = strings.NewReader("whole input")
	out, errs, ended := b.run(t, l)
	assert.Zero(t, ended.ExitCode)
	assert.Equal(t, "whole input", out)
	assert.Contains(t, errs, "own\n")
}

func TestDeadlineEndsTheWholeTree(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	deadline := errors.New("deadline of this test")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	l := b.sh(t, "", `trap '' TERM INT HUP
setsid sleep 600 & (setsid sh -c 'trap "" TERM; sleep 600' &) & echo ready; while :; do sleep 600; done`)
	mark := "MARK-" + filepath.Base(b.rt.PrivateTmp)
	l.Env["MARK"] = mark
	c := b.start(ctx, l)
	c.await(t)
	require.NotZero(t, marked(t, mark), "the test does not see the tree it looks for")
	cancel(deadline)
	<-c.done
	require.NoError(t, c.err)
	assert.True(t, c.ended.Started)
	assert.ErrorIs(t, c.ended.Cause, deadline)
	assert.Equal(t, -1, c.ended.ExitCode)
	assert.Empty(t, c.ended.Survivors)
	assert.Zero(t, marked(t, mark))
}

func marked(t *testing.T, mark string) int {
	n := 0
	for _, p := range processes(t) {
		if strings.Contains(p.environ, mark) {
			n++
		}
	}
	return n
}

func TestCancelledBeforeItStarts(t *testing.T) {
	b := newBox(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("stopped"))
	ended, err := b.rt.Run(ctx, b.sh(t, "", "echo ran > ran"))
	require.NoError(t, err)
	assert.False(t, ended.Started)
	assert.ErrorContains(t, ended.Cause, "stopped")
	assert.Empty(t, ended.Diagnosis, "there is nothing wrong with the sandbox")
	assert.NoFileExists(t, b.path("work", "ran"))
}

func TestOutputLimit(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	l := b.sh(t, "", "yes out & yes err >&2")
	var out, errs bytes.Buffer
	l.Stdout, l.Stderr, l.MaxOutput = &out, &errs, 5000
	ended, err := b.rt.Run(t.Context(), l)
	require.NoError(t, err)
	assert.True(t, ended.Started)
	assert.ErrorIs(t, ended.Cause, sandbox.ErrOutputLimit)
	assert.Equal(t, 5000, out.Len()+errs.Len())
}

func TestLaunchesSideBySide(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	require.NoError(t, os.WriteFile(filepath.Join(b.rt.PrivateTmp, "of-the-host"), nil, 0o644))
	const n = 3
	devices := map[string]bool{}
	var all []*controlled
	for i := range n {
		own := newBox(t)
		own.rt = b.rt // the private folder is one and the same on the host
		// With a network, srt keeps its sockets in the private folder, which is then to be seen.
		l := own.sh(t, "", `echo "$ID $(stat -c %d "$TMP") $(test -e "$TMP/of-the-host" && echo leak)"; echo ready; read x`)
		l.Env["ID"], l.Env["TMP"] = fmt.Sprint("id-", i), b.rt.PrivateTmp
		l.Policy.AllowedDomains = []string{"127.0.0.1:1"}
		all = append(all, own.start(t.Context(), l))
	}
	for i, c := range all {
		c.await(t)
		words := strings.Fields(strings.ReplaceAll(c.printed(), "ready", ""))
		require.Len(t, words, 2, "the host's private folder is seen inside")
		assert.Equal(t, fmt.Sprint("id-", i), words[0])
		devices[words[1]] = true
	}
	assert.Len(t, devices, n, "each launch has a private folder of its own")
	for _, c := range all {
		require.NoError(t, c.stdin.Close())
		<-c.done
		assert.NoError(t, c.err)
	}
	entries, err := os.ReadDir(b.rt.PrivateTmp)
	require.NoError(t, err)
	assert.Len(t, entries, 1, "nothing of a launch stays on the host: %v", entries)
}

// A socket's path holds 107 bytes; the sandbox must not care how deep its folders are.
func TestLongPaths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for len(dir) < 220 {
		dir = filepath.Join(dir, strings.Repeat("d", 40))
	}
	require.NoError(t, os.MkdirAll(dir, 0o755))
	b := newBoxIn(t, dir)
	l := b.sh(t, "", "pwd; echo x > f")
	l.Policy.AllowedDomains = []string{"127.0.0.1:1"}
	out, _, ended := b.run(t, l)
	assert.Zero(t, ended.ExitCode)
	assert.Equal(t, b.path("work")+"\n", out)
	assert.FileExists(t, b.path("work", "f"))
}
