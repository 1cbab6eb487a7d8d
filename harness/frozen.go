package harness

import (
	"fmt"

	"github.com/proctor-evals/proctor/harness/task"
)

// unchanged says whether the task's folder, fixtures and plugins still are what the run was planned
// with. A batch compares trials of one content; a trial of another would be counted with them.
func (t *trial) unchanged() error {
	if t.Task.Dir == "" || t.run.rehearsal != "" { // a suite has no such folder, and a visit is not counted
		return nil
	}
	hash, err := task.ContentHash(t.Task)
	if err != nil {
		return fmt.Errorf("the task's files cannot be read any more: %w", err)
	}
	if hash != t.Task.ContentHash {
		return fmt.Errorf("the task's files, a fixture or a plugin changed since the run began (content %.12s, now %.12s): start a new run", t.Task.ContentHash, hash)
	}
	return nil
}

// sameChecks says whether what grading rests on still is what it was when the batch began.
func (t *trial) sameChecks() error {
	hash, err := checksHash(t.Task)
	if err != nil {
		return fmt.Errorf("what grading rests on cannot be read any more: %w", err)
	}
	if hash != t.Batch.checks {
		return fmt.Errorf("the checks, the starter, a fixture or the task's settings changed since the batch began: `proctor grade` grades the submission by what is there now")
	}
	return nil
}
