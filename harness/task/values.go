package task

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// nameRule is the rule for the names of tasks, fixtures, plugins and skills. They
// become folder names on every platform.
const nameRule = "use a-z, 0-9 and single hyphens between them, at most 64 characters, and none of Windows' reserved names"

var (
	nameForm  = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)
	reserved  = regexp.MustCompile(`^(?i:con|prn|aux|nul|com[0-9]|lpt[0-9])$`)
	symposium = regexp.MustCompile(`(?i)symposium|cargo[\s_-]+agents?\b`)
)

// badName says what is wrong with a name, "" when nothing is.
func badName(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > 64:
		return fmt.Sprintf("is %d characters long", len(name))
	case reserved.MatchString(name):
		return fmt.Sprintf("%q is reserved on Windows", name)
	case !nameForm.MatchString(name):
		return fmt.Sprintf("%q has a form that is not allowed", name)
	}
	return ""
}

// hookEvents are the events whose hooks a task may expect a record of.
var hookEvents = []string{"SessionStart", "PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"}

// maxPrompt keeps the prompt below what Linux takes as one argument of a command
// (MAX_ARG_STRLEN, 128 KiB).
const maxPrompt = 120 << 10

// check adds the problems of the values that need no other file.
func (s *spec) check(d *decoder) {
	s.checkKind(d)
	s.checkPrompt(d)
	s.checkEditable(d)
	s.checkNames(d, "fixtures", s.fixtures)
	s.checkNames(d, "plugins", s.plugins)
	s.checkTags(d)
	s.checkExpected(d)
	if _, ok := d.top["model_script"].(string); ok {
		if what, fix := badPath(s.modelScript.text); what != "" {
			d.problem(s.modelScript.at, "model_script "+what, fix)
			s.modelScript.text = ""
		}
	}
}

func (s *spec) checkKind(d *decoder) {
	v, given := d.top["kind"]
	_, isString := v.(string)
	const fix = `set kind = "capability" or kind = "regression"`
	switch {
	case !given:
		d.problem(0, "kind is missing", fix)
	case isString && s.kind != Capability && s.kind != Regression:
		d.problem(d.at.spans["kind"].key, fmt.Sprintf("kind is %q", s.kind), fix)
	}
}

func (s *spec) checkPrompt(d *decoder) {
	v, given := d.top["prompt"]
	_, isString := v.(string)
	where := d.at.spans["prompt"]
	switch {
	case !given:
		d.problem(0, "prompt is missing", `set prompt = "…", the first message to the agent`)
	case isString && strings.TrimSpace(s.prompt) == "":
		d.problem(where.key, "prompt is blank", "write the first message to the agent")
	case len(s.prompt) > maxPrompt:
		d.problem(where.key, fmt.Sprintf("prompt is %d bytes long", len(s.prompt)), fmt.Sprintf("keep it within %d, and put long material into a file of the starter", maxPrompt))
	case strings.ContainsRune(s.prompt, 0):
		d.problem(where.key, "prompt contains a NUL character", "remove it")
	case strings.HasPrefix(strings.TrimSpace(s.prompt), "/"):
		d.problem(where.key, `prompt begins with "/"`, "clients take that for a command of their own: begin with a word")
	}
	// A format character within the word, which nobody sees, does not hide it from a model.
	if said := symposium.FindString(Visible(s.prompt)); said != "" {
		offset := where.key
		// With an escape in the name it is not found in the text as written.
		if at := symposium.FindStringIndex(d.text[where.value:where.end]); at != nil {
			offset = where.value + at[0]
		}
		d.problem(offset, fmt.Sprintf("prompt names Symposium (%q)", said), "the prompt is the same with and without it: describe the work alone")
	}
}

