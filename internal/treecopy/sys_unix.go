//go:build unix

package treecopy

import (
	"io/fs"
	"syscall"
)

// openFlags make opening a file safe: no link is followed, a FIFO or a device
// does not block, and a terminal does not become the runner's own.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_NOCTTY

// links is the number of names of a file.
func links(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// device is the number of the file system a file is on.
func device(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev)
	}
	return 0
}
