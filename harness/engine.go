package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/task"
	"github.com/proctor-evals/proctor/harness/workspace"
	"github.com/proctor-evals/proctor/internal/redact"
	"github.com/proctor-evals/proctor/internal/setup"
)

// Engine holds the tasks of an evals root and the options of a run.
type Engine struct {
	opts    Options
	tasks   []*task.Task
	clients []client.Adapter
	confs   []plan.Configuration
	eventMu sync.Mutex
}

// Open reads options and all tasks. Its error lists every problem of every file at once.
func Open(opts Options) (*Engine, error) {
	opts, optsErr := opts.complete()
	if optsErr != nil && !isEvals(opts.Evals) {
		return nil, optsErr
	}
	tasks, err := task.LoadAll(opts.Evals)
	if err := errors.Join(optsErr, err, checkContents(opts.Evals, tasks)); err != nil {
		return nil, err
	}
	var clients []client.Adapter
	for _, name := range opts.Clients {
		a, err := client.Lookup(name)
		if err != nil {
			return nil, err
		}
		clients = append(clients, a)
	}
	confs, err := plan.Lookup(opts.Configurations...)
	if err != nil {
		return nil, err
	}
	return &Engine{opts: opts, tasks: tasks, clients: clients, confs: confs}, nil
}

// Options are the completed options.
func (e *Engine) Options() Options { return e.opts }

// Tasks are all tasks of the evals root, by name.
func (e *Engine) Tasks() []*task.Task { return slices.Clone(e.tasks) }

// Task returns the tasks of the given names. An unknown name is an error that lists the tasks; a
// name given twice is one too, since a run has one batch a task and client.
func (e *Engine) Task(names ...string) ([]*task.Task, error) {
	var out []*task.Task
	var unknown []string
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("task %q is named twice; -k or PROCTOR_TRIALS sets the number of trials", name)
		}
	}
	for _, name := range names {
		i := slices.IndexFunc(e.tasks, func(t *task.Task) bool { return t.Name == name })
		if i < 0 {
			one := fmt.Sprintf("%q", name)
			if near := task.Near(name, e.known()); near != "" {
				one += fmt.Sprintf(" (did you mean %q?)", near)
			}
			unknown = append(unknown, one)
			continue
		}
		out = append(out, e.tasks[i])
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf("no task %s in %s; the tasks are: %s%s", strings.Join(unknown, ", "), e.opts.Evals, e.taskNames(), suitesBeside(e.opts.Evals))
	}
	return out, nil
}

func (e *Engine) taskNames() string {
	if len(e.tasks) == 0 {
		return "(none)"
	}
	return strings.Join(e.known(), ", ")
}

func (e *Engine) known() (names []string) {
	for _, t := range e.tasks {
		names = append(names, t.Name)
	}
	return names
}

// rounds is how many trials each configuration gets.
func (e *Engine) rounds(t *task.Task) int {
	switch {
	case e.opts.Trials > 0:
		return e.opts.Trials
	case e.opts.kind() == gateway.KindScripted:
		return e.opts.DefaultTrials
	case e.opts.kind() == gateway.KindReplay:
		return e.opts.recordedRounds()
	default:
		return t.Trials
	}
}

// needs are the tools a run of this engine's options uses.
func (e *Engine) needs() []setup.Need {
	needs := []setup.Need{setup.NeedSandbox, setup.NeedRust}
	if e.opts.ClientPath == "" {
		for _, a := range e.clients {
			needs = append(needs, setup.Need(a.Name()))
		}
	}
	if e.opts.CargoAgents == "" && slices.ContainsFunc(e.confs, func(c plan.Configuration) bool { return c.Skills == plan.DeliverSymposium }) {
		needs = append(needs, setup.NeedCargoAgents)
	}
	return needs
}

