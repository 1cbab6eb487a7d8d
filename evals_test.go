package evals_test

import (
	"testing"

	"github.com/proctor-evals/proctor/harness/evaltest"
)

// TestEval runs the exams of this repository: TestEval/<task>/<trial>.
func TestEval(t *testing.T) { evaltest.Run(t) }

// TestTasks checks the tasks themselves, as `proctor check` does: TestTasks/<task>.
func TestTasks(t *testing.T) { evaltest.Tasks(t) }
