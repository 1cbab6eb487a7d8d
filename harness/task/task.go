// Package task loads the exam tasks of an evals root: tasks/<name>/ with its
// task.toml, starter project, hidden checks and optional solution, and the
// fixtures/ and plugins/ folders it names.
//
// It is for everything that needs to know what a task is before a trial starts:
// the engine, the task checks, listings. It reads the evals root and writes
// nothing. A [Task] is complete and valid, or there is none: [Load] and [LoadAll]
// report every problem of every file at once, as [Problems].
package task

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/proctor-evals/proctor/internal/treecopy"
)

// Kind says what a task's Go test means.
type Kind string

const (
	// Capability is a measurement: the Go test passes whatever the trials do.
	Capability Kind = "capability"
	// Regression tasks fail the Go test unless every eligible trial of the
	// with-symposium configuration succeeded.
	Regression Kind = "regression"
)

// Task is one valid task. It is immutable: nobody changes its slices. Paths are
// absolute and in the machine's own form, except Editable.
type Task struct {
	Name        string
	Root        string // the evals root
	Dir         string // tasks/<name> in it
	Kind        Kind
	Description string
	Prompt      string   // the first user turn, as written (line ends are LF)
	Editable    []string // slash paths below the project the agent may change
	// EditableBuild says that Editable may hold what Cargo runs or obeys in a build.
	EditableBuild bool
	Fixtures      []string // names of folders under fixtures/; see FixtureDir
	Plugins       []string // names of folders under plugins/; see PluginDir
	FmtCheck      bool     // cargo fmt --check counts
	Trials        int      // per configuration, when nothing else says how many; 1 to 10 000
	Tags          []string
	Deadlines     Deadlines
	Expected      Expected
	ModelScript   string // file of the scripted model, "" when the task has none
	Checks        []Check
	Starter       string // folder copied into each trial
	Solution      string // folder copied over the starter, "" when there is none
	// ContentHash identifies the task's content; see the function contentHash.
	ContentHash string
}

// Deadlines of one trial. Grading is per step. Each is 1 second to a week.
type Deadlines struct {
	Setup   time.Duration
	Agent   time.Duration
	Grading time.Duration
}

// Expected are the author's expectations of a trial with Symposium: names of
// skills, and of hook events that must leave a successful record.
type Expected struct {
	Installed    []string
	NotInstalled []string
	Used         []string
	NotUsed      []string
	Hooks        []string
}

// Check is one hidden check: an integration test with exactly one test in it.
type Check struct {
	Name string // the Cargo test target: the file's name without .rs
	File string
}

// FixtureDir is the source folder of one of the task's fixtures.
func (t *Task) FixtureDir(name string) string { return filepath.Join(t.Root, "fixtures", name) }

// PluginDir is the source folder of one of the task's plugins.
func (t *Task) PluginDir(name string) string { return filepath.Join(t.Root, "plugins", name) }

// UnknownTaskError is a task name that no folder under tasks/ has.
type UnknownTaskError struct {
	Name  string
	Root  string
	Known []string // sorted
}

func (e *UnknownTaskError) Error() string {
	if len(e.Known) == 0 {
		return fmt.Sprintf("there is no task %q: %s holds no tasks; name another evals root with PROCTOR_EVALS", e.Name, filepath.Join(e.Root, "tasks"))
	}
	s := fmt.Sprintf("there is no task %q in %s", e.Name, filepath.Join(e.Root, "tasks"))
	if near := closest(e.Name, e.Known); near != "" {
		s += fmt.Sprintf("; did you mean %q?", near)
	}
	return s + "; the tasks are " + strings.Join(e.Known, ", ")
}

