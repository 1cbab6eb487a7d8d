//go:build unix

package setup

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseNeeds(t *testing.T) {
	needs, err := ParseNeeds([]string{"claude", "sandbox", "claude"})
	require.NoError(t, err)
	assert.Equal(t, []Need{NeedClaude, NeedSandbox}, needs)

	_, err = ParseNeeds([]string{"clyde", "sandbox", "srt"})
	assert.EqualError(t, err, `proctor setup does not know "clyde", "srt"; it knows sandbox, rust, claude, codex, opencode, copilot, browser, cargo-agents`)

	_, err = Locate(t.Context(), Options{Cache: t.TempDir()}, "clyde")
	assert.ErrorContains(t, err, `does not know "clyde"`)
}

func TestInstallThenNothingToDo(t *testing.T) {
	m := newMachine(t).complete()
	m.linkTo = m.path("repo")
	tools, err := Install(t.Context(), m.options(), AllNeeds()...)
	require.NoError(t, err)

	assert.Equal(t, map[string]string{
		"node": "20.20.2", "srt": "0.0.78", "bwrap": "0.8.0", "socat": "1.7.4.4", "rg": "13.0.0",
		"cargo": "1.95.0", "rustc": "1.95.0", "rustfmt": "1.9.0", "claude": "2.1.197", "cargo-agents": "0.5.1",
		"codex": "0.171.0", "opencode": "1.18.33", "copilot": "1.0.102", "browser": "150.0.7871.100",
	}, versions(tools))
	assert.Equal(t, m.path("bin/fake-node"), tools.ByName[Node].Path, "the file that runs, not what PATH names")
	assert.Equal(t, &Toolchain{
		Dir: m.path("toolchain"), Bin: m.path("toolchain/bin"),
		Rustc: "rustc 1.95.0 (59807616e 2026-04-14)", Cargo: "cargo 1.95.0 (f2d3ce0bd 2026-03-21)",
	}, tools.Toolchain)

	for _, call := range m.ran("npm") {
		assert.Contains(t, call, "npm ci --ignore-scripts --include=optional", "no install script may run")
	}
	assert.Len(t, m.ran("npm"), 5)
	require.Len(t, m.ran("target"), 1)
	assert.Regexp(t, `^target DIR/cache/tmp/cargo-agents/\d+/work/target, rustc DIR/toolchain/bin/rustc$`,
		m.neat(m.ran("target")[0]), "built in the cache, with the toolchain's own rustc")
	assert.Empty(t, list(t, m.path("cache/tmp")), "nothing temporary is left")
	assert.NoFileExists(t, m.path("cache/npm/srt-0.0.78/node_modules/.package-lock.json"))
	assert.NoDirExists(t, m.path("home"), "asking for versions must not touch the user's home")

	shown := m.out.String()
	for _, tool := range tools.ByName {
		assert.Len(t, tool.SHA256, 64)
		assert.True(t, filepath.IsAbs(tool.Path), tool.Path)
		assert.Contains(t, shown, "sha256:"+tool.SHA256+"  "+tool.Path)
	}
	assert.ElementsMatch(t, []string{".gitignore", "srt", "claude", "codex", "opencode", "copilot", "cargo-agents"}, list(t, m.path("repo/.tools")))
	target, err := os.Readlink(m.path("repo/.tools/claude"))
	require.NoError(t, err)
	assert.Equal(t, tools.ByName[Claude].Path, target)

	again, err := Install(t.Context(), m.options(), AllNeeds()...)
	require.NoError(t, err)
	assert.Equal(t, tools, again)
	located, err := Locate(t.Context(), m.options(), AllNeeds()...)
	require.NoError(t, err)
	assert.Equal(t, tools, located)
	assert.Len(t, m.ran("npm"), 5, "nothing was to be done")
	assert.Len(t, m.ran("target"), 1, "nothing was to be done")
}

