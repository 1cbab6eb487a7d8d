package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/sandbox"
	"github.com/proctor-evals/proctor/harness/symposium"
	"github.com/proctor-evals/proctor/harness/task"
	"github.com/proctor-evals/proctor/harness/workspace"
	"github.com/proctor-evals/proctor/internal/setup"
)

// Batch is all trials of one task with one client.
type Batch struct {
	Task *task.Task

	adapter client.Adapter
	run     *Run
	index   int
	id      string
	rounds  int
	plan    []plan.Trial
	results string // results/<task>/<client>/<batch>
	// kept are the trials of an earlier runner, in a resumed run.
	kept []*result.Trial

	// Set by Prepare.
	space       *workspace.Batch
	runtime     sandbox.Runtime // srt: grading, and the agent in enforced mode
	boundary    sandbox.Sandbox // what the agent runs in
	readable    workspace.Readable
	denied      []string
	clientLinks map[string]string // the client and what runs it, by name in bin/
	// clientPackage is the staged folder of a client that is more than one file, or "".
	clientPackage string
	client        result.Client
	symposium     *symposiumTool
	script        *gateway.Script
	standIns      []string
	checks        string // checksHash when the batch was prepared

	mu        sync.Mutex
	round     int // the last one begun
	done      map[string]*result.Trial
	benchmark *result.Benchmark
}

// symposiumTool is the staged cargo-agents.
type symposiumTool struct {
	path    string
	info    result.Symposium
	dialect symposium.Dialect
	// unusable says why no trial can use it, or "".
	unusable string
}

func newBatch(r *Run, index int, t *task.Task, a client.Adapter, results string) (*Batch, error) {
	id, err := newRunID()
	if err != nil {
		return nil, err
	}
	e := r.engine
	b := &Batch{
		Task: t, adapter: a, run: r, index: index, id: id, rounds: e.rounds(t), done: map[string]*result.Trial{},
		results: filepath.Join(results, t.Name, a.Name(), id),
	}
	b.plan = plan.Expand(e.confs, b.rounds)
	return b, nil
}

// Plan are the batch's trials in the order they are to be run.
func (b *Batch) Plan() []plan.Trial { return slices.Clone(b.plan) }

// Client is the name of the batch's client.
func (b *Batch) Client() string { return b.adapter.Name() }

// Rounds is the number of trials per configuration.
func (b *Batch) Rounds() int { return b.rounds }

// Results is the batch's folder.
func (b *Batch) Results() string { return b.results }

// planned is the batch's part of run.json.
func (b *Batch) planned() result.Batch {
	e := b.run.engine
	rel, err := filepath.Rel(filepath.Dir(filepath.Dir(b.run.dir)), b.results)
	if err != nil {
		rel = b.results
	}
	out := result.Batch{
		BatchID: b.id, Task: b.taskRecord(), Client: b.Client(), Model: b.model(),
		Isolation: e.opts.mode(), Rounds: b.rounds, Results: filepath.ToSlash(rel), Detectable: e.Detectable(b.Task, b.Client()),
	}
	for _, c := range e.confs {
		out.Configurations = append(out.Configurations, configurationRecord(c))
	}
	for _, t := range b.plan {
		out.Trials = append(out.Trials, result.PlannedTrial{
			Name: t.Name(), Configuration: t.Configuration.Name, Round: t.Round, Order: t.Order, State: result.Planned,
		})
	}
	return out
}

func (b *Batch) taskRecord() result.Task {
	return result.Task{Name: b.Task.Name, Kind: string(b.Task.Kind), ContentHash: b.Task.ContentHash}
}

func (b *Batch) model() result.Model {
	m := b.run.engine.model()
	m.Name = b.run.engine.opts.ModelOf(b.Client())
	return m
}

func (e *Engine) model() result.Model {
	return result.Model{Name: e.opts.Model, Kind: e.opts.kind(), Settings: map[string]any{}}
}

func configurationRecord(c plan.Configuration) result.Configuration {
	return result.Configuration{Name: c.Name, Mode: c.Name, Skills: string(c.Skills), Tools: c.Tools, Hooks: c.Hooks}
}

