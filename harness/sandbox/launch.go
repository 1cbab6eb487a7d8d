// Package sandbox starts a program under srt (bubblewrap on Linux) with a policy.
//
// It is for everything that runs what a trial wrote or may influence: the
// agent client, cargo-agents, each grading step. A launch sees exactly the
// environment it names, reads and writes exactly what its policy allows, and
// is dead, whole, when Launch returns.
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
	"sync"
	"time"

	"github.com/proctor-evals/proctor/internal/proc"
)

// Runtime is the installed sandbox: srt's entry script, the Node.js that runs it, and bubblewrap.
type Runtime struct {
	Node, SRT, Bwrap string
	Version          string // srt's
	// PrivateTmp is an existing, empty, short folder; each launch sees a fresh tmpfs there for
	// srt's sockets (a socket path holds 107 bytes).
	PrivateTmp string
}

// Launch is one program to run under a policy.
type Launch struct {
	Argv []string
	// Env is the whole environment of the program. Values reach it by name, never in an argv.
	Env map[string]string
	// Proxy passes srt's own proxy variables on to the program, for launches with a network.
	Proxy  bool
	Dir    string
	Policy Policy
	// Control is a folder outside everything the policy lets the program write; the policy file
	// and the start script are written there. The program must be allowed to read Start's folder.
	PolicyFile string
	StartFile  string
	Home       string // HOME of srt itself
	Stdin      io.Reader
	Stdout     io.Writer
	Stderr     io.Writer
	// MaxOutput caps stdout and stderr together, in bytes; 0 means DefaultMaxOutput.
	MaxOutput int64
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
	policy, err := l.Policy.JSON()
	if err != nil {
		return Ended{}, err
	}
	if err := os.WriteFile(l.PolicyFile, policy, 0o600); err != nil {
		return Ended{}, fmt.Errorf("sandbox policy: %w", err)
	}
	nonce, err := newNonce()
	if err != nil {
		return Ended{}, err
	}
	script, env := startScript(l, nonce)
	if err := os.WriteFile(l.StartFile, []byte(script), 0o755); err != nil {
		return Ended{}, fmt.Errorf("sandbox start script: %w", err)
	}

	limit := l.MaxOutput
	if limit == 0 {
		limit = DefaultMaxOutput
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	budget := &outputBudget{left: limit, exceeded: func() { cancel(ErrOutputLimit) }}
	mark := &markWriter{mark: []byte(nonce + "\n"), next: budget.writer(l.Stderr)}

	env = append(env, "HOME="+l.Home, "PATH="+searchPath(rt), "TMPDIR="+rt.PrivateTmp)
	res, err := proc.Run(ctx, proc.Command{
		// sh reads the script, so a script written a moment ago can never be "text file busy".
		Argv: []string{rt.Node, rt.SRT, "--settings", l.PolicyFile, "/bin/sh", l.StartFile},
		Env:  env, Dir: l.Dir, Stdin: l.Stdin,
		Stdout: budget.writer(l.Stdout), Stderr: mark,
		Bwrap: rt.Bwrap, PrivateTmp: rt.PrivateTmp,
	})
	mark.flush()
	if err != nil {
		return Ended{}, err
	}
	ended := Ended{Started: mark.seen, ExitCode: res.ExitCode, Cause: res.Cause, Elapsed: res.Elapsed, Survivors: res.Survivors}
	if !mark.seen {
		ended.Diagnosis = strings.TrimSpace(mark.head())
		if ended.Diagnosis == "" {
			ended.Diagnosis = fmt.Sprintf("srt ended with exit code %d and no message", res.ExitCode)
		}
	}
	return ended, nil
}

func searchPath(rt Runtime) string {
	dirs := []string{filepath.Dir(rt.Node), filepath.Dir(rt.Bwrap), "/usr/bin", "/bin"}
	return strings.Join(slices.Compact(dirs), ":")
}

func newNonce() (string, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("sandbox: %w", err)
	}
	return "started-" + hex.EncodeToString(b[:]), nil
}

// startScript is the first thing to run inside. It says on stderr that the sandbox stands, then
// replaces itself with the program under exactly l.Env: everything srt added is dropped. Values
// travel in the environment under neutral names and are only named here, so that no file, and no
// command line that srt encodes into its own variables, holds one.
func startScript(l Launch, nonce string) (script string, env []string) {
	names := make([]string, 0, len(l.Env))
	for name := range l.Env {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	fmt.Fprintf(&b, "echo %s >&2\nexec /usr/bin/env -i", nonce)
	for i, name := range names {
		carrier := fmt.Sprintf("V%d", i)
		env = append(env, carrier+"="+l.Env[name])
		fmt.Fprintf(&b, ` %s="$%s"`, name, carrier)
	}
	if l.Proxy {
		for _, name := range proxyNames {
			fmt.Fprintf(&b, ` %s="$%s"`, name, name)
		}
	}
	for _, arg := range l.Argv {
		b.WriteByte(' ')
		b.WriteString(Quote(arg))
	}
	b.WriteByte('\n')
	return b.String(), env
}

// Quote makes s one word of a POSIX shell.
func Quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// outputBudget lets a program print so much in all and ends it past that.
type outputBudget struct {
	mu       sync.Mutex
	left     int64
	exceeded func()
}

func (b *outputBudget) writer(w io.Writer) io.Writer {
	if w == nil {
		w = io.Discard
	}
	return budgetWriter{b, w}
}

type budgetWriter struct {
	b *outputBudget
	w io.Writer
}

func (w budgetWriter) Write(p []byte) (int, error) {
	w.b.mu.Lock()
	take := min(int64(len(p)), w.b.left)
	w.b.left -= take
	over := take < int64(len(p))
	w.b.mu.Unlock()
	if take > 0 {
		if _, err := w.w.Write(p[:take]); err != nil {
			return 0, err
		}
	}
	if over {
		w.b.exceeded()
	}
	// The rest is swallowed, not refused: a refused pipe would hide the real cause.
	return len(p), nil
}

// markWriter removes the start mark from stderr and remembers that it came. What is printed
// before the mark is srt's own.
type markWriter struct {
	mark []byte
	next io.Writer
	seen bool
	held []byte
	pre  bytes.Buffer
}

const maxDiagnosis = 16 << 10

func (m *markWriter) Write(p []byte) (int, error) {
	if m.seen {
		return m.next.Write(p)
	}
	m.held = append(m.held, p...)
	if i := bytes.Index(m.held, m.mark); i >= 0 {
		m.seen = true
		rest := append(slices.Clone(m.held[:i]), m.held[i+len(m.mark):]...)
		m.held = nil
		if len(rest) == 0 {
			return len(p), nil
		}
		if _, err := m.next.Write(rest); err != nil {
			return 0, err
		}
		return len(p), nil
	}
	if extra := len(m.held) - maxDiagnosis; extra > 0 {
		if _, err := m.next.Write(m.held[:extra]); err != nil {
			return 0, err
		}
		m.pre.Write(m.held[:min(extra, maxDiagnosis)])
		m.held = slices.Clone(m.held[extra:])
	}
	return len(p), nil
}

func (m *markWriter) flush() {
	if len(m.held) > 0 {
		_, _ = m.next.Write(m.held)
		m.pre.Write(m.held)
		m.held = nil
	}
}

func (m *markWriter) head() string {
	b := m.pre.Bytes()
	return strings.ToValidUTF8(string(b[:min(len(b), maxDiagnosis)]), "�")
}
