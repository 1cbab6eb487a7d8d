package grade

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/proctor-evals/proctor/harness/sandbox"
	"github.com/proctor-evals/proctor/harness/workspace"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// gradingCopy is a fresh project to grade in, laid out like a run directory.
type gradingCopy struct{ dir string }

func (c *gradingCopy) path(parts ...string) string {
	return filepath.Join(append([]string{c.dir}, parts...)...)
}

func (c *gradingCopy) remove() { _ = treecopy.Remove(c.dir) }

// copy builds a fresh copy: the starter and fixtures from the evals root, and from the submission
// the editable paths alone, replaced exactly.
func (g *grading) copy() (*gradingCopy, error) {
	id, err := workspace.NewID()
	if err != nil {
		return nil, err
	}
	c := &gradingCopy{dir: filepath.Join(g.Batch.Dir, id)}
	if err := g.fill(c); err != nil {
		c.remove()
		return nil, fmt.Errorf("grading copy: %w", err)
	}
	return c, nil
}

func (g *grading) fill(c *gradingCopy) error {
	for _, f := range []string{"", "home", "cargo-home", "tmp", "target", "bin"} {
		if err := os.Mkdir(c.path(f), 0o755); err != nil {
			return err
		}
	}
	if _, err := treecopy.Copy(c.path("project"), g.Task.Starter, treecopy.CopyOptions{}); err != nil {
		return fmt.Errorf("starter: %w", err)
	}
	if err := workspace.CopyFixtures(c.path("fixtures"), g.Fixtures); err != nil {
		return err
	}
	for _, e := range g.Task.Editable {
		if err := removeAny(c.path("project", filepath.FromSlash(e))); err != nil {
			return err
		}
	}
	report, err := treecopy.Copy(c.path("project"), g.Submission.Dir, treecopy.CopyOptions{
		Overwrite: true,
		Options: treecopy.Options{Untrusted: true, Ignore: func(rel string) bool {
			return !onTheWay(g.Task.Editable, rel)
		}},
	})
	if err != nil {
		return fmt.Errorf("submission: %w", err)
	}
	if len(report.Skipped) > 0 {
		return fmt.Errorf("the kept submission changed: %q", report.Skipped)
	}
	if g.lock == nil {
		return nil
	}
	// The copy has just been made, and nothing has run in it.
	if err := removeAny(c.path("project", "Cargo.lock")); err != nil {
		return err
	}
	return os.WriteFile(c.path("project", "Cargo.lock"), g.lock, 0o644)
}

func removeAny(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		return treecopy.Remove(path)
	}
	return os.Remove(path)
}

func (c *gradingCopy) env(cargoBin string) map[string]string {
	return map[string]string{
		"HOME": c.path("home"), "TMPDIR": c.path("tmp"), "CARGO_HOME": c.path("cargo-home"),
		"CARGO_TARGET_DIR": c.path("target"), "CARGO_TERM_COLOR": "never",
		"PATH": strings.Join([]string{cargoBin, "/usr/bin", "/bin"}, ":"),
	}
}

// access is what a launch may write of the project.
type access int

const (
	writesAll   access = iota
	keepsChecks        // neither the checks nor what Cargo obeys
	writesNothing
)

func (c *gradingCopy) policy(denied []string, readable workspace.Readable, project access) sandbox.Policy {
	p := sandbox.Policy{DenyRead: denied}
	for _, f := range []string{"project", "home", "cargo-home", "tmp", "target"} {
		p.AllowWrite = append(p.AllowWrite, c.path(f))
	}
	p.AllowRead = append(append(p.AllowRead, p.AllowWrite...), c.path("fixtures"), c.path("bin"))
	p.AllowRead = append(p.AllowRead, readable.Paths()...)
	switch project {
	case keepsChecks:
		for _, f := range kept {
			p.DenyWrite = append(p.DenyWrite, c.path("project", f))
		}
	case writesNothing:
		p.AllowWrite = p.AllowWrite[1:]
	}
	return p
}

// kept are the checks' folder, and what Cargo obeys of a project. All are there when a check is compiled.
var kept = []string{"tests", ".cargo", "Cargo.toml"}
