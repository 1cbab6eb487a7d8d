package treecopy

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// openTree opens the folder a caller named. The folder itself must not be a
// link; the folders above it are the caller's. On success done closes the root
// and, with widen, gives the folder back its mode.
func openTree(dir string, widen bool) (root *os.Root, info fs.FileInfo, done func(), err error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, nil, nil, err
	}
	name := filepath.Base(abs)
	if filepath.Dir(abs) == abs {
		name = "." // a file system's root
	}
	up, err := os.OpenRoot(filepath.Dir(abs))
	if err != nil {
		return nil, nil, nil, err
	}
	restore := func() {}
	info, err = up.Lstat(name)
	if err == nil && !info.IsDir() {
		err = &EntryError{Path: ".", Kind: kindOf(info.Mode())}
	}
	if err == nil {
		root, restore, err = openDir(up, name, ".", info, widen)
	}
	if err != nil {
		restore()
		up.Close()
		return nil, info, nil, err
	}
	return root, info, func() {
		root.Close()
		restore()
		up.Close()
	}, nil
}

// openDir opens the directory name of parent, which lstat described as info.
// With widen it first gives the runner read and search permission where they
// are missing; restore, never nil, gives back the old mode.
func openDir(parent *os.Root, name, rel string, info fs.FileInfo, widen bool) (root *os.Root, restore func(), err error) {
	restore = func() {}
	if widen && info.Mode().Perm()&0o500 != 0o500 {
		// Failure shows when the directory is opened.
		if parent.Chmod(name, info.Mode()|0o500) == nil {
			restore = func() { _ = parent.Chmod(name, info.Mode()) }
		}
	}
	// The final "." makes os.Root open name itself with O_DIRECTORY. Without it a
	// FIFO that is swapped in would block here for ever.
	root, err = parent.OpenRoot(name + "/.")
	if err != nil {
		return nil, restore, openFailure(rel, err)
	}
	now, err := root.Stat(".")
	if err != nil || !os.SameFile(info, now) {
		root.Close()
		return nil, restore, &EntryError{Path: rel, Kind: Changed, Err: err}
	}
	return root, restore, nil
}

// openFile opens the regular file name of parent, which lstat described as info.
func openFile(parent *os.Root, name, rel string, info fs.FileInfo, widen bool) (*os.File, error) {
	if k := kindOf(info.Mode()); k != File {
		return nil, &EntryError{Path: rel, Kind: k}
	}
	if widen && info.Mode().Perm()&0o400 == 0 {
		if parent.Chmod(name, info.Mode()|0o400) == nil {
			defer func() { _ = parent.Chmod(name, info.Mode()) }()
		}
	}
	f, err := parent.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, openFailure(rel, err)
	}
	now, err := f.Stat()
	if err != nil || !now.Mode().IsRegular() || !os.SameFile(info, now) {
		f.Close()
		return nil, &EntryError{Path: rel, Kind: Changed, Err: err}
	}
	return f, nil
}

// openFailure tells an entry that may not be read from one that went away or
// became something else, and both from a runner that is short of something.
func openFailure(rel string, err error) error {
	for _, mine := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM} {
		if errors.Is(err, mine) {
			return err
		}
	}
	kind := Changed
	if errors.Is(err, fs.ErrPermission) {
		kind = Unreadable
	}
	return &EntryError{Path: rel, Kind: kind, Err: err}
}
