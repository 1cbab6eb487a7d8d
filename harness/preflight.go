package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/symposium"
)

// preflight checks the run directory before anything is launched in it. A failed check is a setup
// failure that names the check.
func (t *trial) preflight() error {
	var failed []error
	if err := emptyOrAbsent(t.space.Path("project", filepath.FromSlash(t.spec.SkillDir))); err != nil {
		failed = append(failed, fmt.Errorf("preflight: skill directory: %w", err))
	}
	for _, path := range t.spec.ManagedSettings {
		if err := emptyOrAbsent(path); err != nil {
			failed = append(failed, fmt.Errorf("preflight: the client's machine-wide managed settings reach into every trial: %w", err))
		}
	}
	if t.plan.Configuration.Skills != plan.DeliverSymposium {
		failed = append(failed, t.noSymposium()...)
	}
	return errors.Join(failed...)
}

// symposiumEntry finds Symposium in a client's hooks or MCP servers, however it is spelled.
var symposiumEntry = regexp.MustCompile(`(?i)cargo[- ]agents|symposium`)

// noSymposium checks that a baseline has no way to Symposium.
func (t *trial) noSymposium() []error {
	var failed []error
	for dir := range strings.SplitSeq(t.space.Env(t.run.tools.Toolchain.Bin)["PATH"], string(filepath.ListSeparator)) {
		if path := filepath.Join(dir, "cargo-agents"); exists(path) {
			failed = append(failed, fmt.Errorf("preflight: cargo-agents is on the trial's PATH: %s; move it out of the system folders", path))
		}
	}
	if path := t.space.Path("home", filepath.Dir(symposium.ConfigFile)); exists(path) {
		failed = append(failed, fmt.Errorf("preflight: %s is there", path))
	}
	for name, content := range t.snapshot() {
		if word := symposiumEntry.FindString(content); word != "" {
			failed = append(failed, fmt.Errorf("preflight: %s names %s", name, word))
		}
	}
	return failed
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// emptyOrAbsent refuses a file with content and a folder with entries.
func emptyOrAbsent(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		if info.Size() == 0 {
			return nil
		}
		return fmt.Errorf("%s is not empty", path)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s holds %q", path, entries[0].Name())
	}
	return nil
}
