package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/proctor-evals/proctor/internal/treecopy"
)

// StageTree copies a program that is a folder of files (an npm package) into an area under name,
// read-only, and returns its path and content hash. npm's links between programs (.bin) are left
// out: nothing in a trial looks there.
func (b *Batch) StageTree(area Area, name, src string) (dir, sum string, err error) {
	opts := treecopy.Options{
		Ignore: func(rel string) bool { return filepath.Base(rel) == ".bin" },
		Limits: treecopy.Limits{Bytes: 4 << 30, Entries: 500_000},
	}
	dir = filepath.Join(b.Tools(area), name)
	if _, err := treecopy.Copy(dir, src, treecopy.CopyOptions{Options: opts, ReadOnly: true}); err != nil {
		return "", "", fmt.Errorf("stage %s: %w", name, err)
	}
	if sum, err = treecopy.Hash(dir, opts); err != nil {
		return "", "", fmt.Errorf("stage %s: %w", name, err)
	}
	return dir, sum, nil
}

// StageStored puts the program folder at src into an area under name, read-only, and returns its
// path. The copy comes from the store, as in [Batch.Stage], so that a batch costs hard links; sum is
// the tree's hash as set-up found it.
func (b *Batch) StageStored(area Area, name, src, sum string) (string, error) {
	dst := filepath.Join(b.Tools(area), name)
	// Under the lock, as two batches may find the store without it.
	err := b.scratch.locked(func() error {
		stored, err := b.scratch.storeTree(name, src, sum, true)
		if err != nil {
			return err
		}
		return linkTree(dst, stored)
	})
	if err != nil {
		return "", fmt.Errorf("stage %s: %w", name, err)
	}
	return dst, nil
}

// linkTree makes the folders of a stored tree at dst, closed to writing, and links its files into them.
func linkTree(dst, stored string) error {
	var made []string
	err := filepath.WalkDir(stored, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(stored, path)
		if err != nil {
			return err
		}
		at := filepath.Join(dst, rel)
		if d.IsDir() {
			made = append(made, at)
			return os.Mkdir(at, 0o755)
		}
		return os.Link(path, at)
	})
	for _, dir := range made {
		err = errors.Join(err, os.Chmod(dir, 0o555))
	}
	return err
}

// StoreTree keeps a copy of a program's folder in the scratch, by its content hash as set-up
// recorded it, and returns the copy's path. It is for programs whose own path is visible inside a
// trial and would tell of the user's home.
func (s *Scratch) StoreTree(name, src, sum string) (stored string, err error) {
	err = s.locked(func() error {
		stored, err = s.storeTree(name, src, sum, false)
		return err
	})
	return stored, err
}

// storeTree is StoreTree with the scratch locked. The copy is compared with its source each time, as in
// [Scratch.store]. readOnly is for what trials could write to; a scratch without such can be removed by
// its user without more.
func (s *Scratch) storeTree(name, src, sum string, readOnly bool) (string, error) {
	dir, err := s.openStore()
	if err != nil {
		return "", fmt.Errorf("store %s: %w", name, err)
	}
	opts := treecopy.Options{
		Ignore: func(rel string) bool { return filepath.Base(rel) == ".bin" },
		Limits: treecopy.Limits{Bytes: 4 << 30, Entries: 500_000},
	}
	stored := filepath.Join(dir, name+"-"+sum)
	if exists(stored) {
		want, err := treecopy.Hash(src, opts)
		if err != nil {
			return "", fmt.Errorf("store %s: %w", name, err)
		}
		// What has no hash (a link in it, say) is not what was copied either.
		if got, err := treecopy.Hash(stored, treecopy.Options{Limits: opts.Limits}); err == nil && got == want {
			return stored, nil
		}
		if err := treecopy.Remove(stored); err != nil {
			return "", fmt.Errorf("store %s: %w", name, err)
		}
		s.replaced(name, stored)
	}
	tmp, err := os.MkdirTemp(dir, unfinishedPrefix)
	if err != nil {
		return "", fmt.Errorf("store %s: %w", name, err)
	}
	copied := filepath.Join(tmp, "tree")
	if _, err := treecopy.Copy(copied, src, treecopy.CopyOptions{Options: opts, ReadOnly: readOnly}); err != nil {
		return "", errors.Join(fmt.Errorf("store %s: %w", name, err), treecopy.Remove(tmp))
	}
	// A folder one may not write to cannot be moved into another.
	if err := os.Chmod(copied, 0o755); err != nil {
		return "", errors.Join(fmt.Errorf("store %s: %w", name, err), treecopy.Remove(tmp))
	}
	if err := os.Rename(copied, stored); err != nil {
		return "", errors.Join(fmt.Errorf("store %s: %w", name, err), treecopy.Remove(tmp))
	}
	if readOnly {
		if err := os.Chmod(stored, 0o555); err != nil {
			return "", errors.Join(fmt.Errorf("store %s: %w", name, err), treecopy.Remove(tmp))
		}
	}
	return stored, treecopy.Remove(tmp)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
