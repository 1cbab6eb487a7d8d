package client

// Where Codex looks for skills, below the home and below the project.
var (
	codexHomeSkills    = []string{".codex/skills", ".agents/skills", ".codex/skills/.system"}
	codexProjectSkills = []string{".agents/skills", ".codex/skills"}
)
