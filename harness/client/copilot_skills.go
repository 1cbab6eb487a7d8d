package client

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/harness/transcript"
)

// Where Copilot looks for skills, below the home and below the project.
var (
	copilotHomeSkills    = []string{".copilot/skills", ".agents/skills"}
	copilotProjectSkills = []string{".github/skills", ".claude/skills", ".agents/skills"}
)

// place starts the watch of skills with the session's folders.
func (d *copilotDecoder) place(home, project string) {
	d.loads = newLoadWatch(home, project, copilotHomeSkills, copilotProjectSkills)
	d.cwds = []string{d.loads.project}
}

// listing takes the skills the client knows. Where they lie tells the
// session's folders.
func (d *copilotDecoder) listing(raw json.RawMessage) {
	var skills []struct {
		Name    string `json:"name"`
		Source  string `json:"source"`
		Path    string `json:"path"`
		Enabled *bool  `json:"enabled"`
	}
	if !into(raw, &skills) {
		return
	}
	home, project := d.given.Home, d.given.Project
	var names, roots []string
	for _, s := range skills {
		if s.Enabled == nil || *s.Enabled {
			names = append(names, s.Name)
		}
		folder, ok := strings.CutSuffix(path.Clean(s.Path), "/"+s.Name+"/SKILL.md")
		if !ok || !path.IsAbs(folder) {
			continue
		}
		roots = append(roots, folder)
		switch s.Source {
		case "project":
			project = orText(project, above(folder, copilotProjectSkills))
		case "personal-copilot", "personal-agents":
			home = orText(home, above(folder, copilotHomeSkills))
		}
	}
	d.Listed(names)
	if d.loads.count == 0 {
		d.place(home, project)
	}
	for _, root := range roots {
		d.loads.root(root)
	}
}

// above is the folder that holds one of the given skill folders; "" when it is none.
func above(folder string, dirs []string) string {
	for _, dir := range dirs {
		if base, ok := strings.CutSuffix(folder, "/"+dir); ok {
			return base
		}
	}
	return ""
}

// watch takes a tool call.
func (d *copilotDecoder) watch(r copilotRequest, parent string) {
	var input struct {
		Skill   json.RawMessage `json:"skill"`
		Name    json.RawMessage `json:"name"`
		Path    json.RawMessage `json:"path"`
		Command json.RawMessage `json:"command"`
	}
	if !into(r.Arguments, &input) {
		return
	}
	switch r.Name {
	case "skill":
		skill, ok := text(input.Skill)
		if !ok {
			skill, _ = text(input.Name)
		}
		d.loads.skill(r.ID, parent, strings.TrimPrefix(skill, "/"))
	case "view":
		file, _ := text(input.Path)
		d.loads.file(r.ID, parent, file)
	case "bash":
		script, _ := text(input.Command)
		d.loads.shell(r.ID, parent, script, d.cwds...)
	case "create", "edit", "str_replace", "insert", "grep", "glob", "task", "sql", "report_intent", "read_bash", "write_bash", "stop_bash", "list_bash":
	default:
		d.loads.other(r.ID, parent, r.Arguments)
	}
}

// moved remembers a folder the shell may be in, at most four beside the project.
func (d *copilotDecoder) moved(cwd string) {
	if slices.Contains(d.cwds, cwd) || !path.IsAbs(cwd) {
		return
	}
	if len(d.cwds) > 4 {
		d.cwds = slices.Delete(d.cwds, 1, 2)
	}
	d.cwds = append(d.cwds, transcript.Name(cwd))
}
