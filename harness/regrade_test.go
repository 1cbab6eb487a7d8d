package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/task"
	"github.com/proctor-evals/proctor/harness/workspace"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// kept is a batch on disk as a run leaves it, with the tiny task of the scripts.
type kept struct {
	t      *testing.T
	engine *Engine
	dir    string
	runDir string
	calls  []string // what the fake grader graded
	ends   func()   // called by the fake grader after each submission
}

const keptRun, keptID = "20260101-000000-aaaaaaaaaaaa", "20260101-000000-bbbbbbbbbbbb"

// newKept makes a batch of one trial per row, without-symposium and with-symposium in turn.
func newKept(t *testing.T, rows ...func(*result.Trial)) *kept {
	t.Helper()
	root := t.TempDir()
	k := &kept{t: t, dir: filepath.Join(root, "results", "tiny", "claude", keptID), runDir: filepath.Join(root, "runs", keptRun)}
	_, err := treecopy.Copy(filepath.Join(root, "tasks", "tiny"), "../testdata/script/tiny", treecopy.CopyOptions{})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(root, "tasks", "tiny", "task.toml"),
		[]byte("kind = \"capability\"\neditable = [\"src\"]\nmodel_script = \"model.toml\"\nprompt = \"Make answer() return 42.\"\n"), 0o644))
	k.engine = k.open(root)
	hash := k.hash()
	batch := result.Batch{BatchID: keptID, Task: result.Task{Name: "tiny", Kind: "capability", ContentHash: k.engine.tasks[0].ContentHash},
		Client: "claude", Isolation: "enforced", Rounds: (len(rows) + 1) / 2, Results: "results/tiny/claude/" + keptID,
		Configurations: []result.Configuration{{Name: plan.WithoutSymposium, Skills: "none"}, {Name: plan.WithSymposium, Skills: "symposium"}}}
	for i, change := range rows {
		c := batch.Configurations[i%2]
		rec := &result.Trial{
			SchemaVersion: 1, RunID: keptRun, BatchID: keptID, State: result.Finished, Task: batch.Task, Mode: c.Name, Configuration: c,
			Trial: i/2 + 1, Round: i/2 + 1, Order: i%2 + 1, Jobs: 3, Execution: result.Completed, StandIns: []string{"fake-client"},
			Submission: &result.Submission{LeftOut: []treecopy.Entry{}},
		}
		if c.Skills == "symposium" {
			rec.Expectations = &result.Expectations{Sync: result.SyncExpectation{SkillDirEmptyBefore: result.Pass, SessionStart: result.Pass, SyncRecorded: result.Pass}}
		}
		name := fmt.Sprintf("trial-%d-%s", rec.Round, c.Name)
		batch.Trials = append(batch.Trials, result.PlannedTrial{Name: name, Configuration: c.Name, Round: rec.Round, Order: rec.Order, State: result.Finished})
		dir := filepath.Join(k.dir, name)
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "submission"), 0o755))
		change(rec)
		if rec.Code != nil && len(rec.Gradings) == 0 {
			rec.Gradings = []result.Grading{{Folder: "grading", ChecksHash: hash, Reason: "first grading", Counts: true, Code: rec.Code}}
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "grading"), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "grading", "build.stdout"), []byte("old"), 0o644))
		}
		rec.Decide()
		require.NoError(t, result.Write(dir, result.TrialFile, rec))
	}
	require.NoError(t, os.MkdirAll(k.runDir, 0o755))
	require.NoError(t, result.Write(k.runDir, result.RunFile, result.Run{SchemaVersion: 1, RunID: keptRun, State: result.Finished, Batches: []result.Batch{batch}}))
	records, err := readBatch(k.dir, k.runDir)
	require.NoError(t, err)
	_, err = records.recount()
	require.NoError(t, err)
	return k
}

func (k *kept) open(root string) *Engine {
	k.t.Helper()
	e, err := Open(Options{Evals: root, Scratch: filepath.Join(root, "scratch")})
	require.NoError(k.t, err)
	return e
}

