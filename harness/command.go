package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/proctor-evals/proctor/harness/grade/assertion"
	"github.com/proctor-evals/proctor/harness/sandbox"
	"github.com/proctor-evals/proctor/harness/workspace"
	"github.com/proctor-evals/proctor/internal/setup"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// maxCommandOutput is how much a command of an assertion may print, and maxCommandKept what is kept
// of it to be searched, in bytes.
const (
	maxCommandOutput = 64 << 20
	maxCommandKept   = 1 << 20
)

// Commands gives what runs the commands of assertions: each in a sandbox launch without a network, on
// a fresh copy of the working directory. Nothing is opened before the first; close is never nil.
func (e *Engine) Commands() (run assertion.CommandRunner, close func()) {
	var once sync.Once
	var b *Batch
	var openErr error
	run = func(ctx context.Context, c assertion.CommandRun) (assertion.CommandEnd, error) {
		once.Do(func() { b, openErr = e.commandBatch(ctx) })
		if openErr != nil {
			return assertion.CommandEnd{}, openErr
		}
		return b.runCommand(ctx, c)
	}
	return run, func() {
		if b != nil && b.space != nil {
			_ = b.space.Close() // what is left is swept by the next run
		}
	}
}

// Commands is [Engine.Commands] without an engine: for a working directory of whatever origin. Of the
// options, those of the machine count; Evals, when given, is closed to the commands.
func Commands(o Options) (run assertion.CommandRunner, close func()) {
	return (&Engine{opts: o}).Commands()
}

// commandBatch needs srt alone; with Rust on the machine, commands can use it.
func (e *Engine) commandBatch(ctx context.Context) (*Batch, error) {
	opts := setup.Options{Cache: e.opts.Cache}
	tools, err := setup.Locate(ctx, opts, setup.NeedSandbox, setup.NeedRust)
	if err != nil {
		if tools, err = setup.Locate(ctx, opts, setup.NeedSandbox); err != nil {
			return nil, err
		}
		tools.Toolchain = &setup.Toolchain{}
	}
	scratch, err := workspace.OpenScratch(e.opts.Scratch)
	if err != nil {
		return nil, err
	}
	b := &Batch{run: &Run{engine: e, tools: tools, scratch: scratch}}
	return b, b.openSandbox()
}

var errCommandDeadline = errors.New("command deadline")

// runCommand runs one command of an assertion.
func (b *Batch) runCommand(ctx context.Context, c assertion.CommandRun) (end assertion.CommandEnd, err error) {
	id, err := workspace.NewID()
	if err != nil {
		return end, err
	}
	dir := filepath.Join(b.space.Dir, id)
	in := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	defer func() { _ = treecopy.Remove(dir) }()
	for _, f := range []string{"", "home", "tmp", "bin"} {
		if err := os.Mkdir(in(f), 0o755); err != nil {
			return end, err
		}
	}
	copied, err := treecopy.Copy(in("project"), c.Cwd, treecopy.CopyOptions{Options: treecopy.Options{Untrusted: true}})
	if err != nil {
		return end, fmt.Errorf("copy of the working directory: %w", err)
	}
	for _, entry := range copied.Skipped {
		end.Left = append(end.Left, fmt.Sprintf("%q is %s", entry.Path, entry.Kind.Phrase()))
	}
	write := []string{in("project"), in("home"), in("tmp")}
	path := []string{"/usr/local/bin", "/usr/bin", "/bin"}
	if bin := b.run.tools.Toolchain.Bin; bin != "" {
		path = append([]string{bin}, path...)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.Time, errCommandDeadline)
	defer cancel()
	out := &keptOutput{max: maxCommandKept}
	ended, err := b.runtime.Run(ctx, sandbox.Launch{
		Argv: c.Argv, Dir: in("project"), Home: in("home"),
		Env: map[string]string{"HOME": in("home"), "TMPDIR": in("tmp"), "PATH": strings.Join(path, ":")},
		Policy: sandbox.Policy{
			DenyRead: b.denied, AllowWrite: write, AllowRead: append(append([]string{in("bin")}, write...), b.readable.Paths()...),
		},
		PolicyFile: in("srt.json"), StartFile: in("bin", "start"),
		Stdout: out, Stderr: out, MaxOutput: maxCommandOutput, Quota: b.run.engine.opts.quota(),
	})
	if err != nil {
		return end, err
	}
	end.ExitCode, end.Output, end.Cut = ended.ExitCode, out.String(), out.cut
	switch {
	case len(ended.Survivors) > 0:
		return end, fmt.Errorf("processes %v could not be killed", ended.Survivors)
	case errors.Is(ended.Cause, errCommandDeadline):
		end.Late = true
	case errors.Is(ended.Cause, sandbox.ErrOutputLimit):
		end.Limit = fmt.Sprintf("it printed more than %d MiB", maxCommandOutput>>20)
	case sandbox.LimitCause(ended.Cause) != "":
		end.Limit = ended.Cause.Error()
	case ended.Cause != nil:
		return end, fmt.Errorf("interrupted: %w", ended.Cause)
	case !ended.Started:
		return end, fmt.Errorf("the sandbox did not start: %s", ended.Diagnosis)
	}
	return end, nil
}

// keptOutput keeps the first and the last half of what is written to it, and counts the rest.
type keptOutput struct {
	mu         sync.Mutex
	max        int
	head, tail bytes.Buffer
	cut        bool
}

func (k *keptOutput) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	n, half := len(p), k.max/2
	if room := half - k.head.Len(); room > 0 {
		take := min(room, len(p))
		k.head.Write(p[:take])
		p = p[take:]
	}
	if len(p) > half {
		p, k.cut = p[len(p)-half:], true
	}
	if over := k.tail.Len() + len(p) - half; over > 0 {
		k.tail.Next(over)
		k.cut = true
	}
	k.tail.Write(p)
	return n, nil
}

func (k *keptOutput) String() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	between := ""
	if k.cut {
		between = "\n[… cut …]\n"
	}
	return strings.ToValidUTF8(k.head.String()+between+k.tail.String(), "\uFFFD")
}
