package proc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// pipeGrace is how long output may still arrive after the command has ended.
	pipeGrace = 2 * time.Second
	// reapGrace is how long the kernel gets to empty a killed namespace.
	reapGrace = 10 * time.Second
	// thawAfter is how long a killed process may stay before it is taken for a frozen one.
	thawAfter = time.Second
)

// Run starts c, waits for its end or for ctx's, kills what is left of the tree
// and returns once it is gone. The error is non-nil only when the command
// could not be started or watched; how it ended stands in Result.
func Run(ctx context.Context, c Command) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{ExitCode: -1, Cause: context.Cause(ctx)}, nil
	}
	type outcome struct {
		res Result
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		// bwrap's --die-with-parent follows the *thread* that forked it, so this thread
		// must live exactly as long as the command does.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		res, err := run(ctx, c)
		done <- outcome{res, err}
	}()
	o := <-done
	return o.res, o.err
}

func run(parent context.Context, c Command) (Result, error) {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	infoR, infoW, err := os.Pipe()
	if err != nil {
		return Result{}, fmt.Errorf("proc: pipe: %w", err)
	}
	defer infoR.Close()
	defer infoW.Close()
	filter, err := filterPipe()
	if err != nil {
		return Result{}, err
	}
	defer filter.Close()
	if err := closeInherited(); err != nil {
		return Result{}, err
	}

	argv := []string{c.Bwrap, "--unshare-pid", "--unshare-ipc", "--die-with-parent", "--info-fd", "3", "--seccomp", "4", "--dev-bind", "/", "/"}
	if c.PrivateTmp != "" {
		argv = append(argv, "--tmpfs", c.PrivateTmp)
	}
	argv = append(append(argv, freshProc(os.Geteuid())...), c.Argv...)

	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = c.Env, c.Dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	var sealed *sealedOutput
	if c.SealedStdout && c.Stdout != nil {
		if sealed, err = newSealedOutput(); err != nil {
			return Result{}, err
		}
		defer sealed.close()
		cmd.Stdout = sealed.theirs
	}
	cmd.ExtraFiles = []*os.File{infoW, filter}
	cmd.WaitDelay = pipeGrace
	// A session of its own keeps a terminal's Ctrl-C with the runner, which ends the tree in order, and the
	// terminal from the tree, which could push keys into the user's shell through /dev/tty.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}

	started := time.Now()
	if err := cmd.Start(); err != nil {
		return Result{}, fmt.Errorf("proc: start %s: %w", filepath.Base(argv[0]), err)
	}
	infoW.Close()
	if sealed != nil {
		sealed.copyTo(c.Stdout)
	}
	nsCh := make(chan namespace, 1)
	go func() {
		ns := readNamespace(infoR)
		go ns.watch(ctx, c.MaxProcesses, c.MaxMemory, cancel)
		nsCh <- ns
	}()

	waited := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		if sealed != nil {
			if copyErr := sealed.wait(); err == nil || errors.Is(err, exec.ErrWaitDelay) {
				err = copyErr
			}
		}
		waited <- err
	}()

	var res Result
	var waitErr error
	gone := true
	select {
	case waitErr = <-waited:
	case <-ctx.Done():
		res.Cause = context.Cause(ctx)
		waitErr, gone = kill(cmd.Process.Pid, waited)
	}
	if gone {
		res.Survivors = (<-nsCh).drain(reapGrace)
		res.ExitCode = exitCode(cmd.ProcessState)
	} else {
		res.Survivors = []int{cmd.Process.Pid}
		select {
		case ns := <-nsCh:
			res.Survivors = append(res.Survivors, ns.drain(0)...)
		default: // it stood still before it said where its tree is
		}
	}
	res.Elapsed = time.Since(started)
	if res.Cause != nil {
		res.ExitCode = -1
	}
	var exit *exec.ExitError
	if waitErr != nil && res.Cause == nil && !errors.As(waitErr, &exit) && !errors.Is(waitErr, exec.ErrWaitDelay) {
		// A writer that refused more (output limit) ends the command through ctx; anything else is ours.
		return res, fmt.Errorf("proc: wait: %w", waitErr)
	}
	return res, nil
}

// kill ends bubblewrap's monitor and waits for it. Its death is the death of the namespace's init,
// hence of everything in it. A frozen monitor is thawed; gone is false when it does not die at all.
func kill(pid int, waited <-chan error) (waitErr error, gone bool) {
	// The pipes get their grace after the monitor's end, too.
	giveUp := time.After(reapGrace + 2*pipeGrace)
	for {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		select {
		case waitErr = <-waited:
			return waitErr, true
		case <-time.After(thawAfter):
			thaw(pid)
		case <-giveUp:
			return nil, false
		}
	}
}

// freshProc ends bubblewrap's options with a /proc of the tree's own. The host's shows other
// process ids: a bubblewrap inside would look itself up there and find a stranger or nobody.
//
// For root, --proc would also cover parts of /proc, and the kernel lets no nested sandbox mount a
// /proc below a covered one. So root mounts it plainly, first thing in the tree.
func freshProc(euid int) []string {
	if euid != 0 {
		return []string{"--proc", "/proc", "--"}
	}
	return []string{"--cap-add", "CAP_SYS_ADMIN", "--", "/bin/sh", "-c", `mount -t proc proc /proc && exec "$@"`, "sh"}
}

func exitCode(st *os.ProcessState) int {
	if st == nil {
		return -1
	}
	if ws, ok := st.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return st.ExitCode()
}

// namespace identifies the tree's PID namespace.
type namespace struct {
	Init  int    `json:"child-pid"`
	Inode uint64 `json:"pid-namespace"`
}

func readNamespace(r io.Reader) namespace {
	var ns namespace
	// Only bwrap holds the write end; it closes it when the namespace stands or has failed.
	_ = json.NewDecoder(io.LimitReader(r, 1<<16)).Decode(&ns)
	return ns
}

// drain waits until no process is in the namespace and returns those that stayed. Processes of
// nested namespaces cannot outlive the outer one: the kernel kills them with its init.
func (ns namespace) drain(limit time.Duration) []int {
	if ns.Inode == 0 {
		return nil
	}
	started := time.Now()
	for {
		left := ns.members()
		if len(left) == 0 || time.Since(started) >= limit {
			return left
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			if time.Since(started) > thawAfter {
				thaw(pid)
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (ns namespace) members() []int {
	want := "pid:[" + strconv.FormatUint(ns.Inode, 10) + "]"
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		link, err := os.Readlink(filepath.Join("/proc", e.Name(), "ns/pid"))
		if err == nil && strings.TrimSpace(link) == want && !zombie(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// zombie tells whether a process is dead and only waits for its (new) parent to notice: it runs
// nothing and holds nothing.
func zombie(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	// The state follows the command name, which is in parentheses and may itself hold any byte.
	rest := string(b[strings.LastIndexByte(string(b), ')')+1:])
	return strings.HasPrefix(strings.TrimSpace(rest), "Z") || strings.HasPrefix(strings.TrimSpace(rest), "X")
}
