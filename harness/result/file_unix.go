//go:build unix

package result

import (
	"fmt"
	"github.com/google/renameio/v2"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Hold marks dir (a run's or a batch's folder) as owned by this living process until release is
// called or the process dies, however it dies.
func Hold(dir string) (release func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, runLock), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("result: lock: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("result: %s is in use by another runner: %w", dir, err)
	}
	return func() { f.Close() }, nil
}

// Alive tells whether a living process holds dir.
func Alive(dir string) bool {
	f, err := os.Open(filepath.Join(dir, runLock))
	if err != nil {
		return false
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); err != nil {
		return true
	}
	return false
}

func writeAtomic(path string, data []byte) error { return renameio.WriteFile(path, data, 0o644) }
