package lint

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/harness/task"
)

// The rules about SYMPOSIUM.toml are those of cargo-agents 0.5.1, which skips a
// plugin it does not understand, with a line in its log.

var (
	pluginKeys = []string{"name", "depends-on", "predicates", "skills", "hooks", "installations", "mcp_servers", "subcommand", "predicate", "plugins"}
	skillsKeys = []string{"depends-on", "predicates", "source"}
	hookKeys   = []string{"name", "event", "matcher", "command", "executable", "script", "args", "requirements", "format", "agent", "predicates"}
	hookEvents = []string{"SessionStart", "PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"}
	formats    = []string{"symposium", "claude", "codex", "copilot", "gemini", "kiro"}
)

// atom is a dependency as plugins name it: a crate, with or without a version.
var atom = regexp.MustCompile(`^(\*|[A-Za-z0-9][A-Za-z0-9_-]*)\s*((?:>=|<=|==|=|>|<|\^|~)\s*\d+(?:\.\d+)*(?:\.\*)?(?:[-+][0-9A-Za-z.+-]+)?)?$`)

const atomForm = `write a crate's name, a version behind it if need be, such as "fixture-store>=1.0", or "*"`

func badAtom(s string) string {
	if atom.MatchString(s) {
		return ""
	}
	return fmt.Sprintf("depends-on %q has a form that Symposium does not take", s)
}

// crateOf is the crate of an atom.
func crateOf(s string) string {
	if m := atom.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	return ""
}

// plugins checks the task's plugins, one by one and against what the task expects.
func (l *linter) plugins() {
	skills := l.skills()
	byName := map[string]string{} // skill's name → file
	for _, s := range skills {
		l.skill(s)
		if other, ok := byName[s.name]; ok && s.name != "" {
			l.add(s.file, 0, 0, fmt.Sprintf("the skill %q is also in %s", s.name, other), "give one of them another name")
		} else {
			byName[s.name] = s.file
		}
	}
	deps := l.directDependencies()
	unmet := map[string]string{} // plugin → why it is never active
	names := map[string]string{} // plugin's name → folder
	for _, folder := range l.task.Plugins {
		file := path.Join("plugins", folder, "SYMPOSIUM.toml")
		f := l.toml(file, false)
		if f == nil {
			continue // none, or broken: package task and toml said so
		}
		l.manifest(f, folder)
		if name, ok := f.values["name"].(string); ok {
			if other, twice := names[name]; twice {
				l.problem(f, []string{"name"}, fmt.Sprintf("the plugin's name %q is also that of plugins/%s", name, other), "rename one")
			}
			names[name] = folder
		}
		if crates := gate(f); len(crates) > 0 && !slices.ContainsFunc(crates, func(c string) bool { return c == "*" || slices.Contains(deps, c) }) {
			unmet[folder] = fmt.Sprintf("plugins/%s needs %s, and the starter depends on %s", folder, quoted(crates), quoted(deps))
		}
	}
	l.problems = append(l.problems, Skills(l.task)...)
	l.reachable(skills, unmet)
}

// gate are the crates of which one must be a dependency for the plugin to be
// active at all; empty when its top level names none.
func gate(f *tomlFile) []string {
	var out []string
	for _, s := range stringsOf(f.values["depends-on"]) {
		out = append(out, crateOf(s))
	}
	return out
}

// reachable reports expected skills whose plugin can never be active. (A negative
// task's plugin is meant to be so.)
func (l *linter) reachable(skills []skill, unmet map[string]string) {
	file := path.Join("tasks", l.task.Name, "task.toml")
	text, _ := l.read(file)
	at := task.PositionsIn(text)
	seen := map[string]bool{}
	for _, list := range []struct {
		key   string
		names []string
	}{{"installed", l.task.Expected.Installed}, {"used", l.task.Expected.Used}} {
		for i, name := range list.names {
			for _, s := range skills {
				if why := unmet[s.plugin]; s.name == name && why != "" && !seen[name] {
					seen[name] = true
					line, col := at.Item(i, "expected", list.key)
					l.add(file, line, col, fmt.Sprintf("the skill %q can never be installed: %s", name, why), "names are exact (- and _ differ): correct depends-on, or the starter's dependencies")
				}
			}
		}
	}
}

func (l *linter) manifest(f *tomlFile, folder string) {
	fixes := map[string]string{"crates": "the key is depends-on now", "defaults": "it has no place in a registry's plugin: remove it"}
	for _, key := range slices.Sorted(maps.Keys(f.values)) {
		if slices.Contains(pluginKeys, key) {
			continue
		}
		fix := fixes[key]
		if fix == "" {
			fix = "the keys here are " + strings.Join(pluginKeys, ", ")
		}
		l.problem(f, []string{key}, fmt.Sprintf("unknown key %q, and Symposium skips such a plugin", key), fix)
	}
	if name, _ := f.values["name"].(string); name == "" {
		l.problem(f, []string{"name"}, "the plugin has no name", fmt.Sprintf("write name = %q", folder))
	}
	named := l.dependsOn(f, []string{"depends-on"}, f.values["depends-on"])
	files := l.files(path.Join("plugins", folder))
	groups := tables(f.values["skills"])
	covered := map[string]bool{}
	for _, g := range groups {
		named = l.dependsOn(f, []string{"skills", "depends-on"}, g["depends-on"]) || named
		l.skillGroup(f, g, files, covered)
	}
	for _, name := range files {
		if path.Base(name) == "SKILL.md" && !covered[name] {
			l.add(path.Join("plugins", folder, name), 0, 0, "no [[skills]] of the plugin's SYMPOSIUM.toml covers this skill", "add its folder as source.path, or remove it")
		}
	}
	for _, h := range tables(f.values["hooks"]) {
		l.hook(f, h)
	}
	for key, v := range map[string]any{"installations": f.values["installations"], "plugins": f.values["plugins"]} {
		if v != nil {
			l.problem(f, []string{key}, fmt.Sprintf("[[%s]] is fetched from elsewhere, and a trial has no network", key), "leave it out; write hooks with executable = \"sh\"")
		}
	}
	if !named && !strings.Contains(fmt.Sprint(f.values["predicates"]), "depends-on(") {
		l.problem(f, []string{"name"}, "the plugin names no dependency, so that Symposium never activates it", `write depends-on = ["<crate>"], or ["*"] for every project`)
	}
}

