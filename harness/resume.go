package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
)

// interruptedDir, in a batch's folder, keeps what was there of trials that a resumed run ran again.
const interruptedDir = "interrupted"

// ResumeOptions are o with what the run in dir, as its record tells, was planned with, and the names
// of its tasks. What no record holds (tools to evaluate, folders, limits) stays as it is.
func ResumeOptions(o Options, dir string) (Options, []string, error) {
	run, err := result.ReadRun(dir)
	if err != nil {
		return o, nil, err
	}
	if run.RunMode != "" {
		return o, nil, fmt.Errorf("run %s is of suites, whose finished attempts are judged already: run what is left as a new run", run.RunID)
	}
	if len(run.Batches) == 0 {
		return o, nil, fmt.Errorf("run %s planned no trial", run.RunID)
	}
	first := run.Batches[0]
	o.Clients, o.Configurations, o.Trials, o.Jobs = nil, nil, 0, run.Jobs
	o.Model, o.Exploratory = first.Model.Name, first.Isolation == (Options{Exploratory: true}).mode()
	o.Direct = first.Model.Kind == gateway.KindDirect
	for _, c := range first.Configurations {
		o.Configurations = append(o.Configurations, c.Name)
	}
	var tasks []string
	for _, b := range run.Batches {
		if !slices.Contains(tasks, b.Task.Name) {
			tasks = append(tasks, b.Task.Name)
		}
		if !slices.Contains(o.Clients, b.Client) {
			o.Clients = append(o.Clients, b.Client)
		}
	}
	return o, tasks, nil
}

// Resume goes on with the run in dir, whose runner was interrupted or died: trials that came to their
// end are kept, all others are run. Open the engine with ResumeOptions. A trial that was under way is
// run again from its start; what there was of it goes to the batch's folder interrupted/. A run that
// another runner is at, or whose tasks, tools or Proctor are not those it began with, is an error.
func (e *Engine) Resume(ctx context.Context, dir string) (*Run, error) {
	release, err := result.Hold(dir)
	if err != nil {
		return nil, err
	}
	r, err := e.takeUp(ctx, dir)
	if err != nil {
		release()
		return nil, err
	}
	r.release = release
	return r, nil
}

