package harness

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/proctor-evals/proctor/harness/task"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// checksHash identifies everything a grading takes from the evals root: the hidden checks, the starter
// and the fixtures they run with, and the task's settings that decide what counts. Verdicts are
// compared only where it is the same. The prompt, the plugins and the solution are not in it: they do
// not touch a submission that is there already.
func checksHash(t *task.Task) (string, error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "proctor grading content 1\nfmt_check %t\neditable_build %t\ngrading deadline %s\n", t.FmtCheck, t.EditableBuild, t.Deadlines.Grading)
	for _, e := range slices.Sorted(slices.Values(t.Editable)) {
		fmt.Fprintf(sum, "editable %q\n", e)
	}
	add := func(what, dir string) error {
		hash, err := treecopy.Hash(dir, treecopy.Options{})
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		fmt.Fprintf(sum, "%s %s\n", what, hash)
		return nil
	}
	checks := filepath.Join(t.Dir, "checks")
	if _, err := os.Stat(checks); !errors.Is(err, fs.ErrNotExist) {
		if err := add("checks", checks); err != nil {
			return "", err
		}
	}
	if err := add("starter", t.Starter); err != nil {
		return "", err
	}
	for _, name := range slices.Sorted(slices.Values(t.Fixtures)) {
		if err := add(fmt.Sprintf("fixture %q", name), t.FixtureDir(name)); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}
