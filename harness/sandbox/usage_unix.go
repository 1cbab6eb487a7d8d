//go:build unix

package sandbox

import (
	"io/fs"
	"syscall"
)

// allocated is what a file takes on the disk, in bytes: a sparse file takes little. Of a file with
// several links (cargo makes them) each one bears its part.
func allocated(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(st.Blocks) * 512 / max(1, int64(st.Nlink)) // POSIX: st_blocks counts 512-byte units
	}
	return info.Size()
}
