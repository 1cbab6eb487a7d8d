// Package treecopy copies, hashes, compares, reads and removes directory trees
// on [os.Root], for the runner: trusted sources (the evals root, staged tools)
// and untrusted ones (whatever a trial left behind).
//
// Invariants, for both levels of trust:
//
//   - Only regular files and directories are copied, hashed or read. Symbolic
//     links are never followed, in no component of a path below the tree's own
//     folder; the tree's own folder is the caller's and is opened by name.
//   - Every entry is looked at (lstat) before it is opened, opened without
//     following links and without blocking, and compared with what was looked at
//     afterwards, so a link, a FIFO or another file that is swapped in between
//     is noticed and reported, not read.
//   - Work is bounded by [Limits]: bytes, entries, depth, path length.
//
// A trusted tree with anything else in it is an error that names every such
// entry. An untrusted tree never makes [Copy] fail: what cannot be copied is
// listed in [Report.Skipped]. A Go error then means that the runner's own side
// broke, for example a full disk.
//
// Nothing here looks at owners, access control lists or extended attributes.
package treecopy

import (
	"fmt"
	"io/fs"
	"strings"
)

// Kind says what an entry of a tree is, or why it was left out.
type Kind string

// The kinds. The first two are what a tree may hold; the others are reasons.
const (
	File      Kind = "file"
	Directory Kind = "directory"

	Symlink Kind = "symlink"
	FIFO    Kind = "fifo"
	Socket  Kind = "socket"
	Device  Kind = "device"
	// Irregular is any other special file.
	Irregular Kind = "irregular"
	// HardLink is a regular file with more than one name, in an untrusted tree:
	// its other name may be a file outside the tree.
	HardLink Kind = "hardlink"
	// SetID is a regular file with the set-user-ID or set-group-ID bit, in an untrusted tree.
	SetID Kind = "setid"
	// Mount is a directory on another device than the tree, in an untrusted tree.
	Mount Kind = "mount"
	// Unreadable is an entry the runner may not open, even after a chmod.
	Unreadable Kind = "unreadable"
	// Changed is an entry that became something else while it was being read.
	Changed Kind = "changed"

	// TooLarge is a file that does not fit into what is left of [Limits.Bytes].
	TooLarge Kind = "toolarge"
	// TooLong is an entry whose path is longer than [Limits.PathBytes].
	TooLong Kind = "toolong"
	// TooDeep is a directory below [Limits.Depth].
	TooDeep Kind = "toodeep"
	// TooMany is a directory whose listing was cut short by [Limits.Entries].
	TooMany Kind = "toomany"
)

// phrases are the kinds in a sentence, after "is".
var phrases = map[Kind]string{
	File: "a regular file", Directory: "a directory", Symlink: "a symbolic link", FIFO: "a FIFO", Socket: "a socket",
	Device: "a device", Irregular: "a special file", HardLink: "a file with more than one hard link", SetID: "a file with the set-user-ID or set-group-ID bit", Mount: "on another file system",
	Unreadable: "not readable", Changed: "changing while it is read", TooLarge: "too large", TooLong: "too long a path",
	TooDeep: "nested too deeply", TooMany: "a directory with too many entries",
}

// String is the kind as it stands in records.
func (k Kind) String() string { return string(k) }

// Phrase is the kind as the end of a sentence: "a symbolic link".
func (k Kind) Phrase() string {
	if p, ok := phrases[k]; ok {
		return p
	}
	return string(k)
}

// incomplete reports whether the kind means that some of the tree was not seen.
func (k Kind) incomplete() bool {
	switch k {
	case TooLarge, TooLong, TooDeep, TooMany, Unreadable, Changed, Mount:
		return true
	}
	return false
}

// kindOf is the kind of a file's type bits.
func kindOf(mode fs.FileMode) Kind {
	switch {
	case mode.IsRegular():
		return File
	case mode.IsDir():
		return Directory
	case mode&fs.ModeSymlink != 0:
		return Symlink
	case mode&fs.ModeNamedPipe != 0:
		return FIFO
	case mode&fs.ModeSocket != 0:
		return Socket
	case mode&fs.ModeDevice != 0:
		return Device
	}
	return Irregular
}

// Entry is one entry of a tree. Path is relative to the tree, with slashes, "."
// for the tree itself. It is raw: a trial may have put any byte but NUL into it,
// so print it with %q.
type Entry struct {
	Path string `json:"path"`
	Kind Kind   `json:"kind"`
}

// EntryError is a path that could not be read for what it is.
type EntryError struct {
	Path string
	Kind Kind
	Err  error // the cause, or nil
}

func (e *EntryError) Error() string {
	s := fmt.Sprintf("%q is %s", e.Path, e.Kind.Phrase())
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *EntryError) Unwrap() error { return e.Err }

// TreeError lists what a trusted tree must not hold.
type TreeError struct {
	Dir     string
	Entries []Entry
}

func (e *TreeError) Error() string {
	const most = 10
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", e.Dir)
	for i, x := range e.Entries {
		if i == most {
			fmt.Fprintf(&b, "; and %d more", len(e.Entries)-most)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%q is %s", x.Path, x.Kind.Phrase())
	}
	b.WriteString("; only readable regular files and directories within the limits can be used here: remove or replace them")
	return b.String()
}

// Limits bound the work done on one tree. A zero field means its default.
type Limits struct {
	Bytes     int64 // sum of file sizes; default 2 GiB
	Entries   int   // files, directories and everything else; default 100 000
	Depth     int   // directories below each other; default 64
	PathBytes int   // length of a path relative to the tree; default 1024
}

func (l Limits) orDefaults() Limits {
	if l.Bytes == 0 {
		l.Bytes = 2 << 30
	}
	if l.Entries == 0 {
		l.Entries = 100_000
	}
	if l.Depth == 0 {
		l.Depth = 64
	}
	if l.PathBytes == 0 {
		l.PathBytes = 1024
	}
	return l
}

// Options say how a tree is read. The zero value is a trusted tree, all of it,
// within the default limits.
type Options struct {
	// Untrusted trees were written by a trial. Hard links, set-ID bits and other
	// file systems are refused in them.
	Untrusted bool
	// Ignore leaves out an entry and, of a directory, all below it. Left-out
	// entries are not reported and do not count. Nil leaves out nothing.
	Ignore func(rel string) bool
	Limits Limits
}
