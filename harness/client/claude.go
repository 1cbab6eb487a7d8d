package client

import (
	"encoding/json"
	"runtime"
)

// Claude is Claude Code (npm @anthropic-ai/claude-code), run headless with
// "claude -p". Measured with 2.1.197.
//
// What it detects as a skill load: a Skill tool call, also by a subagent; a
// Read of the installed SKILL.md; a shell command in Bash that prints it with
// a reader such as cat, head, tail, sed or less. What it cannot see: a skill
// the prompt itself calls ("/name" as the prompt's start puts the skill's text
// into the request without any event), text a hook adds, and content that a
// search over many files happens to print.
type Claude struct{}

// Name implements [Adapter].
func (Claude) Name() string { return "claude" }

// MinVersion implements [Adapter]. It is the version the captures come from.
func (Claude) MinVersion() string { return "2.1.197" }

// API implements [Adapter].
func (Claude) API() string { return APIAnthropic }

// Login implements [Adapter].
func (Claude) Login(string) (Login, error) {
	return Login{
		Variables: []string{"ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"}, Own: []string{"CLAUDE_CODE_OAUTH_TOKEN"}, Hosts: []string{"api.anthropic.com"},
	}, nil
}

// SupportsSymposium implements [Adapter].
func (Claude) SupportsSymposium() bool { return true }

// claudeSkillDir is where Claude Code looks for skills, below the project and
// below the home.
const claudeSkillDir = ".claude/skills"

// Command implements [Adapter]. The prompt goes through standard input, which
// takes one of any length and with a leading dash. A prompt that starts with a
// slash is a command to Claude Code; task validation should refuse it.
//
// CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC would be the shorter switch, but it
// takes a tool and a bundled skill away from what the model is offered. The
// three variables here leave the request as it is.
func (Claude) Command(r Request) Spec {
	mode := "bypassPermissions"
	if !r.Enforced {
		mode = "acceptEdits"
	}
	spec := Spec{
		Argv: []string{r.Binary, "-p", "--output-format", "stream-json", "--verbose", "--model", r.Model, "--permission-mode", mode},
		Env: map[string]string{
			"ANTHROPIC_API_KEY":       r.Token,
			"DISABLE_AUTOUPDATER":     "1",
			"DISABLE_TELEMETRY":       "1",
			"DISABLE_ERROR_REPORTING": "1",
		},
		Stdin:           r.Prompt,
		HomeFiles:       map[string][]byte{},
		ProjectDirs:     []string{claudeSkillDir},
		SkillDir:        claudeSkillDir,
		ManagedSettings: claudeManaged(runtime.GOOS),
	}
	if r.GatewayURL != "" {
		spec.Env["ANTHROPIC_BASE_URL"] = r.GatewayURL
	}
	if r.Root {
		// As root it refuses bypassPermissions unless told that it is boxed in.
		spec.Env["IS_SANDBOX"] = "1"
	}
	if !r.Enforced {
		spec.Argv = append(spec.Argv, "--settings", claudeSandbox(r))
	}
	return spec
}

// claudeManaged lists the administrator's settings by system, as the client's
// binary has them.
func claudeManaged(goos string) []string {
	root := "/etc/claude-code"
	var more []string
	if goos == "darwin" {
		root = "/Library/Application Support/ClaudeCode"
		more = []string{"/Library/Managed Preferences/com.anthropic.claudecode.plist"}
	}
	return append([]string{
		root + "/managed-settings.json",
		root + "/managed-settings.d",
		root + "/managed-mcp.json",
		root + "/CLAUDE.md",
		root + "/" + claudeSkillDir,
	}, more...)
}

// claudeSandbox is the --settings value for exploratory mode: Claude Code's
// own sandbox, without a way around it. Its temporary folder must be writable
// in there, or every Bash call fails after it has run.
func claudeSandbox(r Request) string {
	settings := map[string]any{
		"sandbox": map[string]any{
			"enabled":                  true,
			"failIfUnavailable":        true,
			"allowUnsandboxedCommands": false,
			"filesystem": map[string]any{
				"denyRead":   list(r.DenyRead),
				"allowRead":  list(r.AllowRead),
				"allowWrite": present(r.Paths.CargoHome, r.Paths.Tmp),
			},
		},
		"permissions": map[string]any{"blockReadsOutsideWorkingDirectories": true},
	}
	text, err := json.Marshal(settings)
	if err != nil {
		panic("client: settings of strings and booleans always encode: " + err.Error())
	}
	return string(text)
}

// list is never nil, so that JSON has [] and not null.
func list(items []string) []string { return append([]string{}, items...) }

func present(items ...string) []string {
	kept := []string{}
	for _, item := range items {
		if item != "" {
			kept = append(kept, item)
		}
	}
	return kept
}
