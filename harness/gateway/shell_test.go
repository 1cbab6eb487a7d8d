package gateway

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The commands are run by a real shell; what they write must be the content, byte for byte.
func TestShellWrites(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash on this system")
	}
	for name, content := range map[string]string{
		"empty":        "",
		"no line end":  "a\nb",
		"line end":     "a\nb\n",
		"quotes":       "it's \"$HOME\" `x` \\n\n",
		"here word":    "EOF\nEOF1\n",
		"ends in word": "a\nEOF",
		"blank lines":  "\n\n",
		"CRLF":         "a\r\nb\r\n",
		"UTF-8":        "é \u2028\n",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "it's new", "a file")
			out, err := exec.Command(bash, "-c", shellWrite(path, content)).CombinedOutput()
			require.NoError(t, err, string(out))
			got, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, content, string(got))
			out, err = exec.Command(bash, "-c", shellRead(path)).Output()
			require.NoError(t, err)
			assert.Equal(t, content, string(out))
		})
	}
}

func TestShellPath(t *testing.T) {
	assert.Equal(t, `'/a b/it'\''s'`, shellPath("/a b/it's"))
	assert.Equal(t, `~/'.x/SKILL.md'`, shellPath("~/.x/SKILL.md"))
	assert.Equal(t, `cat > 'x' <<'EOF'`+"\na\nEOF", shellWrite("x", "a\n"))
}

func TestCodexWrite(t *testing.T) {
	assert.Equal(t, "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: /p/a\n+x\n+\n+*** End Patch\n*** End Patch\nEOF", codexWrite("/p/a", "x\n\n*** End Patch\n"))
	for name, content := range map[string]string{"empty": "", "no line end": "x", "CR": "x\r\n"} {
		t.Run(name, func(t *testing.T) { assert.False(t, strings.Contains(codexWrite("/p/a", content), "apply_patch")) })
	}
}
