//go:build !unix

package result

import (
	"fmt"
	"os"
	"path/filepath"
)

// Hold is not supported here: no trial runs here either.
func Hold(dir string) (release func(), err error) {
	return nil, fmt.Errorf("result: %s cannot be locked: not supported on this system", dir)
}

// Alive reports false: no runner lives here.
func Alive(dir string) bool { return false }

func writeAtomic(dir, name string, data []byte) error {
	path := filepath.Join(dir, name)
	tmp := filepath.Join(dir, "."+name+".tmp")
	if err := os.WriteFile(tmp, data, 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}