func (k *kept) hash() string {
	k.t.Helper()
	hash, err := checksHash(k.engine.tasks[0])
	require.NoError(k.t, err)
	return hash
}

// changeChecks makes the task's checks others.
func (k *kept) changeChecks() {
	k.t.Helper()
	root := k.engine.opts.Evals
	require.NoError(k.t, os.WriteFile(filepath.Join(root, "tasks", "tiny", "checks", "more.rs"), []byte("#[test]\nfn more() {}\n"), 0o644))
	k.engine = k.open(root)
}

// leaves writes what the fake grader will find a submission worth.
func (k *kept) leaves(trial, verdict string) {
	k.t.Helper()
	require.NoError(k.t, os.WriteFile(filepath.Join(k.dir, trial, "submission", "verdict"), []byte(verdict), 0o644))
}

// regrade runs the bookkeeping with a fake grader, which reads its verdict from the submission.
func (k *kept) regrade(ctx context.Context, what Regrading) ([]Regraded, error) {
	k.t.Helper()
	k.calls = nil
	batches, err := k.engine.findResults(what.Results)
	if err != nil {
		return nil, err
	}
	return k.engine.regrade(ctx, batches, what, func() (grader, error) {
		return grader{toolchain: "rustc 1", close: func() {}, grade: func(_ context.Context, _ *task.Task, s *workspace.Submission, out string, _ func(string)) *result.Code {
			k.calls = append(k.calls, filepath.Base(filepath.Dir(s.Dir)))
			require.NoError(k.t, os.MkdirAll(out, 0o755))
			code := &result.Code{Build: result.Pass, CargoTestLib: result.Pass}
			switch verdict, err := os.ReadFile(filepath.Join(s.Dir, "verdict")); {
			case err != nil:
				code.InfrastructureError = err.Error()
			case string(verdict) == "fail":
				code.CargoTestLib = result.Fail
			}
			for _, skipped := range s.Report.Skipped {
				code.InvalidSubmission = append(code.InvalidSubmission, skipped.Path)
			}
			code.Judge()
			if k.ends != nil {
				k.ends()
			}
			return code
		}}, nil
	})
}

func (k *kept) trial(name string) *result.Trial {
	k.t.Helper()
	t, err := result.ReadTrial(filepath.Join(k.dir, name), k.runDir)
	require.NoError(k.t, err)
	return t
}

func (k *kept) benchmark() *result.Benchmark {
	k.t.Helper()
	b, err := result.ReadBenchmark(k.dir)
	require.NoError(k.t, err)
	require.NoError(k.t, b.Check())
	return b
}

// files are the batch's records as they lie.
func (k *kept) files() map[string]string {
	k.t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{k.dir + "/*.json", k.dir + "/*/*.json", k.runDir + "/*.json"} {
		paths, err := filepath.Glob(pattern)
		require.NoError(k.t, err)
		for _, p := range paths {
			b, err := os.ReadFile(p)
			require.NoError(k.t, err)
			out[p] = string(b)
		}
	}
	return out
}

func coded(overall result.Verdict) func(*result.Trial) {
	return func(t *result.Trial) {
		t.Code = &result.Code{Overall: overall, EditsOutside: []string{"added x"}}
		if overall == result.Inconclusive {
			t.Code.InfrastructureError = "no disk"
		}
	}
}

const base1, with1, base2, with2 = "trial-1-without-symposium", "trial-1-with-symposium", "trial-2-without-symposium", "trial-2-with-symposium"