func TestLocateFindsEverythingMissing(t *testing.T) {
	m := newMachine(t)
	_, err := Locate(t.Context(), m.options(), AllNeeds()...)
	var missing *MissingError
	require.ErrorAs(t, err, &missing)
	assert.Equal(t, `10 things to fix before this can run:
  1. node is not on PATH: Node 20.11.0 or newer is needed (needed for sandbox)
     fix: install Node 22, for example with nvm (nvm install 22) or from https://nodejs.org/en/download
  2. not on PATH: bubblewrap, socat, ripgrep (needed for sandbox)
     fix: install with your system's package manager: bubblewrap socat ripgrep
  3. srt 0.0.78 is not installed (needed for sandbox)
     fix: proctor setup sandbox
  4. rustc is not on PATH: Rust 1.88.0 or newer is needed (needed for rust)
     fix: install Rust with rustup (https://rustup.rs): rustup-init -y --profile minimal --component rustfmt
  5. claude 2.1.197 is not installed (needed for claude)
     fix: proctor setup claude
  6. codex 0.171.0 is not installed (needed for codex)
     fix: proctor setup codex
  7. opencode 1.18.33 is not installed (needed for opencode)
     fix: proctor setup opencode
  8. copilot 1.0.102 is not installed (needed for copilot)
     fix: proctor setup copilot
  9. no browser on PATH: Chromium or Chrome is needed to test the HTML report (needed for browser)
     fix: install with your system's package manager: chromium
  10. cargo-agents 0.5.1 is not installed (needed for cargo-agents)
     fix: proctor setup cargo-agents`, missing.Error())
	assert.NoDirExists(t, m.path("cache"), "looking leaves nothing behind")
}

func TestInstallStopsBeforeDownloads(t *testing.T) {
	m := newMachine(t).complete()
	m.remove("bin/socat", "bin/rg", "bin/npm")
	m.fake("bin", "apt-get", "exit 1")
	_, err := Install(t.Context(), m.options(), NeedClaude, NeedSandbox)
	var missing *MissingError
	require.ErrorAs(t, err, &missing)
	assert.Equal(t, []Problem{
		{NeedClaude, "npm is not on PATH", "sudo apt-get install -y npm"},
		{NeedSandbox, "not on PATH: socat, ripgrep", "sudo apt-get install -y socat ripgrep"},
	}, missing.Problems)
	assert.Empty(t, m.ran("apt-get"), "not root: the user is told, nothing is run")
	assert.Empty(t, m.ran("npm"))
}

func TestHalfInstallIsRepaired(t *testing.T) {
	entry := "cache/npm/claude-2.1.197-linux-x64/node_modules/@anthropic-ai/claude-code-linux-x64/claude"
	srt := "cache/npm/srt-0.0.78/node_modules/@anthropic-ai/sandbox-runtime/dist/"
	for _, c := range []struct {
		name   string
		need   Need
		damage func(m *machine)
		reason string // in Locate's problem
	}{
		{"killed before the record was written", NeedClaude, func(m *machine) { m.remove("cache/npm/claude-2.1.197-linux-x64/install.json") },
			"claude 2.1.197 is only half installed"},
		{"record cut short", NeedClaude, func(m *machine) {
			m.write("cache/npm/claude-2.1.197-linux-x64/install.json", `{"schema_version": 1, "na`)
		},
			"claude 2.1.197 is only half installed: its install.json does not fit"},
		{"temporary folder of a killed set-up", NeedSandbox, func(m *machine) {
			m.remove("cache/npm")
			m.write("cache/tmp/srt/123/root/node_modules/half", "x")
		}, "srt 0.0.78 is not installed"},
		{"binary gone", NeedClaude, func(m *machine) { m.remove(entry) }, "claude 2.1.197 is damaged"},
		{"binary changed", NeedClaude, func(m *machine) { m.write(entry, "#!/bin/sh\necho other\n") },
			"claude 2.1.197 has changed since it was installed"},
		{"a file of the tree changed", NeedSandbox, func(m *machine) { m.write(srt+"index.js", "other") },
			"srt 0.0.78 has changed since it was installed"},
		{"a file added to the tree", NeedSandbox, func(m *machine) { m.write(srt+"new.js", "") },
			"srt 0.0.78 has changed since it was installed"},
		{"a file of the tree gone", NeedSandbox, func(m *machine) { m.remove(srt + "index.js") },
			"srt 0.0.78 has changed since it was installed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t).complete()
			whole, err := Install(t.Context(), m.options(), c.need)
			require.NoError(t, err)
			c.damage(m)

			_, err = Locate(t.Context(), m.options(), c.need)
			var missing *MissingError
			require.ErrorAs(t, err, &missing)
			require.Len(t, missing.Problems, 1)
			assert.Contains(t, missing.Problems[0].What, c.reason)
			assert.Equal(t, "proctor setup "+string(c.need), missing.Problems[0].Fix)

			repaired, err := Install(t.Context(), m.options(), c.need)
			require.NoError(t, err)
			assert.Equal(t, whole, repaired)
			assert.Empty(t, list(t, m.path("cache/tmp")))
		})
	}
}

