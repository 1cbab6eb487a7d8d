package evals_test

import (
	"testing"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/evaltest"
)

// TestEval runs the exams of this repository: TestEval/<task>/<trial>.
func TestEval(t *testing.T) { evaltest.Run(t) }

// TestTasks checks every task file, without running anything.
func TestTasks(t *testing.T) {
	e, err := harness.Open(harness.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range e.Tasks() {
		t.Run(task.Name, func(t *testing.T) { t.Logf("%s, content %s", task.Kind, task.ContentHash) })
	}
}
