package harness

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
)

// Finish ends the batch: trials that were never run get a result as cancelled (cause, or "not
// run"), the count goes to benchmark.json, and the scratch is removed. Further calls return the
// same benchmark.
func (b *Batch) Finish(cause error) (*result.Benchmark, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.benchmark != nil {
		return b.benchmark, nil
	}
	var errs []error
	if b.space != nil {
		// What is left in the scratch is swept by the next run; the count must not wait for it.
		_ = b.space.Close()
	}
	byConfiguration := map[string][]*result.Trial{}
	for _, p := range b.plan {
		rec, ok := b.done[p.Name()]
		if !ok {
			var err error
			if rec, err = b.cancel(p, cause); err != nil {
				errs = append(errs, err)
				continue
			}
		}
		byConfiguration[p.Configuration.Name] = append(byConfiguration[p.Configuration.Name], rec)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	bench, err := b.count(byConfiguration)
	if err != nil {
		return nil, err
	}
	if err := result.WriteClean(b.results, result.BenchmarkFile, bench, b.run.secrets.Clean); err != nil {
		return nil, err
	}
	b.benchmark = bench
	return bench, nil
}

// cancel writes the result of a planned trial that was not run.
func (b *Batch) cancel(p plan.Trial, cause error) (*result.Trial, error) {
	t := &trial{Batch: b, plan: p, dir: filepath.Join(b.results, p.Name())}
	if err := t.create(); err != nil {
		return nil, err
	}
	t.rec.Execution, t.rec.ExecutionCause = result.Cancelled, result.CauseNotRun
	if cause != nil {
		t.rec.ExecutionCause = cause.Error()
	}
	now := time.Now().UTC()
	t.rec.State, t.rec.FinishedAt = result.Finished, &now
	t.rec.Decide()
	if err := t.write(); err != nil {
		return nil, err
	}
	return t.rec, b.run.update(b.index, p.Name(), func(pt *result.PlannedTrial) {
		pt.State, pt.Execution, pt.Cause = result.Finished, t.rec.Execution, t.rec.ExecutionCause
	})
}

func (b *Batch) count(byConfiguration map[string][]*result.Trial) (*result.Benchmark, error) {
	e := b.run.engine
	bench := &result.Benchmark{
		SchemaVersion: result.SchemaVersion, RunID: b.run.ID(), BatchID: b.id, Task: b.Task.Name, Kind: string(b.Task.Kind),
		ContentHash: b.Task.ContentHash, Client: b.Client(), Model: b.model(), Isolation: e.opts.mode(), Jobs: e.opts.Jobs,
		StandIns: append([]string{}, b.standIns...), Configurations: map[string]result.Counts{}, Comparisons: []result.Comparison{},
		Look: looked(b.earlier()) + 1,
	}
	arms := result.Arms{Baseline: plan.Baseline, Planned: map[string]int{}, Trials: byConfiguration, Compared: !e.opts.Exploratory}
	for _, c := range e.confs {
		arms.Order = append(arms.Order, c.Name)
		arms.Planned[c.Name] = b.rounds
	}
	if err := bench.Tally(arms, plan.WithSymposium); err != nil {
		return nil, fmt.Errorf("task %s: %w", b.Task.Name, err)
	}
	return bench, nil
}
