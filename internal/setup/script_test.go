//go:build unix

package setup

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSetupScript runs scripts/setup in a copy of the repository's skeleton.
func TestSetupScript(t *testing.T) {
	script, err := os.ReadFile(filepath.Join("..", "..", "scripts", "setup"))
	require.NoError(t, err)
	const build = `
[ "$1" = build ] || exit 2
printf '#!/bin/sh\necho "proctor $*"\n' >"$3"; chmod +x "$3"`
	for _, c := range []struct {
		name, fake, want string
	}{
		{"go is there", `[ "$*" = "env GOVERSION" ] && { echo go1.26.8; exit; }` + build, "proctor setup claude --x\n"},
		{"newer", `[ "$*" = "env GOVERSION" ] && { echo go1.27rc1; exit; }` + build, "proctor setup claude --x\n"},
		{"old", `[ "$*" = "env GOVERSION" ] && { echo go1.19.8; exit; }` + build, "DIR/bin/go is go1.19.8: Go 1.26 or newer is needed"},
		{"old and not allowed to fetch", `[ "$PWD" = / ] && { echo go1.24.1; exit; }; echo "go: go.mod requires go >= 1.26.0 (running go 1.24.1)" >&2; exit 1`,
			"is go1.24.1 (go: go.mod requires go >= 1.26.0 (running go 1.24.1)): Go 1.26 or newer is needed"},
		{"none", "", "scripts/setup: go is not on PATH: Go 1.26 or newer is needed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t)
			for _, program := range []string{"bash", "dirname", "mkdir", "tail"} {
				path, err := exec.LookPath(program)
				require.NoError(t, err)
				require.NoError(t, os.Symlink(path, m.path("bin/"+program)))
			}
			if c.fake != "" {
				m.fake("bin", "go", c.fake)
			}
			m.write("repo/scripts/setup", string(script))
			cmd := exec.Command(m.path("bin/bash"), m.path("repo/scripts/setup"), "claude", "--x")
			cmd.Env = []string{"PATH=" + m.path("bin")}
			cmd.Dir = m.dir
			out, err := cmd.CombinedOutput()
			assert.Contains(t, m.neat(string(out)), c.want)
			assert.Equal(t, len(c.want) > 7 && c.want[:7] == "proctor", err == nil, "exit status")
		})
	}
}
