package treecopy

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// Difference is what changed from one tree to another. The paths are sorted and
// raw; see [Entry]. Directories are not listed, what is in them is.
type Difference struct {
	Added   []string
	Changed []string
	Deleted []string
	// Incomplete says that a limit, a permission or a file that changed kept part
	// of a tree from being compared. What could not be compared counts as changed.
	Incomplete bool
}

// Empty reports whether nothing differs.
func (d Difference) Empty() bool { return len(d.Added)+len(d.Changed)+len(d.Deleted) == 0 }

// seen is one entry of a tree under comparison.
type seen struct {
	kind Kind
	exec bool
	size int64
	link string // where a symbolic link points
}

// Diff compares the trees at a and b. Regular files are compared by their bytes
// and executable bit, links by where they point, other entries by their kind.
// Nothing is followed or opened but regular files. Where opts says untrusted, b is;
// a is what it is compared with, and may hold hard links.
func Diff(a, b string, opts Options) (Difference, error) {
	var d Difference
	trusted := opts
	trusted.Untrusted = false
	before, err := d.scan(a, trusted)
	if err != nil {
		return d, fmt.Errorf("compare: %w", err)
	}
	after, err := d.scan(b, opts)
	if err != nil {
		return d, fmt.Errorf("compare: %w", err)
	}
	rootA, _, doneA, err := openTree(a, false)
	if err != nil {
		return d, fmt.Errorf("compare: %w", err)
	}
	defer doneA()
	rootB, _, doneB, err := openTree(b, false)
	if err != nil {
		return d, fmt.Errorf("compare: %w", err)
	}
	defer doneB()
	for rel, x := range after {
		old, both := before[rel]
		switch {
		case !both:
			d.Added = append(d.Added, rel)
		case x != old || x.kind.incomplete() || x.kind == HardLink:
			d.Changed = append(d.Changed, rel)
		case x.kind == File && !d.sameBytes(rootA, rootB, rel):
			d.Changed = append(d.Changed, rel)
		}
	}
	for rel := range before {
		if _, both := after[rel]; !both {
			d.Deleted = append(d.Deleted, rel)
		}
	}
	slices.Sort(d.Added)
	slices.Sort(d.Changed)
	slices.Sort(d.Deleted)
	return d, nil
}

func (d *Difference) scan(dir string, opts Options) (map[string]seen, error) {
	all := map[string]seen{}
	w := walker{Options: opts}
	w.enter = func(string) error { return nil }
	w.leave = func(string) error { return nil }
	w.file = func(rel string, info fs.FileInfo, _ func() (*os.File, error)) (int64, error) {
		all[rel] = seen{kind: File, exec: executable(info.Mode()), size: info.Size()}
		return info.Size(), nil
	}
	w.skip = func(e Entry, root *os.Root, name string, info fs.FileInfo) error {
		d.Incomplete = d.Incomplete || e.Kind.incomplete()
		s := seen{kind: e.Kind}
		if e.Kind == Symlink && root != nil {
			s.link, _ = root.Readlink(name)
		}
		all[e.Path] = s
		return nil
	}
	return all, w.walk(dir)
}

// sameBytes compares one file of both trees, of equal size when last looked at.
func (d *Difference) sameBytes(a, b *os.Root, rel string) bool {
	fa, errA := openIn(a, rel, false)
	if errA == nil {
		defer fa.Close()
	}
	fb, errB := openIn(b, rel, false)
	if errB == nil {
		defer fb.Close()
	}
	if errA != nil || errB != nil {
		d.Incomplete = true
		return false
	}
	return sameReaders(fa, fb)
}

func sameReaders(a, b io.Reader) bool {
	bufA, bufB := make([]byte, 32<<10), make([]byte, 32<<10)
	for {
		n, errA := io.ReadFull(a, bufA)
		m, errB := io.ReadFull(b, bufB)
		if !bytes.Equal(bufA[:n], bufB[:m]) {
			return false
		}
		if errA != nil || errB != nil {
			return (errA == io.EOF || errA == io.ErrUnexpectedEOF) && (errB == io.EOF || errB == io.ErrUnexpectedEOF)
		}
	}
}
