package suite

// Harness is what a task says to each client; nil means nothing. The names are agent-exam's, which
// calls a client a harness.
type Harness struct {
	ClaudeCode *ClaudeCode
	CopilotCLI *CopilotCLI
	CodexCLI   *CodexCLI
	OpenCode   *OpenCode
}

// ClaudeCode is a task's block for Claude Code.
type ClaudeCode struct {
	PermissionMode string
	AllowedTools   []string // nil: not given
}

// CopilotCLI is a task's block for Copilot CLI.
type CopilotCLI struct {
	AllowedTools []string
}

// CodexCLI is a task's block for Codex.
type CodexCLI struct {
	Sandbox       string // read-only, workspace-write or danger-full-access; "": not given
	NetworkAccess *bool
	WritableRoots []string
	PrefixRules   []PrefixRule
}

// PrefixRule is a rule of Codex for commands that begin alike.
type PrefixRule struct {
	Pattern       [][]string // alternatives for each word
	Decision      string     // allow, prompt or forbidden
	Justification string
}

// OpenCode is a task's block for OpenCode.
type OpenCode struct {
	// Permission is by tool; a pattern "" holds for the whole tool.
	Permission map[string]map[string]string
}

// clients has the client's name for each harness of the files.
var clients = map[string]string{
	"claude_code": "claude", "codex_cli": "codex", "copilot_cli": "copilot", "opencode": "opencode",
}

// Client is the client's name for a harness name, or "" when there is none.
func Client(harness string) string { return clients[harness] }

// HarnessName is the name the files have for a client, or "".
func HarnessName(client string) string {
	for harness, name := range clients {
		if name == client {
			return harness
		}
	}
	return ""
}
