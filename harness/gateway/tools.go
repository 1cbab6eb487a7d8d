package gateway

import (
	"encoding/json"
	"path/filepath"
	"strings"
)

// A toolRow says how one client's tool does one action: which tool, and what to put into it.
type toolRow struct {
	action Action
	tool   string
	input  func(st Step, path string) any // path is st.Arg, made absolute
}

// toolRows is the whole of what a script knows about clients: the first row whose tool the request lists is used.
// A client joins with a row an action.
var toolRows = []toolRow{
	// Claude Code 2.1.197, from the input schemas of its requests
	{ActionRead, "Read", func(_ Step, path string) any { return claudeRead{path} }},
	{ActionWrite, "Write", func(st Step, path string) any { return claudeWrite{path, st.Content} }},
	{ActionRun, "Bash", func(st Step, _ string) any { return claudeBash{st.Arg, "Run a command"} }},
	{ActionLoadSkill, "Skill", func(st Step, _ string) any { return claudeSkill{st.Arg} }},
}

// Structs, not maps, so that the same call always has the same bytes.
type (
	claudeRead struct {
		FilePath string `json:"file_path"`
	}
	claudeWrite struct {
		FilePath string `json:"file_path"`
		Content  string `json:"content"`
	}
	claudeBash struct {
		Command     string `json:"command"`
		Description string `json:"description"`
	}
	claudeSkill struct {
		Skill string `json:"skill"`
	}
)

// call picks the tool for a step. ok is false when the request lists none that can do it.
//
// A skill is loaded with the client's skill tool where the client lists the skill, and by reading the path where only
// a path was offered. A skill that was not offered at all is asked of the skill tool too: a model may do that, and the
// client's refusal is then the observation.
func call(r *Request, st Step) (tool string, input json.RawMessage, ok bool) {
	if st.Action == ActionLoadSkill {
		if path := offeredPath(r, st.Arg); path != "" {
			if tool, input, ok := callRow(r, ActionRead, st, absolute(r.ProjectDir, path)); ok {
				return tool, input, true
			}
		}
	}
	return callRow(r, st.Action, st, absolute(r.ProjectDir, st.Arg))
}

func callRow(r *Request, action Action, st Step, path string) (string, json.RawMessage, bool) {
	for _, row := range toolRows {
		if row.action != action {
			continue
		}
		for _, t := range r.Tools {
			if t.Name == row.tool && t.Type == "" {
				return row.tool, encodeJSON(row.input(st, path)), true
			}
		}
	}
	return "", nil, false
}

// offeredPath is the path to read a skill from: none when the client lists the skill and has a tool to load it.
func offeredPath(r *Request, skill string) string {
	path := ""
	for _, o := range r.Offered {
		if o.Skill != skill {
			continue
		}
		if o.Via == ViaListing {
			if _, _, ok := callRow(r, ActionLoadSkill, Step{Arg: skill}, ""); ok {
				return ""
			}
		}
		if o.Via == ViaPath && path == "" {
			path = o.Path
		}
	}
	return path
}

// absolute makes a script's or a hook's path absolute. A path from ~ is the client's to resolve.
func absolute(projectDir, path string) string {
	if filepath.IsAbs(path) || strings.HasPrefix(path, "~/") {
		return path
	}
	return filepath.Join(projectDir, filepath.FromSlash(path))
}
