package harness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// edit changes a trial's record by hand.
func (k *kept) edit(name string, change func(*result.Trial)) {
	k.t.Helper()
	rec := k.trial(name)
	change(rec)
	require.NoError(k.t, result.Write(filepath.Join(k.dir, name), result.TrialFile, rec))
}

// ended writes into run.json how each trial ended, as a run does.
func (k *kept) ended() {
	k.t.Helper()
	run, err := result.ReadRun(k.runDir)
	require.NoError(k.t, err)
	for i := range run.Batches[0].Trials {
		p := &run.Batches[0].Trials[i]
		p.Execution = k.trial(p.Name).Execution
	}
	require.NoError(k.t, result.Write(k.runDir, result.RunFile, run))
}

// Records that are in the place of others, or that left the count by another end, are not counted.
func TestRecountRefusesMisplacedRecords(t *testing.T) {
	for name, row := range map[string]struct {
		change func(k *kept)
		want   string
	}{
		"as they were": {func(*kept) {}, ""},
		"the arms exchanged": {func(k *kept) {
			aside := filepath.Join(k.dir, "aside")
			require.NoError(k.t, os.Rename(filepath.Join(k.dir, base1), aside))
			require.NoError(k.t, os.Rename(filepath.Join(k.dir, with1), filepath.Join(k.dir, base1)))
			require.NoError(k.t, os.Rename(aside, filepath.Join(k.dir, with1)))
		}, base1 + ` holds the record of another trial`},
		"a folder that nobody planned": {func(k *kept) {
			require.NoError(k.t, os.CopyFS(filepath.Join(k.dir, "trial-2-"+plan.WithSymposium), os.DirFS(filepath.Join(k.dir, with1))))
		}, "is no trial that its run's run.json planned"},
		"a failure that never started": {func(k *kept) {
			k.edit(base1, func(r *result.Trial) { r.Execution, r.ExecutionCause = result.SetupFailure, "x"; r.Decide() })
		}, `says that it ended as "setup_failure", and its run's run.json says "completed"`},
		"an arm without expectations": {func(k *kept) {
			k.edit(with1, func(r *result.Trial) { r.Configuration.Skills = "none"; r.Decide() })
		}, "says that its configuration is"},
		"without the run's record": {func(k *kept) {
			require.NoError(k.t, os.RemoveAll(k.runDir))
			k.edit(base1, func(r *result.Trial) { r.Mode = plan.WithSymposium })
		}, "holds the record of another trial, trial-1-with-symposium"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKept(t, coded(result.Fail), coded(result.Pass))
			k.leaves(base1, "fail")
			k.leaves(with1, "pass")
			k.ended()
			before := k.benchmark()
			row.change(k)
			_, err := k.regrade(t.Context(), Regrading{Results: []string{k.dir}})
			if row.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, row.want)
			assert.Empty(t, k.calls)
			assert.Equal(t, before, k.benchmark(), "nothing is counted")
		})
	}
}

// A submission that somebody changes cannot be graded with changed checks, nor can its old verdict stand.
func TestRegradeSaysWhyChangedChecksCannotCount(t *testing.T) {
	sealed := func(t *testing.T) *kept {
		k := newKept(t, coded(result.Fail), coded(result.Pass))
		for name, verdict := range map[string]string{base1: "fail", with1: "pass"} {
			k.leaves(name, verdict)
			hash, err := treecopy.Hash(filepath.Join(k.dir, name, "submission"), treecopy.Options{})
			require.NoError(t, err)
			k.edit(name, func(r *result.Trial) { r.Submission.SHA256 = hash })
		}
		return k
	}
	t.Run("before", func(t *testing.T) {
		k := sealed(t)
		k.leaves(base1, "pass")
		k.changeChecks()
		_, err := k.regrade(t.Context(), Regrading{Results: []string{k.dir}})
		require.ErrorContains(t, err, base1+" cannot be graded with the new ones")
		assert.Empty(t, k.calls)
	})
	t.Run("while the others are graded", func(t *testing.T) {
		k := sealed(t)
		before := k.benchmark()
		k.ends = func() { k.leaves(base1, "pass") }
		_, err := k.regrade(t.Context(), Regrading{Results: []string{k.dir}})
		require.ErrorContains(t, err, "its submission changed while the batch was graded")
		assert.Len(t, k.trial(base1).Gradings, 1)
		assert.NoDirExists(t, filepath.Join(k.dir, base1, "grading-2"))
		assert.Equal(t, before, k.benchmark())
	})
	t.Run("the task is another than was read", func(t *testing.T) {
		k := sealed(t)
		file := filepath.Join(k.engine.opts.Evals, "tasks", "tiny", "checks", "late.rs")
		require.NoError(t, os.WriteFile(file, []byte("#[test]\nfn late() {}\n"), 0o644))
		_, err := k.regrade(t.Context(), Regrading{Results: []string{k.dir}})
		require.ErrorContains(t, err, "changed since they were read")
		assert.Empty(t, k.calls)
	})
}

