//go:build !unix

package result

import (
	"fmt"
	"os"
)

// Hold is not available here: no trial runs here either.
func Hold(dir string) (release func(), err error) {
	return nil, fmt.Errorf("result: %s cannot be locked on this system", dir)
}

// Alive reports false: no runner lives here.
func Alive(dir string) bool { return false }

func writeAtomic(path string, data []byte) error {
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, data, 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}
