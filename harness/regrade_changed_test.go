package harness

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
		require.ErrorContains(t, err, "its folder is gone")
		assert.Equal(t, before, k.files(), "nothing is counted")
	})
	t.Run("an outcome by hand", func(t *testing.T) {
		k := newBatch(t)
		rec := k.trial(baseline)
		rec.Outcome = result.Succeeded
		require.NoError(t, result.Write(filepath.Join(k.dir, baseline), result.TrialFile, rec))
		_, err := k.regrade(t.Context(), Regrading{Results: []string{filepath.Join(k.dir, with)}})
		require.ErrorContains(t, err, `its outcome "succeeded" is not what its execution, code and expectations come to ("failed")`)
	})
}
