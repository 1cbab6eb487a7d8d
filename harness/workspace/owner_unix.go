//go:build unix

package workspace

import (
	"io/fs"
	"os"
	"syscall"
)

func ownedByUs(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// closedToForks runs write while no other goroutine may fork, so that no child can hold a write
// descriptor of a file that is about to be executed ("text file busy", go.dev/issue/22315).
func closedToForks(write func() error) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return write()
}
