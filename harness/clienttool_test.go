//go:build linux

package harness_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/plan"
)

// ownClient writes a client of the user's at path, which must not be named as a stand-in, for what is
// tested is how a real one is taken.
func ownClient(t *testing.T, path, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o755))
	return path
}

// prepared is the batch of a run with this client, and what Prepare said of it.
func prepared(t *testing.T, clientPath string) (*harness.Batch, error) {
	t.Helper()
	if testing.Short() {
		t.Skip("trials do not run under -short")
	}
	e, err := harness.Open(harness.Options{
		Evals: tiny(t, "x\n"), Scratch: t.TempDir(), Results: t.TempDir(), ClientPath: clientPath, Configurations: []string{plan.WithoutSymposium},
	})
	require.NoError(t, err)
	run, err := e.Start(t.Context(), e.Tasks())
	require.NoError(t, err, "a missing tool is installed by `proctor setup`")
	t.Cleanup(func() { assert.NoError(t, run.Close(nil)) })
	b := run.Batches()[0]
	return b, b.Prepare(t.Context())
}

// visit runs a shell program where the client would run, with bin/ on its PATH.
func visit(t *testing.T, b *harness.Batch, script string) string {
	t.Helper()
	var out bytes.Buffer
	ended, err := b.Enter(t.Context(), harness.Visit{
		Configuration: plan.WithoutSymposium, Argv: []string{"/bin/sh", "-c", script}, Stdout: &out, Stderr: &out,
	})
	require.NoError(t, err)
	require.True(t, ended.Started, ended.Diagnosis)
	return out.String()
}

// tries is what a trial may not do to a staged tool, each beside reading it, which it may.
const tries = `
real=$(readlink -f "$(command -v claude)")
test -r "$real" && echo readable
for act in 'echo x >>"$real"' 'rm -f "$real"' 'mv "$real" "$real.old"' 'chmod 777 "$real"' ': >"$(dirname "$real")/new"' 'ln -sf /bin/true "$(command -v claude)"'; do
	(eval "$act") 2>/dev/null && echo "done: $act"
done
echo end`

func TestOwnNativeClient(t *testing.T) {
	t.Parallel()
	// A program of the user's own home; that it is a script of sh makes it no package.
	path := ownClient(t, filepath.Join(t.TempDir(), "home", "my-claude"), "#!/bin/sh\necho '9.8.7 (Claude Code)'\n")
	link := filepath.Join(t.TempDir(), "claude")
	require.NoError(t, os.Symlink(path, link))
	b, err := prepared(t, link)
	require.NoError(t, err)
	assert.Equal(t, "9.8.7 (Claude Code)\n", visit(t, b, "claude --version"))
	assert.Equal(t, "readable\nend\n", visit(t, b, tries))
	assert.Equal(t, "9.8.7 (Claude Code)\n", visit(t, b, "claude --version"), "the next trial's is as it was")
	assert.Equal(t, "no\n", visit(t, b, "test -e "+path+" && echo yes || echo no"), "the original is out of reach")

	// The batch keeps the client it was prepared with.
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\necho changed\n"), 0o755))
	assert.Equal(t, "9.8.7 (Claude Code)\n", visit(t, b, "claude --version"))
}

func TestOwnClientAsNpmPackage(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "lib/node_modules/made-up-client")
	ownClient(t, filepath.Join(root, "package.json"), `{"name":"made-up-client","bin":{"claude":"bin/cli.js"}}`)
	ownClient(t, filepath.Join(root, "node_modules/dep/index.js"), "module.exports = '9.8.7'\n")
	ownClient(t, filepath.Join(root, "bin/cli.js"), "#!/usr/bin/env node\nconsole.log(require('dep'), process.execPath)\n")
	// As npm installs it: a link in bin/.
	link := filepath.Join(t.TempDir(), "claude")
	require.NoError(t, os.Symlink(filepath.Join(root, "bin/cli.js"), link))
	b, err := prepared(t, link)
	require.NoError(t, err)
	out := visit(t, b, "claude")
	assert.Contains(t, out, "9.8.7 "+b.Place().Staged, "the package's own dependency, by the staged Node.js")
	assert.Equal(t, "readable\nend\n", visit(t, b, tries))
	assert.Equal(t, "none\n", visit(t, b, `find "$(dirname "$(readlink -f "$(command -v claude)")")"/.. -writable | grep . || echo none`))
}

func TestOwnClientRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "folder"), 0o755))
	for name, tt := range map[string]struct {
		path string
		want []string
	}{
		"missing":           {filepath.Join(dir, "no-such"), []string{"PROCTOR_CLIENT_PATH", "no-such", "no such file"}},
		"a folder":          {filepath.Join(dir, "folder"), []string{"PROCTOR_CLIENT_PATH", "folder"}},
		"too old":           {ownClient(t, filepath.Join(dir, "old"), "#!/bin/sh\necho '2.1.0 (Claude Code)'\n"), []string{"claude 2.1.0 is older than 2.1.197", "proctor setup claude"}},
		"no version":        {ownClient(t, filepath.Join(dir, "mute"), "#!/bin/sh\necho hello\n"), []string{"PROCTOR_CLIENT_PATH", "names no version", `"hello"`}},
		"a failing version": {ownClient(t, filepath.Join(dir, "broken"), "#!/bin/sh\nexit 3\n"), []string{"PROCTOR_CLIENT_PATH", "exit code 3"}},
		"a script outside any package": {ownClient(t, filepath.Join(dir, "alone/cli.js"), "#!/usr/bin/env node\n"),
			[]string{"PROCTOR_CLIENT_PATH", "no package.json above it"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := prepared(t, tt.path)
			require.Error(t, err)
			for _, want := range tt.want {
				assert.ErrorContains(t, err, want)
			}
		})
	}
}
