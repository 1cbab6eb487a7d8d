// Package workspace lays out the folders trials live in: the scratch, a batch
// with its staged tools, the run directory of each trial and the grading
// copies. It prepares, captures and removes; it runs nothing.
//
// Names inside the scratch are random and of equal length, so that nothing in
// an agent's paths tells the task, the configuration or the round.
package workspace

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// Scratch is the private folder all trials of a user live under.
type Scratch struct {
	Dir string
	// PrivateTmp is a short, empty folder; see sandbox.Runtime.PrivateTmp.
	PrivateTmp string

	apart bool // see Apart
	mu    sync.Mutex
	anew  []string // see Replaced
}

// DefaultScratch is a short private folder outside every home and checkout.
func DefaultScratch() string { return fmt.Sprintf("/var/tmp/proctor-%d", os.Getuid()) }

// OpenScratch makes the scratch where it is missing, refuses one that others could enter, and
// removes what dead runners left in it.
func OpenScratch(dir string) (*Scratch, error) {
	if dir == "" {
		dir = DefaultScratch()
	}
	dir, err := privateDir(dir, "set PROCTOR_SCRATCH to a folder of yours")
	if err != nil {
		return nil, fmt.Errorf("scratch: %w", err)
	}
	// Not below dir: dir may be long, and a socket's path holds 107 bytes.
	tmp, err := privateDir(fmt.Sprintf("/tmp/proctor-%d", os.Getuid()), "have it removed")
	if err != nil {
		return nil, fmt.Errorf("scratch: sockets: %w", err)
	}
	s := &Scratch{Dir: dir, PrivateTmp: tmp}
	return s, s.sweep()
}

// privateDir makes dir with mode 0700 and returns it with links resolved. An existing one must be
// ours, a real folder, and closed to others; an empty one of ours is closed here. One that is open
// and holds something is left alone: it may be anything, /tmp among them, and others may have put
// things into it. fix is what to do about a folder that cannot be used.
func privateDir(dir, fix string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(abs), 0o755); err != nil {
		return "", err
	}
	if err := os.Mkdir(abs, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(abs)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is not a folder; %s", abs, fix)
	}
	if !ownedByUs(info) {
		return "", fmt.Errorf("%s belongs to another user; %s", abs, fix)
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := closeEmpty(abs); err != nil {
			return "", fmt.Errorf("%w; %s", err, fix)
		}
	}
	return filepath.EvalSymlinks(abs)
}

// closeEmpty closes an empty folder to others. It looks again afterwards: what another user put
// there in between stays, and the folder is refused.
func closeEmpty(dir string) error {
	for range 2 {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		if len(entries) > 0 {
			return fmt.Errorf("%s is open to other users (mode other than 0700) and holds %q", dir, entries[0].Name())
		}
		if err := os.Chmod(dir, 0o700); err != nil {
			return err
		}
	}
	return nil
}

// sweep removes batches whose runner is dead, and copies of tools that were never finished. What
// cannot be removed is left for the next time: an old folder must not keep a new run from starting.
func (s *Scratch) sweep() error {
	var dead []string
	err := s.locked(func() error {
		entries, err := os.ReadDir(s.Dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			dir := filepath.Join(s.Dir, e.Name())
			if strings.HasPrefix(e.Name(), batchPrefix) && !result.Alive(dir) {
				dead = append(dead, dir)
			}
		}
		for _, store := range stores {
			unfinished, _ := filepath.Glob(filepath.Join(s.Dir, store, unfinishedPrefix+"*"))
			for _, file := range unfinished {
				if info, err := os.Lstat(file); err == nil && time.Since(info.ModTime()) > 24*time.Hour {
					_ = treecopy.Remove(file)
				}
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("scratch: %w", err)
	}
	// A dead batch stays dead, so the slow part needs no lock.
	for _, dir := range dead {
		_ = treecopy.Remove(dir)
	}
	return nil
}

const (
	batchPrefix      = "b-"
	unfinishedPrefix = "new-"
)

// locked runs do while no other runner makes a batch in this scratch or looks for dead ones: a batch
// that is being made is not held yet, and would be taken for dead.
func (s *Scratch) locked(do func() error) error {
	unlock, err := lockFile(filepath.Join(s.Dir, "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	return do()
}

// NewID is a random name of 12 hexadecimal digits.
func NewID() (string, error) {
	var b [6]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("workspace: random name: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}
