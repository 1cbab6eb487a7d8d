// Package scaffold makes an evals folder for an existing skill: a suite, on request a task, each with a
// model script, so that it runs at once without a key.
package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/harness/symposium"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// Options say what is made. All but Skill may be left out.
type Options struct {
	// Skill is the SKILL.md, or its folder.
	Skill string
	// Dir is the repository's folder. Default: the current one.
	Dir string
	// Evals is the evals root to make. Default: evals in Dir.
	Evals string
	// Task also makes a task of code in Rust.
	Task bool
}

// Made is what was made.
type Made struct {
	Evals string
	Skill string
	// Files are the new files, as paths from Dir, sorted.
	Files []string
	// Suite and Task are their names; Task is "" without one.
	Suite, Task string
	// GoTest tells that there is an evals_test.go; GoGet that the module does not require Proctor yet.
	GoTest, GoGet bool
	// Copied tells that the skill was copied, so that the copy is what is examined.
	Copied bool
}

// skillName is what a task's plugins, suites and clients all take as a name.
var skillName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// files are what is to be written, by path from the evals root with slashes.
type files map[string]string

// Make writes the scaffold. Nothing is overwritten: when one of its files is there, or something else is
// wrong, nothing is written.
func Make(o Options) (*Made, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	evals := filepath.Join(dir, "evals")
	if o.Evals != "" {
		if evals, err = filepath.Abs(o.Evals); err != nil {
			return nil, err
		}
	}
	skill, err := readSkill(o.Skill)
	if err != nil {
		return nil, err
	}
	made := &Made{Evals: evals, Skill: skill.Name, Suite: skill.Name + "-suite"}
	out := files{}
	suiteFiles(out, skill, made.Suite)
	copies := map[string]string{} // where a copy of the skill goes, from the evals root
	if filepath.Base(skill.Dir) == skill.Name && !within(skill.Dir, evals) {
		out["config.yaml"] = fmt.Sprintf(configYAML, quote(relative(skillsBase(dir, evals), filepath.Dir(skill.Dir))))
	} else if skill.Dir != filepath.Join(evals, "skills", skill.Name) {
		copies["skills/"+skill.Name] = skill.Dir
		made.Copied = true
	}
	if o.Task {
		made.Task = skill.Name + "-task"
		taskFiles(out, skill, made.Task)
		copies["plugins/"+skill.Name] = skill.Dir
		made.Copied = true
	}
	if err := goFiles(out, dir, evals, made); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(filepath.Join(evals, ".gitignore")); err == nil {
		delete(out, ".gitignore") // it is the user's to say
	}
	if err := refuse(evals, out, copies); err != nil {
		return nil, err
	}
	for name, from := range copies {
		if err := copySkill(filepath.Join(evals, filepath.FromSlash(name)), from); err != nil {
			return nil, err
		}
		made.Files = append(made.Files, relative(dir, filepath.Join(evals, filepath.FromSlash(name)))+"/")
	}
	for name, text := range out {
		file := filepath.Join(evals, filepath.FromSlash(name))
		if err := writeNew(file, text); err != nil {
			return nil, err
		}
		made.Files = append(made.Files, relative(dir, file))
	}
	slices.Sort(made.Files)
	return made, nil
}

func readSkill(file string) (symposium.Skill, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return symposium.Skill{}, err
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		file = filepath.Join(file, "SKILL.md")
	}
	skill, err := symposium.ReadSkill(file)
	if errors.Is(err, fs.ErrNotExist) {
		return skill, fmt.Errorf("%s: there is no such file; name the SKILL.md to examine", file)
	}
	if err != nil {
		return skill, err
	}
	if len(skill.Name) > 50 || !skillName.MatchString(skill.Name) {
		return skill, fmt.Errorf("%s: the name %q cannot be a suite's: use a-z, 0-9 and single hyphens, at most 50 characters", file, skill.Name)
	}
	return skill, nil
}

// Find looks for the skill of a folder where skills usually lie; several are an error that lists them.
func Find(dir string) (string, error) {
	var found []string
	for _, pattern := range []string{"SKILL.md", "*/SKILL.md", "skills/*/SKILL.md", ".claude/skills/*/SKILL.md", ".agents/skills/*/SKILL.md", ".github/skills/*/SKILL.md", ".opencode/skills/*/SKILL.md"} {
		matches, err := fs.Glob(os.DirFS(dir), pattern)
		if err != nil {
			return "", err
		}
		for _, m := range matches {
			if !strings.HasPrefix(m, "evals/") {
				found = append(found, m)
			}
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("no SKILL.md here, in skills/ or in a client's skill folder; name one: proctor init PATH/SKILL.md")
	case 1:
		return filepath.Join(dir, filepath.FromSlash(found[0])), nil
	}
	return "", fmt.Errorf("there are %d skills here; name one:\n  proctor init %s", len(found), strings.Join(found, "\n  proctor init "))
}

// skillsBase is where relative skills_dirs start: see suite.Load.
func skillsBase(dir, evals string) string {
	for d := evals; ; d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, "pyproject.toml")); err == nil {
			return d
		}
		if d == dir || d == filepath.Dir(d) {
			return evals
		}
	}
}

// refuse says what is in the way, all of it.
func refuse(evals string, out files, copies map[string]string) error {
	var there []string
	for name := range out {
		there = append(there, name)
	}
	for name := range copies {
		there = append(there, name)
	}
	slices.Sort(there)
	there = slices.DeleteFunc(there, func(name string) bool {
		_, err := os.Lstat(filepath.Join(evals, filepath.FromSlash(name)))
		return errors.Is(err, fs.ErrNotExist)
	})
	if len(there) > 0 {
		return fmt.Errorf("nothing is overwritten, and in %s there is already: %s; move it away, or give another folder with -evals", evals, strings.Join(there, ", "))
	}
	return nil
}

// copySkill copies a skill's folder: all of it, but of one that holds more than a skill (a repository's
// top) only what a skill's folder has by the format.
func copySkill(to, from string) error {
	if !isTop(from) {
		_, err := treecopy.Copy(to, from, treecopy.CopyOptions{})
		return err
	}
	text, err := os.ReadFile(filepath.Join(from, "SKILL.md"))
	if err != nil {
		return err
	}
	if err := writeNew(filepath.Join(to, "SKILL.md"), string(text)); err != nil {
		return err
	}
	for _, part := range []string{"references", "scripts", "assets"} {
		if info, err := os.Lstat(filepath.Join(from, part)); err != nil || !info.IsDir() {
			continue
		}
		if _, err := treecopy.Copy(filepath.Join(to, part), filepath.Join(from, part), treecopy.CopyOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func isTop(dir string) bool {
	for _, mark := range []string{".git", "src", "go.mod", "Cargo.toml", "package.json", "pyproject.toml", "evals"} {
		if _, err := os.Lstat(filepath.Join(dir, mark)); err == nil {
			return true
		}
	}
	return false
}

func writeNew(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func within(dir, root string) bool {
	rel, err := filepath.Rel(root, dir)
	return err == nil && filepath.IsLocal(rel)
}

// relative is a path from a folder, with slashes, and absolute where there is none.
func relative(from, to string) string {
	rel, err := filepath.Rel(from, to)
	if err != nil {
		return filepath.ToSlash(to)
	}
	return path.Clean(filepath.ToSlash(rel))
}
