package attack

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// heldAt is the descriptor on which the runner holds a file open as if its shell had: above those
// that programs on the way close of themselves.
const heldAt = 200

// plantInSystem plants what only Linux has. A target that cannot be planted is left out: there is
// then nothing of the kind to attack.
func (t *targets) plantInSystem(canary string) error {
	if f, err := os.Open(filepath.Join(t.hostDir, "secret")); err == nil {
		defer f.Close()
		// Without close-on-exec, and only where nothing is open already.
		if _, err := unix.FcntlInt(heldAt, unix.F_GETFD, 0); err == unix.EBADF && unix.Dup3(int(f.Fd()), heldAt, 0) == nil {
			t.undo = append(t.undo, func() { _ = unix.Close(heldAt) })
			t.vars["HELD"] = strconv.Itoa(heldAt)
		}
	}
	name := filepath.Base(t.hostDir)
	ring := keyring()
	if id, err := unix.AddKey("user", name, []byte(canary), ring); err == nil {
		t.undo = append(t.undo, func() { _, _ = unix.KeyctlInt(unix.KEYCTL_UNLINK, id, ring, 0, 0) })
		t.vars["KEYNAME"], t.vars["KEYCTL"] = name, strconv.Itoa(unix.SYS_KEYCTL)
	}
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		dir, err := t.folder("/dev/shm", ownPrefix()+"*")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "secret"), []byte(canary+"\n"), 0o644); err != nil {
			return err
		}
		t.vars["SHMDIR"] = dir
	}
	// Only root can change them at all.
	if unix.Access("/proc/sys/kernel/core_pattern", unix.W_OK) == nil {
		t.vars["SETTINGS"] = "yes"
		t.vars["MASKED"] = strings.Join([]string{t.vars["USERHOME"], t.vars["EVALS"], "/tmp", "/home"}, " ")
	}
	return nil
}

// keyring is the session keyring of the runner's login, which everything started from it has, or the
// user's where there is none (asked for, the kernel then answers with the user's default session).
func keyring() int {
	session, err1 := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, false)
	standard, err2 := unix.KeyctlGetKeyringID(unix.KEY_SPEC_USER_SESSION_KEYRING, false)
	if err1 == nil && err2 == nil && session != standard {
		return session
	}
	return unix.KEY_SPEC_USER_KEYRING
}