func TestRegradeAfterAnInfrastructureError(t *testing.T) {
	k := newKept(t, coded(result.Fail), coded(result.Inconclusive), coded(result.Fail), coded(result.Pass))
	require.Equal(t, 1, k.benchmark().Configurations[plan.WithSymposium].Excluded.Grading)
	k.leaves(with1, "pass")
	got, err := k.regrade(t.Context(), Regrading{Results: []string{filepath.Join(k.dir, with1)}})
	require.NoError(t, err)
	require.Len(t, got, 1)
	assert.Equal(t, []RegradedTrial{{Name: with1, Folder: "grading-2", Before: "excluded (grading)", After: "succeeded"}}, got[0].Trials)
	assert.Equal(t, []string{with1}, k.calls)

	rec := k.trial(with1)
	require.Len(t, rec.Gradings, 2)
	assert.Equal(t, "no disk", rec.Gradings[0].Code.InfrastructureError, "the old grading stands")
	assert.False(t, rec.Gradings[0].Counts)
	second := rec.Gradings[1]
	assert.Equal(t, "after an infrastructure error", second.Reason)
	assert.Equal(t, "rustc 1", second.Toolchain)
	assert.Equal(t, k.hash(), second.ChecksHash)
	assert.WithinDuration(t, time.Now(), second.Time, time.Hour)
	assert.True(t, second.Counts)
	assert.Equal(t, second.Code, rec.Code)
	assert.Equal(t, result.Pass, rec.Success)
	assert.Nil(t, rec.Excluded)
	assert.Equal(t, []string{"added x"}, rec.Code.EditsOutside)
	old, err := os.ReadFile(filepath.Join(k.dir, with1, "grading", "build.stdout"))
	require.NoError(t, err)
	assert.Equal(t, "old", string(old), "never over the old one")
	assert.DirExists(t, filepath.Join(k.dir, with1, "grading-2"))

	b := k.benchmark()
	assert.Equal(t, 0, b.Configurations[plan.WithSymposium].Excluded.Grading)
	assert.Equal(t, 2, b.Configurations[plan.WithSymposium].Succeeded)
	assert.InDelta(t, 1, *b.Delta.SuccessRate, 0)
	run, err := result.ReadRun(k.runDir)
	require.NoError(t, err)
	assert.Equal(t, result.Succeeded, run.Batches[0].Trials[1].Outcome)

	// And again: a third beside the two.
	_, err = k.regrade(t.Context(), Regrading{Results: []string{filepath.Join(k.dir, with1)}, Reason: "to be sure"})
	require.NoError(t, err)
	rec = k.trial(with1)
	require.Len(t, rec.Gradings, 3)
	assert.Equal(t, "grading-3", rec.Gradings[2].Folder)
	assert.Equal(t, "to be sure", rec.Gradings[2].Reason)
}

func TestRegradeByKindOfTrial(t *testing.T) {
	execution := func(e result.Execution, code result.Verdict) func(*result.Trial) {
		return func(rec *result.Trial) {
			rec.Execution = e
			if code != "" {
				coded(code)(rec)
			}
		}
	}
	k := newKept(t,
		execution(result.TimedOut, result.Inconclusive), execution(result.ClientError, result.Fail),
		execution(result.SetupFailure, ""), execution(result.Cancelled, ""),
		func(rec *result.Trial) {
			coded(result.Fail)(rec)
			rec.Excluded = &result.Exclusion{Kind: result.ExcludedIsolation, Cause: "reached"}
		}, coded(result.Pass),
	)
	for _, name := range []string{base1, with1, "trial-3-without-symposium", "trial-3-with-symposium"} {
		k.leaves(name, "pass")
	}
	got, err := k.regrade(t.Context(), Regrading{Results: []string{k.runDir}})
	require.NoError(t, err)
	lines := map[string]string{}
	for _, line := range got[0].Trials {
		lines[line.Name] = line.Before + " > " + line.After + line.NotGraded
	}
	assert.Equal(t, map[string]string{
		base1:                       "failed (timeout) > failed (timeout)",
		with1:                       "failed (client_error) > failed (client_error)",
		base2:                       "setup_failure > setup_failure: it was not started, so there is nothing to grade",
		with2:                       "cancelled > cancelled: it was not started, so there is nothing to grade",
		"trial-3-without-symposium": "excluded (isolation) > excluded (isolation)",
		"trial-3-with-symposium":    "succeeded > succeeded",
	}, lines)
	assert.Equal(t, result.Pass, k.trial(base1).Code.Overall, "reported, and no success")
	assert.Equal(t, result.Failed, k.trial(base1).Outcome)
	b := k.benchmark()
	assert.Equal(t, 1, b.Configurations[plan.WithoutSymposium].Excluded.Isolation)
	assert.Equal(t, []int{1, 1}, []int{b.Configurations[plan.WithoutSymposium].CodePassed, b.Configurations[plan.WithoutSymposium].Eligible})
}

