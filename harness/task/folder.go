package task

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/proctor-evals/proctor/internal/treecopy"
)

// folder is a source folder as found on disk.
type folder struct {
	missing bool
	entries []treecopy.Entry // sorted; below the folder
}

func (f *folder) kind(rel string) treecopy.Kind {
	i, ok := slices.BinarySearchFunc(f.entries, rel, func(e treecopy.Entry, rel string) int { return strings.Compare(e.Path, rel) })
	if !ok {
		return ""
	}
	return f.entries[i].Kind
}

func (f *folder) has(rel string) bool { return f.kind(rel) != "" }

// below is the part of a folder in one of its folders.
func (f *folder) below(dir string) *folder {
	if f.kind(dir) != treecopy.Directory {
		return &folder{missing: true}
	}
	sub := &folder{}
	for _, e := range f.entries {
		if rel, ok := strings.CutPrefix(e.Path, dir+"/"); ok {
			sub.entries = append(sub.entries, treecopy.Entry{Path: rel, Kind: e.Kind})
		}
	}
	return sub
}

// folder lists a folder below the evals root, once, and reports what cannot be
// copied from it.
func (l *loader) folder(rel string) *folder {
	if f, ok := l.folders[rel]; ok {
		return f
	}
	f := &folder{}
	l.folders[rel] = f
	entries, err := treecopy.List(filepath.Join(l.root, filepath.FromSlash(rel)), treecopy.Options{})
	if errors.Is(err, fs.ErrNotExist) {
		f.missing = true
		return f
	}
	if err != nil {
		l.add(rel, 0, err.Error(), "make it a plain folder of reasonable size")
		return f
	}
	f.entries = entries
	for _, e := range entries {
		if e.Kind != treecopy.File && e.Kind != treecopy.Directory {
			l.add(rel+"/"+e.Path, 0, "this is "+e.Kind.Phrase(), "only readable regular files and folders are used: replace or remove it")
		}
	}
	return f
}

// onDisk checks what a task.toml says against the evals root, and makes the task.
func (l *loader) onDisk(name string, s *spec) *Task {
	dir := "tasks/" + name
	t := &Task{
		Name: name, Root: l.root, Dir: filepath.Join(l.root, "tasks", name),
		Kind: s.kind, Description: s.description, Prompt: s.prompt,
		Editable: texts(s.editable), EditableBuild: s.editableBuild, Fixtures: texts(s.fixtures), Plugins: texts(s.plugins),
		FmtCheck: s.fmtCheck, Trials: s.trials, Tags: texts(s.tags), Deadlines: s.deadlines,
		Expected: Expected{texts(s.installed), texts(s.notInstalled), texts(s.used), texts(s.notUsed), texts(s.hooks)},
	}
	t.Starter = filepath.Join(t.Dir, "starter")
	f := l.folder(dir)
	starter := f.below("starter")
	l.starter(dir, starter, s)
	t.Checks = l.checks(dir, f.below("checks"), starter)
	if f.has("solution") {
		t.Solution = filepath.Join(t.Dir, "solution")
		l.solution(dir, f.below("solution"), s)
	}
	for _, it := range s.fixtures {
		l.fixture(s, it)
	}
	for _, it := range s.plugins {
		l.plugin(s, it)
	}
	if script := s.modelScript.text; script != "" {
		t.ModelScript = filepath.Join(t.Dir, filepath.FromSlash(script))
		switch {
		case within(script, "starter"):
			l.at(s, s.modelScript, fmt.Sprintf("model_script %q lies in the starter, where the agent could read it", script), "move it beside task.toml")
		case f.kind(script) == "":
			l.at(s, s.modelScript, fmt.Sprintf("model_script %q does not exist in the task's folder", script), "write it or remove the key")
		case f.kind(script) != treecopy.File:
			l.at(s, s.modelScript, fmt.Sprintf("model_script %q is %s", script, f.kind(script).Phrase()), "name a regular file")
		}
	}
	return t
}

// at adds a problem where a value of task.toml stands.
func (l *loader) at(s *spec, it item, message, fix string) {
	line, col := s.at.position(it.at)
	l.problems = append(l.problems, Problem{File: s.file, Line: line, Col: col, Message: message, Fix: fix})
}

