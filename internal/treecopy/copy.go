package treecopy

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// CopyOptions say how a tree is copied.
type CopyOptions struct {
	Options
	// ReadOnly makes files 0444 (0555 when executable) and directories 0555, else
	// they are 0644, 0755 and 0755. No other bit of the source's mode is kept.
	ReadOnly bool
	// Overwrite allows a destination that holds something: a file of the same
	// path is replaced, a directory is merged into. Without it the destination
	// must be missing or empty.
	Overwrite bool
	// Filter, if set, is put before each destination file: what is written to it may leave it changed. It
	// is closed at the file's end. Report.Bytes are the source's.
	Filter func(io.Writer) io.WriteCloser
}

// Report says what a copy did.
type Report struct {
	Files   int     // regular files copied
	Bytes   int64   // their bytes
	Skipped []Entry // what was left out, and why; in the order it was met
}

// Copy copies the tree at src to dst, which is created, with the folders above
// it, when missing.
//
// In a trusted source anything but readable regular files and directories is a
// [*TreeError] naming all such entries (the rest is copied). In an untrusted one
// it goes to [Report.Skipped], and files and directories without read permission
// are made readable for the copy and given back their mode. Either way dst never
// holds a link or a special file, and src must not contain dst.
func Copy(dst, src string, opts CopyOptions) (Report, error) {
	var rep Report
	if err := apart(dst, src); err != nil {
		return rep, err
	}
	c := copier{opts: opts, rep: &rep}
	if err := c.open(dst); err != nil {
		return rep, fmt.Errorf("copy to %s: %w", dst, err)
	}
	defer c.close()
	w := walker{Options: opts.Options, widen: opts.Untrusted, visitor: visitor{enter: c.enter, leave: c.leave, file: c.file}}
	err := w.walk(src)
	rep.Skipped = w.skipped
	if err != nil {
		return rep, fmt.Errorf("copy %s to %s: %w", src, dst, err)
	}
	if !opts.Untrusted && len(rep.Skipped) > 0 {
		return rep, &TreeError{Dir: src, Entries: rep.Skipped}
	}
	return rep, nil
}

// apart makes sure that dst is not src or within it: the copy would copy itself.
func apart(dst, src string) error {
	from, err := os.Stat(src)
	if err != nil {
		return err
	}
	at, err := filepath.Abs(dst)
	if err != nil {
		return err
	}
	for {
		if info, err := os.Stat(at); err == nil && os.SameFile(from, info) {
			return fmt.Errorf("copy %s to %s: the destination lies inside the source; choose another folder", src, dst)
		}
		up := filepath.Dir(at)
		if up == at {
			return nil
		}
		at = up
	}
}

type copier struct {
	opts  CopyOptions
	rep   *Report
	stack []*os.Root // the destination's open directories, the current one last
	done  func()     // closes the first of them
}

func (c *copier) open(dst string) error {
	if err := os.MkdirAll(dst, 0o755); err != nil {
		return err
	}
	root, _, done, err := openTree(dst, false)
	if err != nil {
		return err
	}
	c.stack, c.done = []*os.Root{root}, done
	if !c.opts.Overwrite {
		d, err := root.Open(".")
		if err != nil {
			done()
			return err
		}
		defer d.Close()
		if names, _ := d.Readdirnames(1); len(names) > 0 {
			done()
			return errors.New("the folder is not empty")
		}
	}
	return nil
}

func (c *copier) close() {
	for _, r := range c.stack[1:] {
		r.Close()
	}
	c.done()
}

func (c *copier) top() *os.Root { return c.stack[len(c.stack)-1] }

func (c *copier) enter(rel string) error {
	if rel == "." {
		return nil
	}
	name := path.Base(rel)
	err := c.top().Mkdir(name, 0o700)
	if err != nil && !(c.opts.Overwrite && errors.Is(err, fs.ErrExist)) {
		return err
	}
	info, err := c.top().Lstat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%q is %s in the destination and a directory in the source", rel, kindOf(info.Mode()).Phrase())
	}
	root, _, err := openDir(c.top(), name, rel, info, false)
	if err != nil {
		return fmt.Errorf("destination: %s", err) // not %w: it is no entry of the source
	}
	c.stack = append(c.stack, root)
	return nil
}

func (c *copier) leave(rel string) error {
	mode := fs.FileMode(0o755)
	if c.opts.ReadOnly {
		mode = 0o555
	}
	if err := c.top().Chmod(".", mode); err != nil {
		return err
	}
	if rel != "." {
		c.top().Close()
		c.stack = c.stack[:len(c.stack)-1]
	}
	return nil
}

func (c *copier) file(rel string, info fs.FileInfo, open func() (*os.File, error)) (int64, error) {
	in, err := open()
	if err != nil {
		return 0, err
	}
	defer in.Close()
	name := path.Base(rel)
	if c.opts.Overwrite {
		old, err := c.top().Lstat(name)
		if err == nil && old.IsDir() {
			return 0, fmt.Errorf("%q is a directory in the destination and a file in the source", rel)
		}
		if err == nil {
			if err := c.top().Remove(name); err != nil {
				return 0, err
			}
		}
	}
	out, err := c.top().OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	n, err := c.copyBytes(out, in, rel, info.Size())
	if err == nil {
		err = out.Chmod(c.fileMode(info.Mode()))
	}
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = c.top().Remove(name)
		return 0, err
	}
	c.rep.Files++
	c.rep.Bytes += n
	return n, nil
}

func (c *copier) fileMode(src fs.FileMode) fs.FileMode {
	mode := fs.FileMode(0o644)
	if c.opts.ReadOnly {
		mode = 0o444
	}
	if executable(src) {
		mode |= 0o111
	}
	return mode
}

// executable is the one permission that belongs to a tree's content, as in git.
func executable(mode fs.FileMode) bool { return mode.Perm()&0o100 != 0 }

func (c *copier) copyBytes(out io.Writer, in io.Reader, rel string, size int64) (int64, error) {
	if c.opts.Filter == nil {
		return copyBytes(out, in, rel, size)
	}
	filter := c.opts.Filter(out)
	n, err := copyBytes(filter, in, rel, size)
	if closed := filter.Close(); err == nil {
		err = closed
	}
	return n, err
}

// copyBytes copies exactly size bytes. A source that fails, or holds more or
// fewer bytes than it did, is an *EntryError; the destination's errors are not.
func copyBytes(out io.Writer, in io.Reader, rel string, size int64) (int64, error) {
	src := &errReader{r: io.LimitReader(in, size+1)}
	n, err := io.Copy(out, src)
	switch {
	case src.err != nil:
		return n, &EntryError{Path: rel, Kind: Unreadable, Err: src.err}
	case err != nil:
		return n, err
	case n != size:
		return n, &EntryError{Path: rel, Kind: Changed}
	}
	return n, nil
}

// errReader remembers the reader's error, which io.Copy mixes with the writer's.
type errReader struct {
	r   io.Reader
	err error
}

func (e *errReader) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	if err != nil && err != io.EOF {
		e.err = err
	}
	return n, err
}