func TestRegradeBrokenOnly(t *testing.T) {
	k := newKept(t, coded(result.Fail), coded(result.Inconclusive))
	k.leaves(base1, "pass")
	k.leaves(with1, "pass")
	_, err := k.regrade(t.Context(), Regrading{Results: []string{k.dir}, Broken: true})
	require.NoError(t, err)
	assert.Equal(t, []string{with1}, k.calls)
	assert.Equal(t, result.Failed, k.trial(base1).Outcome)
}

func TestRegradeThatBreaksLosesNoVerdict(t *testing.T) {
	k := newKept(t, coded(result.Fail), coded(result.Pass))
	got, err := k.regrade(t.Context(), Regrading{Results: []string{k.dir}}) // nothing left: each grading breaks
	require.NoError(t, err)
	for _, line := range got[0].Trials {
		assert.Contains(t, line.Error, "verdict", line.Name)
		assert.Equal(t, line.Before, line.After)
	}
	assert.Equal(t, result.Succeeded, k.trial(with1).Outcome)
	assert.Len(t, k.trial(with1).Gradings, 2, "and the attempt is on record")
	assert.True(t, k.trial(with1).Gradings[0].Counts)
}

func TestRegradeNeverMixesChecks(t *testing.T) {
	k := newKept(t, coded(result.Fail), coded(result.Pass), coded(result.Inconclusive), coded(result.Pass))
	for _, name := range []string{base1, with1, base2, with2} {
		k.leaves(name, "fail")
	}
	oldHash := k.hash()
	k.changeChecks()
	require.NotEqual(t, oldHash, k.hash())
	before := k.files()

	for _, paths := range [][]string{{with1}, {base1, with1, base2}} {
		var dirs []string
		for _, p := range paths {
			dirs = append(dirs, filepath.Join(k.dir, p))
		}
		_, err := k.regrade(t.Context(), Regrading{Results: dirs})
		require.ErrorContains(t, err, "the checks have changed")
		assert.ErrorContains(t, err, "proctor grade "+k.dir)
		assert.Empty(t, k.calls)
		assert.Equal(t, before, k.files(), "nothing is done")
	}
	_, err := k.regrade(t.Context(), Regrading{Results: []string{k.dir}, Broken: true})
	require.ErrorContains(t, err, "the checks have changed")

	// The one that came to no verdict is in no comparison, so it may stay behind.
	got, err := k.regrade(t.Context(), Regrading{Results: []string{filepath.Join(k.dir, base1), filepath.Join(k.dir, with1), filepath.Join(k.dir, with2)}})
	require.NoError(t, err)
	require.NotNil(t, got[0].Benchmark)
	assert.Contains(t, strings.Join(got[0].Notes, " "), "the task is not what it was")
	b := k.benchmark()
	assert.Equal(t, k.hash(), *b.ChecksHash)
	assert.Empty(t, b.NotCompared)
	assert.Equal(t, 0, b.Configurations[plan.WithSymposium].Succeeded)
	assert.Equal(t, "changed checks", k.trial(with1).Counting().Reason)
	assert.Empty(t, k.trial(with1).Findings, "other checks may well give another verdict")

	k = newKept(t, coded(result.Fail), coded(result.Pass))
	k.leaves(base1, "fail")
	k.leaves(with1, "fail")
	_, err = k.regrade(t.Context(), Regrading{Results: []string{k.dir}})
	require.NoError(t, err)
	require.Len(t, k.trial(with1).Findings, 1, "the same ones may not")
	assert.Equal(t, result.GradingDisagrees, k.trial(with1).Findings[0].Kind)
}

