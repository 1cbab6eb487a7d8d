package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/symposium"
	"github.com/proctor-evals/proctor/harness/task"
)

// checkContents finds what is wrong in the files a task names: its model script, its plugins, and
// the skills its expectations are about. All problems of all tasks are returned together.
func checkContents(evals string, tasks []*task.Task) error {
	var problems []error
	for _, t := range tasks {
		problems = append(problems, checkScript(evals, t)...)
		problems = append(problems, checkSkills(evals, t)...)
	}
	return errors.Join(problems...)
}

// relative is a path as messages show it: below the evals root.
func relative(evals, path string) string {
	if rel, err := filepath.Rel(evals, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}

func checkScript(evals string, t *task.Task) []error {
	if t.ModelScript == "" {
		return nil
	}
	data, err := os.ReadFile(t.ModelScript)
	if err != nil {
		return []error{err}
	}
	_, err = gateway.ParseScript(relative(evals, t.ModelScript), data)
	if err != nil {
		return []error{err}
	}
	return nil
}

// checkSkills reads the task's plugins. An expectation about a skill that none of them has is a
// slip of the pen: *installed* could never pass, and *not used* could never fail.
func checkSkills(evals string, t *task.Task) []error {
	var problems []error
	known := map[string]bool{}
	for _, name := range t.Plugins {
		skills, err := symposium.Skills(t.PluginDir(name))
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %s", relative(evals, t.PluginDir(name)), strings.ReplaceAll(err.Error(), evals+string(filepath.Separator), "")))
			continue
		}
		for _, s := range skills {
			known[s.Name] = true
		}
	}
	if len(problems) > 0 {
		return problems
	}
	file := filepath.Join(t.Dir, "task.toml")
	want := t.Expected
	names := slices.Concat(want.Installed, want.NotInstalled, want.Used, want.NotUsed)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if !known[name] {
			problems = append(problems, fmt.Errorf("%s: expected skill %q is in none of the task's plugins; name a skill as its SKILL.md does, or add its plugin", position(evals, file, name), name))
		}
	}
	return problems
}

// position is file:line:column of the first place a quoted word stands in a file.
func position(evals, file, word string) string {
	rel := relative(evals, file)
	data, err := os.ReadFile(file)
	if err != nil {
		return rel
	}
	for i, line := range strings.Split(string(data), "\n") {
		for _, quote := range []string{`"`, `'`} {
			if col := strings.Index(line, quote+word+quote); col >= 0 && !strings.HasPrefix(strings.TrimSpace(line), "#") {
				return fmt.Sprintf("%s:%d:%d", rel, i+1, col+1)
			}
		}
	}
	return rel
}

// UnknownVariables is an error about variables that begin like Proctor's and are not: a misspelt
// one would silently do nothing. environ is as os.Environ gives it.
func UnknownVariables(environ []string) error {
	var problems []error
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "PROCTOR_") || name == "PROCTOR_UPDATE" || name == "PROCTOR_ATTACK_KEY" {
			continue
		}
		if !slices.ContainsFunc(Variables, func(v Variable) bool { return v.Name == name }) {
			var known []string
			for _, v := range Variables {
				known = append(known, v.Name)
			}
			problems = append(problems, fmt.Errorf("unknown environment variable %s; unset it, or use one of %s", name, strings.Join(known, ", ")))
		}
	}
	return errors.Join(problems...)
}
