package proc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"

	"golang.org/x/sys/unix"
)

// auditArch is the system call table of the runner's own kind of program. Source:
// include/uapi/linux/audit.h.
var auditArch = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// newNamespaces are the flags of unshare(2) and clone(2) that make a namespace.
const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// openTreeAttr is open_tree_attr, in all tables since Linux 6.15.
const openTreeAttr = 467

// Confinement is a seccomp filter, as bubblewrap's --seccomp reads it, for a program whose sandbox
// stands: it can make no mount and no namespace, enter none, and open sockets of the internet, the
// local and the routing family only. Root inside a user namespace could else mount the machine's
// cgroup hierarchies, which are in no namespace of that kind.
//
// clone3 has its flags in memory, where no filter looks; its ENOSYS makes every C library use clone.
// io_uring would do behind the filter what it refuses. Programs of another table, such as 32-bit
// ones, get ENOSYS for everything: their socketcall hides its arguments the same way.
// Format: seccomp(2), struct sock_filter.
func Confinement() ([]byte, error) {
	arch, ok := auditArch[runtime.GOARCH]
	if !ok {
		return nil, errors.New("proc: no system call filter for " + runtime.GOARCH)
	}
	const (
		load  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		least = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		has   = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
		end   = unix.BPF_RET | unix.BPF_K
		// Offsets in struct seccomp_data; of the arguments the lower half, little-endian.
		number, table, first, third = 0, 4, 16, 32

		allow = unix.SECCOMP_RET_ALLOW
		fail  = unix.SECCOMP_RET_ERRNO
	)
	prog := []unix.SockFilter{
		{Code: load, K: table},
		{Code: equal, K: arch, Jt: 1},
		{Code: end, K: fail | uint32(unix.ENOSYS)},
		{Code: load, K: number},
	}
	refuse := func(errno unix.Errno, calls ...uint32) {
		for _, nr := range calls {
			prog = append(prog, unix.SockFilter{Code: equal, K: nr, Jf: 1}, unix.SockFilter{Code: end, K: fail | uint32(errno)})
		}
	}
	if runtime.GOARCH == "amd64" {
		prog = append(prog, unix.SockFilter{Code: least, K: x32, Jf: 1}, unix.SockFilter{Code: end, K: fail | uint32(unix.ENOSYS)})
	}
	refuse(unix.EPERM, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK,
		unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, openTreeAttr, unix.SYS_MOUNT_SETATTR, unix.SYS_SETNS)
	// The client's output and memory are not its children's to reach into: what it prints is evidence.
	refuse(unix.EPERM, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD)
	refuse(unix.ENOSYS, unix.SYS_CLONE3, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER)
	for _, call := range []struct{ nr, flags uint32 }{
		{unix.SYS_CLONE, newNamespaces},                        // its lowest byte is a signal
		{unix.SYS_UNSHARE, newNamespaces | unix.CLONE_NEWTIME}, // only here
	} {
		prog = append(prog,
			unix.SockFilter{Code: equal, K: call.nr, Jf: 4},
			unix.SockFilter{Code: load, K: first},
			unix.SockFilter{Code: has, K: call.flags, Jf: 1},
			unix.SockFilter{Code: end, K: fail | uint32(unix.EPERM)},
			unix.SockFilter{Code: end, K: allow},
		)
	}
	// Local sockets are srt's to refuse; a pair of them (socketpair) is what programs talk to their
	// children by.
	prog = append(prog,
		unix.SockFilter{Code: equal, K: unix.SYS_SOCKET, Jf: 9},
		unix.SockFilter{Code: load, K: first},
		unix.SockFilter{Code: equal, K: unix.AF_UNIX, Jt: 5},
		unix.SockFilter{Code: equal, K: unix.AF_INET, Jt: 4},
		unix.SockFilter{Code: equal, K: unix.AF_INET6, Jt: 3},
		unix.SockFilter{Code: equal, K: unix.AF_NETLINK, Jf: 3},
		unix.SockFilter{Code: load, K: third},
		unix.SockFilter{Code: equal, K: unix.NETLINK_ROUTE, Jf: 1},
		unix.SockFilter{Code: end, K: allow},
		unix.SockFilter{Code: end, K: fail | uint32(unix.EAFNOSUPPORT)},
		unix.SockFilter{Code: end, K: allow},
	)
	var b bytes.Buffer
	// A buffer of fixed-size values: it cannot fail.
	_ = binary.Write(&b, binary.NativeEndian, prog)
	return b.Bytes(), nil
}
