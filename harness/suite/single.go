package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// LoadTask loads the task of one file. Where the file lies in a suite, the suite and the project's
// configuration are loaded with it, and must be right. Any other file is a task of its own, with the
// default configuration: what it says of groups, tags and fixtures is not looked up.
func LoadTask(file string) (*Project, *Task, error) {
	abs, err := filepath.Abs(file)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("open the task: %w", err)
	}
	if info, err := os.Stat(abs); err != nil || !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a task file", file)
	}
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(abs), ".yaml"), ".yml")
	tasks := filepath.Dir(abs)
	suite := filepath.Dir(tasks)
	if filepath.Base(tasks) == "tasks" && filepath.Base(filepath.Dir(suite)) == "suites" {
		p, err := Load(filepath.Dir(filepath.Dir(suite)), filepath.Base(suite))
		if err != nil {
			return nil, nil, err
		}
		for _, t := range p.Suites[0].Tasks {
			if t.Name == name {
				return p, t, nil
			}
		}
		return nil, nil, fmt.Errorf("%s is not a task of its suite; tasks are the files tasks/NAME.yaml", file)
	}
	p := &Project{Root: tasks, Evals: tasks}
	l := &loader{p: p}
	none := func(string) bool { return false }
	p.Config = l.decoder.config(nil, p.Root, none)
	s := &Suite{Name: filepath.Base(tasks), Dir: tasks, EvaluatedSkills: []string{filepath.Base(tasks)}}
	t := &Task{Name: name, File: filepath.Base(abs), Suite: s, Kind: Execute}
	t.places.file = spot{t.File, Place{1, 1}}
	s.Tasks, p.Suites = []*Task{t}, []*Suite{s}
	if v, _ := l.file(abs); v != nil {
		l.decoder.task(v, t, p.Config.Judge)
	}
	if len(l.problems) > 0 {
		return nil, nil, l.problems.Sorted()
	}
	return p, t, nil
}
