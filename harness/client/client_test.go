package client

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLookup(t *testing.T) {
	for _, name := range Names() {
		a, err := Lookup(name)
		require.NoError(t, err)
		assert.Equal(t, name, a.Name())
		assert.Regexp(t, `^\d+\.\d+\.\d+$`, a.MinVersion())
	}
	_, err := Lookup("clyde")
	require.ErrorContains(t, err, `client "clyde" is not known; known are: claude, codex, opencode, copilot`)
}

func TestClaudeCommand(t *testing.T) {
	r := Request{
		Binary: "/tools/claude", Prompt: "-p --model x\nrest", Model: "model-1", GatewayURL: "http://127.0.0.1:9", Token: "one-time-token",
		Paths: Paths{Home: "/r/home", Project: "/r/project", Tmp: "/r/tmp", CargoHome: "/r/cargo-home"}, Enforced: true,
	}
	spec := Claude{}.Command(r)
	assert.Equal(t, []string{"/tools/claude", "-p", "--output-format", "stream-json", "--verbose", "--model", "model-1", "--permission-mode", "bypassPermissions"}, spec.Argv)
	assert.Equal(t, map[string]string{
		"ANTHROPIC_API_KEY": "one-time-token", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
		"DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1",
	}, spec.Env)
	assert.Equal(t, r.Prompt, spec.Stdin)
	assert.Equal(t, []string{".claude/skills"}, spec.ProjectDirs)
	assert.Equal(t, ".claude/skills", spec.SkillDir)
	for _, p := range spec.ManagedSettings {
		assert.True(t, filepath.IsAbs(p), p)
	}
	assert.Contains(t, claudeManaged("linux"), "/etc/claude-code/managed-settings.json")
	assert.Contains(t, claudeManaged("darwin"), "/Library/Application Support/ClaudeCode/managed-settings.json")

	r.Root = true
	assert.Equal(t, "1", Claude{}.Command(r).Env["IS_SANDBOX"])
	r.GatewayURL = ""
	assert.NotContains(t, Claude{}.Command(r).Env, "ANTHROPIC_BASE_URL")
}

func TestClaudeExploratory(t *testing.T) {
	spec := Claude{}.Command(Request{
		Binary: "claude", Model: "m", Token: "one-time-token", Paths: Paths{Tmp: "/r/tmp", CargoHome: "/r/cargo-home"},
		DenyRead: []string{"/home/dev"}, AllowRead: []string{"/home/dev/toolchain"},
	})
	assert.Equal(t, "acceptEdits", spec.Argv[slices.Index(spec.Argv, "--permission-mode")+1])
	settings := spec.Argv[slices.Index(spec.Argv, "--settings")+1]
	require.True(t, json.Valid([]byte(settings)))
	assert.JSONEq(t, `{"sandbox":{"enabled":true,"failIfUnavailable":true,"allowUnsandboxedCommands":false,
		"filesystem":{"denyRead":["/home/dev"],"allowRead":["/home/dev/toolchain"],"allowWrite":["/r/cargo-home","/r/tmp"]}},
		"permissions":{"blockReadsOutsideWorkingDirectories":true}}`, settings)
	assert.NotContains(t, strings.Join(spec.Argv, " "), "one-time-token")
}
