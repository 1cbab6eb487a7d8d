package client

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/harness/transcript"
)

// claudeStatus is how a tool call ended, by its result. The client has no
// field for it beside is_error; the phrases were measured with 2.1.197.
func claudeStatus(isError bool, output string, detail json.RawMessage) transcript.Status {
	if !isError {
		var d struct {
			Interrupted bool `json:"interrupted"`
		}
		if len(detail) > 0 && detail[0] == '{' && json.Unmarshal(detail, &d) == nil && d.Interrupted {
			return transcript.StatusAborted
		}
		return transcript.StatusOK
	}
	output = output[:min(len(output), 2000)]
	if strings.HasPrefix(output, "Exit code ") {
		return transcript.StatusError // a command ran; what it printed may say anything
	}
	inner, refused := strings.CutPrefix(output, "<tool_use_error>")
	for _, phrase := range []string{
		"requested permissions to", "haven't granted it", "requires approval", "permission rules",
		"For security, Claude Code may only", "is not enabled in this context", "Permission to use", "PreToolUse:",
		"doesn't want to proceed with this tool use",
	} {
		if strings.Contains(output, phrase) {
			return transcript.StatusDenied
		}
	}
	switch {
	case strings.HasPrefix(inner, "Cancelled:") || strings.HasPrefix(inner, "[Request interrupted"):
		return transcript.StatusAborted
	case refused:
		return transcript.StatusRejected
	}
	return transcript.StatusError
}

// claudeSkills follows the calls that may load a skill.
type claudeSkills struct {
	roots     transcript.SkillRoots
	home, cwd string            // cwd: where the next Bash command of the main conversation starts
	start0    string            // where the session started
	calls     map[string]*probe // open calls that concern a skill, by id
	count     int               // of calls so far
}

// probe is an open call and what it would mean.
type probe struct {
	number     int // orders the calls
	id, parent string
	skill      string // of a Skill or file tool call
	how        string
	read       bool // the tool delivers content when it succeeds
	scan       *transcript.ShellScan
}

func newClaudeSkills() *claudeSkills {
	return &claudeSkills{home: "~", calls: map[string]*probe{}}
}

// start takes the session's folders from its opening event. The home shows in
// the memory path, HOME/.claude/projects/…
func (c *claudeSkills) start(cwd string, memory json.RawMessage) {
	var paths struct {
		Auto string `json:"auto"`
	}
	if len(memory) > 0 && json.Unmarshal(memory, &paths) == nil {
		if home, _, ok := strings.Cut(paths.Auto, "/.claude/projects/"); ok && path.IsAbs(home) {
			c.home = path.Clean(home)
		}
	}
	if path.IsAbs(cwd) {
		c.start0, c.cwd = path.Clean(cwd), path.Clean(cwd)
		c.roots = append(c.roots, path.Join(c.cwd, claudeSkillDir))
	}
	c.roots = append(c.roots, c.home+"/"+claudeSkillDir)
}

// call takes a tool call.
func (c *claudeSkills) call(b claudeBlock, parent string) {
	c.count++
	p := &probe{number: c.count, id: transcript.Name(b.ID), parent: parent}
	var input struct {
		Skill   json.RawMessage `json:"skill"`
		Path    json.RawMessage `json:"file_path"`
		Command json.RawMessage `json:"command"`
	}
	if json.Unmarshal(b.Input, &input) != nil {
		return
	}
	switch b.Name {
	case "Skill":
		name, ok := text(input.Skill)
		if !ok {
			return
		}
		p.skill, p.how, p.read = strings.TrimPrefix(name, "/"), "skill_tool", true
	case "Read":
		file, _ := text(input.Path)
		if strings.HasPrefix(file, "~/") {
			file = c.home + file[1:]
		} else if !path.IsAbs(file) {
			file = path.Join(c.start0, file)
		}
		skill, ok := c.roots.Skill(file)
		if !ok {
			return
		}
		p.skill, p.how, p.read = skill, "file_tool", true
	case "Bash":
		command, _ := text(input.Command)
		cwd := c.cwd
		if parent != "" {
			cwd = c.start0 // a subagent's commands always start there
		}
		scan := transcript.ScanShell(command, cwd, c.home)
		p.scan, p.how = &scan, "shell"
	case "Write", "Edit", "NotebookEdit", "Task", "Agent", "TaskCreate", "TaskUpdate", "Glob", "LS":
		return
	default:
		// A tool of a server nobody knows here, given the file's path.
		skill, ok := c.mentioned(b.Input)
		if !ok {
			return
		}
		p.skill, p.how = skill, "file_tool"
	}
	if len(c.calls) < transcript.MaxOpenCalls {
		c.calls[p.id] = p
	}
}