func TestOtherLockFileMeansNewInstall(t *testing.T) {
	m := newMachine(t).complete()
	_, err := Install(t.Context(), m.options(), NeedClaude)
	require.NoError(t, err)
	file := "cache/npm/claude-2.1.197-linux-x64/install.json"
	b, err := os.ReadFile(m.path(file))
	require.NoError(t, err)
	m.write(file, strings.Replace(string(b), "npm lock sha256:", "npm lock sha256:0", 1))
	_, err = Locate(t.Context(), m.options(), NeedClaude)
	assert.ErrorContains(t, err, "claude 2.1.197 was installed from other pinned packages")
	_, err = Install(t.Context(), m.options(), NeedClaude)
	require.NoError(t, err)
	assert.Len(t, m.ran("npm"), 2)
}

func TestFailedInstallLeavesNothing(t *testing.T) {
	m := newMachine(t).complete()
	m.write("npm-fails", "")
	_, err := Install(t.Context(), m.options(), NeedSandbox, NeedClaude)
	require.Error(t, err)
	assert.ErrorContains(t, err, "installing srt 0.0.78: npm ci --ignore-scripts", "the failing command is named")
	assert.ErrorContains(t, err, "installing claude 2.1.197", "one failure does not hide the next")
	assert.ErrorContains(t, err, "exit status 1; it printed last:\n    npm error network")
	assert.NoDirExists(t, m.path("cache/npm"))
	assert.Empty(t, list(t, m.path("cache/tmp")))

	m.remove("npm-fails")
	_, err = Install(t.Context(), m.options(), NeedSandbox, NeedClaude)
	require.NoError(t, err)
}

func TestWrongVersionIsNotInstalled(t *testing.T) {
	m := newMachine(t).complete()
	m.fake("bin", "npm", strings.ReplaceAll(fakeNPM, "2.1.197", "2.1.198"))
	_, err := Install(t.Context(), m.options(), NeedClaude)
	assert.ErrorContains(t, err, `says its version is "2.1.198 (Claude Code)", not 2.1.197`)
	assert.NoDirExists(t, m.path("cache/npm"))
}

func TestCancelEndsTheInstaller(t *testing.T) {
	m := newMachine(t).complete()
	m.stop = time.Millisecond // soon killed, as it will not end by itself
	// The fake and its child hold the pipe open for as long as they live, and
	// the child does not end when asked to.
	m.fake("bin", "npm", `mkdir -p node_modules; exec 3>"$DIR/pipe"
trap '' TERM; sleep 1000 & trap - TERM; echo started >&3; wait`)
	require.NoError(t, syscall.Mkfifo(m.path("pipe"), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		pipe, err := os.Open(m.path("pipe"))
		if err != nil {
			ended <- err
			return
		}
		defer pipe.Close()
		r := bufio.NewReader(pipe)
		_, err = r.ReadString('\n')
		cancel()
		if err == nil {
			_, err = io.Copy(io.Discard, r)
		}
		ended <- err
	}()
	_, err := Install(ctx, m.options(), NeedClaude)
	assert.ErrorIs(t, err, context.Canceled)
	select {
	case err := <-ended:
		require.NoError(t, err, "npm and its child are dead")
	case <-time.After(time.Minute):
		t.Fatal("npm or its child still lives")
	}
	assert.NoDirExists(t, m.path("cache/npm"))
	assert.Empty(t, list(t, m.path("cache/tmp")))
}

func TestInstallsSideBySideInstallOnce(t *testing.T) {
	m := newMachine(t).complete()
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		wg.Go(func() { _, errs[i] = Install(t.Context(), m.options(), NeedClaude, NeedSandbox) })
	}
	wg.Wait()
	for _, err := range errs {
		assert.NoError(t, err)
	}
	assert.Len(t, m.ran("npm"), 2, "one call a tool")
}

func TestWaitingForAnotherSetup(t *testing.T) {
	for _, c := range []struct {
		name   string
		cancel bool
	}{{"until it is done", false}, {"until called off", true}} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t).complete()
			m.tick = time.Millisecond
			require.NoError(t, os.MkdirAll(m.path("cache/locks"), 0o755))
			unlock, err := lockedfile.MutexAt(m.path("cache/locks/claude.lock")).Lock()
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			waiting := m.out.when("claude: waiting")
			done := make(chan error, 1)
			go func() { _, err := Install(ctx, m.options(), NeedClaude); done <- err }()
			<-waiting
			if c.cancel {
				cancel()
				assert.ErrorContains(t, <-done, "waiting for another set-up of claude: context canceled")
				unlock()
				return
			}
			unlock()
			assert.NoError(t, <-done)
		})
	}
}

func versions(tools *Tools) map[string]string {
	v := map[string]string{}
	for name, tool := range tools.ByName {
		v[name] = tool.Version
	}
	return v
}

// list returns the names in a folder; a folder that is not there has none.
func list(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