// Prepare stages the tools once for all trials of the batch and probes the cargo-agents under
// evaluation. What a particular trial would lack is that trial's setup failure, not an error here.
func (b *Batch) Prepare(ctx context.Context) error {
	e := b.run.engine
	if err := os.MkdirAll(b.results, 0o755); err != nil {
		return fmt.Errorf("batch: %w", err)
	}
	err := b.openSandbox()
	if err != nil {
		return err
	}
	if b.checks, err = checksHash(b.Task); err != nil {
		return err
	}
	if err := b.stageClient(ctx); err != nil {
		return err
	}
	if e.opts.kind() == gateway.KindScripted {
		if b.script, err = gateway.LoadScript(b.Task.ModelScript); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(e.confs, func(c plan.Configuration) bool { return c.Skills == plan.DeliverSymposium }) {
		if err := b.stageSymposium(ctx); err != nil {
			return err
		}
	}
	return b.sameStaged()
}

// openSandbox makes the batch's scratch and finds out what its launches run in and may read.
func (b *Batch) openSandbox() error {
	e, tools := b.run.engine, b.run.tools
	space, err := b.run.scratch.NewBatch()
	if err != nil {
		return err
	}
	b.space = space
	srt := tools.ByName[setup.SRT]
	if srt.Path != "" { // an exploratory run may be without
		if srt, err = b.storedSRT(); err != nil {
			return err
		}
	}
	b.runtime = sandbox.Runtime{
		Node: tools.ByName[setup.Node].Path, SRT: srt.Path, Bwrap: tools.ByName[setup.Bubblewrap].Path, Socat: tools.ByName[setup.Socat].Path,
		Version: srt.Version, PrivateTmp: b.run.scratch.PrivateTmp,
	}
	b.boundary = b.runtime
	if e.opts.Exploratory {
		b.boundary = sandbox.Bare{Bwrap: b.runtime.Bwrap}
	}
	b.readable = workspace.Readable{
		Toolchain: tools.Toolchain.Dir,
	}
	if srt.Path != "" {
		b.readable.SRTVendor = filepath.Join(filepath.Dir(filepath.Dir(srt.Path)), "vendor")
	}
	b.denied = b.run.deniedPaths()
	return nil
}

// addStandIn records a program that is a stand-in by its name, so that no result made with one can
// pass for a real one, and tells whether it is one.
func (b *Batch) addStandIn(path string) bool {
	name := filepath.Base(path)
	if isStandIn(name) && !slices.Contains(b.standIns, name) {
		b.standIns = append(b.standIns, name)
	}
	return isStandIn(name)
}

// storedSRT is srt from the scratch: it runs a helper of its own inside, whose path every process of
// the trial can see.
func (b *Batch) storedSRT() (setup.Tool, error) {
	tool := b.run.tools.ByName[setup.SRT]
	// Path is <install>/node_modules/@anthropic-ai/sandbox-runtime/dist/cli.js.
	modules := tool.Path
	for filepath.Base(modules) != "node_modules" {
		if modules == filepath.Dir(modules) {
			return tool, fmt.Errorf("srt at %s is not in a folder node_modules", tool.Path)
		}
		modules = filepath.Dir(modules)
	}
	stored, err := b.run.scratch.StoreTree("srt", filepath.Dir(modules), tool.SHA256)
	if err != nil {
		return tool, err
	}
	rel, err := filepath.Rel(filepath.Dir(modules), tool.Path)
	if err != nil {
		return tool, err
	}
	tool.Path = filepath.Join(stored, rel)
	return tool, nil
}

// links are what a run directory's bin/ holds: the client, sh and, with Symposium, cargo-agents.
func (b *Batch) links(c plan.Configuration) map[string]string {
	links := map[string]string{"sh": "/bin/sh"}
	for name, target := range b.clientLinks {
		links[name] = target
	}
	if c.Skills == plan.DeliverSymposium && b.symposium != nil {
		links["cargo-agents"] = b.symposium.path
	}
	return links
}

func (b *Batch) fixtureDirs() map[string]string {
	return b.sourceDirs("fixtures", b.Task.Fixtures)
}

func (b *Batch) pluginDirs() map[string]string {
	return b.sourceDirs("plugins", b.Task.Plugins)
}

func (b *Batch) sourceDirs(kind string, names []string) map[string]string {
	out := map[string]string{}
	for _, name := range names {
		out[name] = filepath.Join(b.run.engine.opts.Evals, kind, name)
	}
	return out
}

// skills are the skills of the task's plugins, by name.
func (b *Batch) skills() (map[string]symposium.Skill, error) {
	out := map[string]symposium.Skill{}
	for _, dir := range b.pluginDirs() {
		skills, err := symposium.Skills(dir)
		if err != nil {
			return nil, err
		}
		for _, s := range skills {
			if other, ok := out[s.Name]; ok {
				return nil, fmt.Errorf("the skill %q is in two plugins, %s and %s", s.Name, other.Dir, s.Dir)
			}
			out[s.Name] = s
		}
	}
	return out, nil
}
