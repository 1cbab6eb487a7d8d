package grade

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/task"
)

// hidden runs one hidden check in a fresh copy: it is compiled in one launch, and run in a second
// in which its source is no longer there. Both have one deadline together.
//
// What is wrong with the check itself is the author's, an infrastructure error; it is decided from
// the author's file alone, since whatever the program prints may be the submission's.
func (g *grading) hidden(ctx context.Context, check task.Check) (result.Verdict, error) {
	data, err := os.ReadFile(check.File)
	if err != nil {
		return "", fmt.Errorf("hidden check %s: %w", check.Name, err)
	}
	seen, err := witness(string(data))
	if err != nil {
		return "", fmt.Errorf("hidden check %s: the check is at fault, not the submission: %w", check.Name, err)
	}
	c, err := g.copy()
	if err != nil {
		return "", err
	}
	defer c.remove()
	file, err := c.addCheck(check.Name, seen.source)
	if err != nil {
		return "", fmt.Errorf("hidden check %s: %w", check.Name, err)
	}
	name := "hidden-" + check.Name
	g.announce(name)
	ctx, cancel := g.deadline(ctx)
	defer cancel()
	// Nothing of the submission's may change the check, or what the next launch obeys: not its build
	// script, nor a macro's code, nor what the author's build script takes in. That script may write elsewhere.
	project := keepsChecks
	if g.Task.EditableBuild {
		project = writesNothing
	}
	v, err := g.launch(ctx, c, launch{step: name, files: name + "-build", compiles: true, project: project, args: []string{"test", "--offline", "--no-run", "--test", check.Name}})
	if err != nil || v != result.Pass {
		return v, err
	}
	if crate := c.rustsOwn(); g.Task.EditableBuild && crate != "" {
		g.code.Reasons[name] = fmt.Sprintf("the submission brings a crate of the name %q, which is Rust's own: the check would run on it", crate)
		return result.Fail, nil
	}
	if err := c.forgetCheck(file); err != nil {
		return "", fmt.Errorf("hidden check %s: %w", check.Name, err)
	}
	return g.launch(ctx, c, launch{step: name, files: name, stdin: seen.stdin, args: []string{"test", "--offline", "--test", check.Name},
		accept: func(stdout []byte) error { return oneTest(stdout, seen.token) }})
}

// rustsOwn is the first name of a crate of Rust's own that was compiled as one of the submission's, or "".
// A dependency of such a name, under whatever key, takes the place of what ::std and #[test] stand for.
func (c *gradingCopy) rustsOwn() string {
	for _, crate := range []string{"std", "core", "alloc", "test", "proc_macro"} {
		for _, profile := range []string{"*", "*/*"} { // the second with build.target
			if found, _ := filepath.Glob(c.path("target", profile, "deps", "lib"+crate+"-*")); len(found) > 0 {
				return crate
			}
		}
	}
	return ""
}

// addCheck puts one hidden check into the copy, over anything of its name, and returns its file.
func (c *gradingCopy) addCheck(name, source string) (string, error) {
	tests := c.path("project", "tests")
	if info, err := os.Lstat(tests); err == nil && !info.IsDir() {
		if err := os.Remove(tests); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(tests, 0o755); err != nil {
		return "", err
	}
	// So that nobody else makes it.
	if err := os.Mkdir(c.path("project", ".cargo"), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	// tests/NAME/main.rs would be a second target of the same name.
	for _, rel := range []string{name + ".rs", name} {
		if err := removeAny(filepath.Join(tests, rel)); err != nil {
			return "", err
		}
	}
	file := filepath.Join(tests, name+".rs")
	return file, os.WriteFile(file, []byte(source), 0o644)
}

// forgetCheck takes the check's source away before the compiled check runs, so that the submission's
// code cannot read it. Cargo tells a stale program by the time of its source, which stays. The folders
// that outlive a launch and steer Cargo are made anew.
func (c *gradingCopy) forgetCheck(file string) error {
	info, err := os.Lstat(file)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, []byte("// compiled\n"), 0o644); err != nil {
		return err
	}
	if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
		return err
	}
	for _, f := range []string{"home", "cargo-home", "tmp"} {
		if err := removeAny(c.path(f)); err != nil {
			return err
		}
		if err := os.Mkdir(c.path(f), 0o755); err != nil {
			return err
		}
	}
	return nil
}
