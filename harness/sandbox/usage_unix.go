//go:build unix

package sandbox

import (
	"io/fs"
	"syscall"
)

// allocated is what a file takes on the disk, in bytes: a sparse file takes little.
func allocated(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * 512 // POSIX: st_blocks counts 512-byte units
	}
	return info.Size()
}
