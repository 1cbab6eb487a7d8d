package report

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/proctor-evals/proctor/internal/treecopy"
)

// What a submission's differences may put on the page.
const (
	mostFiles    = 200       // files of one trial
	mostFile     = 512 << 10 // bytes of a file that is compared line by line
	mostFileDiff = 24 << 10  // bytes shown of one file's differences
)

// changes compares a submission with its starter, file by file. Both are read guarded; the submission is
// a trial's.
func changes(starter, dir string, b *budget) pageChanges {
	var out pageChanges
	submission := filepath.Join(dir, "submission")
	d, err := treecopy.Diff(starter, submission, treecopy.Options{
		Untrusted: true,
		Limits:    treecopy.Limits{Bytes: 256 << 20, Entries: 20_000},
		Ignore:    func(rel string) bool { return rel == "target" || rel == ".git" },
	})
	if err != nil {
		out.Notes = append(out.Notes, "The submission cannot be compared with the starter: "+Clean(err.Error()))
		return out
	}
	if d.Incomplete {
		out.Notes = append(out.Notes, "Part of the submission could not be compared: a limit, a permission, or a special file.")
	}
	all := len(d.Added) + len(d.Changed) + len(d.Deleted)
	if all == 0 {
		out.Notes = append(out.Notes, "The submission is the starter, unchanged.")
	}
	for _, group := range []struct {
		status string
		paths  []string
	}{{"changed", d.Changed}, {"added", d.Added}, {"deleted", d.Deleted}} {
		for _, rel := range group.paths {
			if len(out.Files) == mostFiles || b.left <= 0 {
				out.Notes = append(out.Notes, fmt.Sprintf("%d more files differ; they are in the trial's folder.", all-len(out.Files)))
				return out
			}
			out.Files = append(out.Files, fileDiff(starter, submission, rel, group.status, b))
		}
	}
	return out
}

func fileDiff(starter, submission, rel, status string, b *budget) pageFile {
	f := pageFile{Path: Clean(rel), Status: status}
	b.left -= len(f.Path) + 100
	var before, after []byte
	var more bool
	var err error
	if status != "added" {
		before, more, err = treecopy.ReadSource(starter, rel, mostFile)
	}
	if status != "deleted" && err == nil && !more {
		after, more, err = treecopy.ReadFile(submission, rel, mostFile)
	}
	switch {
	case err != nil:
		f.Note = "not compared: " + Clean(err.Error())
	case more:
		f.Note = fmt.Sprintf("not compared: larger than %d KiB", mostFile>>10)
	case bytes.IndexByte(before, 0) >= 0 || bytes.IndexByte(after, 0) >= 0:
		f.Note = "not compared: it is no text"
	case bytes.Equal(before, after):
		f.Note = "the same bytes; its kind or its executable bit differs"
	default:
		text := string(diff.Diff("a", before, "b", after))
		// Its three first lines name the files, which the heading does better.
		for range 3 {
			_, text, _ = strings.Cut(text, "\n")
		}
		f.Diff = b.text("", text, mostFileDiff)
	}
	return f
}
