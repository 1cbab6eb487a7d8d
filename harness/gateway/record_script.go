package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/proctor-evals/proctor/harness/transcript"
)

// A ScriptSource is a recorded conversation and what is left of its project.
type ScriptSource struct {
	Transcript *transcript.Transcript
	// File returns the final content of a file of the project, by its slash path relative to it. Edits become a write of
	// that. nil: no file is known.
	File func(rel string) (content string, ok bool)
}

// ScriptOf turns a recorded conversation into a model script to edit: the text of a model script file, and how many of
// its tool calls have no step and stand in it as comments. Calls of subagents are among these.
//
// A skill load becomes a step on the condition that the skill is offered. Edits of a file, which scripts cannot say,
// become one write of the file's final content, where the last of them stood.
func ScriptOf(s ScriptSource) (text []byte, left int) {
	w := &scriptWriter{source: s, last: map[string]*transcript.ToolCall{}}
	calls := w.conversation()
	w.cwd = s.Transcript.Cwd
	if w.cwd == "" {
		w.cwd = projectOf(calls, s.File)
	}
	for _, c := range calls {
		for _, p := range edited(c, w.cwd) {
			w.last[p] = c
		}
	}
	w.head()
	for _, t := range s.Transcript.Turns {
		if t.Role != transcript.RoleAssistant {
			continue
		}
		if t.ParentID != "" {
			for _, c := range t.ToolCalls {
				w.comment("a subagent called", &c)
			}
			continue
		}
		if strings.TrimSpace(t.Text) != "" {
			w.step(ActionSay, t.Text, "")
		}
		for i := range t.ToolCalls {
			w.call(&t.ToolCalls[i])
		}
	}
	return w.b.Bytes(), w.left
}

type scriptWriter struct {
	source ScriptSource
	cwd    string // the project as the client saw it, "" when unknown
	b      bytes.Buffer
	left   int
	wrote  string                          // the file the newest step writes, "" when it does something else
	last   map[string]*transcript.ToolCall // the call that edits a file last, by its path
}

// conversation lists the tool calls of the main conversation, in place.
func (w *scriptWriter) conversation() []*transcript.ToolCall {
	var calls []*transcript.ToolCall
	for _, t := range w.source.Transcript.Turns {
		if t.Role != transcript.RoleAssistant || t.ParentID != "" {
			continue
		}
		for i := range t.ToolCalls {
			calls = append(calls, &t.ToolCalls[i])
		}
	}
	return calls
}

const (
	maxProbed     = 50   // calls
	maxProbedPath = 1024 // bytes
)

// projectOf finds the project by the first absolute path of a call whose end is a file of the project; "" when there is none.
func projectOf(calls []*transcript.ToolCall, file func(string) (string, bool)) string {
	if file == nil {
		return ""
	}
	for _, c := range calls[:min(len(calls), maxProbed)] {
		st, _ := stepOf(c.Name, c.Input, "")
		candidates := edited(c, "")
		if st.Action == ActionRead || st.Action == ActionWrite {
			candidates = append(candidates, st.Arg)
		}
		for _, p := range candidates {
			if !path.IsAbs(p) || len(p) > maxProbedPath {
				continue
			}
			for i := 1; i < len(p); i++ { // the longest end first
				if p[i] != '/' || pathProblem(p[i+1:]) != "" {
					continue
				}
				if _, ok := file(p[i+1:]); ok {
					return p[:i]
				}
			}
		}
	}
	return ""
}

func (w *scriptWriter) head() {
	t := w.source.Transcript
	fmt.Fprintf(&w.b, "# Recorded from a session of %s", plainText(t.Client))
	if t.Model != "" {
		fmt.Fprintf(&w.b, " with the model %s", plainText(t.Model))
	}
	w.b.WriteString(".\n# Edit it: what hangs on a skill gets when_skill_offered, what is done without it otherwise.\n")
	fmt.Fprintf(&w.b, "version = %d\n", ScriptVersion)
}

// call writes the step of a call, or a comment where there is none.
func (w *scriptWriter) call(c *transcript.ToolCall) {
	if c.InputCut || len(c.Input) == 0 {
		w.comment("input too long to have been kept", c)
		return
	}
	if polls(c) {
		return // the scripted model asks after a running command of its own accord
	}
	if files := edited(c, w.cwd); len(files) > 0 {
		w.edits(c, files)
		return
	}
	st, ok := stepOf(c.Name, c.Input, w.cwd)
	if !ok {
		w.comment("no step does this", c)
		return
	}
	switch c.Status {
	case transcript.StatusDenied, transcript.StatusRejected, transcript.StatusError:
		fmt.Fprintf(&w.b, "\n# the next call ended as: %s", c.Status)
	}
	w.step(st.Action, st.Arg, st.Content)
}

