package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	// probeTime bounds a program that is only asked for its version or path.
	probeTime = 30 * time.Second
	// tailSize is how much of an installer's output is kept for the error.
	tailSize = 8 << 10
	// lineSize bounds one line of an installer's output.
	lineSize = 4 << 10
)

// probe runs a program that should answer at once and returns what it printed
// to standard output, trimmed. The error ends with the last of its standard error.
func (h *host) probe(ctx context.Context, path string, args ...string) (string, error) {
	return h.probeEnv(ctx, h.env, path, args...)
}

func (h *host) probeEnv(ctx context.Context, env []string, path string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, probeTime, fmt.Errorf("no answer in %s", probeTime))
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = env
	stdout, stderr := &output{}, &output{}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err := h.runGroup(ctx, cmd)
	return strings.TrimSpace(stdout.tail()), explain(ctx, path, err, stderr.tail())
}

// stream runs an installer to its end, passing each line it prints (ended by a
// line feed or a carriage return) to line, which may be nil. Both of the
// installer's streams are one. The error ends with the last it printed.
func (h *host) stream(ctx context.Context, dir string, env []string, line func(string), path string, args ...string) error {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env = dir, env
	out := &output{line: line}
	cmd.Stdout, cmd.Stderr = out, out
	return explain(ctx, strings.Join(append([]string{filepath.Base(path)}, args...), " "), h.runGroup(ctx, cmd), out.tail())
}

// runGroup runs cmd in a process group of its own where there are groups, so
// that what it started ends with it when ctx does.
func (h *host) runGroup(ctx context.Context, cmd *exec.Cmd) error {
	cmd.WaitDelay = h.stop
	endGroup := inGroup(cmd)
	err := cmd.Run()
	if ctx.Err() != nil && cmd.Process != nil {
		endGroup()
	}
	return err
}

// explain names the command in err and adds what it printed last.
func explain(ctx context.Context, what string, err error, tail string) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: stopped: %w", what, context.Cause(ctx))
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return fmt.Errorf("%s: %w", what, err)
	}
	tail = strings.TrimSpace(tail)
	if tail == "" {
		return fmt.Errorf("%s: %w", what, err)
	}
	return fmt.Errorf("%s: %w; it printed last:\n    %s", what, err, strings.ReplaceAll(tail, "\n", "\n    "))
}

// output keeps the end of what a program printed and hands out its lines. One
// goroutine of os/exec writes to it.
type output struct {
	line    func(string)
	pending []byte // the line not ended yet
	kept    []byte // ended by lines, at most 2*tailSize
}

func (o *output) Write(p []byte) (int, error) {
	n := len(p)
	o.kept = append(o.kept, p[max(0, len(p)-tailSize):]...)
	if len(o.kept) > 2*tailSize {
		o.kept = append(o.kept[:0], o.kept[len(o.kept)-tailSize:]...)
	}
	if o.line == nil {
		return n, nil
	}
	for len(p) > 0 {
		i := bytes.IndexAny(p, "\r\n")
		chunk := p
		if i >= 0 {
			chunk = p[:i]
		}
		o.pending = append(o.pending, chunk[:min(len(chunk), lineSize-len(o.pending))]...)
		if i < 0 {
			break
		}
		o.line(string(o.pending))
		o.pending, p = o.pending[:0], p[i+1:]
	}
	return n, nil
}

// tail returns the last of the output, from the start of a line. Control
// characters other than line ends are dropped: it goes to a terminal.
func (o *output) tail() string {
	b := o.kept
	if len(b) > tailSize {
		b = b[len(b)-tailSize:]
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			b = b[i+1:]
		}
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r':
			return '\n'
		case r < ' ' || r >= 0x7f && r < 0xa0 || r == '\ufffd':
			return -1
		}
		return r
	}, string(b))
}

// lookPath finds a program in the environment's PATH. Relative entries are
// skipped: what runs must not depend on the current folder.
func (h *host) lookPath(name string) (string, bool) {
	for _, dir := range filepath.SplitList(h.getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, name)
		if isExecutable(path) {
			return path, true
		}
	}
	return "", false
}

// isExecutable reports whether path, links followed, is a file with an
// executable bit. Windows has no such bit and is not supported.
func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}
