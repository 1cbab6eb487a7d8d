// Package sandbox starts a program under srt (bubblewrap on Linux) with a policy.
//
// It is for everything that runs what a trial wrote or may influence: the
// agent client, cargo-agents, each grading step. A launch sees exactly the
// environment it names, reads and writes exactly what its policy allows, and
// is dead, whole, when Run returns.
package sandbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/proctor-evals/proctor/internal/proc"
)

// Runtime is the installed sandbox: srt's entry script, the Node.js that runs it, and bubblewrap.
type Runtime struct {
	Node, SRT, Bwrap, Socat string
	Version                 string // srt's
	// PrivateTmp is an existing, empty, short folder; each launch sees a fresh tmpfs there for
	// srt's sockets (a socket path holds 107 bytes).
	PrivateTmp string
}

// Launch is one program to run under a policy.
type Launch struct {
	Argv []string
	// Env is the whole environment of the program. Values reach it by name, never in an argv or a
	// file. Names are those of a shell variable, values are UTF-8.
	Env map[string]string
	// Proxy passes srt's own proxy variables on to the program, for launches with a network.
	Proxy bool
	// Dir is the working directory. Launches side by side need one each: srt makes mount points in
	// it and removes them at the end, under the feet of another.
	Dir    string
	Policy Policy
	// PolicyFile and StartFile are written for the launch, at places the policy does not let the
	// program write; StartFile must be readable inside, and so are the files of its name with an ending
	// beside it. Launches side by side need files of their own.
	PolicyFile string
	StartFile  string
	Home       string // HOME of srt itself
	// Stdin must come to its end by itself: a Read that blocks holds the launch open.
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// SealedStdout says that stdout is evidence: nothing in the sandbox can open the program's end of it.
	SealedStdout bool
	// MaxOutput caps stdout and stderr together, in bytes; 0 means DefaultMaxOutput.
	MaxOutput int64
	// Quota bounds what the launch may leave in the folders its policy lets it write, and what it may
	// take of the machine meanwhile.
	Quota Quota
}

// DefaultMaxOutput is the cap on a launch's output where none is set: 1 GiB.
const DefaultMaxOutput = 1 << 30

// ErrOutputLimit is the cause of a launch ended for printing more than its limit.
var ErrOutputLimit = errors.New("output limit exceeded")

// Ended says how a launch ended.
type Ended struct {
	// Started is true once the program itself was about to run inside the sandbox. When it is
	// false the sandbox could not start and Diagnosis holds what was printed.
	Started   bool
	Diagnosis string
	ExitCode  int
	Cause     error // why it was killed, or nil
	Elapsed   time.Duration
	Survivors []int
}

// proxyNames are the variables through which clients find srt's proxy.
var proxyNames = []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"}

// Run launches l and waits for its end. Its error means the runner itself could not do its part;
// a sandbox that refuses to start is Ended{Started: false}.
func (rt Runtime) Run(ctx context.Context, l Launch) (Ended, error) {
	if len(l.Policy.AllowedDomains) > 0 {
		// srt's bridge into the sandbox is a socket there; a denied region over it would cut the network.
		l.Policy.AllowRead = append(slices.Clone(l.Policy.AllowRead), rt.PrivateTmp)
	}
	if err := l.check(); err != nil {
		return Ended{}, err
	}
	policy, err := l.Policy.settings(quietFile(l.PolicyFile), rt.Socat)
	if err != nil {
		return Ended{}, err
	}
	if err := os.WriteFile(l.PolicyFile, policy, 0o600); err != nil {
		return Ended{}, fmt.Errorf("sandbox policy: %w", err)
	}
	if err := rt.writeQuietBwrap(quietFile(l.PolicyFile)); err != nil {
		return Ended{}, err
	}
	if err := rt.writeConfinement(l); err != nil {
		return Ended{}, err
	}
	nonce, err := newNonce()
	if err != nil {
		return Ended{}, err
	}
	script, env := startScript(l, nonce)
	if err := os.WriteFile(l.StartFile, []byte(script), 0o755); err != nil {
		return Ended{}, fmt.Errorf("sandbox start script: %w", err)
	}

	env = append(env, "HOME="+l.Home, "PATH="+searchPath(rt), "TMPDIR="+rt.PrivateTmp)
	for attempt := 1; ; attempt++ {
		ended, retry, err := rt.attempt(ctx, l, nonce, env)
		if err != nil || !retry || attempt == attempts || !rewind(l.Stdin) {
			return ended, err
		}
	}
}

// attempts is how often a launch is tried that srt fails for want of time.
const attempts = 3

// wantOfTime are srt's words when its own look-ups (which(1), given one second) or its bridge did
// not answer in time on a busy machine. They also stand for what is really missing; then the
// last attempt says so. Source: srt 0.0.78, utils/which.js.
var wantOfTime = []string{"not found in PATH", "dependencies not available", "Failed to create bridge sockets"}

// rewind makes stdin what it was. The program has not run, but srt's pipe may hold a part of it.
func rewind(stdin io.Reader) bool {
	if stdin == nil {
		return true
	}
	seeker, ok := stdin.(io.Seeker)
	if !ok {
		return false
	}
	_, err := seeker.Seek(0, io.SeekStart)
	return err == nil
}

// attempt is one launch of a written policy and start script. retry says that the program did not
// start, and that another attempt may go better.
func (rt Runtime) attempt(parent context.Context, l Launch, nonce string, env []string) (ended Ended, retry bool, err error) {
	limit := l.MaxOutput
	if limit == 0 {
		limit = DefaultMaxOutput
	}
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	budget := &outputBudget{left: limit, exceeded: func() { cancel(ErrOutputLimit) }}
	go l.Quota.watch(ctx, l.Policy.AllowWrite, cancel)
	mark := &markWriter{mark: []byte(nonce + "\n"), next: budget.writer(l.Stderr)}

	res, err := proc.Run(ctx, proc.Command{
		// sh reads the script, so a script written a moment ago can never be "text file busy".
		Argv: []string{rt.Node, rt.SRT, "--settings", l.PolicyFile, "/bin/sh", l.StartFile},
		Env:  env, Dir: l.Dir, Stdin: l.Stdin,
		Stdout: budget.writer(l.Stdout), Stderr: mark, SealedStdout: l.SealedStdout,
		Bwrap: rt.Bwrap, PrivateTmp: rt.PrivateTmp, MaxProcesses: l.Quota.processes(), MaxMemory: l.Quota.memory(),
	})
	if err != nil {
		mark.flush()
		return Ended{}, false, err
	}
	ended = Ended{Started: mark.seen, ExitCode: res.ExitCode, Cause: res.Cause, Elapsed: res.Elapsed, Survivors: res.Survivors}
	if mark.seen {
		ended.Cause = l.Quota.atEnd(ended.Cause, l.Policy.AllowWrite)
		return ended, false, nil
	}
	retry = ended.Cause == nil && slices.ContainsFunc(wantOfTime, func(s string) bool { return bytes.Contains(mark.held, []byte(s)) })
	mark.flush()
	ended.Diagnosis = mark.diagnosis("srt", ended)
	return ended, retry, nil
}

// searchPath is where srt looks for its programs. Bubblewrap's folder comes first: the one the
// result names is then the one that runs.
func searchPath(rt Runtime) string {
	dirs := []string{filepath.Dir(rt.Bwrap), filepath.Dir(rt.Node), "/usr/bin", "/bin"}
	return strings.Join(slices.Compact(dirs), ":")
}

func newNonce() (string, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("sandbox: %w", err)
	}
	return "started-" + hex.EncodeToString(b[:]), nil
}