// locate finds the tools. An exploratory run goes on without srt, as the client's own sandbox is its
// boundary: its trials then say that nothing could be graded. Bubblewrap it needs all the same, to
// hold the process tree.
func (e *Engine) locate(ctx context.Context) (*setup.Tools, error) {
	opts := setup.Options{Cache: e.opts.Cache}
	tools, err := setup.Locate(ctx, opts, e.needs()...)
	var missing *setup.MissingError
	if !e.opts.Exploratory || !errors.As(err, &missing) {
		return tools, err
	}
	inSandbox := func(need setup.Need) bool { return need == setup.NeedSandbox }
	if slices.ContainsFunc(missing.Problems, func(p setup.Problem) bool { return !inSandbox(p.Need) }) {
		return nil, err
	}
	bwrap, lookErr := exec.LookPath(setup.Bubblewrap)
	if lookErr != nil {
		return nil, err
	}
	if bwrap, lookErr = filepath.Abs(bwrap); lookErr != nil {
		return nil, err
	}
	sum, sumErr := fileSHA256(bwrap)
	if sumErr != nil {
		return nil, errors.Join(err, sumErr)
	}
	if tools, err = setup.Locate(ctx, opts, slices.DeleteFunc(e.needs(), inSandbox)...); err != nil {
		return nil, err
	}
	tools.ByName[setup.Bubblewrap] = setup.Tool{Name: setup.Bubblewrap, Path: bwrap, SHA256: sum}
	return tools, nil
}

// Run is one invocation: a plan on disk and the batches that carry it out.
type Run struct {
	engine  *Engine
	tools   *setup.Tools
	scratch *workspace.Scratch
	dir     string // runs/<run-id>
	// rehearsal is the folder that holds the records of a rehearsal, else "".
	rehearsal string
	spend     *gateway.Spend // of all its trials, by the wire
	secrets   *redact.Set    // that nothing kept may hold
	release   func()

	deniedOnce sync.Once
	denied     []string // see deniedPaths
	survey     Survey

	mu      sync.Mutex
	record  result.Run
	batches []*Batch
}

// Start checks that everything the tasks need is there, plans all trials and writes the plan to
// run.json. A missing tool is a *setup.MissingError, once for the run.
func (e *Engine) Start(ctx context.Context, tasks []*task.Task) (*Run, error) {
	return e.start(ctx, tasks, e.opts.runsDir(), e.opts.resultsDir())
}

// Rehearse is Start for visits (see Batch.Enter): its records go to a folder of their own, which
// Close removes. What trials may not read is what it is in a real run.
func (e *Engine) Rehearse(ctx context.Context, tasks []*task.Task) (*Run, error) {
	dir, err := os.MkdirTemp("", "proctor-rehearsal-")
	if err != nil {
		return nil, fmt.Errorf("rehearsal: %w", err)
	}
	r, err := e.start(ctx, tasks, filepath.Join(dir, "runs"), filepath.Join(dir, "results"))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	r.rehearsal = dir
	return r, nil
}

// ready finds what a run of these tasks needs; the run has no folder yet.
func (e *Engine) ready(ctx context.Context, tasks []*task.Task) (*Run, error) {
	if len(tasks) == 0 {
		return nil, fmt.Errorf("no task to run in %s; the tasks are: %s", e.opts.Evals, e.taskNames())
	}
	var problems []error
	for _, t := range tasks {
		if e.opts.kind() == gateway.KindScripted && t.ModelScript == "" {
			problems = append(problems, fmt.Errorf("task %s has no model script, which a scripted run needs: add `model_script = \"model.toml\"` to %s", t.Name, filepath.Join(t.Dir, "task.toml")))
		}
	}
	problems = append(problems, e.checkKeys())
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	tools, err := e.locate(ctx)
	if err != nil {
		return nil, err
	}
	return e.opened(tools)
}

// opened is a run that has no folder yet, with its scratch open.
func (e *Engine) opened(tools *setup.Tools) (*Run, error) {
	scratch, err := workspace.OpenScratch(e.opts.Scratch)
	if err != nil {
		return nil, err
	}
	if n := len(scratch.Dir); e.opts.Exploratory && n > maxExploratoryScratch {
		return nil, fmt.Errorf("scratch %s: %d characters are too long for an exploratory run: the client's own sandbox keeps sockets below it, whose paths hold 107 bytes, and without them refuses every command; set PROCTOR_SCRATCH to a path of at most %d", scratch.Dir, n, maxExploratoryScratch)
	}
	if e.opts.Exploratory {
		scratch = scratch.Apart()
	}
	return &Run{
		engine: e, tools: tools, scratch: scratch, secrets: e.opts.secrets(os.Environ()), spend: e.opts.spend(e.opts.MaxTokens, e.opts.MaxCost),
	}, nil
}