// Who grades a copy of the results changes nothing in the record of what it was copied from.
func TestRegradeOfACopyLeavesTheRunAlone(t *testing.T) {
	k := newKept(t, coded(result.Fail), coded(result.Pass))
	root := k.engine.opts.Evals
	rel, err := filepath.Rel(root, k.dir)
	require.NoError(t, err)
	other := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(other, "results"), os.DirFS(filepath.Join(root, "results"))))
	run, err := os.ReadFile(filepath.Join(k.runDir, result.RunFile))
	require.NoError(t, err)
	original := k.benchmark()
	k.dir = filepath.Join(other, rel)
	k.leaves(base1, "pass")
	k.leaves(with1, "fail")
	_, err = k.regrade(t.Context(), Regrading{Results: []string{k.dir}})
	require.NoError(t, err)
	assert.Equal(t, 1, k.benchmark().Configurations[plan.WithoutSymposium].Succeeded, "the copy is counted")
	after, err := os.ReadFile(filepath.Join(k.runDir, result.RunFile))
	require.NoError(t, err)
	assert.Equal(t, string(run), string(after))
	k.dir = filepath.Join(root, rel)
	assert.Equal(t, original, k.benchmark())

	// Results that were moved still have their run, where it names them.
	require.NoError(t, os.Rename(filepath.Join(root, "results"), filepath.Join(root, "moved")))
	assert.Equal(t, k.runDir, k.engine.runOf(filepath.Join(root, strings.Replace(rel, "results", "moved", 1))))
}

// A trial that came to its end is not tried again by who deletes or changes its record.
func TestResumeRefusesChangedResults(t *testing.T) {
	const first = "trial-1-without-symposium"
	edit := func(x *deaths, change func(*result.Trial)) {
		rec, err := result.ReadTrial(filepath.Join(x.batch, first), "")
		require.NoError(x.t, err)
		change(rec)
		require.NoError(x.t, result.Write(filepath.Join(x.batch, first), result.TrialFile, rec))
	}
	for name, row := range map[string]struct {
		change func(x *deaths)
		want   string
	}{
		"as they were": {func(*deaths) {}, ""},
		"deleted":      {func(x *deaths) { require.NoError(x.t, os.RemoveAll(filepath.Join(x.batch, first))) }, "a trial is not run a second time"},
		"cancelled by hand": {func(x *deaths) {
			edit(x, func(r *result.Trial) { r.Execution = result.Cancelled; r.Decide() })
		}, `says that it ended as "cancelled"`},
		"another's":       {func(x *deaths) { edit(x, func(r *result.Trial) { r.Round, r.Trial = 2, 2 }) }, "holds the record of another trial"},
		"another outcome": {func(x *deaths) { edit(x, func(r *result.Trial) { r.Outcome = result.Failed }) }, "somebody changed the record"},
	} {
		t.Run(name, func(t *testing.T) {
			x := newDeaths(t)
			require.False(t, x.runner(7)) // in the second trial, the first is in the plan as finished
			row.change(x)
			before := files(t, x.engine.opts.Evals)
			_, err := x.engine.takeUpWith(x.bare(), x.dir)
			if row.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, row.want)
			assert.Equal(t, before, files(t, x.engine.opts.Evals), "a refusal changes nothing")
		})
	}
}