// edits writes the final content of the files this call is the last to edit.
func (w *scriptWriter) edits(c *transcript.ToolCall, files []string) {
	for _, f := range files {
		if c.Name == fileChange && w.wrote == f {
			continue // Codex tells of its own apply_patch a second time
		}
		if w.last[f] != c {
			w.comment("a later edit of "+plainText(f)+" has the file's final content", c)
			continue
		}
		content, ok := "", false
		if w.source.File != nil && pathProblem(f) == "" {
			content, ok = w.source.File(f)
		}
		if !ok {
			w.comment("the final content of "+plainText(f)+" is not known", c)
			continue
		}
		fmt.Fprintf(&w.b, "\n# the file's final content, in place of %s", plainText(c.Name))
		w.step(ActionWrite, f, content)
	}
}

func (w *scriptWriter) step(a Action, arg, content string) {
	fmt.Fprintf(&w.b, "\n[[step]]\n%s = %s\n", a, tomlString(arg))
	w.wrote = ""
	switch a {
	case ActionWrite:
		w.wrote = arg
		fmt.Fprintf(&w.b, "content = %s\n", tomlString(content))
	case ActionLoadSkill:
		fmt.Fprintf(&w.b, "when_skill_offered = %s\n", tomlString(arg))
	}
}

const maxComment = 300 // bytes of a call's input

func (w *scriptWriter) comment(why string, c *transcript.ToolCall) {
	w.left++
	input := string(c.Input)
	if len(input) > maxComment {
		input = input[:maxComment] + "…"
	}
	fmt.Fprintf(&w.b, "\n# %s: %s %s\n", why, plainText(c.Name), plainText(input))
}

// polls reports whether a call only asks after a running command.
func polls(c *transcript.ToolCall) bool {
	var in codexPoll
	return c.Name == "write_stdin" && json.Unmarshal(c.Input, &in) == nil && in.Chars == ""
}

const fileChange = "file_change" // Codex's event of an edit

// edited lists the files of the project that a call edits in place, relative to it. Paths elsewhere stay as they are.
func edited(c *transcript.ToolCall, cwd string) []string {
	var in struct {
		FilePath  string `json:"file_path"`
		FilePath2 string `json:"filePath"`
		Path      string `json:"path"`
		Changes   []struct {
			Path string `json:"path"`
			Kind string `json:"kind"`
		} `json:"changes"`
	}
	if json.Unmarshal(c.Input, &in) != nil {
		return nil
	}
	var files []string
	switch c.Name {
	case "Edit", "MultiEdit", "edit": // Claude Code, OpenCode and Copilot CLI
		for _, p := range []string{in.FilePath, in.FilePath2, in.Path} {
			if p != "" {
				return []string{below(cwd, p)}
			}
		}
	case fileChange:
		for _, change := range in.Changes {
			if change.Kind != "delete" && change.Path != "" {
				files = append(files, below(cwd, change.Path))
			}
		}
	}
	return files
}

// stepOf is the step that makes a client call this tool with this input, the inverse of call. ok is false where no step
// does. cwd is the project, "" when unknown.
func stepOf(tool string, input json.RawMessage, cwd string) (st Step, ok bool) {
	var in struct {
		FilePath  string          `json:"file_path"`
		FilePath2 string          `json:"filePath"`
		Path      string          `json:"path"`
		Content   *string         `json:"content"`
		FileText  *string         `json:"file_text"`
		Command   json.RawMessage `json:"command"`
		Cmd       string          `json:"cmd"`
		Skill     string          `json:"skill"`
		Name      string          `json:"name"`
	}
	if json.Unmarshal(input, &in) != nil {
		return st, false
	}
	content := in.Content
	if content == nil {
		content = in.FileText
	}
	switch tool {
	case "Read", "read", "view":
		st = readStep(firstOf(in.FilePath, in.FilePath2, in.Path), cwd)
	case "Write", "write", "create":
		if content == nil {
			return st, false
		}
		st = Step{Action: ActionWrite, Arg: below(cwd, firstOf(in.FilePath, in.FilePath2, in.Path)), Content: *content}
	case "Skill", "skill":
		st = Step{Action: ActionLoadSkill, Arg: firstOf(in.Skill, in.Name)}
	case "Bash", "bash", "exec_command", "shell_command", "command_execution":
		var command string
		if len(in.Command) > 0 && json.Unmarshal(in.Command, &command) != nil {
			return st, false
		}
		st = shellStep(firstOf(in.Cmd, command), cwd)
	default:
		return st, false
	}
	switch st.Action {
	case ActionRead, ActionWrite:
		return st, pathProblem(st.Arg) == ""
	case ActionLoadSkill:
		return st, skillName.MatchString(st.Arg)
	}
	return st, strings.TrimSpace(st.Arg) != ""
}

