package treecopy

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// ReadFile reads the file rel, a slash-separated path below dir, which a trial
// may have written: a regular file with one name, no component of rel a link.
// At most max bytes are read; truncated says that there were more. A file that
// is something else is an [*EntryError]; a missing one is [fs.ErrNotExist].
func ReadFile(dir, rel string, max int64) (data []byte, truncated bool, err error) {
	root, _, done, err := openTree(dir, false)
	if err != nil {
		return nil, false, err
	}
	defer done()
	return ReadFileIn(root, rel, max)
}

// ReadFileIn is [ReadFile] below an open root, for many files of one tree.
func ReadFileIn(root *os.Root, rel string, max int64) (data []byte, truncated bool, err error) {
	f, err := OpenIn(root, rel)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	return readAll(f, rel, max)
}

// ReadSource is [ReadFile] for a file of the evals root: it may have several
// names, since checkouts and package stores use hard links.
func ReadSource(dir, rel string, max int64) (data []byte, truncated bool, err error) {
	root, _, done, err := openTree(dir, false)
	if err != nil {
		return nil, false, err
	}
	defer done()
	f, err := openIn(root, rel, false)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	return readAll(f, rel, max)
}

// OpenIn opens a file as [ReadFileIn] does, for what is too large to hold: a
// transcript, a database. The caller bounds what it reads, and closes the file.
func OpenIn(root *os.Root, rel string) (*os.File, error) { return openIn(root, rel, true) }

func openIn(root *os.Root, rel string, untrusted bool) (*os.File, error) {
	parts, err := split(rel)
	if err != nil {
		return nil, err
	}
	dir, last := root, len(parts)-1
	defer func() {
		if dir != root {
			dir.Close()
		}
	}()
	for i, name := range parts[:last] {
		at := strings.Join(parts[:i+1], "/")
		info, err := dir.Lstat(name)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			return nil, &EntryError{Path: at, Kind: kindOf(info.Mode())}
		}
		sub, _, err := openDir(dir, name, at, info, false)
		if err != nil {
			return nil, err
		}
		if dir != root {
			dir.Close()
		}
		dir = sub
	}
	info, err := dir.Lstat(parts[last])
	if err != nil {
		return nil, err
	}
	if untrusted && info.Mode().IsRegular() && links(info) > 1 {
		return nil, &EntryError{Path: rel, Kind: HardLink}
	}
	return openFile(dir, parts[last], rel, info, false)
}

// split checks a relative path and cuts it at its slashes. Names may hold any
// byte but NUL and the separators; "..", "." and empty names are refused.
func split(rel string) ([]string, error) {
	parts := strings.Split(rel, "/")
	for _, p := range parts {
		if p == "" || p == "." || p == ".." || strings.ContainsRune(p, 0) || !filepath.IsLocal(p) || strings.ContainsRune(p, filepath.Separator) {
			return nil, fmt.Errorf("%q is not a clean relative path: use names joined by /, without . or .. among them", rel)
		}
	}
	return parts, nil
}

func readAll(f *os.File, rel string, max int64) ([]byte, bool, error) {
	if max < 0 {
		return nil, false, fmt.Errorf("read %q: negative size cap %d", rel, max)
	}
	data, err := io.ReadAll(io.LimitReader(f, max))
	if err != nil {
		return nil, false, &EntryError{Path: rel, Kind: Unreadable, Err: err}
	}
	var one [1]byte
	n, err := io.ReadFull(f, one[:])
	if err != nil && err != io.EOF {
		return nil, false, &EntryError{Path: rel, Kind: Unreadable, Err: err}
	}
	return data, n > 0, nil
}
