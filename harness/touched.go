package harness

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/harness/grade"
	"github.com/proctor-evals/proctor/harness/transcript"
)

// reading are the tools that change nothing.
var reading = []string{"Read", "Glob", "Grep", "Skill", "LS"}

var (
	// evidenceNames spell a place of Symposium's evidence, whole or in part, wherever they stand.
	evidenceNames = regexp.MustCompile(`(?i)hook[-_.]?tr[\w.-]*|EVAL_E\w*|SYMPOSIUM_H\w*|\.sympos\w*`)
	// evidenceWords do so in a command, where a pattern or a variable may stand for the rest.
	evidenceWords = regexp.MustCompile(`(?i)\bevid\w*|\$\{!|(?:HOME|TMPDIR|PWD)\}?["']?/+\.\.`)
	// hidden are commands that run a text which is put together only while they run.
	hidden = regexp.MustCompile(`(?i)(?:^|[\s;&|({'"])eval(?:[\s"'$]|$)|` +
		`base(?:64|32)\s+(?:-\w*d|--decode)|xxd\s+-\w*r|openssl\s+(?:enc|base64)|\$'[^']*\\[x0-9u]|` +
		`(?:printf|echo)[^|;&]*\\[x0-7u][^|;&]*\|\s*(?:\w*sh|python\d?|perl|node)\b|` +
		`(?:b64decode|unhexlify|fromhex|fromCharCode|atob|\bchr)\s*\(|pack\s*\(?\s*["']H`)
)

// touchesEvidence says which tool call, other than a reading one, could have written where hooks
// leave their evidence: it names the place, or runs what its text does not tell. It is text, so it
// can miss and it can be wrong; being wrong makes a verdict inconclusive, never the opposite.
func (t *trial) touchesEvidence() string {
	dirs := []string{t.space.Path("evidence"), t.space.Path("home", ".symposium")}
	in := scope{cwd: t.space.Path("project"), home: t.space.Path("home"), root: path.Dir(t.space.Path("evidence")), dirs: dirs}
	for _, turn := range t.transcript.Turns {
		for _, call := range turn.ToolCalls {
			if slices.Contains(reading, call.Name) {
				continue
			}
			if what := in.touched(call); what != "" {
				return fmt.Sprintf("the tool call %q (%s) %s", call.ID, call.Name, what)
			}
		}
	}
	return ""
}

// scope is where a trial's tool calls run and what they should leave alone.
type scope struct {
	cwd, home string
	root      string   // the run directory
	dirs      []string // the folders in it to be left alone
}

// touched says what a tool call does to one of the folders, as far as its input tells, or "".
func (s scope) touched(call transcript.ToolCall) string {
	var input any
	if json.Unmarshal(call.Input, &input) != nil && len(call.Input) > 0 {
		return "has an input that cannot be read"
	}
	if what := s.value("", input); what != "" {
		return what
	}
	if call.InputCut {
		return "has an input too large to be kept whole"
	}
	return ""
}

func (s scope) value(key string, value any) string {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			if what := s.value(key, item); what != "" {
				return what
			}
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if what := s.value(k, v[k]); what != "" {
				return what
			}
		}
	case string:
		return s.text(key, v)
	}
	return ""
}

func (s scope) text(key, text string) string {
	if m := evidenceNames.FindString(text); m != "" {
		return fmt.Sprintf("names %q", m)
	}
	for _, d := range s.dirs {
		if strings.Contains(text, d) {
			return fmt.Sprintf("names %q", d)
		}
	}
	switch key {
	case "command", "cmd", "script":
		return s.command(text)
	case "content", "new_string", "old_string", "new_source", "description", "prompt":
		return ""
	}
	// Anything else short may be a path.
	if len(text) < 4096 && s.meets(s.absolute(text)) {
		return fmt.Sprintf("names %q", text)
	}
	return ""
}

func (s scope) command(text string) string {
	if m := evidenceWords.FindString(text); m != "" {
		return fmt.Sprintf("names %q", m)
	}
	scan := transcript.ScanShell(text, s.cwd, s.home)
	for _, p := range scan.Paths {
		if p = s.absolute(p); p == s.root || s.meets(p) {
			return fmt.Sprintf("goes to %q", p)
		}
	}
	if scan.Cwd != "" && (scan.Cwd == s.root || s.meets(scan.Cwd)) {
		return fmt.Sprintf("goes to %q", scan.Cwd)
	}
	if m := hidden.FindString(text); m != "" {
		return fmt.Sprintf("runs a text that is put together while it runs (%q)", strings.TrimSpace(m))
	}
	return ""
}

func (s scope) absolute(p string) string {
	switch {
	case p == "~" || strings.HasPrefix(p, "~/"):
		return path.Join(s.home, p[1:])
	case path.IsAbs(p):
		return path.Clean(p)
	}
	return path.Join(s.cwd, p)
}

// meets says whether the path, which may be a pattern, lies in one of the folders or may match it.
func (s scope) meets(p string) bool {
	return slices.ContainsFunc(s.dirs, func(dir string) bool {
		have, want := strings.Split(p, "/"), strings.Split(dir, "/")
		if len(have) < len(want) {
			return false
		}
		for i, w := range want {
			if strings.ContainsAny(have[i], "{}") {
				continue // a choice of words: it may be this one
			}
			if ok, err := path.Match(have[i], w); err == nil && !ok {
				return false
			}
		}
		return true
	})
}

// called says whether the transcript holds a tool call of an id; nil when it does not hold them all.
func (t *trial) called() func(id string) bool {
	if ok, _ := t.transcript.Interpretable(); !ok || t.transcript.Dropped.ToolCalls > 0 || t.transcript.Dropped.Turns > 0 {
		return nil
	}
	ids := map[string]bool{}
	for _, turn := range t.transcript.Turns {
		for _, call := range turn.ToolCalls {
			ids[call.ID] = true
		}
	}
	return func(id string) bool { return ids[id] }
}

// doubts records what in a trial's evidence fits together badly.
func (t *trial) doubts(ev grade.Evidence) {
	for _, d := range ev.Doubts() {
		t.find("hook_evidence", d)
	}
	if ev.Seen == nil && len(t.transcript.Turns) > 0 {
		t.find("hook_evidence", "no model turn went through the endpoint, so nothing was seen before the agent could act")
	}
}
