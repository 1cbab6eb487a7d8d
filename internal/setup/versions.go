package setup

// The pinned versions. Those of npm packages must agree with
// npm/<client>/package.json and its lock file (a test compares them). To move
// one: edit it here and in package.json, then run in that folder
//
//	npm install --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved
const (
	// SRTVersion is @anthropic-ai/sandbox-runtime's, the last for Node 20.
	SRTVersion = "0.0.78"
	// ClaudeVersion is @anthropic-ai/claude-code's.
	ClaudeVersion = "2.1.197"
	// CodexVersion is @openai/codex's.
	CodexVersion = "0.171.0"
	// OpenCodeVersion is opencode-ai's and its platform packages'.
	OpenCodeVersion = "1.18.33"
	// CopilotVersion is @github/copilot's.
	CopilotVersion = "1.0.102"
	// SymposiumVersion is the crate symposium's, whose binary is cargo-agents.
	SymposiumVersion = "0.5.1"
)

// The oldest versions of what the user brings that the pinned tools work with.
const (
	MinNode = "20.11.0" // srt's `engines`
	MinRust = "1.88.0"  // let chains in the crate symposium
)
