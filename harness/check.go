package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/lint"
	"github.com/proctor-evals/proctor/harness/symposium"
	"github.com/proctor-evals/proctor/harness/task"
)

// checkContents finds what is wrong in the files a task names: its model script, its plugins, and
// the skills its expectations are about. All problems of all tasks are returned together.
func checkContents(evals string, tasks []*task.Task) error {
	var problems task.Problems
	for _, t := range tasks {
		problems = append(problems, checkScript(evals, t)...)
		if broken := checkPlugins(evals, t); len(broken) > 0 {
			problems = append(problems, broken...)
			continue
		}
		// An expectation about a skill that no plugin has is a slip of the pen.
		problems = append(problems, lint.Skills(t)...)
	}
	if len(problems) == 0 {
		return nil
	}
	return problems.Sorted()
}

// relative is a path as messages show it: below the evals root.
func relative(evals, path string) string {
	if rel, err := filepath.Rel(evals, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}

func checkScript(evals string, t *task.Task) task.Problems {
	if t.ModelScript == "" {
		return nil
	}
	rel := relative(evals, t.ModelScript)
	data, err := os.ReadFile(t.ModelScript)
	if err != nil {
		return task.Problems{{File: rel, Message: err.Error(), Fix: "make it readable"}}
	}
	_, err = gateway.ParseScript(rel, data)
	var problems gateway.Problems
	if !errors.As(err, &problems) && err != nil {
		return task.Problems{{File: rel, Line: 1, Message: err.Error()}}
	}
	var out task.Problems
	for _, p := range problems {
		out = append(out, task.Problem{File: p.File, Line: p.Line, Message: p.Text})
	}
	return out
}

// checkPlugins reads the task's plugins as a trial will.
func checkPlugins(evals string, t *task.Task) task.Problems {
	var problems task.Problems
	for _, name := range t.Plugins {
		if _, err := symposium.Skills(t.PluginDir(name)); err != nil {
			problems = append(problems, task.Problem{File: relative(evals, t.PluginDir(name)), Message: strings.ReplaceAll(err.Error(), evals+string(filepath.Separator), "")})
		}
	}
	return problems
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
			fix := "unset it, or use one of " + strings.Join(known, ", ")
			if near := task.Near(name, known); near != "" {
				fix = fmt.Sprintf("did you mean %s? ", near) + fix
			}
			problems = append(problems, fmt.Errorf("unknown environment variable %s; %s", name, fix))
		}
	}
	return errors.Join(problems...)
}
