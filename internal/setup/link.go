package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// link makes folder/.tools/<name> point at the tool's file. The folder ignores
// itself in git. A file or folder of the user's in that place is never replaced.
func link(folder string, tool Tool) error {
	dir := filepath.Join(folder, ".tools")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("linking tools: %w", err)
	}
	ignore := filepath.Join(dir, ".gitignore")
	if _, err := os.Lstat(ignore); errors.Is(err, fs.ErrNotExist) {
		if err := os.WriteFile(ignore, []byte("*\n"), 0o644); err != nil {
			return fmt.Errorf("linking tools: %w", err)
		}
	}
	path := filepath.Join(dir, tool.Name)
	info, err := os.Lstat(path)
	switch {
	case err == nil && info.Mode()&fs.ModeSymlink == 0:
		return fmt.Errorf("linking tools: %s is in the way and not a link; move it away", path)
	case err == nil:
		if target, err := os.Readlink(path); err == nil && target == tool.Path {
			return nil
		}
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("linking tools: %w", err)
	}
	// A link cannot be overwritten; one made beside it can be renamed over it.
	fresh := fmt.Sprintf("%s.%d.tmp", path, os.Getpid())
	_ = os.Remove(fresh)
	if err := os.Symlink(tool.Path, fresh); err != nil {
		return fmt.Errorf("linking tools: %w", err)
	}
	if err := os.Rename(fresh, path); err != nil {
		return fmt.Errorf("linking tools: %w", err)
	}
	return nil
}
