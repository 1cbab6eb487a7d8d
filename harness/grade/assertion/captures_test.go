package assertion

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/suite"
)

// What the four real clients recorded, graded.
func TestRealSessions(t *testing.T) {
	fired, quiet := suite.SkillInvoked{Skill: "alpha-skill"}, suite.SkillNotInvoked{Skill: "alpha-skill"}
	tests := []struct {
		client, capture string
		check           suite.Check
		want            string
	}{
		{"claude", "success", suite.FirstSkill{Skill: "alpha-skill"}, passes},
		{"claude", "success", quiet, fails},
		{"claude", "success", suite.ResponseContains{Pattern: "FINAL-ANSWER"}, passes},
		{"claude", "success", suite.ToolOrder{Names: []string{"Skill", "Write", "Bash"}}, passes},
		{"claude", "success", suite.MaxCost{USD: 0.01}, passes},
		{"claude", "success", suite.NoPermissionErrors{}, passes},
		{"claude", "subagent", fired, passes},
		{"claude", "subagent", suite.ToolNotCalled{Name: "Read"}, fails},
		{"claude", "skill_read", fired, passes},
		{"claude", "skill_bash_cat", fired, passes},
		{"claude", "denied_rule", suite.NoPermissionErrors{}, fails},
		{"claude", "denied_default_mode", suite.NoPermissionErrors{}, fails},
		{"claude", "tools_failed", suite.NoPermissionErrors{}, passes},
		{"claude", "tools_failed", suite.ToolCount{Name: "Write", Exactly: num(1)}, passes},
		{"claude", "tools_failed", quiet, passes},
		{"claude", "sigterm_in_tool", quiet, undecided},
		{"codex", "success", suite.FirstSkill{Skill: "alpha-skill"}, passes},
		{"codex", "success", suite.ToolCalled{Name: "command_execution", Input: map[string]*suite.Regexp{"command": re(t, `SKILL\.md`)}}, passes},
		{"codex", "success", suite.MaxCost{USD: 100}, fails},
		{"copilot", "success", fired, passes},
		{"copilot", "toolmix", suite.FirstSkill{Skill: "nope"}, passes},
		{"copilot", "success", suite.ResponseContains{Pattern: "FINAL-ANSWER"}, passes},
		{"opencode", "success", suite.FirstSkill{Skill: "alpha-skill"}, passes},
		{"opencode", "success", suite.ToolOrder{Names: []string{"bash", "skill"}}, fails},
		{"opencode", "toolmix", suite.SkillNotInvoked{Skill: "beta-skill"}, passes},
	}
	for _, tt := range tests {
		decoder, err := client.LookupDecoder(tt.client)
		require.NoError(t, err)
		base := filepath.Join("../../../testdata/transcripts", tt.client, tt.capture)
		stream, err := os.Open(base + ".stdout.jsonl")
		require.NoError(t, err)
		r := client.Recording{Stream: stream}
		if found, _ := filepath.Glob(base + ".session.*"); len(found) == 1 {
			session, err := os.Open(found[0])
			require.NoError(t, err)
			defer session.Close()
			r.Session = session
		}
		got, err := decoder.Decode(r)
		stream.Close()
		require.NoError(t, err)
		result := one(t, Attempt{Transcript: got, Client: tt.client}, tt.check, Tools{})
		assert.Equal(t, tt.want, outcome(result), "%s/%s %T: %s", tt.client, tt.capture, tt.check, result.Reason)
	}
}
