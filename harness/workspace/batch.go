package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// Batch is the scratch of all trials of one task with one client.
type Batch struct {
	Dir     string
	scratch *Scratch
	release func()
}

// Area is one of the folders of staged tools.
type Area string

// The areas: Common is readable by every trial, Symposium by with-symposium trials only.
const (
	Common    Area = "common"
	Symposium Area = "symposium"
)

// NewBatch makes a batch and holds it until Close.
func (s *Scratch) NewBatch() (*Batch, error) {
	id, err := NewID()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(s.Dir, batchPrefix+id)
	var release func()
	err = s.locked(func() error {
		for _, d := range []string{dir, filepath.Join(dir, "tools"), filepath.Join(dir, "tools", string(Common)), filepath.Join(dir, "tools", string(Symposium))} {
			if err := os.Mkdir(d, 0o755); err != nil {
				return err
			}
		}
		release, err = result.Hold(dir)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("batch: %w", err)
	}
	return &Batch{Dir: dir, scratch: s, release: release}, nil
}

// Close removes the batch. Its results are elsewhere and stay.
func (b *Batch) Close() error {
	err := treecopy.Remove(b.Dir)
	b.release()
	if err != nil {
		return fmt.Errorf("batch: remove: %w", err)
	}
	return nil
}

// Tools is the path of an area.
func (b *Batch) Tools(area Area) string { return filepath.Join(b.Dir, "tools", string(area)) }

// Stage puts the program at src into an area under name and returns its path. The copy comes from
// a store by content, so that a batch costs a hard link; the content is checked against sum.
func (b *Batch) Stage(area Area, name, src, sum string) (string, error) {
	dst := filepath.Join(b.Tools(area), name)
	// Under the lock: a stored copy that another runner replaces at this moment cannot be linked.
	err := b.scratch.locked(func() error {
		stored, err := b.scratch.store(src, sum)
		if err != nil {
			return err
		}
		return os.Link(stored, dst)
	})
	if err != nil {
		return "", fmt.Errorf("stage %s: %w", name, err)
	}
	return dst, nil
}

func (s *Scratch) storeDir() string { return filepath.Join(s.Dir, "store") }

// store returns the stored copy of a program, making it where it is missing. The scratch is locked.
func (s *Scratch) store(src, sum string) (string, error) {
	dir := s.storeDir()
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	stored := filepath.Join(dir, sum)
	source, err := os.Stat(src)
	if err != nil {
		return "", err
	}
	// What is there may have been cut short by a crash, or written to since: it is used only when it still
	// is what it is called, and made anew otherwise.
	if info, err := os.Lstat(stored); err == nil && info.Mode().IsRegular() && info.Mode().Perm() == 0o555 && info.Size() == source.Size() && sha256Of(stored) == sum {
		return stored, nil
	}
	var tmp string
	err = closedToForks(func() error {
		in, err := os.Open(src)
		if err != nil {
			return err
		}
		defer in.Close()
		out, err := os.CreateTemp(dir, unfinishedPrefix)
		if err != nil {
			return err
		}
		defer out.Close()
		tmp = out.Name()
		h := sha256.New()
		if _, err := io.Copy(io.MultiWriter(out, h), in); err != nil {
			return err
		}
		if got := hex.EncodeToString(h.Sum(nil)); got != sum {
			return fmt.Errorf("%s has sha256 %s, expected %s: install it again with `proctor setup`", src, got, sum)
		}
		return out.Chmod(0o555)
	})
	if err != nil {
		if tmp != "" {
			os.Remove(tmp)
		}
		return "", err
	}
	return stored, os.Rename(tmp, stored)
}

// sha256Of is a file's SHA-256 in lower-case hex, or "" when it cannot be read.
func sha256Of(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}
