package harness

import (
	"encoding/json"
	"testing"

	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/transcript"
	"github.com/proctor-evals/proctor/harness/workspace"
	"github.com/proctor-evals/proctor/internal/setup"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAuditOfOwnFolders: what only a Symposium trial is given is its own there, in exploratory mode too,
// where an answered look elsewhere excludes; in a baseline it is elsewhere.
func TestAuditOfOwnFolders(t *testing.T) {
	for path, own := range map[string]bool{
		"/s/b/r/registry/store-guide/SYMPOSIUM.toml": true,
		"/s/b/tools/symposium/cargo-agents":          true,
		"/s/b/other/registry/x":                      false,
	} {
		for configuration, given := range map[string]bool{plan.WithSymposium: true, plan.WithoutSymposium: false} {
			confs, err := plan.Lookup(configuration)
			require.NoError(t, err)
			tr := &trial{
				Batch: &Batch{run: &Run{engine: &Engine{opts: Options{Exploratory: true}}, tools: &setup.Tools{Toolchain: &setup.Toolchain{}}}, space: &workspace.Batch{Dir: "/s/b"}},
				plan:  plan.Trial{Configuration: confs[0]}, rec: &result.Trial{}, space: &workspace.Run{Dir: "/s/b/r", HasRegistry: given},
				transcript: &transcript.Transcript{Turns: []transcript.Turn{{ToolCalls: []transcript.ToolCall{{
					ID: "r", Name: "Read", Input: json.RawMessage(`{"file_path":"` + path + `"}`), Status: transcript.StatusOK,
				}}}}},
			}
			tr.audit()
			assert.Equal(t, own && given, tr.rec.Excluded == nil, "%s in %s: %v", path, configuration, tr.rec.Isolation.AuditFindings)
		}
	}
}
