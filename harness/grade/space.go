package grade

import (
	"io/fs"
	"path/filepath"
)

// leastFree is what must be free for a step to start, in bytes. Without it, a failed build says
// nothing of the code.
const leastFree = 16 << 20

// nearlyFull is the free space, in bytes, below which programs have met "no space left on device".
const nearlyFull = 1 << 20

// diskFull decides, after a step that failed, whether the disk ran full by something other than what
// the step itself wrote: then the failure is the machine's. before is what was free at its start.
func (g *grading) diskFull(c *gradingCopy, before int64) bool {
	after, err := freeSpace(c.dir)
	return err == nil && filledByOthers(before, after, treeSize(c.dir))
}

// filledByOthers is diskFull's rule: little is left, and the copy holds too little to be the cause.
func filledByOthers(before, after, own int64) bool { return after < nearlyFull && own < before/2 }

// treeSize adds up the sizes of the regular files in a folder whose processes are dead. What cannot
// be read counts nothing.
func treeSize(dir string) int64 {
	var sum int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}
