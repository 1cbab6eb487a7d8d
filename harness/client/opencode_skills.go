package client

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/proctor-evals/proctor/harness/transcript"
)

// Where OpenCode looks for skills, below the home and below the project.
var (
	openCodeHomeSkills    = []string{".config/opencode/skills", ".claude/skills", ".agents/skills", ".opencode/skills"}
	openCodeProjectSkills = []string{".opencode/skills", ".opencode/skill", ".claude/skills", ".agents/skills"}
)

// watch takes a call that has just ended.
func (d *openCodeDecoder) watch(p *openCodePart) {
	var input struct {
		Name    string          `json:"name"`
		File    string          `json:"filePath"`
		Command json.RawMessage `json:"command"`
		Workdir string          `json:"workdir"`
	}
	if !into(p.State.Input, &input) {
		return
	}
	switch p.Tool {
	case "skill":
		var loaded struct {
			Name string `json:"name"`
		}
		if into(p.State.Metadata, &loaded) && loaded.Name != "" {
			input.Name = loaded.Name
		}
		d.loads.skill(p.CallID, "", input.Name)
	case "read":
		d.loads.file(p.CallID, "", input.File)
	case "bash":
		script, _ := text(input.Command)
		cwd := d.loads.project
		if input.Workdir != "" {
			cwd = d.loads.absolute(input.Workdir, cwd)
		}
		d.loads.shell(p.CallID, "", script, path.Clean(cwd))
	case "invalid", "write", "edit", "patch", "multiedit", "grep", "glob", "list", "task", "todowrite", "todoread", "webfetch":
	default:
		d.loads.other(p.CallID, "", p.State.Input)
	}
}

// outcome is a tool call's output and status; the phrases were measured with
// 1.18.33.
func (s *openCodeState) outcome(tool string) (string, transcript.Status) {
	if s.Status == "error" {
		output := words(s.Error)
		head := output[:min(len(output), 2000)]
		switch {
		case strings.Contains(head, "The user rejected permission") || strings.Contains(head, "The user has specified a rule which prevents"):
			return output, transcript.StatusDenied
		case strings.Contains(head, "was called with invalid arguments") || tool == "skill" && strings.HasPrefix(head, "Skill ") && strings.Contains(head, " not found"):
			return output, transcript.StatusRejected
		case strings.HasPrefix(head, "Tool execution aborted"):
			return output, transcript.StatusAborted
		}
		return output, transcript.StatusError
	}
	output := words(s.Output)
	if tool == "invalid" {
		return output, transcript.StatusRejected
	}
	var ran struct {
		Exit json.RawMessage `json:"exit"`
	}
	if tool == "bash" && into(s.Metadata, &ran) && len(ran.Exit) > 0 {
		switch string(ran.Exit) {
		case "0":
		case "null":
			return output, transcript.StatusAborted // killed, at its time limit or with the session
		default:
			return output, transcript.StatusError
		}
	}
	return output, transcript.StatusOK
}
