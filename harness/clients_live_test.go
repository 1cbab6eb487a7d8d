package harness_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/transcript"
)

// runExam runs store-durability with the given options, the batches side by side, and returns every
// trial's record as a reader finds it on disk: by client, then by trial.
func runExam(t *testing.T, opts harness.Options) map[string]map[string]*result.Trial {
	t.Helper()
	if testing.Short() {
		t.Skip("-short keeps to unit tests; this one runs the real tools")
	}
	opts.Evals, opts.Results, opts.Trials = "..", t.TempDir(), 1
	e, err := harness.Open(opts)
	require.NoError(t, err)
	tasks, err := e.Task("store-durability")
	require.NoError(t, err)
	run, err := e.Start(t.Context(), tasks)
	require.NoError(t, err)
	all := map[string]map[string]*result.Trial{}
	// This returns when all batches have ended.
	t.Run("batches", func(t *testing.T) {
		for _, b := range run.Batches() {
			trials := map[string]*result.Trial{}
			all[b.Client()] = trials
			t.Run(b.Client(), func(t *testing.T) {
				t.Parallel()
				require.NoError(t, b.Prepare(t.Context()))
				for _, p := range b.Plan() {
					_, err := b.RunTrial(t.Context(), p)
					require.NoError(t, err, p.Name())
				}
				_, err = b.Finish(nil)
				require.NoError(t, err)
				for _, p := range b.Plan() {
					dir := filepath.Join(b.Results(), p.Name())
					trials[p.Name()], err = result.ReadTrial(dir, run.Dir())
					require.NoError(t, err)
					healthy(t, trials[p.Name()], dir)
					tr, err := harness.Transcript(dir, b.Client())
					require.NoError(t, err)
					for _, turn := range tr.Turns {
						for _, call := range turn.ToolCalls {
							assert.Equal(t, transcript.StatusOK, call.Status, "%s %s: %s", call.Name, call.Input, call.Output)
						}
					}
				}
			})
		}
	})
	require.NoError(t, run.Close(nil))
	return all
}

// TestClients: the same exam, from the same model script, with every real client inside the sandbox.
// Claude Code's is TestScriptedOutcomes.
func TestClients(t *testing.T) {
	names := client.Names()[1:]
	require.Equal(t, harness.DefaultClient, client.Names()[0])
	all := runExam(t, harness.Options{Clients: names, Configurations: []string{plan.WithoutSymposium, plan.StagedSkills}})
	for _, name := range names {
		t.Run(name+" outcomes", func(t *testing.T) {
			base, staged := all[name]["trial-1-without-symposium"], all[name]["trial-1-staged-skills"]
			require.NotNil(t, base)
			require.NotNil(t, staged)
			assert.False(t, offered(base), "a baseline is offered nothing, though its agent read a Cargo.toml that names the fixture")
			assert.Equal(t, "not_observed", base.ObservedLoad[skill])
			assert.Equal(t, result.Fail, base.Code.Hidden["settings_persist"])
			assert.Equal(t, result.Failed, base.Outcome)

			assert.True(t, offered(staged))
			assert.Equal(t, "loaded", staged.ObservedLoad[skill])
			assert.Equal(t, result.Pass, staged.Code.Hidden["settings_persist"])
			assert.Equal(t, result.Succeeded, staged.Outcome)

			for _, r := range []*result.Trial{base, staged} {
				assert.Equal(t, name, r.Client.Name)
				assert.Len(t, r.Client.SHA256, 64)
				assert.Empty(t, r.Isolation.ConfigChanges, "what the client writes of its own is no change")
				assert.Empty(t, r.Findings)
				assert.Empty(t, r.StandIns)
				require.NotNil(t, r.Usage.OutputTokens)
				assert.Positive(t, *r.Usage.OutputTokens)
			}
		})
	}
}

// TestCodexWithSymposium pins what the pinned cargo-agents leads to with Codex.
func TestCodexWithSymposium(t *testing.T) {
	all := runExam(t, harness.Options{Clients: []string{"codex"}, Configurations: []string{plan.WithSymposium}})
	r := all["codex"]["trial-1-with-symposium"]
	require.NotNil(t, r)
	if strings.HasPrefix(r.ExecutionCause, "release: ") {
		t.Skip(r.ExecutionCause) // as in TestScriptedOutcomes
	}
	require.NotNil(t, r.Expectations)
	x := r.Expectations
	assert.Equal(t, result.SyncExpectation{SkillDirEmptyBefore: result.Pass, SessionStart: result.Pass, SyncRecorded: result.Pass}, x.Sync, x.Causes)
	require.NotNil(t, x.Skills[skill].Installed)
	assert.Equal(t, result.Pass, *x.Skills[skill].Installed, x.Causes)
	assert.Empty(t, r.Isolation.ConfigChanges)
	// Release 0.5.1 installs the skill during SessionStart, and Codex does not offer it in that session.
	assert.False(t, offered(r))
	require.NotNil(t, x.Skills[skill].Used)
	assert.Equal(t, result.Fail, *x.Skills[skill].Used)
	assert.Equal(t, "not_observed", r.ObservedLoad[skill])
	assert.Equal(t, result.Failed, r.Outcome)
}

// TestClientsRefused: what no run can do is said at once, with what to do.
func TestClientsRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		opts harness.Options
		want []string
	}{
		"with-symposium where it does not exist": {
			harness.Options{Clients: []string{"opencode", "codex", "copilot"}},
			[]string{
				"the client opencode cannot run the configuration with-symposium: Symposium is evaluated with claude and codex; give it others, such as without-symposium,staged-skills",
				"the client copilot cannot run the configuration with-symposium",
			},
		},
		"unknown and twice": {
			harness.Options{Clients: []string{"codex", "clyde", "codex"}},
			[]string{`client "clyde" is not known; known are: claude, codex, opencode, copilot`, `client "codex" is named twice`},
		},
		"one program for two": {
			harness.Options{Clients: []string{"codex", "claude"}, ClientPath: "/bin/true"},
			[]string{"PROCTOR_CLIENT_PATH is one client's program; name that client alone, not codex, claude"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tt.opts.Evals = ".."
			_, err := harness.Open(tt.opts)
			for _, want := range tt.want {
				require.ErrorContains(t, err, want)
			}
			assert.NotContains(t, err.Error(), "client codex cannot")
		})
	}
}