// readStep reads a file of the project; a skill's file that lies elsewhere is the skill loaded.
func readStep(p, cwd string) Step {
	rel := below(cwd, p)
	if m := skillPath.FindStringSubmatch(p); m != nil && pathProblem(rel) != "" {
		return Step{Action: ActionLoadSkill, Arg: m[1]}
	}
	return Step{Action: ActionRead, Arg: rel}
}

var (
	catCommand   = regexp.MustCompile(`^cat ((?:~/)?'.*')$`)
	patchCommand = regexp.MustCompile(`(?s)^apply_patch <<'(EOF[0-9]*)'\n\*\*\* Begin Patch\n\*\*\* Add File: ([^\n]+)\n(.*)\*\*\* End Patch\n(EOF[0-9]*)$`)
	hereCommand  = regexp.MustCompile(`(?s)^(?:mkdir -p (?:~/)?'[^\n]*' && )?cat > ((?:~/)?'[^\n]*') <<'(EOF[0-9]*)'\n(.*)(EOF[0-9]*)$`)
	printCommand = regexp.MustCompile(`(?s)^(?:mkdir -p (?:~/)?'[^\n]*' && )?printf %s ('.*') > ((?:~/)?'[^\n]*')$`)
)

// shellStep turns a command into a step. The commands this package itself gives to clients that have only a shell become
// what they were made from: a guess counts where it makes the very same command again. In others the project's path,
// which is another in each trial, becomes relative.
func shellStep(command, cwd string) Step {
	if m := catCommand.FindStringSubmatch(command); m != nil {
		if p := unquote(m[1]); shellRead(p) == command {
			if name := skillPath.FindStringSubmatch(p); name != nil {
				return Step{Action: ActionLoadSkill, Arg: name[1]}
			}
			if st := readStep(p, cwd); st.Action != ActionRead || pathProblem(st.Arg) == "" {
				return st
			}
		}
	}
	for _, guess := range writeGuesses(command) {
		same := codexWrite(guess.path, guess.content) == command || shellWrite(guess.path, guess.content) == command
		if rel := below(cwd, guess.path); same && pathProblem(rel) == "" {
			return Step{Action: ActionWrite, Arg: rel, Content: guess.content}
		}
	}
	if cwd != "" && cwd != "/" {
		command = regexp.MustCompile(regexp.QuoteMeta(cwd)+`([/\s'";]|$)`).ReplaceAllString(command, ".$1")
	}
	return Step{Action: ActionRun, Arg: command}
}

type writeGuess struct{ path, content string }

func writeGuesses(command string) (guesses []writeGuess) {
	if m := patchCommand.FindStringSubmatch(command); m != nil {
		guesses = append(guesses, writeGuess{m[2], strings.ReplaceAll("\n"+m[3], "\n+", "\n")[1:]})
	}
	if m := hereCommand.FindStringSubmatch(command); m != nil {
		guesses = append(guesses, writeGuess{unquote(m[1]), m[3]})
	}
	if m := printCommand.FindStringSubmatch(command); m != nil {
		guesses = append(guesses, writeGuess{unquote(m[2]), unquote(m[1])})
	}
	return guesses
}

// unquote is the inverse of shellPath and shellQuote.
func unquote(s string) string {
	prefix := ""
	if rest, ok := strings.CutPrefix(s, "~/"); ok {
		prefix, s = "~/", rest
	}
	s = strings.TrimSuffix(strings.TrimPrefix(s, "'"), "'")
	return prefix + strings.ReplaceAll(s, `'\''`, "'")
}

// below makes a path relative to the project; one elsewhere stays as it is.
func below(cwd, p string) string {
	if rest, ok := strings.CutPrefix(p, strings.TrimSuffix(cwd, "/")+"/"); ok && cwd != "" {
		p = rest
	}
	if p == "" || path.IsAbs(p) {
		return p
	}
	return path.Clean(p)
}

func firstOf(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}
