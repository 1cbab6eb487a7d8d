package setup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A release that could not be had, although it was tried, does not keep a run from starting: only
// the configuration that needs it is affected, and says so. Locate tells such a tool from one that
// nobody has tried to install yet by the note Install leaves.

// optional says whether runs go on without the tool.
func (r *recipe) optional() bool { return r.name == CargoAgents }

func (in *installation) notePath(r *recipe) string {
	return filepath.Join(in.cache, r.folder+".unavailable")
}

// noteFailure keeps why an optional tool could not be installed. An interrupted set-up says nothing
// of the tool.
func (in *installation) noteFailure(ctx context.Context, r *recipe, reason error) error {
	if !r.optional() || ctx.Err() != nil {
		return nil
	}
	path := in.notePath(r)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("noting that %s is unavailable: %w", r.name, err)
	}
	return os.WriteFile(path, []byte(reason.Error()+"\n"), 0o644)
}

func (in *installation) forgetFailure(r *recipe) { _ = os.Remove(in.notePath(r)) }

// failureNote is why an optional tool could not be installed, or "".
func (in *installation) failureNote(r *recipe) string {
	if !r.optional() {
		return ""
	}
	b, err := os.ReadFile(in.notePath(r))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