func (l *loader) starter(dir string, f *folder, s *spec) {
	if f.missing {
		l.add(dir+"/starter", 0, "the folder is missing", "put the project that each trial starts from there")
		return
	}
	l.agentFiles(dir+"/starter", f)
	if f.kind("Cargo.toml") != treecopy.File {
		l.add(dir+"/starter/Cargo.toml", 0, "the file is missing", "the starter must be a Cargo package")
	} else {
		l.manifest(dir, s)
	}
	for _, it := range s.editable {
		for up := path.Dir(it.text); up != "."; up = path.Dir(up) {
			if k := f.kind(up); k != "" && k != treecopy.Directory {
				l.at(s, it, fmt.Sprintf("editable path %q lies below %q, which is %s", it.text, up, k.Phrase()), "correct the path")
			}
		}
		if s.editableBuild {
			continue
		}
		for _, e := range f.entries {
			if e.Path != it.text && within(e.Path, it.text) && buildFile(e.Path) {
				l.at(s, it, fmt.Sprintf("editable path %q holds %q, which steers the build that grades the work", it.text, e.Path), "list narrower paths, or set editable_build = true")
				break
			}
		}
	}
	if !s.editableBuild {
		l.compileTime(dir+"/starter", f, s)
	}
}

// manifest checks the starter's Cargo.toml for what would defeat the grading.
func (l *loader) manifest(dir string, s *spec) {
	file := dir + "/starter/Cargo.toml"
	data, cut, err := treecopy.ReadSource(filepath.Join(l.root, filepath.FromSlash(dir), "starter"), "Cargo.toml", maxTaskFile)
	if err != nil || cut {
		l.add(file, 0, "the file cannot be read whole", "make it a readable file of at most 256 KiB")
		return
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	var m struct {
		Package struct {
			Autotests *bool `toml:"autotests"`
		} `toml:"package"`
	}
	if _, err := toml.Decode(text, &m); err != nil {
		p := Problem{File: file, Line: 1, Message: "not a valid manifest: " + strings.ReplaceAll(err.Error(), "\n", " "), Fix: "correct it until cargo build accepts it"}
		var bad toml.ParseError
		if errors.As(err, &bad) {
			p.Message, p.Line, p.Col = "not a valid manifest: "+strings.ReplaceAll(strings.TrimSpace(bad.Message), "\n", " "), max(bad.Position.Line, 1), bad.Position.Col
		}
		l.problems = append(l.problems, p)
		return
	}
	where := locate(text)
	line := func(key string) int {
		n, _ := where.position(where.spans[pathOf("package", key)].key)
		return n
	}
	if m.Package.Autotests != nil && !*m.Package.Autotests {
		l.add(file, line("autotests"), "autotests = false keeps Cargo from finding the hidden checks", "remove it")
	}
}

func (l *loader) solution(dir string, f *folder, s *spec) {
	rel := dir + "/solution"
	if f.missing {
		l.add(rel, 0, "this is not a folder", "make it one; its files are copied over the starter")
		return
	}
	l.agentFiles(rel, f)
	files := 0
	for _, e := range f.entries {
		if e.Kind != treecopy.File {
			continue
		}
		files++
		if s.editableGood && !slices.ContainsFunc(s.editable, func(it item) bool { return within(e.Path, it.text) }) {
			l.add(rel+"/"+e.Path, 0, "the solution changes what no agent may change", "move it below an editable path, or add its path to editable")
		}
	}
	if files == 0 {
		l.add(rel, 0, "the solution is empty", "put the changed files there, or remove the folder")
	}
}

func (l *loader) fixture(s *spec, it item) {
	if badName(it.text) != "" {
		return // reported already
	}
	rel := "fixtures/" + it.text
	f := l.folder(rel)
	if f.missing {
		l.at(s, it, fmt.Sprintf("fixture %q does not exist", it.text), l.create(rel, "fixtures", it.text))
		return
	}
	l.agentFiles(rel, f)
	if f.kind("Cargo.toml") != treecopy.File {
		l.add(rel+"/Cargo.toml", 0, "the file is missing", "a fixture must be a Cargo package")
	}
}

func (l *loader) plugin(s *spec, it item) {
	if badName(it.text) != "" {
		return
	}
	rel := "plugins/" + it.text
	f := l.folder(rel)
	if f.missing {
		l.at(s, it, fmt.Sprintf("plugin %q does not exist", it.text), l.create(rel, "plugins", it.text))
		return
	}
	named := func(e treecopy.Entry) bool {
		return e.Kind == treecopy.File && (path.Base(e.Path) == "SYMPOSIUM.toml" || path.Base(e.Path) == "SKILL.md")
	}
	if !slices.ContainsFunc(f.entries, named) {
		l.add(rel, 0, "the folder holds no SYMPOSIUM.toml and no SKILL.md, so it is no plugin", "add one of them")
	}
}

// create is what to do about a folder that does not exist.
func (l *loader) create(rel, parent, name string) string {
	fix := "create " + rel + "/ or remove the name"
	if entries, err := os.ReadDir(filepath.Join(l.root, parent)); err == nil {
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if near := closest(name, names); near != "" {
			fix = fmt.Sprintf("did you mean %q? Else ", near) + fix
		}
	}
	return fix
}

// agentNames are files and folders that give an agent instructions, skills, hooks
// or history. In a trial only the configuration under test may bring any.
var agentNames = []string{
	".git", ".hg", ".jj", ".svn", ".bzr", ".pijul", "_darcs", ".gitmodules",
	".claude", ".claude-plugin", ".agents", ".codex", ".copilot", ".opencode", ".symposium", ".gemini", ".kiro", ".goose",
	".cursor", ".continue", ".windsurf", ".aider.conf.yml",
	".mcp.json", "mcp.json", "opencode.json", "opencode.jsonc",
	"SYMPOSIUM.toml", "SKILL.md", "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENT.md", "AGENTS.override.md", "GEMINI.md",
	".cursorrules", ".windsurfrules", ".clinerules", ".goosehints",
}

// githubNames are what Copilot reads below .github.
var githubNames = []string{"copilot-instructions.md", "instructions", "skills", "agents", "hooks", "prompts", "chatmodes", "copilot"}

// agentFiles reports what must not stand in a folder an agent sees: agentNames at
// any depth, a skills folder or Cargo's target folder beside a Cargo.toml, and
// Copilot's files under .github.
func (l *loader) agentFiles(rel string, f *folder) {
	reported := ""
	for _, e := range f.entries {
		if reported != "" && within(e.Path, reported) {
			continue
		}
		base, parent := path.Base(e.Path), path.Dir(e.Path)
		message, fix := "", "remove it: only the configuration under test brings such files"
		switch {
		case slices.ContainsFunc(agentNames, func(n string) bool { return strings.EqualFold(n, base) }),
			path.Base(parent) == ".github" && slices.Contains(githubNames, base):
			message = fmt.Sprintf("%s reaches every trial's agent", printable(base))
		case base == "skills" && e.Kind == treecopy.Directory && (parent == "." || f.has(parent+"/Cargo.toml")):
			message = "a package's skills folder reaches every trial's agent"
		case e.Kind == treecopy.Directory && bareRepository(f, e.Path), e.Kind == treecopy.File && path.Ext(base) == ".bundle":
			message, fix = "this is a git history, in which a trial could read later work", "remove it"
		case base == "target" && e.Kind == treecopy.Directory && f.has(path.Join(parent, "Cargo.toml")):
			message, fix = "Cargo's build output would be copied into every trial and change the content hash", "remove it: cargo clean"
		}
		if message != "" {
			reported = e.Path
			l.add(rel+"/"+e.Path, 0, message, fix)
		}
	}
}

// bareRepository reports whether a folder is a git repository without a project.
func bareRepository(f *folder, dir string) bool {
	return f.kind(dir+"/HEAD") == treecopy.File && f.kind(dir+"/objects") == treecopy.Directory && f.kind(dir+"/refs") == treecopy.Directory
}