// openRun opens the scratch and makes the run's folder, which it holds.
func (e *Engine) openRun(tools *setup.Tools, runs string) (*Run, error) {
	r, err := e.opened(tools)
	if err != nil {
		return nil, err
	}
	return r, r.begin(runs)
}

// begin makes the run's folder, which it holds.
func (r *Run) begin(runs string) error {
	id, err := newRunID()
	if err != nil {
		return err
	}
	r.dir = filepath.Join(runs, id)
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	if r.release, err = result.Hold(r.dir); err != nil {
		return err
	}
	r.record = result.Run{
		SchemaVersion: result.SchemaVersion, RunID: id, State: result.Started, StartedAt: time.Now().UTC(),
		Proctor: version(), Jobs: r.engine.opts.Jobs,
	}
	return nil
}

func (e *Engine) start(ctx context.Context, tasks []*task.Task, runs, results string) (*Run, error) {
	r, err := e.ready(ctx, tasks)
	if err != nil {
		return nil, err
	}
	if err := r.begin(runs); err != nil {
		return nil, err
	}
	for _, t := range tasks {
		for _, a := range e.clients {
			batch, err := newBatch(r, len(r.batches), t, a, results)
			if err != nil {
				r.release()
				return nil, err
			}
			r.batches = append(r.batches, batch)
			r.record.Batches = append(r.record.Batches, batch.planned())
		}
	}
	if err := r.write(); err != nil {
		r.release()
		return nil, err
	}
	return r, nil
}

// maxExploratoryScratch is how long the scratch's path may be, in bytes, for the client's own sandbox
// to fit its sockets into <scratch>/b-<12>/<12>/tmp/claude-socks-<16>.sock.
const maxExploratoryScratch = 107 - len("/b-012345678901/012345678901/tmp/claude-socks-0123456789abcdef.sock")

// Batches are the run's batches, one a task and client, in the order of the tasks.
func (r *Run) Batches() []*Batch { return r.batches }

// ID is the run's name.
func (r *Run) ID() string { return r.record.RunID }

// Summary is what several tasks say together; it is there after Close.
func (r *Run) Summary() []result.Summary {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.record.Summary)
}

// Dir is the run's folder.
func (r *Run) Dir() string { return r.dir }

// Close finishes the run's record. Batches that were not finished are counted as they are.
func (r *Run) Close(cause error) error {
	defer r.release()
	var errs []error
	var benchmarks []*result.Benchmark
	for _, b := range r.batches {
		bench, err := b.Finish(cause)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		benchmarks = append(benchmarks, bench)
	}
	r.mu.Lock()
	r.record.Summary = result.Summarize(benchmarks)
	r.record.State = result.Finished
	now := time.Now().UTC()
	r.record.FinishedAt = &now
	if cause != nil {
		r.record.Cause = cause.Error()
	}
	r.mu.Unlock()
	errs = append(errs, r.write())
	if r.rehearsal != "" {
		errs = append(errs, os.RemoveAll(r.rehearsal))
	}
	return errors.Join(errs...)
}

// update changes the record of one planned trial and writes run.json.
func (r *Run) update(batch int, name string, change func(*result.PlannedTrial)) error {
	r.mu.Lock()
	trials := r.record.Batches[batch].Trials
	if i := slices.IndexFunc(trials, func(p result.PlannedTrial) bool { return p.Name == name }); i >= 0 {
		change(&trials[i])
	}
	r.mu.Unlock()
	return r.write()
}

func (r *Run) write() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return result.WriteClean(r.dir, result.RunFile, r.record, r.secrets.Clean)
}

// newRunID sorts by time: 20260131-235959-1a2b3c4d5e6f.
func newRunID() (string, error) {
	id, err := workspace.NewID()
	if err != nil {
		return "", err
	}
	return time.Now().UTC().Format("20060102-150405") + "-" + id, nil
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
		return info.Main.Version
	}
	return "unknown"
}

func platform() string { return runtime.GOOS + "/" + runtime.GOARCH }