// Names lists the folders under tasks/, sorted, valid or not; names that begin
// with a dot are not tasks. An evals root without tasks/ has none.
func Names(evalsRoot string) ([]string, error) {
	if _, err := os.Stat(evalsRoot); err != nil {
		return nil, fmt.Errorf("evals root: %w; name it with PROCTOR_EVALS", err)
	}
	entries, err := os.ReadDir(filepath.Join(evalsRoot, "tasks"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("evals root: %w", err)
	}
	var names []string
	for _, e := range entries {
		// A link is listed, so that it is reported and not silently no task.
		if (e.IsDir() || e.Type()&fs.ModeSymlink != 0) && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// Load loads one task. The error is [Problems] when the task is not valid,
// [*UnknownTaskError] when there is none of that name.
func Load(evalsRoot, name string) (*Task, error) {
	names, err := Names(evalsRoot)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(names, name) {
		return nil, &UnknownTaskError{Name: name, Root: evalsRoot, Known: names}
	}
	l, err := newLoader(evalsRoot)
	if err != nil {
		return nil, err
	}
	t := l.task(name)
	return t, l.problems.err()
}

// LoadAll loads all tasks, sorted by name. With [Problems] it still returns the
// tasks that have none.
func LoadAll(evalsRoot string) ([]*Task, error) {
	names, err := Names(evalsRoot)
	if err != nil {
		return nil, err
	}
	l, err := newLoader(evalsRoot)
	if err != nil {
		return nil, err
	}
	var all []*Task
	for _, name := range names {
		if t := l.task(name); t != nil {
			all = append(all, t)
		}
	}
	return all, l.problems.err()
}

// Sketch is a task as far as its files can be read.
type Sketch struct {
	// Task is the whole task when Valid. Else what is wrong has its default or is
	// left out, and there is no content hash: good for more checks, not for trials.
	Task  *Task
	Valid bool
}

// Inspect loads the named tasks, valid or not, and returns all their problems,
// sorted. No names means all tasks. The error is [*UnknownTaskError], or that the
// evals root cannot be read.
func Inspect(evalsRoot string, names ...string) ([]Sketch, Problems, error) {
	known, err := Names(evalsRoot)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, nil, &UnknownTaskError{Name: name, Root: evalsRoot, Known: known}
		}
	}
	if len(names) == 0 {
		names = known
	}
	l, err := newLoader(evalsRoot)
	if err != nil {
		return nil, nil, err
	}
	var all []Sketch
	for _, name := range names {
		t, valid := l.sketch(name)
		all = append(all, Sketch{t, valid})
	}
	return all, l.problems.Sorted(), nil
}

// loader collects the problems of the tasks of one evals root. Fixture and plugin
// folders are looked at once.
type loader struct {
	root     string
	problems Problems
	folders  map[string]*folder // by slash path below the root
}

func newLoader(evalsRoot string) (*loader, error) {
	root, err := filepath.Abs(evalsRoot)
	if err != nil {
		return nil, err
	}
	return &loader{root: root, folders: map[string]*folder{}}, nil
}

// maxTaskFile bounds task.toml and the other small files that are read whole.
const maxTaskFile = 256 << 10

// task loads one task, or adds its problems and returns nil.
func (l *loader) task(name string) *Task {
	if t, valid := l.sketch(name); valid {
		return t
	}
	return nil
}

// sketch loads what it can of a task and adds its problems.
func (l *loader) sketch(name string) (t *Task, valid bool) {
	before := len(l.problems)
	nothing := &Task{Name: name, Root: l.root, Dir: filepath.Join(l.root, "tasks", name)}
	dir := "tasks/" + name
	if what := badName(name); what != "" {
		l.add(dir, 0, fmt.Sprintf("the task's name %s", what), "rename the folder: "+nameRule)
	}
	if name == "runs" {
		l.add(dir, 0, "the name is taken: results/runs/ can hold the runs' records", "rename the folder")
	}
	if info, err := os.Stat(filepath.Join(l.root, "suites", name)); err == nil && info.IsDir() {
		l.add(dir, 0, "a suite has the same name", "rename the task or suites/"+name)
	}
	file := dir + "/task.toml"
	data, cut, err := treecopy.ReadSource(filepath.Join(l.root, "tasks", name), "task.toml", maxTaskFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.add(file, 1, "the file is missing", "write it, or move the folder out of tasks/")
		return nothing, false
	case err != nil:
		l.add(file, 1, "the file cannot be read: "+err.Error(), "make it a regular, readable file")
		return nothing, false
	case cut:
		l.add(file, 1, "the file is larger than 256 KiB", "shorten it")
		return nothing, false
	}
	s, problems := parse(file, data)
	l.problems = append(l.problems, problems...)
	t = l.onDisk(name, s)
	if len(l.problems) > before {
		return t, false
	}
	if t.ContentHash, err = contentHash(t); err != nil {
		l.add(dir, 0, err.Error(), "make the task's files regular and readable")
		return t, false
	}
	return t, true
}

func (l *loader) add(file string, line int, message, fix string) {
	l.problems = append(l.problems, Problem{File: file, Line: line, Message: message, Fix: fix})
}
