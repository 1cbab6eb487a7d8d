package harness

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// Results that somebody changed by hand do not get into a count: another's submission in the place of
// the kept one, a trial that is gone, an outcome that its own record does not come to.
func TestChangedResultsAreNotCounted(t *testing.T) {
	const baseline, with = "trial-1-without-symposium", "trial-1-with-symposium"
	newBatch := func(t *testing.T) *kept {
		k := newKept(t, coded(result.Fail), coded(result.Pass))
		for _, name := range []string{baseline, with} {
			k.leaves(name, map[string]string{baseline: "fail", with: "pass"}[name])
			rec := k.trial(name)
			hash, err := treecopy.Hash(filepath.Join(k.dir, name, "submission"), treecopy.Options{})
			require.NoError(t, err)
			rec.Submission.SHA256 = hash
			require.NoError(t, result.Write(filepath.Join(k.dir, name), result.TrialFile, rec))
		}
		return k
	}
	t.Run("as it was left", func(t *testing.T) {
		k := newBatch(t)
		_, err := k.regrade(t.Context(), Regrading{Results: []string{k.dir}})
		require.NoError(t, err)
		assert.Len(t, k.calls, 2)
		assert.Equal(t, 0, k.benchmark().Configurations["without-symposium"].Succeeded)
	})
	t.Run("another's submission", func(t *testing.T) {
		k := newBatch(t)
		k.leaves(baseline, "pass")
		out, err := k.regrade(t.Context(), Regrading{Results: []string{k.dir}})
		require.NoError(t, err)
		assert.Equal(t, []string{with}, k.calls)
		assert.Equal(t, 0, k.benchmark().Configurations["without-symposium"].Succeeded)
		var why []string
		for _, line := range out[0].Trials {
			why = append(why, line.NotGraded)
		}
		assert.Contains(t, why, "its submission is no longer what the trial left: somebody changed the results; the grading it has stands")
	})
	t.Run("a trial is gone", func(t *testing.T) {
		k := newBatch(t)
		before := k.files()
		delete(before, filepath.Join(k.dir, baseline, result.TrialFile))
		require.NoError(t, os.RemoveAll(filepath.Join(k.dir, baseline)))
		_, err := k.regrade(t.Context(), Regrading{Results: []string{filepath.Join(k.dir, with)}})
		require.ErrorContains(t, err, baseline)
		require.ErrorContains(t, err, "finished by its run's run.json")
		assert.Equal(t, before, k.files(), "nothing is counted")
	})
	t.Run("an outcome by hand", func(t *testing.T) {
		k := newBatch(t)
		rec := k.trial(baseline)
		rec.Outcome = result.Succeeded
		require.NoError(t, result.Write(filepath.Join(k.dir, baseline), result.TrialFile, rec))
		_, err := k.regrade(t.Context(), Regrading{Results: []string{filepath.Join(k.dir, with)}})
		require.ErrorContains(t, err, `says outcome "succeeded" with success "fail", and its execution, code and expectations come to outcome "failed"`)
	})
}

// A trial that finished and is not there any more is not one that its runner lost.
func TestRecountRefusesADeletedTrial(t *testing.T) {
	for name, remove := range map[string]func(dir string) error{
		"the folder": os.RemoveAll,
		"the record": func(dir string) error { return os.Remove(filepath.Join(dir, result.TrialFile)) },
	} {
		t.Run(name, func(t *testing.T) {
			k := newKept(t, coded(result.Fail), coded(result.Pass), coded(result.Fail), coded(result.Fail))
			for _, trial := range []string{base1, with1, base2, with2} {
				k.leaves(trial, "fail")
			}
			before := k.benchmark()
			require.NoError(t, remove(filepath.Join(k.dir, with2)))
			_, err := k.regrade(t.Context(), Regrading{Results: []string{filepath.Join(k.dir, base1)}})
			require.ErrorContains(t, err, filepath.Join(k.dir, with2)+" finished by its run's run.json")
			assert.Empty(t, k.calls)
			assert.Equal(t, before, k.benchmark(), "no count without it")
		})
	}
	t.Run("a record that is no record", func(t *testing.T) {
		k := newKept(t, coded(result.Fail), coded(result.Pass))
		require.NoError(t, os.WriteFile(filepath.Join(k.dir, with1, result.TrialFile), []byte("{"), 0o644))
		_, err := k.regrade(t.Context(), Regrading{Results: []string{k.dir}})
		require.ErrorContains(t, err, with1)
	})
	t.Run("lost with its runner, twice counted", func(t *testing.T) {
		k := newKept(t, coded(result.Fail), coded(result.Pass))
		k.leaves(base1, "fail")
		require.NoError(t, os.RemoveAll(filepath.Join(k.dir, with1)))
		run, err := result.ReadRun(k.runDir)
		require.NoError(t, err)
		run.State, run.Batches[0].Trials[1].State = result.Started, result.Planned
		require.NoError(t, result.Write(k.runDir, result.RunFile, run))
		for range 2 { // the first count writes into run.json that it was lost
			_, err = k.regrade(t.Context(), Regrading{Results: []string{k.dir}})
			require.NoError(t, err)
		}
		assert.Equal(t, 1, k.benchmark().Configurations[plan.WithSymposium].Cancelled)
	})
}

// Whoever grades with other checks until a verdict comes looks again each time.
func TestRegradeWithChangedChecksIsALook(t *testing.T) {
	k := newKept(t, coded(result.Fail), coded(result.Pass))
	k.leaves(base1, "fail")
	k.leaves(with1, "fail")
	look := k.benchmark().Look
	_, err := k.regrade(t.Context(), Regrading{Results: []string{k.dir}})
	require.NoError(t, err)
	assert.Equal(t, []int{look, 0}, []int{k.benchmark().Look, k.benchmark().ChecksChanged}, "the same checks are no look")
	k.changeChecks()
	_, err = k.regrade(t.Context(), Regrading{Results: []string{k.dir}})
	require.NoError(t, err)
	assert.Equal(t, []int{look + 1, 1}, []int{k.benchmark().Look, k.benchmark().ChecksChanged})
	assert.Equal(t, 3, looked([]*result.Benchmark{k.benchmark(), {}}), "nor is it forgotten by the next batch")
}

// The hash of a grading is that of the checks it used. One that is added meanwhile is in neither.
func TestRegradeOfATaskThatChangesMeanwhile(t *testing.T) {
	k := newKept(t, coded(result.Fail), coded(result.Pass))
	k.leaves(base1, "fail")
	k.leaves(with1, "pass")
	added := filepath.Join(k.engine.opts.Evals, "tasks", "tiny", "checks", "late.rs")
	before, hash := k.benchmark(), k.hash()
	k.ends = func() { require.NoError(t, os.WriteFile(added, []byte("#[test]\nfn late() {}\n"), 0o644)) }
	_, err := k.regrade(t.Context(), Regrading{Results: []string{k.dir}})
	require.ErrorContains(t, err, "its new grading is thrown away")
	assert.Equal(t, before, k.benchmark())
	for _, name := range []string{base1, with1} {
		assert.Len(t, k.trial(name).Gradings, 1)
		assert.NoDirExists(t, filepath.Join(k.dir, name, "grading-2"))
	}
	require.NoError(t, os.Remove(added))
	k.ends = nil
	_, err = k.regrade(t.Context(), Regrading{Results: []string{k.dir}})
	require.NoError(t, err)
	assert.Equal(t, hash, *k.benchmark().ChecksHash)
}
