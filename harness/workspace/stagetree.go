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

// linkTree makes the folders of a stored tree at dst and links its files into them.
func linkTree(dst, stored string) error {
	return filepath.WalkDir(stored, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(stored, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Mkdir(filepath.Join(dst, rel), 0o755)
		}
		return os.Link(path, filepath.Join(dst, rel))
	})
}

// StoreTree keeps a copy of a program's folder in the scratch, by its content hash as set-up
// recorded it, and returns the copy's path. It is for programs whose own path is visible inside a
// trial and would tell of the user's home.
func (s *Scratch) StoreTree(name, src, sum string) (string, error) {
	return s.storeTree(name, src, sum, false)
}

func (s *Scratch) storeTree(name, src, sum string, readOnly bool) (string, error) {
	dir := filepath.Join(s.Dir, "store")
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("store %s: %w", name, err)
	}
	stored := filepath.Join(dir, name+"-"+sum)
	options := treecopy.Options{Ignore: func(rel string) bool { return filepath.Base(rel) == ".bin" }}
	if info, err := os.Lstat(stored); err == nil && info.IsDir() {
		// What lies there may have been written to since.
		want, err := treecopy.Hash(src, options)
		if err != nil {
			return "", fmt.Errorf("store %s: %w", name, err)
		}
		if got, err := treecopy.Hash(stored, options); err == nil && got == want {
			return stored, nil
		}
		if err := treecopy.Remove(stored); err != nil {
			return "", fmt.Errorf("store %s: %w", name, err)
		}
	}
	tmp, err := os.MkdirTemp(dir, unfinishedPrefix)
	if err != nil {
		return "", fmt.Errorf("store %s: %w", name, err)
	}
	copied := filepath.Join(tmp, "tree")
	opts := treecopy.CopyOptions{
		Options:  options,
		ReadOnly: readOnly,
	}
	if _, err := treecopy.Copy(copied, src, opts); err != nil {
		return "", errors.Join(fmt.Errorf("store %s: %w", name, err), treecopy.Remove(tmp))
	}
	// A folder one may not write to cannot be moved into another.
	if err := os.Chmod(copied, 0o755); err != nil {
		return "", errors.Join(fmt.Errorf("store %s: %w", name, err), treecopy.Remove(tmp))
	}
	// Another runner may have been first; its copy is as good.
	if err := os.Rename(copied, stored); err != nil && !exists(stored) {
		return "", errors.Join(fmt.Errorf("store %s: %w", name, err), treecopy.Remove(tmp))
	}
	return stored, treecopy.Remove(tmp)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
