//go:build linux || darwin

package grade

import (
	"fmt"
	"math"

	"golang.org/x/sys/unix"
)

// freeSpace is what a user without privileges may still write where dir is, in bytes.
func freeSpace(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	free := uint64(st.Bavail) * uint64(st.Bsize)
	return int64(min(free, math.MaxInt64)), nil
}
