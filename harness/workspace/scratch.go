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

	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// Scratch is the private folder all trials of a user live under.
type Scratch struct {
	Dir string
	// PrivateTmp is a short, empty folder; see sandbox.Runtime.PrivateTmp.
	PrivateTmp string
}

// DefaultScratch is a short private folder outside every home and checkout.
func DefaultScratch() string { return fmt.Sprintf("/var/tmp/proctor-%d", os.Getuid()) }

// OpenScratch makes the scratch where it is missing, refuses one that others could enter, and
// removes what dead runners left in it.
func OpenScratch(dir string) (*Scratch, error) {
	if dir == "" {
		dir = DefaultScratch()
	}
	dir, err := privateDir(dir)
	if err != nil {
		return nil, fmt.Errorf("scratch: %w", err)
	}
	// Not below dir: dir may be long, and a socket's path holds 107 bytes.
	tmp, err := privateDir(fmt.Sprintf("/tmp/proctor-%d", os.Getuid()))
	if err != nil {
		return nil, fmt.Errorf("scratch: sockets: %w", err)
	}
	s := &Scratch{Dir: dir, PrivateTmp: tmp}
	return s, s.sweep()
}

// privateDir makes dir with mode 0700 and returns it with links resolved. An existing one must be
// ours, a real folder, and closed to others.
func privateDir(dir string) (string, error) {
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
		return "", fmt.Errorf("%s is not a folder; remove it or set PROCTOR_SCRATCH to another", abs)
	}
	if !ownedByUs(info) {
		return "", fmt.Errorf("%s belongs to another user; set PROCTOR_SCRATCH to a folder of yours", abs)
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(abs, 0o700); err != nil {
			return "", err
		}
	}
	return filepath.EvalSymlinks(abs)
}

// sweep removes batches whose runner is dead. A batch that cannot be removed is left for the next
// time: an old folder must not keep a new run from starting.
func (s *Scratch) sweep() error {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return fmt.Errorf("scratch: %w", err)
	}
	for _, e := range entries {
		dir := filepath.Join(s.Dir, e.Name())
		if strings.HasPrefix(e.Name(), "b-") && !result.Alive(dir) {
			_ = treecopy.Remove(dir)
		}
	}
	return nil
}

// NewID is a random name of 12 hexadecimal digits.
func NewID() (string, error) {
	var b [6]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("workspace: random name: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}
