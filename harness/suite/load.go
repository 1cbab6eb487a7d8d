package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/harness/task"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// Load reads the configuration of a project and its suites: all of them, or those named. dir is the
// project's root, its evals folder, or an evals root.
//
// What is wrong with the files is a [task.Problems], with everything in it; a suite that is named
// and not there is an [*UnknownError]. A folder without suites/ is a project without suites.
func Load(dir string, names ...string) (*Project, error) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return nil, fmt.Errorf("open the evals: %w", err)
	}
	l := &loader{}
	root, evals, python, problems := locate(abs)
	l.problems = problems
	l.p = &Project{Root: root, Evals: evals}
	l.config(python)
	all, err := folders(filepath.Join(evals, "suites"))
	if err != nil {
		return nil, err
	}
	l.p.known = all
	if len(names) == 0 {
		names = all
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if !slices.Contains(all, name) {
			return nil, &UnknownError{Kind: "suite", Name: name, Known: all}
		}
		if err := l.suite(name); err != nil {
			return nil, err
		}
	}
	if len(l.problems) > 0 {
		return nil, l.problems.Sorted()
	}
	return l.p, nil
}

// folders are the names of the folders in dir that do not begin with a dot, sorted.
func folders(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the suites: %w", err)
	}
	var out []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && isDir(filepath.Join(dir, e.Name())) {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

type loader struct {
	decoder
	p *Project
	// noConfig says that the configuration could not be read: what it declares is not known.
	noConfig bool
}

// file reads a file of the evals folder; nil when it is missing or unreadable, which is told.
func (l *loader) file(path string) (v *value, exists bool) {
	shown := below(l.p.Root, path)
	data, truncated, err := treecopy.ReadSource(filepath.Dir(path), filepath.Base(path), maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false
	case err == nil && truncated:
		err = fmt.Errorf("the file is larger than %d bytes", maxFile)
	}
	if err != nil {
		l.add(spot{file: shown}, "", err.Error(), "make it a readable regular file")
		return nil, true
	}
	v, problems := parseYAML(shown, data)
	l.problems = append(l.problems, problems...)
	return v, true
}

func (l *loader) config(python pyproject) {
	before := len(l.problems)
	base, _ := l.file(filepath.Join(l.p.Evals, configFile))
	local, _ := l.file(filepath.Join(l.p.Evals, localConfigFile))
	for _, misnamed := range []string{"config.yml", "config.local.yml"} {
		l.misnamed(filepath.Join(l.p.Evals, misnamed), strings.TrimSuffix(misnamed, "yml")+"yaml")
	}
	v := base
	switch {
	case local == nil || local.isNull():
	case local.kind != isMap:
		l.add(local.at, "", "the file must be a YAML mapping", "")
	case base == nil || base.isNull():
		v = local
	default:
		v = merged(base, local)
	}
	l.noConfig = len(l.problems) > before
	l.p.Config = l.decoder.config(v, l.p.Root, isDir)
	if python.Hook != "" && len(l.p.Config.PreRun) == 0 {
		at := python.HookAt
		at.Message = fmt.Sprintf("tool.agent-exam.pre_run_hook: the Python function %s is not run here", quoted(python.Hook))
		at.Fix = fmt.Sprintf("put a command that builds the skills into %s as pre_run, and the folders it fills into skills_dirs", below(l.p.Root, filepath.Join(l.p.Evals, configFile)))
		l.problems = append(l.problems, at)
	}
}

// misnamed tells of a file that would be taken for one that is read.
func (l *loader) misnamed(path, right string) {
	if _, err := os.Lstat(path); err == nil {
		l.add(spot{file: below(l.p.Root, path)}, "", "a file of this name is not read", "rename it to "+right)
	}
}

func (l *loader) suite(name string) error {
	dir := filepath.Join(l.p.Evals, "suites", name)
	s := &Suite{Name: name, Dir: dir, file: below(l.p.Root, filepath.Join(dir, "suite.yml"))}
	whole := spot{file: below(l.p.Root, dir)}
	if fault := badName(name); fault != "" {
		l.add(whole, "", "the suite's name "+fault, "rename the folder")
	}
	if isDir(filepath.Join(l.p.Evals, "tasks", name)) {
		l.add(whole, "", "a task has the same name", "rename the suite or tasks/"+name)
	}
	v, _ := l.file(filepath.Join(dir, "suite.yml"))
	l.misnamed(filepath.Join(dir, "suite.yaml"), "suite.yml")
	l.suiteFile(v, s)
	l.declared(s.Tags, s.tagsAt)
	files, err := os.ReadDir(filepath.Join(dir, "tasks"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list the tasks of suite %s: %w", name, err)
	}
	for _, f := range files {
		stem, isTask := strings.CutSuffix(f.Name(), ".yaml")
		path := filepath.Join(dir, "tasks", f.Name())
		switch {
		case strings.HasPrefix(f.Name(), "."):
		case isTask && !isDir(path):
			l.task(s, stem, path)
		case strings.HasSuffix(f.Name(), ".yml"):
			l.misnamed(path, strings.TrimSuffix(f.Name(), "yml")+"yaml")
		}
	}
	if len(s.Tasks) == 0 {
		l.add(whole, "", "the suite has no tasks", "write one into "+below(l.p.Root, filepath.Join(dir, "tasks"))+"/NAME.yaml")
	}
	l.collisions(s)
	l.scripts(s)
	l.p.Suites = append(l.p.Suites, s)
	return nil
}

func (l *loader) task(s *Suite, name, path string) {
	t := &Task{Name: name, File: below(l.p.Root, path), Suite: s, Kind: Execute}
	t.places.file = spot{t.File, Place{1, 1}}
	s.Tasks = append(s.Tasks, t)
	if fault := badName(name); fault != "" {
		l.add(spot{file: t.File}, "", "the task's name "+fault, "rename the file")
	}
	v, _ := l.file(path)
	if v == nil {
		return
	}
	l.decoder.task(v, t, l.p.Config.Judge)
	l.declared(t.Tags, t.places.tags)
	if _, ok := l.p.Config.ConcurrencyGroups[t.Group]; t.Group != "" && !ok && !l.noConfig {
		l.add(t.places.group, string(t.Kind)+".concurrency_group", fmt.Sprintf("the group %s is not declared", quoted(t.Group)),
			"add it to concurrency_groups in "+l.configName())
	}
	l.fixture(t)
}

func (l *loader) configName() string { return below(l.p.Root, filepath.Join(l.p.Evals, configFile)) }

// declared tells of tags that the configuration does not know.
func (l *loader) declared(tags []string, at []spot) {
	for i, tag := range tags {
		if _, ok := l.p.Config.Tags[tag]; !ok && !l.noConfig {
			fix := "add it to tags in " + l.configName()
			if near := task.Near(tag, sortedKeys(l.p.Config.Tags)); near != "" {
				fix = fmt.Sprintf("did you mean %s?", near)
			}
			l.add(at[i], "tags"+index(i), fmt.Sprintf("the tag %s is not declared", quoted(tag)), fix)
		}
	}
}

// fixture wants a folder below fixtures/, links followed.
func (l *loader) fixture(t *Task) {
	name := t.Setup.Fixture
	if name == "" {
		return
	}
	loc := string(t.Kind) + ".setup.fixture"
	fixtures := filepath.Join(l.p.Evals, "fixtures")
	if !filepath.IsLocal(filepath.FromSlash(name)) || filepath.ToSlash(filepath.Clean(name)) != name || name == "." {
		l.add(t.places.fixture, loc, fmt.Sprintf("%s is no name of a folder below fixtures/", quoted(name)), "name one, without . and ..")
		return
	}
	dir := filepath.Join(fixtures, filepath.FromSlash(name))
	if !isDir(dir) {
		l.add(t.places.fixture, loc, fmt.Sprintf("there is no folder %s", below(l.p.Root, dir)), "make it, or name another fixture")
		return
	}
	real, err := filepath.EvalSymlinks(dir)
	top, errTop := filepath.EvalSymlinks(fixtures)
	if err != nil || errTop != nil || !strings.HasPrefix(real, top+string(filepath.Separator)) {
		l.add(t.places.fixture, loc, fmt.Sprintf("the fixture %s is a link out of fixtures/", quoted(name)), "copy the folder there")
	}
}

// collisions tells of tasks that have the name of a case of a trigger task.
func (l *loader) collisions(s *Suite) {
	owner := map[string]*Task{}
	for _, t := range s.Tasks {
		owner[t.Name] = t
	}
	for _, t := range s.Tasks {
		if t.Kind != Trigger {
			continue
		}
		for _, c := range t.Cases() {
			if other := owner[c.Name]; other != nil {
				l.add(spot{file: other.File}, "", fmt.Sprintf("the task has the name of case %s of %s", c.Name, t.File), "rename one of the files")
			}
		}
	}
}

// scripts finds the tasks' model scripts.
func (l *loader) scripts(s *Suite) {
	dir := filepath.Join(s.Dir, "scripts")
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.add(spot{file: below(l.p.Root, dir)}, "", err.Error(), "")
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		stem, ok := strings.CutSuffix(f.Name(), ".toml")
		if !ok || !f.Type().IsRegular() {
			continue
		}
		i := slices.IndexFunc(s.Tasks, func(t *Task) bool { return t.Name == stem })
		if i < 0 {
			l.add(spot{file: below(l.p.Root, path)}, "", "the suite has no task "+quoted(stem)+" for this model script", "rename it after a task, or remove it")
			continue
		}
		s.Tasks[i].ModelScript = path
	}
}

// badName is what is wrong with the name of a suite or task, which stands in commands and paths.
func badName(name string) string {
	switch {
	case strings.TrimSpace(name) == "":
		return "is empty"
	case strings.ContainsAny(name, ":*/\\"):
		return "holds one of : * / \\"
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "holds a control character"
	}
	return ""
}