func (e *Engine) takeUp(ctx context.Context, dir string) (*Run, error) {
	record, err := result.ReadRun(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, b := range record.Batches {
		if !slices.Contains(names, b.Task.Name) {
			names = append(names, b.Task.Name)
		}
	}
	tasks, err := e.Task(names...)
	if err != nil {
		return nil, err
	}
	r, err := e.ready(ctx, tasks)
	if err != nil {
		return nil, err
	}
	return e.takeUpWith(r, dir)
}

// takeUpWith fills in a run that is ready but for its batches.
func (e *Engine) takeUpWith(r *Run, dir string) (*Run, error) {
	record, err := result.ReadRun(dir) // as it stands: this process holds it
	if err != nil {
		return nil, err
	}
	r.dir, r.record = dir, *record
	problems := []error{sameProctor(record)}
	for i, planned := range record.Batches {
		b, err := e.takeUpBatch(r, i, planned)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		r.batches = append(r.batches, b)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, fmt.Errorf("run %s cannot be resumed; start a new one:\n%w", record.RunID, err)
	}
	again := result.Resumption{At: time.Now().UTC()}
	for i, b := range r.batches {
		for j := range r.record.Batches[i].Trials {
			p := &r.record.Batches[i].Trials[j]
			if rec := b.done[p.Name]; rec != nil {
				p.State, p.Execution, p.Outcome, p.Cause = result.Finished, rec.Execution, rec.Outcome, rec.ExecutionCause
				again.Kept++
				continue
			}
			*p = result.PlannedTrial{Name: p.Name, Configuration: p.Configuration, Round: p.Round, Order: p.Order, State: result.Planned}
			again.Run++
		}
	}
	r.record.State, r.record.Cause, r.record.FinishedAt = result.Started, "", nil
	r.record.Resumed = append(r.record.Resumed, again)
	if err := r.write(); err != nil {
		return nil, err
	}
	for _, b := range r.batches {
		if err := b.clear(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func sameProctor(record *result.Run) error {
	if now := version(); record.Proctor != now {
		return fmt.Errorf("it was begun by Proctor %s, and this is %s", record.Proctor, now)
	}
	return nil
}

// takeUpBatch is a batch of an earlier runner, with the trials that are kept.
func (e *Engine) takeUpBatch(r *Run, index int, planned result.Batch) (*Batch, error) {
	tasks, err := e.Task(planned.Task.Name)
	if err != nil {
		return nil, err
	}
	t := tasks[0]
	if t.ContentHash != planned.Task.ContentHash {
		return nil, fmt.Errorf("task %s is not what it was (content hash %.12s, now %.12s)", t.Name, planned.Task.ContentHash, t.ContentHash)
	}
	i := slices.Index(e.opts.Clients, planned.Client)
	if i < 0 {
		return nil, fmt.Errorf("task %s: the client %s is not chosen", t.Name, planned.Client)
	}
	b := &Batch{Task: t, adapter: e.clients[i], run: r, index: index, id: planned.BatchID, rounds: planned.Rounds, done: map[string]*result.Trial{}}
	b.results = filepath.FromSlash(planned.Results)
	if !filepath.IsAbs(b.results) {
		b.results = filepath.Join(filepath.Dir(filepath.Dir(r.dir)), b.results)
	}
	b.plan = plan.Expand(e.confs, b.rounds)
	if !slices.EqualFunc(b.plan, planned.Trials, func(p plan.Trial, q result.PlannedTrial) bool {
		return p.Name() == q.Name && p.Round == q.Round && p.Order == q.Order
	}) {
		return nil, fmt.Errorf("task %s: its plan is another one than this Proctor makes", t.Name)
	}
	now := b.fresh(b.plan[0])
	if d := differ(planned.Model, now.Model); d != "" {
		return nil, fmt.Errorf("task %s: the model is another: %s", t.Name, d)
	}
	for i, p := range b.plan {
		was := planned.Trials[i]
		rec, err := result.ReadTrial(filepath.Join(b.results, p.Name()), "")
		if errors.Is(err, fs.ErrNotExist) {
			// Who deletes a failed trial and resumes would have it tried again.
			if was.State == result.Finished && was.Execution != result.Cancelled {
				return nil, fmt.Errorf("%s ended as %q by the run's %s, and has no %s any more; a trial is not run a second time", filepath.Join(b.results, p.Name()), was.Execution, result.RunFile, result.TrialFile)
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		if what := plannedOtherwise(rec, &planned, i); what != "" {
			return nil, fmt.Errorf("%s %s: somebody changed the results", filepath.Join(b.results, p.Name()), what)
		}
		if !keeps(rec) {
			continue
		}
		if rec.BatchID != b.id {
			return nil, fmt.Errorf("%s is a trial of the batch %q", filepath.Join(b.results, p.Name()), rec.BatchID)
		}
		if what := rec.Contradiction(); what != "" {
			return nil, fmt.Errorf("%s %s: somebody changed the record", filepath.Join(b.results, p.Name()), what)
		}
		if d := toolDifferences(rec, now); len(d) > 0 {
			return nil, fmt.Errorf("task %s: its tools are not those of its finished trials: %s", t.Name, strings.Join(d, "; "))
		}
		b.done[p.Name()] = rec
		b.kept = append(b.kept, rec)
	}
	b.spentBefore()
	if rest := b.Remaining(); len(rest) > 0 && slices.ContainsFunc(b.kept, func(k *result.Trial) bool { return k.Round == rest[0].Round }) {
		b.round = rest[0].Round // it was begun, and a limit does not leave it half run
	}
	if len(b.done) == len(b.plan) { // it will not be prepared
		first := b.done[b.plan[0].Name()]
		b.standIns, b.client = slices.Clone(first.StandIns), first.Client
	}
	return b, nil
}

// spentBefore counts what earlier runners' trials of the batch used against the run's limits, also of
// trials that are run again. What a killed runner's last trial used is not known.
func (b *Batch) spentBefore() {
	for _, dir := range []string{b.results, filepath.Join(b.results, interruptedDir)} {
		for _, name := range trialDirs(dir) {
			if rec, err := result.ReadTrial(filepath.Join(dir, name), ""); err == nil && rec.Gateway != nil {
				b.run.spend.Before(rec.Gateway.Usage.Total(), rec.Gateway.CostUSD)
			}
		}
	}
}

// keeps tells whether a trial's record says how the trial ended: not one that was stopped on its way.
func keeps(rec *result.Trial) bool {
	return rec.State == result.Finished && rec.Execution != result.Cancelled
}

// fresh is the record a trial would start with now.
func (b *Batch) fresh(p plan.Trial) *result.Trial {
	t := &trial{Batch: b, plan: p}
	t.newRecord()
	return t.rec
}

// toolDifferences say what of the machine is not as it was for a kept trial.
func toolDifferences(kept, now *result.Trial) []string {
	var out []string
	for _, part := range []struct {
		name      string
		kept, now any
	}{
		{"system", kept.OS, now.OS}, {"model", kept.Model, now.Model}, {"rustc", kept.Toolchain, now.Toolchain}, {"tools", kept.Tools, now.Tools},
		{"isolation", []any{kept.Isolation.Mode, kept.Isolation.Root}, []any{now.Isolation.Mode, now.Isolation.Root}},
	} {
		if d := differ(part.kept, part.now); d != "" {
			out = append(out, part.name+" "+d)
		}
	}
	return out
}

// differ compares what two values look like in a record, and is "" where they are alike.
func differ(was, now any) string {
	a, errA := json.Marshal(was)
	b, errB := json.Marshal(now)
	switch {
	case errA != nil || errB != nil:
		return errors.Join(errA, errB).Error()
	case string(a) == string(b):
		return ""
	}
	return fmt.Sprintf("was %s, is %s", a, b)
}

// sameStaged compares what Prepare staged with what the run's kept trials with this client ran.
func (b *Batch) sameStaged() error {
	for _, other := range b.run.batches {
		if other.Client() != b.Client() {
			continue
		}
		for _, kept := range other.Kept() {
			i := slices.IndexFunc(b.plan, func(p plan.Trial) bool { return p.Configuration.Name == kept.Mode })
			if i < 0 {
				continue
			}
			now := b.fresh(b.plan[i])
			for _, part := range []struct{ what, difference string }{
				{"client", differ(kept.Client, now.Client)}, {"cargo-agents", differ(kept.Symposium, now.Symposium)}, {"stand-ins", differ(kept.StandIns, now.StandIns)},
			} {
				if part.difference != "" {
					return fmt.Errorf("run %s cannot be resumed; start a new one: task %s: the %s of %s %s", b.run.ID(), other.Task.Name, part.what, kept.Mode, part.difference)
				}
			}
		}
	}
	return nil
}

// Kept are the batch's trials of an earlier runner, in the order of the plan.
func (b *Batch) Kept() []*result.Trial {
	return slices.Clone(b.kept)
}

// Remaining are the trials that have no result yet, in the order they are to be run: all of Plan but
// in a resumed run.
func (b *Batch) Remaining() []plan.Trial {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(b.plan), func(p plan.Trial) bool { return b.done[p.Name()] != nil })
}

// clear makes room for the trials that are to be run: what is left of an earlier try is moved away,
// and so is a count that no longer holds.
func (b *Batch) clear() error {
	rest := b.Remaining()
	if len(rest) == 0 {
		return nil
	}
	if err := os.Remove(filepath.Join(b.results, result.BenchmarkFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("resume: %w", err)
	}
	for _, p := range rest {
		dir := filepath.Join(b.results, p.Name())
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return fmt.Errorf("resume: %w", err)
		}
		if err := moveAway(dir, filepath.Join(b.results, interruptedDir)); err != nil {
			return fmt.Errorf("resume: %w", err)
		}
	}
	return nil
}

// moveAway moves dir into a folder, under its name and the first number that is free. The mere record
// of a trial that never began is removed.
func moveAway(dir, into string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(entries) == 0 || len(entries) == 1 && entries[0].Name() == result.TrialFile {
		return os.RemoveAll(dir)
	}
	if err := os.MkdirAll(into, 0o755); err != nil {
		return err
	}
	for n := 1; ; n++ {
		to := filepath.Join(into, fmt.Sprintf("%s-%d", filepath.Base(dir), n))
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			return os.Rename(dir, to)
		} else if err != nil {
			return err
		}
	}
}
