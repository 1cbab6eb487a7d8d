package setup

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// host is the machine tools are looked for on. Tests change its fields.
type host struct {
	goos, goarch string // as runtime has them
	euid         int    // -1 on Windows
	env          []string
	root         string        // "/"; where proc/sys, the musl loader and container marks are looked up
	tick         time.Duration // between signs of life
	stop         time.Duration // what a program may take to end after it was told to
	out          *printer
}

func newHost(opts Options) *host {
	h := &host{
		goos: runtime.GOOS, goarch: runtime.GOARCH, euid: os.Geteuid(),
		env: opts.Env, root: "/", tick: 10 * time.Second, stop: 10 * time.Second, out: &printer{w: opts.Out},
	}
	if h.env == nil {
		h.env = os.Environ()
	}
	if h.out.w == nil {
		h.out.w = io.Discard
	}
	if opts.adjust != nil {
		opts.adjust(h)
	}
	return h
}

// getenv returns the last value of a variable, as exec would pass it.
func (h *host) getenv(name string) string {
	value := ""
	for _, kv := range h.env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}

// withEnv returns the environment with variables replaced or added.
func (h *host) withEnv(vars ...string) []string {
	return append(append([]string{}, h.env...), vars...)
}

// sysctl returns the value of a kernel setting, "" when this kernel has none.
func (h *host) sysctl(name string) string {
	b, err := os.ReadFile(filepath.Join(h.root, "proc/sys", strings.ReplaceAll(name, ".", "/")))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// sudo is the prefix of a command that needs root.
func (h *host) sudo() string {
	if h.euid == 0 {
		return ""
	}
	return "sudo "
}

// hostTools finds what the need takes from the machine itself and adds it to
// tools.
func (in *installation) hostTools(ctx context.Context, need Need, tools *Tools) []Problem {
	var problems []Problem
	switch need {
	case NeedSandbox:
		problems = in.sandboxTools(ctx, tools)
	case NeedBrowser:
		problems = in.browserTools(ctx, tools)
	case NeedRust:
		tools.Toolchain, problems = in.rustTools(ctx, tools)
	}
	for i := range problems {
		problems[i].Need = need
	}
	return problems
}

// add asks a program for its version and hashes it. oldest, if not "", is the
// first version that will do; fix goes into the problem.
func (in *installation) add(ctx context.Context, tools *Tools, name, path, printed, oldest, fix string) []Problem {
	number, v, ok := parseVersion(printed)
	switch {
	case !ok && oldest != "":
		return []Problem{{What: fmt.Sprintf("%s (%s) does not say its version: it printed %q", name, path, clip(printed)), Fix: fix}}
	case oldest != "" && v.older(oldest):
		return []Problem{{What: fmt.Sprintf("%s %s (%s) is too old: %s or newer is needed", name, number, path, oldest), Fix: fix}}
	}
	sum, err := in.hashes.file(path, path)
	if err != nil {
		return []Problem{{What: fmt.Sprintf("%s cannot be read to record its SHA-256: %v", name, err), Fix: in.sudo() + "chmod a+r " + path}}
	}
	tools.ByName[name] = Tool{Name: name, Version: number, Path: path, SHA256: sum}
	return nil
}

// clip shortens what a program printed for a message.
func clip(s string) string {
	const most = 200
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

// printer writes whole lines from several goroutines.
type printer struct {
	mu sync.Mutex
	w  io.Writer
}

func (p *printer) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.w.Write(b)
}

// every writes a line each tick until stopped; status makes it from the time
// gone by. stop returns after the last line is written.
func (p *printer) every(tick time.Duration, status func(gone time.Duration) string) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	start := time.Now()
	go func() {
		defer close(ended)
		t := time.NewTicker(tick)
		defer t.Stop()
		for {
			select {
			case <-done:
				return
			case <-t.C:
				fmt.Fprintln(p, status(time.Since(start).Round(time.Second)))
			}
		}
	}()
	return func() { close(done); <-ended }
}
