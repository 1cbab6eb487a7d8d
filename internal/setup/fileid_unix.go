//go:build unix

package setup

import (
	"os"
	"syscall"
)

// inode returns the number of the file's inode, 0 where there is none.
func inode(info os.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}