// TestRegradeInterrupted: wherever it is ended, each record is whole, no verdict of the new checks stands
// beside one of the old, and the same call goes on with what is left.
func TestRegradeInterrupted(t *testing.T) {
	for stop := 1; stop <= 4; stop++ {
		t.Run(fmt.Sprint("in grading ", stop), func(t *testing.T) {
			k := newKept(t, coded(result.Fail), coded(result.Pass), coded(result.Fail), coded(result.Pass))
			for _, name := range []string{base1, with1, base2, with2} {
				k.leaves(name, "fail")
			}
			k.changeChecks()
			oldBenchmark := k.benchmark()
			ctx, cancel := context.WithCancelCause(t.Context())
			n := 0
			k.ends = func() {
				if n++; n == stop {
					cancel(errors.New("Ctrl-C"))
				}
			}
			got, err := k.regrade(ctx, Regrading{Results: []string{k.dir}})
			require.ErrorContains(t, err, "Ctrl-C")
			require.Len(t, got, 1)
			assert.Nil(t, got[0].Benchmark)
			assert.Equal(t, oldBenchmark, k.benchmark(), "the count is as it was")
			graded := 0
			for _, name := range []string{base1, with1, base2, with2} {
				rec := k.trial(name)
				assert.Equal(t, "grading", rec.Counting().Folder)
				assert.Equal(t, rec.Counting().Code.Overall, rec.Code.Overall)
				graded += len(rec.Gradings) - 1
			}
			assert.Equal(t, stop-1, graded, "the one that was under way says nothing")

			k.ends = nil
			_, err = k.regrade(t.Context(), Regrading{Results: []string{k.dir}})
			require.NoError(t, err)
			assert.Len(t, k.calls, 4-(stop-1), "what was graded is not graded again")
			assert.Equal(t, k.hash(), *k.benchmark().ChecksHash)
			assert.Equal(t, 0, k.benchmark().Configurations[plan.WithSymposium].Succeeded)
		})
	}
	t.Run("with the same checks", func(t *testing.T) {
		k := newKept(t, coded(result.Inconclusive), coded(result.Inconclusive))
		k.leaves(base1, "pass")
		k.leaves(with1, "pass")
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		k.ends = func() {
			if n++; n == 2 {
				cancel()
			}
		}
		_, err := k.regrade(ctx, Regrading{Results: []string{k.dir}})
		require.ErrorIs(t, err, context.Canceled)
		b := k.benchmark()
		assert.Equal(t, 1, b.Configurations[plan.WithoutSymposium].Succeeded+b.Configurations[plan.WithSymposium].Succeeded, "nothing keeps the first from counting")
	})
}

// TestRegradeKilledAtTheSwitch: after a kill between two records the batch is mixed on disk, and says so
// until the same call has been made again.
func TestRegradeKilledAtTheSwitch(t *testing.T) {
	k := newKept(t, coded(result.Fail), coded(result.Pass))
	k.leaves(base1, "fail")
	k.leaves(with1, "fail")
	k.changeChecks()
	rec := k.trial(base1)
	rec.Gradings = append(rec.Gradings, result.Grading{Folder: "grading-2", ChecksHash: k.hash(), Code: &result.Code{Overall: result.Fail}})
	require.True(t, rec.CountLatest(k.hash()))
	require.NoError(t, result.Write(filepath.Join(k.dir, base1), result.TrialFile, rec))

	records, err := readBatch(k.dir, k.runDir)
	require.NoError(t, err)
	b, err := records.recount()
	require.NoError(t, err)
	assert.Contains(t, b.NotCompared, "2 different sets of checks")
	assert.Empty(t, b.Comparisons)

	_, err = k.regrade(t.Context(), Regrading{Results: []string{k.dir}})
	require.NoError(t, err)
	assert.Empty(t, k.benchmark().NotCompared)
	assert.Len(t, k.benchmark().Comparisons, 1)
}

