// Package evaltest runs an exam as a Go test:
//
//	func TestEval(t *testing.T) { evaltest.Run(t) }
//
// gives one subtest a task and one a trial below it, so that
// `go test -run TestEval/store-durability` runs one task; with several clients
// there is one a client in between. A suite has one, and one a task below it:
// `go test -run TestEval/<suite>/<task>`; it passes when no attempt fails, times
// out or is an error. Options come from the PROCTOR_ environment
// variables and proctor.toml.
//
// How outcomes map to the test:
//
//	outcome                                 trial's subtest   task's subtest
//	succeeded                               passes            passes
//	failed, inconclusive; capability task   passes, logged    passes
//	regression task, pass_all not true                        fails
//	excluded (grading, isolation)           fails             fails if nothing is eligible
//	setup failure                           fails             fails if nothing is eligible
//	setup failure for a cargo-agents
//	release that cannot be used             skipped           fails if nothing is eligible
//	cancelled                               skipped           fails
//	runner error                            fails             fails
//	missing tool                            none runs         TestEval fails, once
package evaltest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/report"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/suite"
	"github.com/proctor-evals/proctor/harness/task"
)

// Run runs every task that -run selects. Under -short it skips: trials are not unit tests.
func Run(t *testing.T) {
	if testing.Short() {
		t.Skip("trials do not run under -short")
	}
	opts, err := harness.Environ(os.Getenv)
	if err := errors.Join(err, harness.UnknownVariables(os.Environ())); err != nil {
		t.Fatal(say(err))
	}
	var live stages
	opts.OnEvent = live.tell
	engine, err := harness.Open(opts)
	if err != nil {
		t.Fatal(say(err))
	}
	for _, note := range engine.Notes() {
		t.Log(say(report.Clean(note)))
	}
	if err := stamp(engine.Options()); err != nil {
		t.Fatal(say(err))
	}
	project, err := suite.Load(engine.Options().Evals)
	if err != nil {
		t.Fatal(say(err))
	}
	ctx, stop := examContext(t)
	t.Cleanup(stop)
	x := &exam{engine: engine, ctx: ctx, ready: make(chan struct{}), slots: make(chan struct{}, engine.Options().Jobs), stages: &live}
	// A parallel subtest waits at t.Parallel until this function returns. So the tasks that -run
	// selects, by testing's own rules, are known before the run is planned.
	for _, task := range engine.Tasks() {
		t.Run(task.Name, func(t *testing.T) {
			x.selected = append(x.selected, task)
			t.Parallel()
			x.task(t, task)
		})
	}
	defer close(x.ready)
	if n := suites(t, ctx, opts, project); len(x.selected) == 0 && n > 0 {
		return
	}
	if len(x.selected) == 0 {
		t.Fatal(sayf("no task matches -run; the tasks are: %s", names(engine.Tasks())))
	}
	x.run, err = engine.Start(ctx, x.selected)
	if err != nil {
		t.Fatal(say(err))
	}
	t.Cleanup(func() {
		if err := x.run.Close(context.Cause(ctx)); err != nil {
			t.Error(say(err))
		}
		var several strings.Builder
		if err := report.Summary(&several, x.run.Summary()); err == nil && several.Len() > 0 {
			t.Log(sayf("\n%s", several.String()))
		}
		t.Log(sayf("run: %s", x.run.Dir()))
	})
}

type exam struct {
	engine   *harness.Engine
	ctx      context.Context
	selected []*task.Task
	run      *harness.Run
	ready    chan struct{}
	slots    chan struct{}
	stages   *stages

	mu      sync.Mutex
	longest time.Duration // the longest trial so far
}

func names(tasks []*task.Task) string {
	var out []string
	for _, t := range tasks {
		out = append(out, t.Name)
	}
	if len(out) == 0 {
		return "(none)"
	}
	return strings.Join(out, ", ")
}

// task runs the batches of one task: one, or one a client.
func (x *exam) task(t *testing.T, tk *task.Task) {
	<-x.ready
	if x.run == nil {
		t.Skip("not run: see the error above")
	}
	var batches []*harness.Batch
	for _, b := range x.run.Batches() {
		if b.Task.Name == tk.Name {
			batches = append(batches, b)
		}
	}
	if len(batches) == 1 {
		x.batch(t, batches[0])
		return
	}
	ran := false
	for _, b := range batches {
		t.Run(b.Client(), func(t *testing.T) {
			ran = true
			t.Parallel()
			x.batch(t, b)
		})
	}
	if !ran {
		t.Error(sayf("no client matches -run; the clients are: %s", strings.Join(x.engine.Options().Clients, ", ")))
	}
}

// batch runs one task with one client.
func (x *exam) batch(t *testing.T, batch *harness.Batch) {
	x.slots <- struct{}{}
	defer func() { <-x.slots }()
	if x.ctx.Err() == nil {
		if err := batch.Prepare(x.ctx); err != nil {
			t.Error(say(err))
			x.finish(t, batch, err)
			return
		}
	}
	ran, cause := x.trials(t, batch)
	if ran == 0 {
		var names []string
		for _, p := range batch.Plan() {
			names = append(names, p.Name())
		}
		t.Error(sayf("no trial matches -run; the trials are: %s", strings.Join(names, ", ")))
	}
	if cause == nil {
		cause = context.Cause(x.ctx)
	}
	x.finish(t, batch, cause)
}

