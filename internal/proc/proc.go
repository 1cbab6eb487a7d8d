// Package proc runs one command as a process tree that can be ended whole.
//
// On Linux every command runs in its own PID and IPC namespace (bubblewrap,
// without any other restriction), so that the end of the command, of its
// deadline or of the runner itself is the end of every process it ever
// started: double forks, new sessions and held-open pipes included. Run proves
// it by looking for the namespace in /proc before it returns.
package proc

import (
	"errors"
	"io"
	"time"
)

// Command is what to run. Env and Dir are set on the child alone.
type Command struct {
	Argv   []string
	Env    []string
	Dir    string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// SealedStdout makes standard output a socket in place of a pipe. A pipe can be opened again, by anyone of the
	// same user, as /proc/PID/fd/1, and written into; a socket cannot (ENXIO). Source: proc(5), unix(7).
	SealedStdout bool

	// Bwrap is bubblewrap's path. Required on Linux.
	Bwrap string
	// PrivateTmp, when not empty, is an existing folder over which the tree
	// sees a fresh tmpfs of its own; it vanishes with the tree.
	PrivateTmp string
	// MaxProcesses bounds the tree's processes and threads together, MaxMemory the bytes of memory
	// they and the memory file systems they see take. 0 is no bound. Both are looked at a few times a
	// second, so a tree may exceed them for a moment before it is killed.
	MaxProcesses int
	MaxMemory    int64
}

// Causes of a tree ended for what it took of the machine.
var (
	ErrProcessLimit = errors.New("process limit exceeded")
	ErrMemoryLimit  = errors.New("memory limit exceeded")
)

// Result says how the tree ended. Exactly one of the three is true of a tree:
// it ended by itself (Cause nil), or Cause tells why it was killed.
type Result struct {
	// ExitCode is the command's own; 128+n after signal n; -1 when it was killed by Run.
	ExitCode int
	// Cause is context.Cause of the context that ended the command, or nil.
	Cause error
	// Elapsed is the wall-clock time from start to the death of the tree.
	Elapsed time.Duration
	// Survivors are process ids of the tree that were still there when Run gave up waiting, ten
	// seconds after the kill. It is empty unless the kernel could not kill something.
	Survivors []int
}

// ErrUnsupported is returned where no process-tree isolation is implemented.
var ErrUnsupported = errors.New("running trials is supported on Linux only in this version; on macOS and Windows use `proctor list`, or run in a Linux virtual machine")