func TestRegradeOfAnInvalidSubmission(t *testing.T) {
	k := newKept(t,
		func(rec *result.Trial) {
			coded(result.Fail)(rec)
			rec.Submission.LeftOut = []treecopy.Entry{{Path: "src/link", Kind: treecopy.Symlink}}
		},
		func(rec *result.Trial) { // a record that does not say what was left out
			rec.Submission = nil
			coded(result.Fail)(rec)
			rec.Code.InvalidSubmission = []string{`"src/link" is a symbolic link`}
		})
	k.leaves(base1, "pass")
	k.leaves(with1, "pass")
	_, err := k.regrade(t.Context(), Regrading{Results: []string{k.dir}})
	require.NoError(t, err)
	for _, name := range []string{base1, with1} {
		assert.Equal(t, result.Failed, k.trial(name).Outcome, "%s: what was not kept cannot be made good", name)
		assert.Len(t, k.trial(name).Code.InvalidSubmission, 1)
	}
}

func TestRegradeOfALostBatch(t *testing.T) {
	k := newKept(t, coded(result.Inconclusive), coded(result.Pass), coded(result.Fail), coded(result.Pass))
	k.leaves(base1, "pass")
	// The runner died in trial 2, and never counted.
	require.NoError(t, os.Remove(filepath.Join(k.dir, result.BenchmarkFile)))
	require.NoError(t, os.RemoveAll(filepath.Join(k.dir, with2)))
	rec := k.trial(base2)
	rec.State, rec.Execution, rec.Code, rec.Gradings, rec.Outcome, rec.Success = result.Started, "", nil, nil, "", ""
	require.NoError(t, result.Write(filepath.Join(k.dir, base2), result.TrialFile, rec))
	run, err := result.ReadRun(k.runDir)
	require.NoError(t, err)
	run.State, run.Batches[0].Trials[2].State, run.Batches[0].Trials[3].State = result.Started, result.Started, result.Planned
	require.NoError(t, result.Write(k.runDir, result.RunFile, run))

	_, err = k.regrade(t.Context(), Regrading{Results: []string{k.dir}, Broken: true})
	require.NoError(t, err)
	b := k.benchmark()
	for _, name := range plan.Default() {
		c := b.Configurations[name]
		assert.Equal(t, []int{2, 1, 1}, []int{c.Planned, c.Cancelled, c.Succeeded}, "%s: every planned trial in its place", name)
		assert.Equal(t, map[string]int{"lost": 1}, c.Causes.Cancelled)
	}
	assert.Equal(t, []string{"fake-client"}, b.StandIns)
	assert.Equal(t, keptRun, b.RunID)
}

func TestRegradeRefuses(t *testing.T) {
	k := newKept(t, coded(result.Fail), coded(result.Pass))
	other := t.TempDir()
	_, err := k.regrade(t.Context(), Regrading{Results: []string{other, filepath.Join(other, "nosuch")}})
	require.ErrorContains(t, err, other+" is no result")
	require.ErrorContains(t, err, "nosuch is no result", "all mistakes at once")
	_, err = k.engine.Regrade(t.Context(), Regrading{})
	require.ErrorContains(t, err, "name what to grade again")

	release, err := result.Hold(k.runDir)
	require.NoError(t, err)
	_, err = k.regrade(t.Context(), Regrading{Results: []string{k.dir}})
	require.ErrorContains(t, err, "still going")
	release()
	release, err = result.Hold(k.dir)
	require.NoError(t, err)
	_, err = k.regrade(t.Context(), Regrading{Results: []string{k.dir}})
	require.ErrorContains(t, err, "in use", "two at a time")
	release()

	// Without the run's record the benchmark tells the plan; without both nobody does.
	require.NoError(t, os.RemoveAll(k.runDir))
	k.leaves(with1, "fail")
	_, err = k.regrade(t.Context(), Regrading{Results: []string{filepath.Join(k.dir, with1)}})
	require.NoError(t, err)
	assert.Equal(t, 0, k.benchmark().Configurations[plan.WithSymposium].Succeeded)
	require.NoError(t, os.RemoveAll(filepath.Join(k.dir, base1)))
	_, err = k.regrade(t.Context(), Regrading{Results: []string{k.dir}})
	require.ErrorContains(t, err, "1 trials were planned and 0 are there")
	require.NoError(t, os.Remove(filepath.Join(k.dir, result.BenchmarkFile)))
	_, err = k.regrade(t.Context(), Regrading{Results: []string{k.dir}})
	require.ErrorContains(t, err, "nobody knows which trials were planned")

	k = newKept(t, coded(result.Fail), coded(result.Pass))
	require.NoError(t, os.Rename(filepath.Join(k.engine.opts.Evals, "tasks", "tiny"), filepath.Join(k.engine.opts.Evals, "tasks", "renamed")))
	k.engine = k.open(k.engine.opts.Evals)
	_, err = k.regrade(t.Context(), Regrading{Results: []string{k.dir}})
	require.ErrorContains(t, err, `its task "tiny" is not in`)
}

