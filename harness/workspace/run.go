package workspace

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/proctor-evals/proctor/internal/treecopy"
)

// Run is the run directory of one trial. Its folders are the reference's:
//
//	home/ project/ fixtures/ bin/ cargo-home/ tmp/ evidence/ registry/
//
// The folder itself is not readable inside the trial, only the ones below it
// are; srt.json lies in it.
type Run struct {
	Dir string
	// HasRegistry says that registry/ exists: with-symposium only.
	HasRegistry bool
	// Filter, if set, is put before each file that Capture and Keep write.
	Filter func(io.Writer) io.WriteCloser
}

// Path is a path below the run directory.
func (r *Run) Path(parts ...string) string {
	return filepath.Join(append([]string{r.Dir}, parts...)...)
}

// Layout says what a run directory holds at the start.
type Layout struct {
	Starter  string            // copied to project/
	Fixtures map[string]string // name → source, copied read-only to fixtures/<name>
	Plugins  map[string]string // name → source, copied to registry/<name>; nil: no registry
	Links    map[string]string // name → target, linked in bin/
	// EmptyDirs are folders made in project/, alike in every configuration, because srt would
	// otherwise make them unwritable (see docs/isolation.md).
	EmptyDirs []string
}

// NewRun makes a run directory under a random name.
func (b *Batch) NewRun(l Layout) (*Run, error) {
	id, err := NewID()
	if err != nil {
		return nil, err
	}
	r := &Run{Dir: filepath.Join(b.Dir, id), HasRegistry: l.Plugins != nil}
	folders := []string{"", "home", "project", "fixtures", "bin", "cargo-home", "tmp", "evidence"}
	if r.HasRegistry {
		folders = append(folders, "registry")
	}
	for _, f := range folders {
		if err := os.Mkdir(r.Path(f), 0o755); err != nil {
			return nil, fmt.Errorf("run directory: %w", err)
		}
	}
	if err := copyTrusted(r.Path("project"), l.Starter, treecopy.CopyOptions{}); err != nil {
		return nil, fmt.Errorf("starter: %w", err)
	}
	if err := CopyFixtures(r.Path("fixtures"), l.Fixtures); err != nil {
		return nil, err
	}
	for name, src := range l.Plugins {
		if err := copyTrusted(r.Path("registry", name), src, treecopy.CopyOptions{}); err != nil {
			return nil, fmt.Errorf("plugin %s: %w", name, err)
		}
	}
	for name, target := range l.Links {
		if err := os.Symlink(target, r.Path("bin", name)); err != nil {
			return nil, fmt.Errorf("run directory: %w", err)
		}
	}
	for _, d := range l.EmptyDirs {
		if err := os.MkdirAll(r.Path("project", filepath.FromSlash(d)), 0o755); err != nil {
			return nil, fmt.Errorf("run directory: %w", err)
		}
	}
	return r, nil
}

// FillHome writes files below home/ and makes links there to absolute paths, before anything of the
// trial has run.
func (r *Run) FillHome(files map[string][]byte, links map[string]string) error {
	place := func(rel string) (string, error) {
		path := r.Path("home", filepath.FromSlash(rel))
		return path, os.MkdirAll(filepath.Dir(path), 0o755)
	}
	for rel, data := range files {
		path, err := place(rel)
		if err == nil {
			err = os.WriteFile(path, data, 0o600)
		}
		if err != nil {
			return fmt.Errorf("run directory: %w", err)
		}
	}
	for rel, target := range links {
		path, err := place(rel)
		if err == nil {
			err = os.Symlink(target, path)
		}
		if err != nil {
			return fmt.Errorf("run directory: %w", err)
		}
	}
	return nil
}

// CopyFixtures copies fixtures read-only into dst.
func CopyFixtures(dst string, fixtures map[string]string) error {
	for name, src := range fixtures {
		if err := copyTrusted(filepath.Join(dst, name), src, treecopy.CopyOptions{ReadOnly: true}); err != nil {
			return fmt.Errorf("fixture %s: %w", name, err)
		}
	}
	return nil
}

func copyTrusted(dst, src string, opts treecopy.CopyOptions) error {
	_, err := treecopy.Copy(dst, src, opts)
	return err
}

// Remove removes the run directory.
func (r *Run) Remove() error {
	if err := treecopy.Remove(r.Dir); err != nil {
		return fmt.Errorf("run directory: remove: %w", err)
	}
	return nil
}
