package treecopy

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
)

// visitor is what a walk does with what it finds. Entries come in the order of
// their names within each directory.
type visitor struct {
	// enter and leave surround the entries of an opened directory; "." is first.
	enter func(rel string) error
	leave func(rel string) error
	// file is one regular file, not yet open. It returns the bytes it used. An
	// *EntryError it returns is recorded as skipped; other errors end the walk.
	file func(rel string, info fs.FileInfo, open func() (*os.File, error)) (int64, error)
}

type walker struct {
	Options
	visitor
	widen   bool // chmod what cannot be read
	dev     uint64
	entries int
	bytes   int64
	skipped []Entry
	// skip, when set, sees what lstat said of a skipped entry; info may be nil.
	skip func(e Entry, root *os.Root, name string, info fs.FileInfo) error
}

// walk goes through the tree at dir. A directory that is missing is an error,
// one that is something else is skipped as ".".
func (w *walker) walk(dir string) error {
	w.Limits = w.Limits.orDefaults()
	root, info, done, err := openTree(dir, w.widen)
	var entry *EntryError
	if errors.As(err, &entry) {
		return w.leaveOut(Entry{".", entry.Kind}, nil, "", info)
	}
	if err != nil {
		return err
	}
	defer done()
	w.dev = device(info)
	return w.dir(root, ".", 0)
}

func (w *walker) leaveOut(e Entry, root *os.Root, name string, info fs.FileInfo) error {
	w.skipped = append(w.skipped, e)
	if w.skip != nil {
		return w.skip(e, root, name, info)
	}
	return nil
}

func (w *walker) dir(root *os.Root, rel string, depth int) error {
	if err := w.enter(rel); err != nil {
		return err
	}
	names, cut := w.list(root, rel)
	if cut != "" {
		if err := w.leaveOut(Entry{rel, cut}, nil, "", nil); err != nil {
			return err
		}
	}
	for _, name := range names {
		if err := w.entry(root, name, path.Join(rel, name), depth); err != nil {
			return err
		}
	}
	return w.leave(rel)
}

// list reads the names in a directory, sorted, in bounded memory. The kind says
// why the list is not whole, "" when it is.
func (w *walker) list(root *os.Root, rel string) (names []string, cut Kind) {
	defer func() { slices.Sort(names) }()
	d, err := root.Open(".")
	if err != nil {
		return nil, Unreadable
	}
	defer d.Close()
	for {
		batch, err := d.Readdirnames(512)
		for _, name := range batch {
			if w.Ignore != nil && w.Ignore(path.Join(rel, name)) {
				continue
			}
			if w.entries >= w.Limits.Entries {
				return names, TooMany
			}
			w.entries++
			names = append(names, name)
		}
		if err == io.EOF {
			return names, ""
		}
		if err != nil {
			return names, Unreadable
		}
	}
}

func (w *walker) entry(root *os.Root, name, rel string, depth int) error {
	info, err := root.Lstat(name)
	if err != nil {
		return w.recordIfEntry(openFailure(rel, err), nil, "", nil)
	}
	kind := kindOf(info.Mode())
	switch {
	case len(rel) > w.Limits.PathBytes:
		return w.leaveOut(Entry{rel, TooLong}, root, name, info)
	case kind == File:
		return w.regular(root, name, rel, info)
	case kind != Directory:
		return w.leaveOut(Entry{rel, kind}, root, name, info)
	case depth >= w.Limits.Depth:
		return w.leaveOut(Entry{rel, TooDeep}, root, name, info)
	case w.Untrusted && device(info) != w.dev:
		// Files are not compared: on overlayfs they may carry the device number of
		// a lower layer, directories never do.
		return w.leaveOut(Entry{rel, Mount}, root, name, info)
	}
	sub, restore, err := openDir(root, name, rel, info, w.widen)
	defer restore()
	if err != nil {
		return w.recordIfEntry(err, root, name, info)
	}
	defer sub.Close()
	return w.dir(sub, rel, depth+1)
}

func (w *walker) regular(root *os.Root, name, rel string, info fs.FileInfo) error {
	if w.Untrusted && links(info) > 1 {
		return w.leaveOut(Entry{rel, HardLink}, root, name, info)
	}
	if w.Untrusted && info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
		return w.leaveOut(Entry{rel, SetID}, root, name, info)
	}
	if info.Size() > w.Limits.Bytes-w.bytes {
		return w.leaveOut(Entry{rel, TooLarge}, root, name, info)
	}
	n, err := w.file(rel, info, func() (*os.File, error) {
		return openFile(root, name, rel, info, w.widen)
	})
	w.bytes += n
	return w.recordIfEntry(err, root, name, info)
}

// recordIfEntry turns what is wrong with an entry into a skipped entry.
func (w *walker) recordIfEntry(err error, root *os.Root, name string, info fs.FileInfo) error {
	var entry *EntryError
	if errors.As(err, &entry) {
		return w.leaveOut(Entry{entry.Path, entry.Kind}, root, name, info)
	}
	return err
}

// List returns all entries of the tree at dir but dir itself, sorted by path,
// without opening files: good and bad ones alike, each with its kind. It fails
// when dir is missing or the tree does not fit into the limits.
func List(dir string, opts Options) ([]Entry, error) {
	var all []Entry
	w := walker{Options: opts}
	w.enter = func(rel string) error {
		if rel != "." {
			all = append(all, Entry{rel, Directory})
		}
		return nil
	}
	w.leave = func(string) error { return nil }
	w.file = func(rel string, info fs.FileInfo, _ func() (*os.File, error)) (int64, error) {
		all = append(all, Entry{rel, File})
		return info.Size(), nil
	}
	if err := w.walk(dir); err != nil {
		return nil, err
	}
	for _, e := range w.skipped {
		if e.Path == "." || e.Kind == TooMany {
			return nil, &TreeError{Dir: dir, Entries: w.skipped}
		}
	}
	all = append(all, w.skipped...)
	slices.SortFunc(all, func(a, b Entry) int { return compare(a.Path, b.Path) })
	return all, nil
}