// badPath says what is wrong with a path below a folder, and what to write.
func badPath(p string) (what, fix string) {
	switch {
	case p == "":
		return "is empty", "name a path or remove it"
	case strings.ContainsFunc(p, unicode.IsControl):
		return fmt.Sprintf("%q contains a control character", p), "remove it"
	case strings.Contains(p, `\`):
		return fmt.Sprintf("%q contains a backslash", p), "separate names with /"
	case path.IsAbs(p) || len(p) > 1 && p[1] == ':':
		return fmt.Sprintf("%q is absolute", p), "write it relative to the folder it belongs to"
	case slices.Contains(strings.Split(p, "/"), ".."):
		return fmt.Sprintf("%q contains ..", p), "name a path inside the folder"
	case path.Clean(p) != p:
		return fmt.Sprintf("%q is not written plainly", p), fmt.Sprintf("write %q", path.Clean(p))
	}
	return "", ""
}

func (s *spec) checkEditable(d *decoder) {
	before := len(d.problems)
	array, isArray := d.top["editable"].([]any)
	_, given := d.top["editable"]
	const fix = `list what the agent may change, such as editable = ["src"]`
	switch {
	case !given:
		d.problem(0, "editable is missing", fix)
	case isArray && len(array) == 0:
		d.problem(d.at.spans["editable"].key, "editable is empty", fix)
	}
	var good []item
	for _, e := range s.editable {
		what, fix := badPath(e.text)
		switch {
		case what != "":
		case !s.editableBuild && e.text == ".":
			what, fix = `"." is the whole project with its build files`, "list folders, or set editable_build = true"
		case !s.editableBuild && buildFile(e.text):
			what, fix = fmt.Sprintf("%q steers the build that grades the work", e.text), "remove it, or set editable_build = true"
		}
		if what != "" {
			d.problem(e.at, "editable path "+what, fix)
			continue
		}
		for _, other := range good {
			if within(e.text, other.text) || within(other.text, e.text) {
				d.problem(e.at, fmt.Sprintf("editable path %q overlaps %q", e.text, other.text), "keep the outer one of the two")
			}
		}
		good = append(good, e)
	}
	s.editable = good
	s.editableGood = len(d.problems) == before && len(good) == len(array) && len(good) > 0
}

// buildFile reports whether Cargo runs or obeys a file of that path in a build.
// The comparison ignores case, as some file systems do.
func buildFile(p string) bool {
	for _, name := range strings.Split(p, "/") {
		if strings.EqualFold(name, "Cargo.toml") || strings.EqualFold(name, "build.rs") || strings.EqualFold(name, ".cargo") {
			return true
		}
	}
	return false
}

// within reports whether the slash path p is dir or below it.
func within(p, dir string) bool {
	return p == dir || dir == "." || strings.HasPrefix(p, dir+"/")
}

func (s *spec) checkNames(d *decoder, key string, items []item) {
	for i, it := range items {
		if what := badName(it.text); what != "" {
			d.problem(it.at, fmt.Sprintf("a name in %s %s", key, what), nameRule)
		}
		if j := slices.IndexFunc(items[:i], func(o item) bool { return o.text == it.text }); j >= 0 {
			d.problem(it.at, fmt.Sprintf("%s names %q twice", key, it.text), "remove one")
		}
	}
}

func (s *spec) checkTags(d *decoder) {
	for i, it := range s.tags {
		bad := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == ',' }
		if it.text == "" || strings.ContainsFunc(it.text, bad) {
			d.problem(it.at, fmt.Sprintf("tag %q cannot be selected", it.text), "use no spaces, commas or control characters")
		}
		if slices.ContainsFunc(s.tags[:i], func(o item) bool { return o.text == it.text }) {
			d.problem(it.at, fmt.Sprintf("tags names %q twice", it.text), "remove one")
		}
	}
}

func (s *spec) checkExpected(d *decoder) {
	s.checkNames(d, "expected.installed", s.installed)
	s.checkNames(d, "expected.not_installed", s.notInstalled)
	s.checkNames(d, "expected.used", s.used)
	s.checkNames(d, "expected.not_used", s.notUsed)
	// The reference's three contradictions.
	s.contradiction(d, "installed", s.installed, "not_installed", s.notInstalled)
	s.contradiction(d, "used", s.used, "not_used", s.notUsed)
	s.contradiction(d, "used", s.used, "not_installed", s.notInstalled)
	for i, it := range s.hooks {
		if !slices.Contains(hookEvents, it.text) {
			d.problem(it.at, fmt.Sprintf("unknown hook event %q in expected.hooks", it.text), "the events are "+strings.Join(hookEvents, ", "))
		}
		if slices.ContainsFunc(s.hooks[:i], func(o item) bool { return o.text == it.text }) {
			d.problem(it.at, fmt.Sprintf("expected.hooks names %q twice", it.text), "remove one")
		}
	}
}

// contradiction reports skills in two lists that cannot both hold, at the one
// that stands later in the file.
func (s *spec) contradiction(d *decoder, nameA string, a []item, nameB string, b []item) {
	for _, x := range a {
		for _, y := range b {
			if x.text == y.text {
				d.problem(max(x.at, y.at), fmt.Sprintf("skill %q is in both expected.%s and expected.%s", x.text, nameA, nameB), "they contradict each other: remove it from one")
			}
		}
	}
}
