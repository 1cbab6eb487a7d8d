//go:build linux

package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Process 1 inside is bubblewrap, whose command line anyone there may read: it must name no denied
// path, and neither may that of any other process.
func TestCommandLinesInsideTellNoPath(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	// Not below the box: srt leaves out what lies in a region that is denied already.
	hidden := filepath.Join(t.TempDir(), "a-name-the-agent-must-not-learn")
	require.NoError(t, os.Mkdir(hidden, 0o755))
	const all = `n=0; for p in /proc/[0-9]*; do tr '\0' ' ' <$p/cmdline && echo && n=$((n+1)); done; echo "saw $n"`
	l := b.sh(t, "", all)
	l.Policy.DenyRead = append(l.Policy.DenyRead, hidden)
	out, _, ended := b.run(t, l)
	assert.Zero(t, ended.ExitCode)
	assert.Contains(t, out, "bwrap", "process 1 is bubblewrap")
	assert.NotContains(t, out, filepath.Base(hidden))
	assert.NotContains(t, out, "--tmpfs", "nor any option that denies")
	entries, err := os.ReadDir(b.rt.PrivateTmp)
	require.NoError(t, err)
	assert.Empty(t, entries, "the file with the options is gone")

	// Control: without the script in between, the same look finds the path.
	quiet := b.path("control", "quiet-bwrap")
	script, err := os.ReadFile(quiet)
	require.NoError(t, err)
	require.Contains(t, string(script), "--args 9")
	loud := runOutside(t, `exec "$0" --dev-bind / / --ro-bind "$1" "$1" --unshare-pid --proc /proc -- /bin/sh -c 'tr "\0" " " </proc/1/cmdline'`, b.rt.Bwrap, hidden)
	assert.Contains(t, loud, filepath.Base(hidden))
}

// srt also asks bubblewrap for things without a program to run; those pass as they are.
func TestQuietBwrapPassesOtherCalls(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.run(t, b.sh(t, "", "true"))
	quiet := b.path("control", "quiet-bwrap")
	for name, tt := range map[string]struct {
		args []string
		code int
		want string
	}{
		"version":            {[]string{"--version"}, 0, "bubblewrap"},
		"probe without --":   {[]string{"--ro-bind", "/", "/", "/bin/echo", "probed"}, 0, "probed\n"},
		"program after --":   {[]string{"--ro-bind", "/", "/", "--", "/bin/sh", "-c", "printf %s \"$1\"; exit 7", "sh", "it's $HOME -- \\n"}, 7, "it's $HOME -- \\n"},
		"odd option values":  {[]string{"--ro-bind", "/", "/", "--setenv", "ODD", "two words\nand 'quotes'", "--", "/bin/sh", "-c", "printf %s \"$ODD\""}, 0, "two words\nand 'quotes'"},
		"empty option value": {[]string{"--ro-bind", "/", "/", "--setenv", "ODD", "", "--", "/bin/sh", "-c", "echo \"<$ODD>\""}, 0, "<>\n"},
		"a bad option":       {[]string{"--no-such-option", "--", "/bin/true"}, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(quiet, tt.args...)
			out, err := cmd.Output()
			if tt.code == 0 {
				require.NoError(t, err)
			} else {
				var exit *exec.ExitError
				require.ErrorAs(t, err, &exit)
				assert.Equal(t, tt.code, exit.ExitCode())
			}
			assert.True(t, strings.HasPrefix(string(out), tt.want), "%q", out)
		})
	}
}
