package harness

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/suite"
)

// What a task asks of Codex and an attempt does not give is told, once each; of other clients' tasks nothing is.
func TestSuiteNotes(t *testing.T) {
	yes := true
	asked := &suite.Task{File: "t.yaml"}
	asked.Harness.CodexCLI = &suite.CodexCLI{Sandbox: "read-only", NetworkAccess: &yes, WritableRoots: []string{"/x"}, PrefixRules: []suite.PrefixRule{{}}}
	plain := &suite.Task{File: "p.yaml"}
	no := false
	plain.Harness.CodexCLI = &suite.CodexCLI{Sandbox: "workspace-write", NetworkAccess: &no}
	unit := func(task *suite.Task, a client.Adapter) *suiteUnit {
		return &suiteUnit{Case: suite.Case{Task: task}, batch: &Batch{adapter: a}}
	}
	r := &SuiteRun{units: []*suiteUnit{unit(asked, client.Codex{}), unit(asked, client.Codex{}), unit(asked, client.Claude{}), unit(plain, client.Codex{})}}
	notes := r.Notes()
	assert.Len(t, notes, 4)
	for i, key := range []string{"sandbox", "network_access", "writable_roots", "prefix_rules"} {
		assert.Contains(t, notes[i], "t.yaml: codex_cli."+key+": ")
	}
}
