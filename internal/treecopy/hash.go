package treecopy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// hashHeader begins what is hashed; its number changes with the format.
const hashHeader = "proctor tree 1\x00"

func compare(a, b string) int { return strings.Compare(a, b) }

// Hash is the SHA-256, in lower-case hex, of a tree's content: paths, types,
// executable bits, sizes and bytes. It does not depend on times, owners, other
// mode bits, the order of directory entries or the tree's own name.
//
// What is hashed is "proctor tree 1" and a NUL, then one record for each entry
// below dir, in the byte order of the whole slash-separated paths:
//
//	d - 0 - PATH NUL                  a directory
//	f X SIZE SHA256 PATH NUL          a regular file
//
// with one space between fields, X the letter x for a file its owner may execute
// and - otherwise, SIZE in decimal, and SHA256 the lower-case hex digest of the
// file's bytes. For a tree whose files are not executable, this is the same:
//
//	( printf 'proctor tree 1\0'
//	  find . -mindepth 1 -printf '%P\n' | LC_ALL=C sort | while read -r p; do
//	    if [ -d "$p" ]; then printf 'd - 0 - %s\0' "$p"
//	    else printf 'f - %s %s %s\0' "$(stat -c %s "$p")" "$(sha256sum <"$p" | cut -c-64)" "$p"; fi
//	  done ) | sha256sum
//
// A tree with anything but readable regular files and directories, or beyond the
// limits, has no hash: the error is a [*TreeError].
func Hash(dir string, opts Options) (string, error) {
	type record struct{ path, text string }
	var records []record
	w := walker{Options: opts}
	w.enter = func(rel string) error {
		if rel != "." {
			records = append(records, record{rel, "d - 0 - " + rel})
		}
		return nil
	}
	w.leave = func(string) error { return nil }
	w.file = func(rel string, info fs.FileInfo, open func() (*os.File, error)) (int64, error) {
		f, err := open()
		if err != nil {
			return 0, err
		}
		defer f.Close()
		sum := sha256.New()
		n, err := copyBytes(sum, f, rel, info.Size())
		if err != nil {
			return n, err
		}
		x := "-"
		if executable(info.Mode()) {
			x = "x"
		}
		records = append(records, record{rel, fmt.Sprintf("f %s %d %x %s", x, n, sum.Sum(nil), rel)})
		return n, nil
	}
	if err := w.walk(dir); err != nil {
		return "", fmt.Errorf("hash: %w", err)
	}
	if len(w.skipped) > 0 {
		return "", &TreeError{Dir: dir, Entries: w.skipped}
	}
	slices.SortFunc(records, func(a, b record) int { return compare(a.path, b.path) })
	sum := sha256.New()
	sum.Write([]byte(hashHeader))
	for _, r := range records {
		sum.Write([]byte(r.text))
		sum.Write([]byte{0})
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
