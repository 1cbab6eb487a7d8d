// Package lint looks for what makes a task measure something else than it says,
// as far as the files alone show it: a starter that does not build offline, a
// prompt that gives the skill or a hidden check away, a plugin that Symposium
// would skip. It is for `proctor check` and TestTasks; it runs nothing.
//
// What makes a task impossible to load is the business of package task.
package lint

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"github.com/proctor-evals/proctor/harness/task"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// maxFile bounds each file that is read, in bytes. Larger ones are not looked into.
const maxFile = 1 << 20

// linter collects the problems of one task.
type linter struct {
	task     *task.Task
	problems task.Problems
}

// Project checks the starter and the fixtures as Cargo projects: whether they can
// be built and graded offline, and whether Symposium sees the fixtures as
// dependencies. A task with such problems is not worth a try in the sandbox.
func Project(t *task.Task) task.Problems {
	l := &linter{task: t}
	l.project()
	return l.problems.Sorted()
}

// Texts checks the prompt against what it must not give away, and the plugins.
func Texts(t *task.Task) task.Problems {
	l := &linter{task: t}
	l.plugins()
	l.prompt()
	l.solution()
	return l.problems.Sorted()
}

func (l *linter) add(file string, line, col int, message, fix string) {
	l.problems = append(l.problems, task.Problem{File: file, Line: line, Col: col, Message: message, Fix: fix})
}

// read reads a file below the evals root; "" and false when it is missing, too
// large, no regular file or no text.
func (l *linter) read(rel string) (string, bool) {
	data, cut, err := treecopy.ReadSource(filepath.Join(l.task.Root, filepath.FromSlash(path.Dir(rel))), path.Base(rel), maxFile)
	if err != nil || cut || !utf8.Valid(data) {
		return "", false
	}
	return strings.TrimPrefix(string(data), "\ufeff"), true
}

// files lists the regular files below a folder of the evals root, as slash paths
// below it, sorted. A missing folder has none.
func (l *linter) files(rel string) []string {
	entries, err := treecopy.List(filepath.Join(l.task.Root, filepath.FromSlash(rel)), treecopy.Options{})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil // package task reports it
	}
	var out []string
	for _, e := range entries {
		if e.Kind == treecopy.File {
			out = append(out, e.Path)
		}
	}
	return out
}

// tomlFile is a decoded TOML file with the places of its keys.
type tomlFile struct {
	name   string
	values map[string]any
	at     task.Positions
}

// toml reads a TOML file below the evals root. Nil when it cannot be read; bad
// syntax is a problem unless quiet.
func (l *linter) toml(rel string, quiet bool) *tomlFile {
	text, ok := l.read(rel)
	if !ok {
		return nil
	}
	f := &tomlFile{name: rel}
	if _, err := toml.Decode(text, &f.values); err != nil {
		if quiet {
			return nil
		}
		line, col, what := 1, 0, err.Error()
		var bad toml.ParseError
		if errors.As(err, &bad) {
			line, col, what = max(bad.Position.Line, 1), bad.Position.Col, bad.Message
		}
		l.add(rel, line, col, "not valid TOML: "+strings.ReplaceAll(strings.TrimSpace(what), "\n", " "), "correct the syntax")
		return nil
	}
	f.at = task.PositionsIn(text)
	return f
}

// problem adds a problem at a key of a file.
func (l *linter) problem(f *tomlFile, keys []string, message, fix string) {
	line, col := f.at.At(keys...)
	l.add(f.name, line, col, message, fix)
}

// table is a table below some keys, nil when there is none.
func (f *tomlFile) table(keys ...string) map[string]any {
	t := f.values
	for _, k := range keys {
		t, _ = t[k].(map[string]any)
	}
	return t
}

// tables are the items of an array of tables.
func tables(v any) []map[string]any {
	switch v := v.(type) {
	case []map[string]any:
		return v
	case []any: // written inline
		var out []map[string]any
		for _, item := range v {
			if t, ok := item.(map[string]any); ok {
				out = append(out, t)
			}
		}
		return out
	}
	return nil
}

// stringsOf is a string or a list of strings as a list.
func stringsOf(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, item := range v {
			if s, ok := item.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

func quoted(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	var out []string
	for _, n := range names {
		out = append(out, fmt.Sprintf("%q", n))
	}
	return strings.Join(out, ", ")
}
