//go:build unix

package result

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

// Hold marks dir (a run's or a batch's folder) as owned by this living process until release is
// called or the process dies, however it dies. A folder that a living runner holds is an error.
func Hold(dir string) (release func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, runLock), os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o644)
	if err != nil {
		return nil, fmt.Errorf("result: lock: %w", err)
	}
	// Alive takes the lock for an instant, so one refusal does not mean that a runner has it.
	for attempt := 1; ; attempt++ {
		if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil {
			return func() { f.Close() }, nil
		}
		if attempt == 50 || !errors.Is(err, unix.EWOULDBLOCK) {
			f.Close()
			return nil, fmt.Errorf("result: %s is in use by another runner: %w", dir, err)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// Alive tells whether a living process holds dir. Where that cannot be found out, as with a lock
// this user may not open, it says yes: to call a runner dead is what loses trials.
func Alive(dir string) bool {
	f, err := os.OpenFile(filepath.Join(dir, runLock), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil
}

// writeAtomic keeps the temporary file beside the record, where it is found if the writer dies, and
// not in TMPDIR.
func writeAtomic(dir, name string, data []byte) error {
	return renameio.WriteFile(filepath.Join(dir, name), data, 0o644, renameio.WithTempDir(dir))
}
