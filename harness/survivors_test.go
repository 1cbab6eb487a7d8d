package harness

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/sandbox"
	"github.com/proctor-evals/proctor/harness/task"
	"github.com/proctor-evals/proctor/harness/transcript"
)

func ended(e sandbox.Ended) *trial {
	t := &trial{
		Batch: &Batch{Task: &task.Task{Deadlines: task.Deadlines{Agent: time.Minute}}}, rec: &result.Trial{}, transcript: &transcript.Transcript{},
	}
	t.decideExecution(e)
	return t
}

// TestSurvivorsBlockGrading: the trial keeps the outcome it has, and what could not be killed is told
// and keeps anything from being graded beside it.
func TestSurvivorsBlockGrading(t *testing.T) {
	tr := ended(sandbox.Ended{Started: true, Cause: errAgentDeadline, Survivors: []int{7, 8}})
	assert.Equal(t, result.TimedOut, tr.rec.Execution)
	assert.Equal(t, []result.Finding{{Kind: "processes_survived", Detail: "processes [7 8] were still there after the kill"}}, tr.rec.Findings)
	assert.ErrorContains(t, tr.survived, "processes [7 8]")

	tr = ended(sandbox.Ended{Started: true, Cause: errAgentDeadline})
	assert.Equal(t, result.TimedOut, tr.rec.Execution)
	assert.Empty(t, tr.rec.Findings)
	assert.NoError(t, tr.survived)
}

func TestLimitsHaveCausesOfTheirOwn(t *testing.T) {
	for cause, limit := range map[string]error{
		"disk_limit": sandbox.ErrDiskLimit, "file_limit": sandbox.ErrFileLimit, "process_limit": sandbox.ErrProcessLimit, "memory_limit": sandbox.ErrMemoryLimit,
	} {
		tr := ended(sandbox.Ended{Started: true, Cause: fmt.Errorf("%w: more than 3", limit)})
		assert.Equal(t, result.ClientError, tr.rec.Execution)
		assert.Equal(t, cause, tr.rec.ExecutionCause)
		assert.Equal(t, []result.Finding{{Kind: "client_error", Detail: limit.Error() + ": more than 3"}}, tr.rec.Findings)
	}
}
