package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/proctor-evals/proctor/harness/result"
)

// keptBatch is a batch's folder of results, and what of it was named.
type keptBatch struct {
	dir    string
	runDir string   // its run's folder, or "" where that is not there any more
	only   []string // the trials named; empty means all
}

// findResults resolves the folders of trials, batches and runs to batches. All mistakes are reported
// at once. A batch that is named, whole or by its trials, several times is there once.
func (e *Engine) findResults(paths []string) ([]*keptBatch, error) {
	var out []*keptBatch
	var problems []error
	add := func(dir, trial string) {
		i := slices.IndexFunc(out, func(b *keptBatch) bool { return b.dir == dir })
		if i < 0 {
			out = append(out, &keptBatch{dir: dir})
			i = len(out) - 1
			if trial != "" {
				out[i].only = []string{trial}
			}
			return
		}
		switch b := out[i]; {
		case trial == "":
			b.only = nil
		case len(b.only) > 0 && !slices.Contains(b.only, trial):
			b.only = append(b.only, trial)
		}
	}
	for _, path := range paths {
		dir, err := filepath.Abs(path)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		switch {
		case isFile(dir, result.TrialFile):
			add(filepath.Dir(dir), filepath.Base(dir))
		case isFile(dir, result.RunFile):
			run, err := result.ReadRun(dir)
			if err != nil {
				problems = append(problems, err)
				continue
			}
			for _, b := range run.Batches {
				add(filepath.Join(filepath.Dir(filepath.Dir(dir)), filepath.FromSlash(b.Results)), "")
			}
		case isFile(dir, result.BenchmarkFile) || len(trialDirs(dir)) > 0:
			add(dir, "")
		default:
			problems = append(problems, fmt.Errorf("%s is no result: give the folder of a trial (with %s), of a batch (with %s) or of a run (with %s)",
				path, result.TrialFile, result.BenchmarkFile, result.RunFile))
		}
	}
	for _, b := range out {
		b.runDir = e.runOf(b.dir)
	}
	return out, errors.Join(problems...)
}

func isFile(parts ...string) bool {
	info, err := os.Lstat(filepath.Join(parts...))
	return err == nil && info.Mode().IsRegular()
}

// trialDirs are the names of a batch's folders that hold a trial's record. A link is none.
func trialDirs(batch string) []string {
	entries, err := os.ReadDir(batch)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() && isFile(batch, e.Name(), result.TrialFile) {
			out = append(out, e.Name())
		}
	}
	return out
}

// runOf finds the run's folder of a batch: in the present options' place, or beside the results as
// they lie. It is "" where no run's record names the batch, or where it means another folder: a copy
// must not be counted into the record of what it was copied from.
func (e *Engine) runOf(batch string) string {
	id := ""
	if b, err := result.ReadBenchmark(batch); err == nil {
		id = b.RunID
	}
	for _, name := range trialDirs(batch) {
		if id != "" {
			break
		}
		if t, err := result.ReadTrial(filepath.Join(batch, name), ""); err == nil {
			id = t.RunID
		}
	}
	if id == "" || id != filepath.Base(id) || id == ".." || id == "." {
		return ""
	}
	results := filepath.Dir(filepath.Dir(filepath.Dir(batch)))
	for _, runs := range []string{e.opts.runsDir(), filepath.Join(results, "runs"), filepath.Join(filepath.Dir(results), "runs")} {
		dir := filepath.Join(runs, id)
		run, err := result.ReadRun(dir)
		if errors.Is(err, fs.ErrNotExist) || err != nil {
			continue
		}
		if slices.ContainsFunc(run.Batches, func(b result.Batch) bool {
			if b.BatchID != filepath.Base(batch) {
				return false
			}
			meant := filepath.FromSlash(b.Results)
			if !filepath.IsAbs(meant) {
				meant = filepath.Join(filepath.Dir(filepath.Dir(dir)), meant)
			}
			own, err := os.Stat(meant)
			here, errHere := os.Stat(batch)
			return errors.Is(err, fs.ErrNotExist) || err == nil && errHere == nil && os.SameFile(own, here) // moved, or there
		}) {
			return dir
		}
	}
	return ""
}
