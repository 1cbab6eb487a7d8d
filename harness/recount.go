package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/sandbox"
)

// batchRecords are all of a batch as its files tell it.
type batchRecords struct {
	dir, runDir string
	planned     *result.Batch     // the plan, or nil where its run's record is not there
	benchmark   *result.Benchmark // nil where the runner died before it counted
	trials      map[string]*result.Trial
}

// readBatch reads a batch. Trials of a dead runner read as cancelled, cause lost.
func readBatch(dir, runDir string) (*batchRecords, error) {
	r := &batchRecords{dir: dir, runDir: runDir, trials: map[string]*result.Trial{}}
	var err error
	if r.benchmark, err = result.ReadBenchmark(dir); err != nil {
		if r.benchmark = nil; !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if runDir != "" {
		run, err := result.ReadRun(runDir)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(run.Batches, func(b result.Batch) bool { return b.BatchID == filepath.Base(dir) }); i >= 0 {
			r.planned = &run.Batches[i]
		}
	}
	var problems []error
	for _, name := range trialDirs(dir) {
		t, err := result.ReadTrial(filepath.Join(dir, name), runDir)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if t.BatchID != filepath.Base(dir) {
			problems = append(problems, fmt.Errorf("%s is a trial of the batch %q", filepath.Join(dir, name), t.BatchID))
			continue
		}
		if t.State != result.Finished {
			problems = append(problems, fmt.Errorf("%s was not finished, and the record of its run %q is not there to say whether it is still going", filepath.Join(dir, name), t.RunID))
			continue
		}
		if what := r.misplaced(name, t); what != "" {
			problems = append(problems, fmt.Errorf("%s %s: somebody changed the results; nothing is counted until it is as it was", filepath.Join(dir, name), what))
			continue
		}
		if what := t.Contradiction(); what != "" {
			problems = append(problems, fmt.Errorf("%s %s: somebody changed the record", filepath.Join(dir, name), what))
			continue
		}
		r.trials[name] = t
	}
	problems = append(problems, r.gone()...)
	if r.planned == nil && r.benchmark == nil {
		problems = append(problems, fmt.Errorf("%s: neither its %s nor its run's %s is there, so nobody knows which trials were planned", dir, result.BenchmarkFile, result.RunFile))
	}
	return r, errors.Join(problems...)
}

// misplaced says where a record is not that of the trial its folder is named after.
func (r *batchRecords) misplaced(name string, t *result.Trial) string {
	if r.planned == nil {
		if of := (plan.Trial{Round: t.Round, Configuration: plan.Configuration{Name: t.Mode}}).Name(); of != name || t.Trial != t.Round {
			return fmt.Sprintf("holds the record of another trial, %s", of)
		}
		return ""
	}
	i := slices.IndexFunc(r.planned.Trials, func(p result.PlannedTrial) bool { return p.Name == name })
	if i < 0 {
		return fmt.Sprintf("is no trial that its run's %s planned", result.RunFile)
	}
	return plannedOtherwise(t, r.planned, i)
}

// plannedOtherwise says where a record is not that of the i-th planned trial.
func plannedOtherwise(t *result.Trial, b *result.Batch, i int) string {
	p := b.Trials[i]
	c := slices.IndexFunc(b.Configurations, func(c result.Configuration) bool { return c.Name == p.Configuration })
	if c < 0 {
		return fmt.Sprintf("is of the configuration %q, which its run's %s does not describe", p.Configuration, result.RunFile)
	}
	return t.NotOf(p, b.Configurations[c])
}

// gone are the trials that finished, by their run's record, and whose own record is not there. They
// were not lost with their runner: who counted the rest would count without what they showed.
func (r *batchRecords) gone() []error {
	if r.planned == nil {
		return nil
	}
	var out []error
	for _, p := range r.planned.Trials {
		lost := p.Execution == result.Cancelled && p.Cause == result.CauseLost
		if p.State == result.Finished && !lost && r.trials[p.Name] == nil && !isFile(filepath.Join(r.dir, p.Name), result.TrialFile) {
			out = append(out, fmt.Errorf("%s finished by its run's %s, and has no %s any more: bring it back, or run the batch anew; it is not counted without it",
				filepath.Join(r.dir, p.Name), result.RunFile, result.TrialFile))
		}
	}
	return out
}

// arms puts the trials into their configurations. A planned trial without a record is lost: gone has
// refused those that finished.
func (r *batchRecords) arms() result.Arms {
	a := result.Arms{Baseline: plan.Baseline, Planned: map[string]int{}, Trials: map[string][]*result.Trial{}, Compared: r.isolation() == sandbox.Enforced}
	if r.planned == nil {
		for _, name := range plan.Names() {
			if c, ok := r.benchmark.Configurations[name]; ok {
				a.Order, a.Planned[name] = append(a.Order, name), c.Planned
			}
		}
		for _, name := range slices.Sorted(keys(r.trials)) {
			t := r.trials[name]
			a.Trials[t.Mode] = append(a.Trials[t.Mode], t)
		}
		return a
	}
	for _, c := range r.planned.Configurations {
		a.Order = append(a.Order, c.Name)
	}
	for _, p := range r.planned.Trials {
		a.Planned[p.Configuration]++
		t := r.trials[p.Name]
		if t == nil {
			t = &result.Trial{
				SchemaVersion: result.SchemaVersion, BatchID: r.planned.BatchID, State: result.Finished, Mode: p.Configuration,
				Trial: p.Round, Round: p.Round, Order: p.Order, Execution: result.Cancelled, ExecutionCause: result.CauseLost,
			}
		}
		a.Trials[p.Configuration] = append(a.Trials[p.Configuration], t)
	}
	return a
}

func keys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func (r *batchRecords) isolation() string {
	if r.planned != nil {
		return r.planned.Isolation
	}
	return r.benchmark.Isolation
}

// recount counts the batch anew into benchmark.json, which is replaced atomically, and brings its
// run's record up to date. What else stands in either is kept.
func (r *batchRecords) recount() (*result.Benchmark, error) {
	bench := r.benchmark
	if bench == nil {
		p := r.planned
		bench = &result.Benchmark{
			SchemaVersion: result.SchemaVersion, RunID: filepath.Base(r.runDir), BatchID: p.BatchID, Task: p.Task.Name, Kind: p.Task.Kind,
			ContentHash: p.Task.ContentHash, Client: p.Client, Model: p.Model, Isolation: p.Isolation, Jobs: 1, StandIns: []string{},
		}
		for _, t := range r.trials {
			bench.Jobs, bench.StandIns = t.Jobs, append([]string{}, t.StandIns...)
		}
		var treatments []string
		for _, c := range p.Configurations {
			if c.Name != plan.Baseline {
				treatments = append(treatments, c.Name)
			}
		}
		bench.Look = 1
		for _, b := range looks(filepath.Dir(r.dir), p.BatchID, *bench, treatments) {
			if b.BatchID < p.BatchID { // a batch's name begins with its time
				bench.Look += looked([]*result.Benchmark{b})
			}
		}
	}
	if err := bench.Tally(r.arms(), plan.WithSymposium); err != nil {
		return nil, fmt.Errorf("%s: %w", r.dir, err)
	}
	if err := result.Write(r.dir, result.BenchmarkFile, bench); err != nil {
		return nil, err
	}
	r.benchmark = bench
	return bench, r.updateRun()
}

// updateRun writes the trials' outcomes and the summary over several tasks into run.json.
func (r *batchRecords) updateRun() error {
	if r.planned == nil {
		return nil
	}
	// The record of a run whose runner died is read before it is held: then it says what was lost.
	run, err := result.ReadRun(r.runDir)
	if err != nil {
		return err
	}
	release, err := result.Hold(r.runDir)
	if err != nil {
		return err
	}
	defer release()
	var benchmarks []*result.Benchmark
	for i := range run.Batches {
		b := &run.Batches[i]
		dir := filepath.Join(filepath.Dir(filepath.Dir(r.runDir)), filepath.FromSlash(b.Results))
		if b.BatchID == r.planned.BatchID {
			dir = r.dir
			for j := range b.Trials {
				if t := r.trials[b.Trials[j].Name]; t != nil {
					b.Trials[j].State, b.Trials[j].Execution, b.Trials[j].Outcome, b.Trials[j].Cause = t.State, t.Execution, t.Outcome, t.ExecutionCause
				}
			}
		}
		if bench, err := result.ReadBenchmark(dir); err == nil {
			benchmarks = append(benchmarks, bench)
		}
	}
	run.Summary = result.Summarize(benchmarks)
	return result.Write(r.runDir, result.RunFile, run)
}
