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
	input  func(c stepCall) any
	except func(c stepCall) bool // what this tool cannot do, though a later row may; nil: nothing
}

// A stepCall is a step on its way into a tool.
type stepCall struct {
	Step
	path  string // Arg, made absolute
	known known
}

// known says what the script itself tells of a write's place.
type known struct {
	file   bool // the file is there: an earlier step reads or writes it
	folder bool // its folder is there: it is the project, or an earlier step reads or writes a file in it
}

// toolRows is the whole of what a script knows about clients: the first row whose tool the request lists, and whose
// input that tool takes, is used. A client joins with a row an action. All from the input schemas of real requests.
var toolRows = []toolRow{
	// Claude Code 2.1.197
	{ActionRead, "Read", func(c stepCall) any { return claudeRead{c.path} }, nil},
	{ActionWrite, "Write", func(c stepCall) any { return claudeWrite{c.path, c.Content} }, nil},
	{ActionRun, "Bash", func(c stepCall) any { return claudeBash{c.Arg, runTitle} }, nil},
	{ActionLoadSkill, "Skill", func(c stepCall) any { return skillBySkill{c.Arg} }, nil},

	// OpenCode 1.18.33
	{ActionRead, "read", func(c stepCall) any { return openCodeRead{c.path} }, nil},
	{ActionWrite, "write", func(c stepCall) any { return openCodeWrite{c.path, c.Content} }, nil},
	{ActionRun, "bash", func(c stepCall) any { return openCodeBash{c.Arg, openCodeTimeout} }, nil},
	{ActionLoadSkill, "skill", func(c stepCall) any { return skillByName{c.Arg} }, nil},

	// GitHub Copilot CLI 1.0.102; its create refuses a file that exists and a folder that does not
	{ActionRead, "view", func(c stepCall) any { return copilotView{c.path} }, nil},
	{ActionWrite, "create", func(c stepCall) any { return copilotCreate{c.path, c.Content} }, func(c stepCall) bool { return c.known.file || !c.known.folder }},
	{ActionWrite, "bash", func(c stepCall) any { return copilotBash{shellWrite(c.path, c.Content), "Write a file", copilotWait} }, nil},
	{ActionRun, "bash", func(c stepCall) any { return copilotBash{c.Arg, runTitle, copilotWait} }, nil},
	{ActionLoadSkill, "skill", func(c stepCall) any { return skillBySkill{c.Arg} }, nil},

	// Codex 0.171.0, which has a shell and nothing else; it loads a skill by reading the file
	{ActionRead, "exec_command", func(c stepCall) any { return codexExec{shellRead(c.path), codexYield} }, nil},
	{ActionWrite, "exec_command", func(c stepCall) any { return codexExec{codexWrite(c.path, c.Content), codexYield} }, nil},
	{ActionRun, "exec_command", func(c stepCall) any { return codexExec{c.Arg, codexYield} }, nil},
	// the same client's tool for other models
	{ActionRead, "shell_command", func(c stepCall) any { return codexShell{shellRead(c.path)} }, nil},
	{ActionWrite, "shell_command", func(c stepCall) any { return codexShell{codexWrite(c.path, c.Content)} }, nil},
	{ActionRun, "shell_command", func(c stepCall) any { return codexShell{c.Arg} }, nil},
}

const (
	runTitle        = "Run a command"
	openCodeTimeout = 600_000 // milliseconds; the client's default is 120 000
	copilotWait     = 600     // seconds, the client's longest; a command that takes longer goes on in the background
	codexYield      = 30_000  // milliseconds, the client's longest; then the command is asked after, see poll
)

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
	skillBySkill struct {
		Skill string `json:"skill"`
	}
	skillByName struct {
		Name string `json:"name"`
	}
	openCodeRead struct {
		FilePath string `json:"filePath"`
	}
	openCodeWrite struct {
		FilePath string `json:"filePath"`
		Content  string `json:"content"`
	}
	openCodeBash struct {
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
	}
	copilotView struct {
		Path string `json:"path"`
	}
	copilotCreate struct {
		Path     string `json:"path"`
		FileText string `json:"file_text"`
	}
	copilotBash struct {
		Command     string `json:"command"`
		Description string `json:"description"`
		InitialWait int    `json:"initial_wait"`
	}
	codexExec struct {
		Cmd   string `json:"cmd"`
		Yield int    `json:"yield_time_ms"`
	}
	codexPoll struct {
		SessionID int64  `json:"session_id"`
		Chars     string `json:"chars"`
		Yield     int    `json:"yield_time_ms"`
	}
	codexShell struct {
		Command string `json:"command"`
	}
)

// call picks the tool for a step. ok is false when the request lists none that can do it.
//
// A skill is loaded with the client's skill tool where the client lists the skill, and by reading the path where only
// a path was offered, or where the client has no such tool and its listing names the path. A skill that was not offered
// at all is asked of the skill tool too: a model may do that, and the client's refusal is then the observation.
func call(r *Request, st Step, k known) (tool string, input json.RawMessage, ok bool) {
	if st.Action == ActionLoadSkill {
		if path := offeredPath(r, st.Arg); path != "" {
			if tool, input, ok := callRow(r, ActionRead, stepCall{Step: st, path: absolute(r.ProjectDir, path)}); ok {
				return tool, input, true
			}
		}
	}
	return callRow(r, st.Action, stepCall{Step: st, path: absolute(r.ProjectDir, st.Arg), known: k})
}

func callRow(r *Request, action Action, c stepCall) (string, json.RawMessage, bool) {
	for _, row := range toolRows {
		if row.action != action || row.except != nil && row.except(c) {
			continue
		}
		t, ok := r.tool(row.tool)
		if !ok {
			continue
		}
		if input := encodeJSON(row.input(c)); t.takesAll(input) {
			return row.tool, input, true
		}
	}
	return "", nil, false
}

// tool is the request's own tool of that name, never one that runs at the provider.
func (r *Request) tool(name string) (Tool, bool) {
	for _, t := range r.Tools {
		if t.Name == name && t.Type == "" && !t.Freeform {
			return t, true
		}
	}
	return Tool{}, false
}

// takes reports whether the tool's schema has that property. A schema that tells none takes any.
func (t Tool) takes(property string) bool {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if len(t.Schema) == 0 || json.Unmarshal(t.Schema, &schema) != nil || schema.Properties == nil {
		return true
	}
	_, ok := schema.Properties[property]
	return ok
}

func (t Tool) takesAll(input json.RawMessage) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return false
	}
	for name := range fields {
		if !t.takes(name) {
			return false
		}
	}
	return true
}

// offeredPath is the path to read a skill from: none when the client lists the skill and has a tool to load it.
func offeredPath(r *Request, skill string) string {
	path := ""
	for _, o := range r.Offered {
		if o.Skill != skill {
			continue
		}
		if o.Via == ViaListing {
			if _, _, ok := callRow(r, ActionLoadSkill, stepCall{Step: Step{Arg: skill}}); ok {
				return ""
			}
		}
		if path == "" {
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
