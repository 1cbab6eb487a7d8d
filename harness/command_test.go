package harness

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/grade/assertion"
)

func TestKeptOutput(t *testing.T) {
	k := &keptOutput{max: 10}
	for _, s := range []string{"ab", "cde", "fgh"} {
		n, err := k.Write([]byte(s))
		require.NoError(t, err)
		assert.Equal(t, len(s), n)
	}
	assert.Equal(t, "abcdefgh", k.String())
	assert.False(t, k.cut)
	_, _ = k.Write([]byte("ijklm"))
	assert.Equal(t, "abcde\n[… cut …]\nijklm", k.String())
	assert.True(t, k.cut)
	_, _ = k.Write(bytes.Repeat([]byte("x"), 1000))
	assert.Equal(t, "abcde\n[… cut …]\nxxxxx", k.String())
}

// A command of an assertion has its copy, its time, and no network; nothing of it is left.
func TestCommandInTheSandbox(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the enforced sandbox is Linux only")
	}
	if testing.Short() {
		t.Skip("nothing is launched under -short")
	}
	cwd, scratch := t.TempDir(), filepath.Join(t.TempDir(), "s")
	require.NoError(t, os.WriteFile(filepath.Join(cwd, "f"), []byte("text\n"), 0o644))
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(cwd, "link")))
	run, closeAll := Commands(Options{Scratch: scratch, Cache: os.Getenv("PROCTOR_CACHE")})
	end, err := run(t.Context(), assertion.CommandRun{
		Argv: []string{"sh", "-c", "cat f; test -e link || echo no link; rm f; cat /proc/net/route | wc -l; exit 3"}, Cwd: cwd, Time: time.Minute,
	})
	require.NoError(t, err)
	assert.Equal(t, 3, end.ExitCode)
	assert.Equal(t, "text\nno link\n1\n", end.Output, "the table of routes has its head alone")
	assert.Equal(t, []string{`"link" is a symbolic link`}, end.Left)
	assert.FileExists(t, filepath.Join(cwd, "f"))

	end, err = run(t.Context(), assertion.CommandRun{Argv: []string{"sleep", "600"}, Cwd: cwd, Time: 2 * time.Second})
	require.NoError(t, err)
	assert.True(t, end.Late)

	_, err = run(t.Context(), assertion.CommandRun{Argv: []string{"true"}, Cwd: filepath.Join(cwd, "none"), Time: time.Minute})
	require.ErrorContains(t, err, "copy of the working directory")
	batches := func() []string {
		found, err := filepath.Glob(filepath.Join(scratch, "b-*"))
		require.NoError(t, err)
		return found
	}
	assert.Len(t, batches(), 1)
	closeAll()
	assert.Empty(t, batches())
}
