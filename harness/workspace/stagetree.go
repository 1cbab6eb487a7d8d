package workspace

import (
	"fmt"
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
