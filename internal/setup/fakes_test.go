//go:build unix

package setup

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// machine is a pretended computer: a PATH of fake-... shell scripts, a root
// folder without kernel settings, an empty cache. Scripts are written before
// anything runs, and tests here do not run in parallel: a script still open for
// writing in a forked child cannot be executed.
type machine struct {
	t      *testing.T
	dir    string
	euid   int
	goos   string
	tick   time.Duration
	stop   time.Duration
	out    *screen
	extra  []string
	linkTo string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	m := &machine{t: t, dir: dir, euid: 1000, goos: "linux", tick: time.Hour, stop: 10 * time.Second, out: &screen{}}
	for _, d := range []string{"bin", "root", "toolchain/bin"} {
		require.NoError(t, os.MkdirAll(m.path(d), 0o755))
	}
	return m
}

// complete adds everything a user brings, in working order.
func (m *machine) complete() *machine {
	m.fake("bin", "node", fakeNode)
	m.fake("bin", "npm", fakeNPM)
	m.fake("bin", "bwrap", fakeBwrap)
	m.fake("bin", "socat", `echo "socat by Gerhard Rieger"; echo "socat version 1.7.4.4 on 06 Nov 2022"`)
	m.fake("bin", "rg", `echo "ripgrep 13.0.0"`)
	m.fake("bin", "cc", "")
	m.fake("bin", "chromium", `echo "Chromium 150.0.7871.100 built on Debian GNU/Linux 12"`)
	m.fake("bin", "rustup", `[ "$*" = "which cargo" ] && echo "$DIR/toolchain/bin/cargo"`)
	m.fake("bin", "cargo", `echo "a proxy must not be used" >&2; exit 1`)
	m.fake("toolchain/bin", "cargo", fakeCargo)
	m.fake("toolchain/bin", "rustc", `echo "rustc 1.95.0 (59807616e 2026-04-14)"`)
	m.fake("toolchain/bin", "rustfmt", `echo "rustfmt 1.9.0-stable (59807616ee 2026-04-14)"`)
	m.fake("toolchain/bin", "cargo-fmt", "")
	return m
}

const (
	fakeNode = `if [ "$1" = -p ]; then echo v20.20.2; echo "$DIR/bin/fake-node"; else cat "$1"; fi`

	// Fails half way while a file named npm-fails exists.
	fakeNPM = `
if [ -f "$DIR/npm-fails" ]; then mkdir -p node_modules/half; echo "npm error network" >&2; exit 1; fi
p=node_modules/@anthropic-ai
program() { mkdir -p "${1%/*}"; printf '#!/bin/sh\necho "%s"\n' "$2" >"$1"; chmod +x "$1"; }
if grep -q sandbox-runtime package.json; then
	mkdir -p $p/sandbox-runtime/dist node_modules/.bin
	echo 0.0.78 >$p/sandbox-runtime/dist/cli.js
	echo more >$p/sandbox-runtime/dist/index.js
	chmod +x $p/sandbox-runtime/dist/cli.js
	ln -s ../@anthropic-ai/sandbox-runtime/dist/cli.js node_modules/.bin/srt
elif grep -q claude-code package.json; then
	program $p/claude-code-linux-x64/claude "2.1.197 (Claude Code)"
elif grep -q openai package.json; then
	program node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex "codex-cli 0.171.0"
elif grep -q opencode package.json; then
	program node_modules/opencode-linux-x64/bin/opencode 1.18.33
else
	program node_modules/@github/copilot-linux-x64/copilot "GitHub Copilot CLI 1.0.102."
	if [ ! -f "$DIR/copilot-unpacks-nothing" ]; then
		echo '/bin/mkdir -p "$HOME/.cache/copilot/pkg"; echo "a part" >"$HOME/.cache/copilot/pkg/part"' >>node_modules/@github/copilot-linux-x64/copilot
	fi
fi
echo "from $DIR" >node_modules/.package-lock.json`

	// Refuses namespaces while a file named forbidden exists.
	fakeBwrap = `
if [ "$1" = --version ]; then echo "bubblewrap 0.8.0"; exit; fi
if [ -f "$DIR/forbidden" ]; then echo "bwrap: setting up uid map: Permission denied" >&2; exit 1; fi`

	fakeCargo = `
if [ "$1" = --version ]; then echo "cargo 1.95.0 (f2d3ce0bd 2026-03-21)"; exit; fi
echo "target $CARGO_TARGET_DIR, rustc $(command -v rustc)" >>"$DIR/log"
echo "   Compiling serde v1.0.0" >&2
printf '    Building [====>      ] 123/319: serde, syn(build)\r' >&2
while [ $# -gt 1 ]; do [ "$1" = --root ] && root=$2; shift; done
mkdir -p "$CARGO_TARGET_DIR/release" "$root/bin"
printf '#!/bin/sh\ncommand -v cargo && exit 1\nmkdir -p "$HOME/.symposium"\necho "cargo-agents 0.5.1"\n' >"$root/bin/cargo-agents"
chmod +x "$root/bin/cargo-agents"`
)

// fake writes folder/fake-<name>, a shell script that notes its arguments in
// the log and then runs body, and links <name> to it.
func (m *machine) fake(folder, name, body string) {
	m.t.Helper()
	file := filepath.Join(m.path(folder), "fake-"+name)
	script := fmt.Sprintf("#!/bin/sh\nDIR='%s'\nPATH=$PATH:/usr/bin:/bin\necho \"%s $*\" >>\"$DIR/log\"\n%s\n", m.dir, name, body)
	require.NoError(m.t, os.WriteFile(file, []byte(script), 0o755))
	link := filepath.Join(m.path(folder), name)
	_ = os.Remove(link)
	require.NoError(m.t, os.Symlink("fake-"+name, link))
}

func (m *machine) remove(files ...string) {
	m.t.Helper()
	for _, f := range files {
		require.NoError(m.t, os.RemoveAll(m.path(f)))
	}
}

func (m *machine) write(file, content string) {
	m.t.Helper()
	require.NoError(m.t, os.MkdirAll(filepath.Dir(m.path(file)), 0o755))
	require.NoError(m.t, os.WriteFile(m.path(file), []byte(content), 0o644))
}

func (m *machine) path(file string) string { return filepath.Join(m.dir, file) }

func (m *machine) options() Options {
	return Options{
		Cache: m.path("cache"), Link: m.linkTo, Out: m.out,
		Env: append([]string{"PATH=" + m.path("bin"), "HOME=" + m.path("home")}, m.extra...),
		adjust: func(h *host) {
			h.goos, h.goarch, h.euid, h.root, h.tick = m.goos, "amd64", m.euid, m.path("root"), m.tick
			h.stop = m.stop
		},
	}
}

// ran returns the logged command lines of one program, in order.
func (m *machine) ran(program string) []string {
	m.t.Helper()
	b, err := os.ReadFile(m.path("log"))
	if err != nil {
		return nil
	}
	var lines []string
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, program+" ") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// neat replaces the machine's folder in a message.
func (m *machine) neat(s string) string { return strings.ReplaceAll(s, m.dir, "DIR") }

// screen collects output and tells when a text was printed.
type screen struct {
	mu      sync.Mutex
	b       bytes.Buffer
	waiting string
	seen    chan struct{}
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.b.Write(p)
	if s.seen != nil && strings.Contains(s.b.String(), s.waiting) {
		close(s.seen)
		s.seen = nil
	}
	return len(p), nil
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// when returns a channel that is closed once text has been printed.
func (s *screen) when(text string) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting, s.seen = text, make(chan struct{})
	return s.seen
}
