package harness_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/suite"
)

// TestSuites: this repository's suites with every real client, on the same model scripts. The task is
// compared with what is done without the skill; a trigger ends at the skill, or at the turn's end.
func TestSuites(t *testing.T) {
	if testing.Short() {
		t.Skip("-short keeps to unit tests; this one runs the real tools")
	}
	p, err := suite.Load("..")
	require.NoError(t, err)
	run := func(mode result.RunMode, baseline string, specs ...string) (*harness.SuiteRun, *result.Report) {
		parsed, err := suite.ParseSpecs(specs)
		require.NoError(t, err)
		selected, err := p.Select(parsed, suite.Selection{})
		require.NoError(t, err)
		e, err := harness.OpenForSuites(harness.Options{Results: t.TempDir(), Clients: client.Names()}, p)
		require.NoError(t, err)
		r, err := e.StartSuites(t.Context(), harness.SuiteOptions{
			Project: p, Selected: selected, Specs: specs, Attempts: 1, Parallel: 3, Mode: mode, Baseline: baseline,
		})
		require.NoError(t, err)
		r.Perform(t.Context())
		rep, err := r.Finish(nil)
		require.NoError(t, err)
		return r, rep
	}

	r, rep := run(result.ModeCompare, plan.WithoutSkill, "release-notes::write")
	require.Len(t, rep.Attempts, 2*len(client.Names()))
	for _, a := range rep.Attempts {
		dir := filepath.Join(r.Dir(), filepath.FromSlash(a.Dir))
		rec, err := result.ReadAttempt(dir)
		require.NoError(t, err)
		require.NotNil(t, rec.Metrics.PeakContext)
		assert.Positive(t, *rec.Metrics.PeakContext)
		assert.Equal(t, 0, rec.Metrics.PermissionDenials, a.Client)
		trial, err := result.ReadTrial(dir, r.Dir())
		require.NoError(t, err)
		assert.Equal(t, 0, trial.Gateway.Refused)
		skills, err := filepath.Glob(filepath.Join(dir, result.ArchiveDir, ".*", "skills"))
		require.NoError(t, err)
		assert.Empty(t, skills, "the archive is what the agent made, without what was put there")
		if a.Configuration == plan.WithSkills {
			assert.Equal(t, result.AttemptPass, a.Verdict, "%s: %v", a.Client, a.Assertions)
			assert.Equal(t, []string{"release-notes"}, rec.SkillsStaged)
			assert.True(t, offeredIn(trial, "release-notes"), a.Client)
			continue
		}
		assert.Equal(t, result.AttemptFail, a.Verdict, "%s: %v", a.Client, a.Assertions)
		assert.Empty(t, rec.SkillsStaged)
		assert.False(t, offeredIn(trial, "release-notes"), a.Client)
		assert.Equal(t, "skill_invoked", a.Assertions[0].Type)
		assert.True(t, a.Assertions[0].Pass, "it turns round without the skill")
		assert.FileExists(t, filepath.Join(dir, result.ArchiveDir, "CHANGELOG.md"))
	}
	require.Len(t, rep.Comparisons, len(client.Names()))
	for _, c := range rep.Comparisons {
		require.NotNil(t, c.Comparison, c.NotCompared)
		assert.Equal(t, []string{"skill_invoked"}, c.LeftOut)
		assert.InDelta(t, 1, *c.Comparison.Diff, 1e-9)
		assert.Equal(t, result.CannotTell, c.Comparison.Verdict, "one attempt settles nothing")
	}

	r, rep = run(result.ModeRun, "", "release-notes-fires::fires::1", "release-notes-fires::fires::2")
	require.Len(t, rep.Attempts, 2*len(client.Names()))
	for _, a := range rep.Attempts {
		rec, err := result.ReadAttempt(filepath.Join(r.Dir(), filepath.FromSlash(a.Dir)))
		require.NoError(t, err)
		assert.Equal(t, result.AttemptPass, a.Verdict, "%s %s: %v", a.Client, a.Task, a.Assertions)
		assert.Equal(t, a.Task == "fires-1", rec.Stopped, "%s %s", a.Client, a.Task)
	}
	leftovers, err := os.ReadDir(filepath.Join(r.Dir(), result.ReportsDir))
	require.NoError(t, err)
	assert.Len(t, leftovers, 1)
}

func offeredIn(r *result.Trial, skill string) bool {
	for _, o := range r.Offered {
		if o.Skill == skill {
			return true
		}
	}
	return false
}
