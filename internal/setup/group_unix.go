//go:build unix

package setup

import (
	"os/exec"
	"syscall"
)

// inGroup makes cmd the leader of a new process group that gets SIGTERM when
// its context ends. The function returned kills what is left of the group; call
// it right after cmd was waited for because its context ended: the number is
// taken while the group has a member, and not reused within moments otherwise.
func inGroup(cmd *exec.Cmd) (end func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	return func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
