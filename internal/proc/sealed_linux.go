package proc

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// sealedOutput is a command's standard output that no other process can open.
type sealedOutput struct {
	ours, theirs *os.File
	copied       chan error
}

func newSealedOutput() (*sealedOutput, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("proc: socketpair: %w", err)
	}
	// Without blocking, so that closing it ends a read.
	if err := unix.SetNonblock(fds[0], true); err != nil {
		unix.Close(fds[0])
		unix.Close(fds[1])
		return nil, fmt.Errorf("proc: socketpair: %w", err)
	}
	return &sealedOutput{ours: os.NewFile(uintptr(fds[0]), "output"), theirs: os.NewFile(uintptr(fds[1]), "output")}, nil
}

// copyTo begins to copy, once the command has its end.
func (s *sealedOutput) copyTo(w io.Writer) {
	s.theirs.Close()
	s.copied = make(chan error, 1)
	go func() {
		_, err := io.Copy(w, s.ours)
		// A writer that takes no more must not leave the command waiting for it.
		s.ours.Close()
		s.copied <- err
	}()
}

// wait waits for the end of the output, after the command's end for pipeGrace at most: what still holds
// it then is cut off, as with a pipe.
func (s *sealedOutput) wait() error {
	select {
	case err := <-s.copied:
		return err
	case <-time.After(pipeGrace):
		s.ours.Close()
		<-s.copied
		return nil
	}
}

func (s *sealedOutput) close() {
	s.ours.Close()
	s.theirs.Close()
}
