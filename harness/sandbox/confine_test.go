//go:build linux

package sandbox_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestSystemCallsThatAreRefused makes each call with arguments that no kernel accepts. The control
// makes them with all capabilities in a user namespace and no filter: it must get another answer.
func TestSystemCallsThatAreRefused(t *testing.T) {
	t.Parallel()
	const bad = -1
	type call struct {
		name   string
		number int
		args   []int
		want   unix.Errno
	}
	calls := []call{
		{"clone3", unix.SYS_CLONE3, []int{0, 0}, unix.ENOSYS},
		{"io_uring_setup", unix.SYS_IO_URING_SETUP, []int{0, 0}, unix.ENOSYS},
		{"io_uring_enter", unix.SYS_IO_URING_ENTER, []int{bad, 0, 0, 0, 0, 0}, unix.ENOSYS},
		{"io_uring_register", unix.SYS_IO_URING_REGISTER, []int{bad, 0, 0, 0}, unix.ENOSYS},
		{"ptrace", unix.SYS_PTRACE, []int{bad, bad, 0, 0}, unix.EPERM},
		{"process_vm_readv", unix.SYS_PROCESS_VM_READV, []int{bad, 0, 0, 0, 0, bad}, unix.EPERM},
		{"process_vm_writev", unix.SYS_PROCESS_VM_WRITEV, []int{bad, 0, 0, 0, 0, bad}, unix.EPERM},
		{"pidfd_getfd", unix.SYS_PIDFD_GETFD, []int{bad, 0, 0}, unix.EPERM},
		{"setns", unix.SYS_SETNS, []int{bad, 0}, unix.EPERM},
		// A namespace flag together with one that contradicts it.
		{"clone", unix.SYS_CLONE, []int{unix.CLONE_NEWUSER | unix.CLONE_FS, 0, 0, 0, 0}, unix.EPERM},
	}
	for name, number := range map[string]int{
		"mount": unix.SYS_MOUNT, "umount2": unix.SYS_UMOUNT2, "pivot_root": unix.SYS_PIVOT_ROOT, "fsopen": unix.SYS_FSOPEN, "fsconfig": unix.SYS_FSCONFIG,
		"fsmount": unix.SYS_FSMOUNT, "fspick": unix.SYS_FSPICK, "move_mount": unix.SYS_MOVE_MOUNT, "open_tree": unix.SYS_OPEN_TREE, "open_tree_attr": 467, "mount_setattr": unix.SYS_MOUNT_SETATTR,
	} {
		calls = append(calls, call{name, number, []int{bad, bad, bad, bad, bad}, unix.EPERM})
	}
	for name, flag := range map[string]int{
		"NEWNS": unix.CLONE_NEWNS, "NEWCGROUP": unix.CLONE_NEWCGROUP, "NEWUTS": unix.CLONE_NEWUTS, "NEWIPC": unix.CLONE_NEWIPC,
		"NEWUSER": unix.CLONE_NEWUSER, "NEWPID": unix.CLONE_NEWPID, "NEWNET": unix.CLONE_NEWNET, "NEWTIME": unix.CLONE_NEWTIME,
	} {
		// CLONE_PARENT is none of unshare's flags.
		calls = append(calls, call{"unshare " + name, unix.SYS_UNSHARE, []int{flag | unix.CLONE_PARENT}, unix.EPERM})
	}
	for name, family := range map[string]int{"vsock": unix.AF_VSOCK, "alg": unix.AF_ALG, "packet": unix.AF_PACKET, "bluetooth": unix.AF_BLUETOOTH} {
		// A type that no family has, which the control's kernel says, or that it has no such family.
		calls = append(calls, call{"socket " + name, unix.SYS_SOCKET, []int{family, 15, 0}, unix.EAFNOSUPPORT})
	}
	calls = append(calls, call{"socket netlink, not of routing", unix.SYS_SOCKET, []int{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT}, unix.EAFNOSUPPORT})

	// Refused calls print their error, and what programs need must still be there.
	var script strings.Builder
	for _, c := range calls {
		args := strings.Trim(strings.ReplaceAll(fmt.Sprint(c.args), " ", ","), "[]")
		fmt.Fprintf(&script, "$! = 0; syscall(%d, %s); print $!+0, \"\\n\";\n", c.number, args)
	}
	const needed = `
use Socket;
for my $family (AF_INET, AF_INET6) { socket(my $s, $family, SOCK_STREAM, 0) or die "family $family: $!" }
socket(my $route, 16, SOCK_RAW, 0) or die "routing: $!";
socketpair(my $one, my $other, AF_UNIX, SOCK_STREAM, 0) or die "socketpair: $!";
my $child = fork; defined $child or die "fork: $!"; exit 7 unless $child;
waitpid $child, 0; $? >> 8 == 7 or die "child: $?";
print "all there\n";
`
	b := newBox(t)
	l := b.sh(t, "", "")
	l.Argv = []string{"/usr/bin/perl", "-e", script.String() + needed}
	got, errs, ended := b.run(t, l)
	assert.Zero(t, ended.ExitCode, errs)
	control, err := exec.Command(b.rt.Bwrap, "--dev-bind", "/", "/", "--unshare-user", "--cap-add", "ALL", "--", "/usr/bin/perl", "-e", script.String()).Output()
	require.NoError(t, err)
	inside, outside := strings.Split(got, "\n"), strings.Split(string(control), "\n")
	require.Len(t, inside, len(calls)+2)
	require.Len(t, outside, len(calls)+1)
	for i, c := range calls {
		assert.Equal(t, fmt.Sprint(int(c.want)), inside[i], c.name)
		if outside[i] == inside[i] && strings.HasPrefix(c.name, "socket ") {
			continue // a kernel without the family
		}
		assert.NotEqual(t, outside[i], inside[i], "the control: %s", c.name)
	}
	assert.Equal(t, "all there", inside[len(calls)])
}

// TestNoCapabilities: also for root, who has them all in srt's sandbox without a confinement.
func TestNoCapabilities(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	out, _, _ := b.run(t, b.sh(t, "", `grep -E '^(Cap|NoNewPrivs)' /proc/self/status; ls -l /proc/self/fd | grep -c 'filter\|hold'; ulimit -u 2>/dev/null || ulimit -p`))
	words := strings.Fields(out)
	for _, name := range []string{"CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"} {
		assert.Contains(t, out, name+"\t0000000000000000\n")
	}
	require.Len(t, words, 14)
	assert.Equal(t, []string{"NoNewPrivs:", "1", "0", "8192"}, words[10:])
}

// TestKeysHaveNoNames: /proc/keys lists what the caller may see of the machine's keys, by name.
func TestKeysHaveNoNames(t *testing.T) {
	t.Parallel()
	const look = `cat /proc/keys /proc/key-users 2>/dev/null; true`
	require.NotEmpty(t, runOutside(t, look), "the control")
	b := newBox(t)
	out, _, _ := b.run(t, b.sh(t, "", look))
	assert.Empty(t, out)
}
