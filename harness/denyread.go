package harness

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// checkDenied refuses what in deny_read would be taken for something it is not. raw is an entry as it is
// written, path the absolute path it means.
func checkDenied(raw, path string) error {
	if _, err := os.Lstat(path); err == nil && path != "/" && raw != "" {
		return nil // whatever is in its name
	}
	switch {
	case raw == "":
		return errors.New(`deny_read: "" names nothing: take it out`)
	case path == "/":
		return errors.New(`deny_read: "/" would deny the sandbox itself, and is left out: name the folders below it`)
	case raw == "~" || strings.HasPrefix(raw, "~"):
		return fmt.Errorf("deny_read: %q: ~ is not your home here (which is denied anyway): write the whole path", raw)
	case strings.ContainsAny(raw, "*?[{"):
		return fmt.Errorf("deny_read: %q: patterns are not matched: name the folder above, or each path", raw)
	case strings.Contains(raw, "$"):
		return fmt.Errorf("deny_read: %q: variables are not replaced: write the whole path", raw)
	}
	return nil
}
