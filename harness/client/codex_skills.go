package client

// Codex is OpenAI's Codex CLI, run headless with "codex exec --json". Measured
// with 0.171.0.
//
// What it detects as a skill load: a shell command that prints the installed
// SKILL.md with a reader such as cat, head, tail, sed or less, wherever it was
// started; and, from the rollout, a skill the client itself put into the
// request because the prompt calls it ("$name"). A skill in a listing, a
// failed read or the prompt's own text is none. What it cannot see: without
// the rollout, a "$name" and the folder a command was started in (a read by a
// path that would fit a skill's folder is then unclear, unless its front
// matter is printed); content that a search over many files happens to print.
type Codex struct{}

// Name implements [Decoder].
func (Codex) Name() string { return "codex" }

// Where Codex looks for skills, below the home and below the project.
var (
	codexHomeSkills    = []string{".codex/skills", ".agents/skills", ".codex/skills/.system"}
	codexProjectSkills = []string{".agents/skills", ".codex/skills"}
)