// TestRecountKeepsWhatItDoesNotKnow: fields of a newer Proctor survive a regrade.
func TestRecountKeepsWhatItDoesNotKnow(t *testing.T) {
	k := newKept(t, coded(result.Fail), coded(result.Pass))
	for _, path := range []string{filepath.Join(k.dir, result.BenchmarkFile), filepath.Join(k.dir, with1, result.TrialFile)} {
		var doc map[string]any
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &doc))
		doc["of_tomorrow"] = 1
		data, err = json.Marshal(doc)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, data, 0o644))
	}
	k.leaves(with1, "fail")
	_, err := k.regrade(t.Context(), Regrading{Results: []string{filepath.Join(k.dir, with1)}})
	require.NoError(t, err)
	files := k.files()
	assert.Contains(t, files[filepath.Join(k.dir, result.BenchmarkFile)], "of_tomorrow")
	assert.Contains(t, files[filepath.Join(k.dir, with1, result.TrialFile)], "of_tomorrow")
}

func TestChecksHash(t *testing.T) {
	k := newKept(t, coded(result.Fail))
	root := k.engine.opts.Evals
	before := k.hash()
	dir := filepath.Join(root, "tasks", "tiny")
	same := func(want bool, what string) {
		t.Helper()
		k.engine = k.open(root)
		assert.Equal(t, want, k.hash() == before, what)
		before = k.hash()
	}
	same(true, "read twice")
	text, err := os.ReadFile(filepath.Join(dir, "task.toml"))
	require.NoError(t, err)
	change := func(with string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "task.toml"), []byte(with), 0o644))
	}
	change(strings.Replace(string(text), "Make answer()", "Please make answer()", 1))
	same(true, "the prompt grades nothing")
	change(string(text) + "fmt_check = true\n")
	same(false, "fmt_check")
	change(string(text))
	same(false, "and back")
	change(string(text) + "[deadlines]\ngrading_secs = 7\n")
	same(false, "the deadline")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "starter", "src", "more.rs"), nil, 0o644))
	same(false, "the starter")
	fixture := filepath.Join(root, "fixtures", "base", "src", "lib.rs")
	write := func(content string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(fixture), 0o755))
		require.NoError(t, os.WriteFile(fixture, []byte(content), 0o644))
		manifest := filepath.Join(root, "fixtures", "base", "Cargo.toml")
		require.NoError(t, os.WriteFile(manifest, []byte("[package]\nname = \"base\"\nversion = \"0.1.0\"\n"), 0o644))
	}
	write("pub fn one() {}")
	same(true, "a fixture of other tasks")
	change(strings.Replace(string(text), "editable = ", "fixtures = [\"base\"]\neditable = ", 1))
	same(false, "one more fixture")
	write("pub fn two() {}")
	same(false, "what a fixture holds")
	change(strings.Replace(string(text), "editable = ", "fixtures = [\"base\"]\neditable_build = true\neditable = ", 1))
	same(false, "editable_build")
	k.changeChecks()
	same(false, "a check")

	with := *k.engine.tasks[0]
	with.Fixtures = []string{"base"}
	file := filepath.Join(with.FixtureDir("base"), "lib.rs")
	var hashes []string
	for _, text := range []string{"one", "two"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		hash, err := checksHash(&with)
		require.NoError(t, err)
		hashes = append(hashes, hash)
	}
	assert.NotEqual(t, hashes[0], hashes[1], "a fixture")
}