// mentioned finds an installed SKILL.md among the strings of an input.
func (c *claudeSkills) mentioned(input json.RawMessage) (string, bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return "", false
	}
	found := ""
	for _, raw := range fields {
		file, ok := text(raw)
		if !ok {
			continue
		}
		if !path.IsAbs(file) {
			file = path.Join(c.start0, file)
		}
		// The smallest name, so that the answer does not depend on the map's order.
		if skill, ok := c.roots.Skill(file); ok && (found == "" || skill < found) {
			found = skill
		}
	}
	return found, found != ""
}

// result takes a call's result and returns what it says of skills.
func (c *claudeSkills) result(id string, status transcript.Status, output string, detail json.RawMessage, known []string) []transcript.SkillLoad {
	p, ok := c.calls[transcript.Name(id)]
	if !ok {
		return nil
	}
	delete(c.calls, p.id)
	if p.scan != nil {
		if p.parent == "" {
			c.moved(p.scan, status, output)
		}
		return p.finish(c.roots.ShellLoads(*p.scan, known, status, output))
	}
	load := transcript.SkillLoad{Skill: p.skill, How: p.how, State: transcript.LoadAttempted}
	if status == transcript.StatusOK {
		load.State = transcript.LoadLoaded
		if !p.read {
			load.State = transcript.LoadUnclear
		}
	}
	if p.how == "skill_tool" && status == transcript.StatusOK {
		var d struct {
			Success *bool  `json:"success"`
			Name    string `json:"commandName"`
		}
		if len(detail) > 0 && detail[0] == '{' && json.Unmarshal(detail, &d) == nil {
			if d.Success != nil && !*d.Success {
				load.State = transcript.LoadAttempted
			}
			if d.Name != "" {
				load.Skill = d.Name
			}
		}
	}
	return p.finish([]transcript.SkillLoad{load})
}

// moved follows the shell's working directory: kept after a successful
// command, unless the client says that it put it back.
func (c *claudeSkills) moved(scan *transcript.ShellScan, status transcript.Status, output string) {
	const notice = "Shell cwd was reset to "
	if at := strings.LastIndex(output, notice); at >= 0 {
		dir, _, _ := strings.Cut(output[at+len(notice):], "\n")
		if dir = strings.TrimSpace(dir); path.IsAbs(dir) && len(dir) < 4096 {
			c.cwd = path.Clean(dir)
			return
		}
	}
	if status == transcript.StatusOK {
		c.cwd = scan.Cwd
	}
}

func (p *probe) finish(loads []transcript.SkillLoad) []transcript.SkillLoad {
	for i := range loads {
		loads[i].CallID, loads[i].ParentID = p.id, p.parent
	}
	return loads
}

// unfinished is what the calls without a result say: something was attempted.
func (c *claudeSkills) unfinished(known []string) []transcript.SkillLoad {
	left := slices.SortedFunc(maps.Values(c.calls), func(a, b *probe) int { return a.number - b.number })
	var loads []transcript.SkillLoad
	for _, p := range left {
		if p.scan != nil {
			loads = append(loads, p.finish(c.roots.ShellLoads(*p.scan, known, transcript.StatusUnfinished, ""))...)
			continue
		}
		loads = append(loads, p.finish([]transcript.SkillLoad{{Skill: p.skill, State: transcript.LoadAttempted, How: p.how}})...)
	}
	clear(c.calls)
	return loads
}