// trials runs the trials in order and returns how many -run selected, and why it stopped early, or
// nil.
func (x *exam) trials(t *testing.T, b *harness.Batch) (selected int, stopped error) {
	for _, p := range b.Plan() {
		t.Run(p.Name(), func(t *testing.T) {
			selected++
			if stopped == nil {
				stopped = x.fits(t, b)
			}
			if stopped == nil && x.ctx.Err() != nil {
				stopped = context.Cause(x.ctx)
			}
			if stopped != nil {
				t.Skip(sayf("cancelled: %v", stopped))
			}
			defer x.stages.of(t, b.Task.Name, b.Client(), p.Name())()
			started := time.Now()
			rec, err := b.RunTrial(x.ctx, p)
			x.note(time.Since(started))
			if err != nil {
				stopped = err
				t.Fatal(say(err))
			}
			judge(t, rec, filepath.Join(b.Results(), p.Name()))
		})
	}
	return selected, stopped
}

// judge maps a trial's result to its subtest.
func judge(t *testing.T, rec *result.Trial, dir string) {
	t.Attr("proctor.result", dir)
	if rec.Outcome != "" {
		t.Attr("proctor.outcome", string(rec.Outcome))
	}
	cause := report.Clean(rec.ExecutionCause)
	switch {
	case rec.Execution == result.Cancelled:
		t.Skip(sayf("cancelled: %s", cause))
	case rec.Execution == result.SetupFailure && strings.HasPrefix(rec.ExecutionCause, "release: "):
		t.Skip(sayf("setup failure: %s", cause))
	case rec.Execution == result.SetupFailure:
		t.Error(sayf("setup failure: %s; see %s", cause, dir))
	case rec.Excluded != nil:
		t.Error(sayf("excluded (%s): %s; see %s", rec.Excluded.Kind, report.Clean(rec.Excluded.Cause), dir))
	default:
		t.Log(sayf("%s: %s %s", rec.Outcome, rec.Execution, cause))
	}
}

// finish counts the batch, prints its table and judges the task.
func (x *exam) finish(t *testing.T, b *harness.Batch, cause error) {
	bench, err := b.Finish(cause)
	if err != nil {
		t.Error(say(err))
		return
	}
	var table strings.Builder
	if err := report.Text(&table, bench, b.Results()); err != nil {
		t.Error(say(err))
	}
	t.Log(sayf("\n%s", table.String()))
	cancelled := 0
	for _, c := range bench.Configurations {
		cancelled += c.Cancelled
	}
	if cancelled > 0 && cause != nil {
		t.Error(sayf("%d trials were cancelled: %v", cancelled, cause))
	}
	for _, g := range result.Gate(bench, b.Task.Kind == task.Regression, plan.WithSymposium) {
		t.Error(say(g.Text))
	}
}

func (x *exam) note(d time.Duration) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.longest = max(x.longest, d)
}

// firstEstimate is what a scripted trial is thought to take before one has been seen. It is short
// of the deadlines on purpose: those are for what a real model may need.
const firstEstimate = 30 * time.Second

// fits foresees go test's alarm, which would kill the runner in the middle of a trial.
func (x *exam) fits(t *testing.T, b *harness.Batch) error {
	end, ok := x.ctx.Deadline()
	if !ok {
		return nil
	}
	d := b.Task.Deadlines
	steps := time.Duration(len(b.Task.Checks) + 3)
	need := d.Setup + d.Agent + steps*d.Grading
	if x.engine.Options().Model == harness.Scripted && x.engine.Options().Replay == "" {
		x.mu.Lock()
		need = min(need, max(firstEstimate, 2*x.longest))
		x.mu.Unlock()
	}
	if left := time.Until(end); left < need {
		return fmt.Errorf("a trial may take %s and go test's -timeout leaves %s; run with -timeout 0", need.Round(time.Second), left.Round(time.Second))
	}
	return nil
}

var errAlarm = errors.New("go test's -timeout is near; run with -timeout 0")

// examContext ends with an interrupt, or in good time before the test binary's alarm, which would
// leave no chance to write a result.
func examContext(t *testing.T) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	deadline, ok := t.Deadline()
	if !ok {
		return ctx, stop
	}
	ctx, cancel := context.WithDeadlineCause(ctx, deadline.Add(-grace(deadline)), errAlarm)
	return ctx, func() { cancel(); stop() }
}

// grace is how long before the test binary's alarm an exam stops.
func grace(deadline time.Time) time.Duration {
	return min(15*time.Second, max(2*time.Second, time.Until(deadline)/20))
}

// stamp makes go test run again: a test whose inputs have not changed is served from the cache, and
// then no trial would run. The file must lie below the test's folder, where go test looks.
func stamp(o harness.Options) error {
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	dir := filepath.Join(o.Evals, "results")
	if rel, err := filepath.Rel(cwd, dir); err != nil || !filepath.IsLocal(rel) {
		dir = filepath.Join(cwd, "results")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("stamp: %w", err)
	}
	path := filepath.Join(dir, ".last-run")
	if err := os.WriteFile(path, []byte(time.Now().Format(time.RFC3339Nano)+"\n"), 0o644); err != nil {
		return fmt.Errorf("stamp: %w", err)
	}
	_, err = os.Stat(path)
	return err
}