// dependsOn checks a depends-on and tells whether it names something.
func (l *linter) dependsOn(f *tomlFile, keys []string, v any) bool {
	list := stringsOf(v)
	for _, s := range list {
		if what := badAtom(s); what != "" {
			l.problem(f, keys, what, atomForm)
		}
	}
	if v != nil && len(list) == 0 {
		l.problem(f, keys, "depends-on names nothing", atomForm)
	}
	return len(list) > 0
}

func (l *linter) unknown(f *tomlFile, table string, t map[string]any, known []string) {
	for _, key := range slices.Sorted(maps.Keys(t)) {
		if !slices.Contains(known, key) {
			l.problem(f, []string{table, key}, fmt.Sprintf("unknown key %q in [[%s]], and Symposium skips such a plugin", key, table), "the keys here are "+strings.Join(known, ", "))
		}
	}
}

func (l *linter) skillGroup(f *tomlFile, g map[string]any, files []string, covered map[string]bool) {
	l.unknown(f, "skills", g, skillsKeys)
	at := []string{"skills", "source"}
	source, _ := g["source"].(map[string]any)
	dir, _ := source["path"].(string)
	switch {
	case source["git"] != nil:
		l.problem(f, at, "source.git cannot be fetched: a trial has no network", "put the skills in the plugin's folder, with source.path")
		return
	case dir == "":
		l.problem(f, at, "[[skills]] has no source.path", `write source.path = "skills"`)
		return
	case !filepath.IsLocal(filepath.FromSlash(dir)):
		l.problem(f, at, fmt.Sprintf("source.path %q leaves the plugin's folder, which alone is offered", dir), "put the skills in it")
		return
	}
	found := false
	for _, name := range files {
		if path.Base(name) == "SKILL.md" && (path.Clean(dir) == "." || strings.HasPrefix(name, path.Clean(dir)+"/")) {
			found, covered[name] = true, true
		}
	}
	if !found {
		l.problem(f, at, fmt.Sprintf("there is no SKILL.md below source.path %q", dir), "correct the path")
	}
}

// hook checks a hook's event and program. Symposium takes a program's path as it
// stands, relative to the agent's folder and not the plugin's.
func (l *linter) hook(f *tomlFile, h map[string]any) {
	l.unknown(f, "hooks", h, hookKeys)
	if event, _ := h["event"].(string); !slices.Contains(hookEvents, event) {
		l.problem(f, []string{"hooks", "event"}, fmt.Sprintf("unknown hook event %q", event), "the events are "+strings.Join(hookEvents, ", "))
	}
	if format, ok := h["format"].(string); ok && !slices.Contains(formats, format) {
		l.problem(f, []string{"hooks", "format"}, fmt.Sprintf("unknown hook format %q", format), "the formats are "+strings.Join(formats, ", "))
	}
	programs := []any{h["executable"], h["script"]}
	if command, ok := h["command"].(map[string]any); ok {
		programs = append(programs, command["executable"], command["script"])
		if command["source"] != nil {
			l.problem(f, []string{"hooks", "command"}, "the hook's program is fetched from elsewhere, and a trial has no network", `use executable = "sh" with args = ["-c", "…"]`)
		}
	}
	for i, p := range programs {
		name, ok := p.(string)
		if !ok {
			continue
		}
		// A script is always a path, an executable without a slash is looked up on PATH.
		if script := i%2 == 1; !path.IsAbs(name) && (script || strings.Contains(name, "/")) {
			l.problem(f, []string{"hooks", "command"}, fmt.Sprintf("Symposium looks for the hook's program %q in the agent's folder, not the plugin's", name), `use executable = "sh" with args = ["-c", "…"]`)
		}
	}
}

// Skills reports expectations about skills that none of the task's plugins has:
// *installed* could never pass, and *not used* could never fail.
func Skills(t *task.Task) task.Problems {
	l := &linter{task: t}
	known := map[string]bool{}
	for _, s := range l.skills() {
		if s.name == "" {
			return nil // it may be the one: what is wrong with it comes first
		}
		known[s.name] = true
	}
	file := path.Join("tasks", t.Name, "task.toml")
	text, _ := l.read(file)
	at := task.PositionsIn(text)
	seen := map[string]bool{}
	for _, list := range []struct {
		key   string
		names []string
	}{{"installed", t.Expected.Installed}, {"not_installed", t.Expected.NotInstalled}, {"used", t.Expected.Used}, {"not_used", t.Expected.NotUsed}} {
		for i, name := range list.names {
			if known[name] || seen[name] {
				continue
			}
			seen[name] = true
			line, col := at.Item(i, "expected", list.key)
			l.add(file, line, col, fmt.Sprintf("expected skill %q is in none of the task's plugins", name), "name a skill as its SKILL.md does, or add its plugin")
		}
	}
	return l.problems.Sorted()
}
