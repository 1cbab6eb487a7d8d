package proc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// keySystemCalls are add_key, request_key and keyctl, which follow each other in every table. No
// namespace covers the kernel's keyrings: a tree of the user's own id could link the user's
// keyring into its own and read the keys. Container engines refuse the same three.
//
// Numbers: arch/x86/entry/syscalls/syscall_{64,32}.tbl, include/uapi/asm-generic/unistd.h,
// arch/arm/tools/syscall.tbl of Linux 6.
var keySystemCalls = []struct{ arch, first uint32 }{
	{unix.AUDIT_ARCH_X86_64, 248},
	{unix.AUDIT_ARCH_I386, 286},
	{unix.AUDIT_ARCH_AARCH64, 217},
	{unix.AUDIT_ARCH_ARM, 309},
}

// x32 marks a system call of x86-64's third table, which has the same numbers for these.
const x32 = 0x40000000

// noKeys is a seccomp filter, as bubblewrap's --seccomp reads it, that answers the three with
// ENOSYS, as a kernel without keyrings does. Format: seccomp(2), struct sock_filter.
func noKeys() []byte {
	const (
		load  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		least = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		clear = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
		end   = unix.BPF_RET | unix.BPF_K
		// Offsets in struct seccomp_data.
		number, arch = 0, 4
	)
	var prog []unix.SockFilter
	for _, k := range keySystemCalls {
		prog = append(prog,
			unix.SockFilter{Code: load, K: arch},
			unix.SockFilter{Code: equal, K: k.arch, Jf: 5}, // not this table: go on after this block
			unix.SockFilter{Code: load, K: number},
			unix.SockFilter{Code: clear, K: ^uint32(x32)},
			unix.SockFilter{Code: least, K: k.first, Jf: 2},
			unix.SockFilter{Code: least, K: k.first + 3, Jt: 1},
			unix.SockFilter{Code: end, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		)
	}
	prog = append(prog, unix.SockFilter{Code: end, K: unix.SECCOMP_RET_ALLOW})
	var b bytes.Buffer
	// A buffer of fixed-size values: it cannot fail.
	_ = binary.Write(&b, binary.NativeEndian, prog)
	return b.Bytes()
}

// filterPipe holds the filter, ready to be read to its end.
func filterPipe() (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("proc: pipe: %w", err)
	}
	defer w.Close()
	// It is far smaller than a pipe's buffer, so the write does not wait for a reader.
	if _, err := w.Write(noKeys()); err != nil {
		r.Close()
		return nil, fmt.Errorf("proc: system call filter: %w", err)
	}
	return r, nil
}

// closeInherited keeps what the runner itself inherited open (a shell's file on descriptor 200)
// from its children. Files the runner opens are closed at exec already.
func closeInherited() error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("proc: open files: %w", err)
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}
