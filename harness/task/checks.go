package task

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/proctor-evals/proctor/internal/treecopy"
)

// checks are the hidden checks, each looked through for its one test.
func (l *loader) checks(dir string, f *folder, starter *folder) []Check {
	rel := dir + "/checks"
	const one = "put the hidden tests there, one file per test"
	if f.missing {
		l.add(rel, 0, "the folder is missing", one)
		return nil
	}
	var all []Check
	targets := map[string]string{} // crate name -> file
	reported := ""
	for _, e := range f.entries {
		name, isRust := strings.CutSuffix(e.Path, ".rs")
		switch {
		case reported != "" && within(e.Path, reported):
			continue
		case e.Kind == treecopy.Directory, !isRust:
			reported = e.Path
			l.add(rel+"/"+e.Path, 0, "only .rs files belong in checks", "move it elsewhere or remove it")
			continue
		case e.Kind != treecopy.File:
			continue // reported with the folder
		}
		if !checkForm.MatchString(name) || reserved.MatchString(name) {
			l.add(rel+"/"+e.Path, 0, "the file's name is no usable test target", "begin with a letter and use a-z, 0-9, _ and -")
			continue
		}
		crate := strings.ReplaceAll(name, "-", "_")
		if other, ok := targets[crate]; ok {
			l.add(rel+"/"+e.Path, 0, "Cargo takes the name for the same as "+other, "rename one")
		}
		targets[crate] = e.Path
		for _, clash := range []string{"tests/" + e.Path, "tests/" + name} {
			if starter.has(clash) {
				l.add(rel+"/"+e.Path, 0, fmt.Sprintf("the starter holds %s, whose place it would take", clash), "rename one")
			}
		}
		l.check(dir, e.Path)
		all = append(all, Check{Name: name, File: filepath.Join(l.root, filepath.FromSlash(dir), "checks", e.Path)})
	}
	if len(f.entries) == 0 {
		l.add(rel, 0, "the folder is empty", one)
	}
	return all
}

// check looks for exactly one plain #[test] in a hidden check.
func (l *loader) check(dir, name string) {
	file := dir + "/checks/" + name
	data, cut, err := treecopy.ReadSource(filepath.Join(l.root, filepath.FromSlash(dir), "checks"), name, maxTaskFile)
	switch {
	case err != nil:
		l.add(file, 0, "the file cannot be read: "+err.Error(), "make it readable")
		return
	case cut:
		l.add(file, 0, "the file is larger than 256 KiB", "shorten it")
		return
	case bytes.IndexByte(data, 0) >= 0:
		l.add(file, 0, "the file is not a text", "save it as UTF-8")
		return
	}
	found := scanRust(string(data))
	for _, a := range found.other {
		l.add(file, a.line, fmt.Sprintf("#[%s] is not the standard test attribute", a.text), "write one plain #[test] function; the runner counts exactly one test a file")
	}
	for _, a := range found.ignored {
		l.add(file, a.line, "an ignored test never runs", "remove the #[ignore]")
	}
	switch {
	case len(found.tests) == 0 && len(found.other) == 0:
		l.add(file, 1, "the file holds no #[test]", "write exactly one")
	case len(found.tests) > 1:
		for _, a := range found.tests[1:] {
			l.add(file, a.line, fmt.Sprintf("this is a second #[test] (the first is in line %d)", found.tests[0].line), "move it to a file of its own")
		}
	case len(found.tests) == 1 && len(found.other)+len(found.ignored) == 0:
		var problem *TestProblem
		if _, err := FindTest(string(data)); errors.As(err, &problem) {
			l.add(file, problem.Line, problem.What, "write one plain, unconditional `#[test] fn name()`, at the top or in a module")
		}
	}
}
