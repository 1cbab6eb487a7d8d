package treecopy

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"
)

// removeDepth is how many directories below each other are held open. What lies
// deeper is moved up first, so a trial's very deep tree can be removed too.
const removeDepth = 64

// removeTries and removePause bound the retries: a process that is about to die
// may still be writing.
const (
	removeTries = 6
	removePause = 10 * time.Millisecond // doubled each time: 310 ms in all
)

// Remove removes the tree at dir, also when directories in it are read-only. It
// never follows a link (a dir that is a link is removed as such) and does not
// enter another file system. A dir that does not exist is no error.
func Remove(dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if filepath.Dir(abs) == abs {
		return fmt.Errorf("remove %s: refused for a file system's root", dir)
	}
	parent, err := os.OpenRoot(filepath.Dir(abs))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove %s: %w", dir, err)
	}
	defer parent.Close()
	for try := range removeTries {
		if try > 0 {
			time.Sleep(removePause << (try - 1))
		}
		if err = removeTree(parent, filepath.Base(abs)); err == nil {
			return nil
		}
	}
	return fmt.Errorf("remove %s: %w", dir, err)
}

func removeTree(parent *os.Root, name string) error {
	info, err := parent.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return parent.Remove(name)
	}
	tree, err := enterToRemove(parent, name, name, info)
	if err != nil {
		return err
	}
	r := remover{tree: tree, dev: device(info)}
	err = r.empty(tree, ".", 0)
	tree.Close()
	if err != nil {
		return err
	}
	return parent.Remove(name)
}

// enterToRemove opens a directory whose entries shall go.
func enterToRemove(parent *os.Root, name, rel string, info fs.FileInfo) (*os.Root, error) {
	if info.Mode().Perm()&0o700 != 0o700 {
		_ = parent.Chmod(name, info.Mode()|0o700) // failure shows below
	}
	root, _, err := openDir(parent, name, rel, info, false)
	return root, err
}

type remover struct {
	tree  *os.Root
	dev   uint64
	moved int
}

// empty removes all entries of the directory at rel. It reads names in batches
// and starts over, since removing changes what a listing returns.
func (r *remover) empty(dir *os.Root, rel string, depth int) error {
	for {
		names, err := firstNames(dir)
		if err != nil {
			return fmt.Errorf("list %q: %w", rel, err)
		}
		if len(names) == 0 {
			return nil
		}
		gone := 0
		var failed error
		for _, name := range names {
			if err := r.remove(dir, name, path.Join(rel, name), depth); err != nil {
				failed = err
				continue
			}
			gone++
		}
		if gone == 0 {
			return failed
		}
	}
}

func firstNames(dir *os.Root) ([]string, error) {
	d, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(1024)
	if len(names) > 0 {
		return names, nil
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	return nil, nil
}

func (r *remover) remove(dir *os.Root, name, rel string, depth int) error {
	info, err := dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return dir.Remove(name)
	}
	if device(info) != r.dev {
		return fmt.Errorf("%q is on another file system: unmount it first", rel)
	}
	if depth >= removeDepth {
		return r.moveUp(rel, dir, name, info)
	}
	sub, err := enterToRemove(dir, name, rel, info)
	if err != nil {
		return err
	}
	err = r.empty(sub, rel, depth+1)
	sub.Close()
	if err != nil {
		return err
	}
	return dir.Remove(name)
}

// moveUp renames a directory that lies too deep into the top of the tree, where
// the loop over the top's entries meets it again.
func (r *remover) moveUp(rel string, dir *os.Root, name string, info fs.FileInfo) error {
	if info.Mode().Perm()&0o700 != 0o700 {
		_ = dir.Chmod(name, info.Mode()|0o700) // moving a directory needs write permission on it
	}
	for {
		r.moved++
		to := fmt.Sprintf("removing-%d", r.moved)
		if _, err := r.tree.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			return r.tree.Rename(rel, to)
		}
	}
}
