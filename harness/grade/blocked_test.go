package grade

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/task"
)

// TestBlocked: nothing is graded beside processes that could not be killed, and it is nobody's failure.
func TestBlocked(t *testing.T) {
	c := Code(t.Context(), Input{
		Task: &task.Task{Checks: []task.Check{{Name: "a"}}}, Blocked: errors.New("processes [7] could not be killed"), Out: t.TempDir(),
		OnStep: func(name string) { t.Error("a step began:", name) },
	})
	assert.Equal(t, "processes [7] could not be killed", c.InfrastructureError)
	assert.Equal(t, result.Skipped, c.Build)
	assert.Equal(t, map[string]result.Verdict{"a": result.Skipped}, c.Hidden)
	assert.NotEqual(t, result.Pass, c.Overall)
	assert.NotEqual(t, result.Fail, c.Overall)
}
