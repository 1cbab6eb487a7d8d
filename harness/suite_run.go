package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/grade/judge"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/suite"
	"github.com/proctor-evals/proctor/harness/task"
	"github.com/proctor-evals/proctor/internal/setup"
)

// SuiteOptions say which attempts of a project's suites are made.
type SuiteOptions struct {
	Project  *suite.Project
	Selected suite.Selected
	// Specs and Selection are what Selected came from, for the record.
	Specs     []string
	Selection suite.Selection
	Attempts  int // of each task in each configuration; at least 1
	Parallel  int // attempts at once; at least 1
	Mode      result.RunMode
	// Baseline is the reality check that a run of mode compare is set against: plan.WithoutSkill or
	// plan.NoSkills.
	Baseline string
}

// configurations are those of the options' mode, the run itself before its reality check.
func (o SuiteOptions) configurations() ([]plan.Configuration, error) {
	names := map[result.RunMode][]string{
		result.ModeRun: {plan.WithSkills}, result.ModeWithoutSkill: {plan.WithoutSkill}, result.ModeNoSkills: {plan.NoSkills},
		result.ModeCompare: {plan.WithSkills, o.Baseline},
	}[o.Mode]
	if names == nil {
		return nil, fmt.Errorf("unknown mode of a run of suites %q", o.Mode)
	}
	if o.Mode == result.ModeCompare && o.Baseline != plan.WithoutSkill && o.Baseline != plan.NoSkills {
		return nil, fmt.Errorf("suites are compared with %s or %s, not with %q", plan.WithoutSkill, plan.NoSkills, o.Baseline)
	}
	var out []plan.Configuration
	for _, name := range names {
		c, err := plan.Suite(name)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// SuiteRun is one invocation over suites.
type SuiteRun struct {
	*Run
	opts     SuiteOptions
	confs    []plan.Configuration
	skills   []suite.Skill
	excluded map[string][]string // skills taken away, by configuration
	clients  map[string]*suiteClient
	units    []*suiteUnit
	plans    []AttemptPlan
	cache    *judge.Cache
	started  time.Time

	// lazy says that tools and scratch are looked up at the first launch only: see open.
	lazy     bool
	openOnce sync.Once
	openErr  error

	mu      sync.Mutex
	reports map[string]*scoredAttempt // by the attempt's folder
}

// suiteClient is a client made ready for attempts. err says why it cannot be used: its attempts are
// then errors, and those of other clients go on.
type suiteClient struct {
	once  sync.Once
	batch *Batch
	err   error
}

// suiteUnit is one task, or one case of a trigger task, with one client.
type suiteUnit struct {
	run    *SuiteRun
	Case   suite.Case
	client *suiteClient
	batch  *Batch
	script *gateway.Script
	dir    string // below the run's folder
}

// AttemptPlan is one planned attempt.
type AttemptPlan struct {
	plan.Trial
	Unit *suiteUnit
	Name string // attempt-<n>, with the configuration when there are several
	Dir  string // below the run's folder, with slashes
}

// Spec is the attempt's task: suite::task.
func (p AttemptPlan) Spec() string { return p.Unit.batch.Task.Name }

// Client is the name of the attempt's client.
func (p AttemptPlan) Client() string { return p.Unit.batch.Client() }

// ConfigurationNames are the configurations of the attempts, in order.
func (o SuiteOptions) ConfigurationNames() ([]string, error) {
	confs, err := o.configurations()
	var names []string
	for _, c := range confs {
		names = append(names, c.Name)
	}
	return names, err
}

// StartSuites checks that everything the attempts need is there, runs the project's own command before
// a run, plans all attempts and writes the plan to run.json.
func (e *Engine) StartSuites(ctx context.Context, o SuiteOptions) (*SuiteRun, error) {
	confs, err := o.configurations()
	if err != nil {
		return nil, err
	}
	if len(o.Selected.Cases) == 0 {
		return nil, errors.New("no task to run")
	}
	scripts, err := e.suiteScripts(o)
	if err := errors.Join(err, e.checkKeys(), checkJudges(o, e.clientNames())); err != nil {
		return nil, err
	}
	tools, err := e.locateForSuites(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := preRun(ctx, o.Project); err != nil {
		return nil, err
	}
	skills, err := o.Project.Skills()
	if err != nil {
		return nil, err
	}
	e.opts.Jobs = o.Parallel
	base, err := e.openRun(tools, e.opts.runsDir())
	if err != nil {
		return nil, err
	}
	r := &SuiteRun{
		Run: base, opts: o, confs: confs, skills: skills, excluded: map[string][]string{}, clients: map[string]*suiteClient{},
		reports: map[string]*scoredAttempt{}, started: time.Now().UTC(),
	}
	evaluated := suite.EvaluatedSkills(o.Selected.Cases)
	for _, c := range confs {
		r.excluded[c.Name] = excludedSkills(c.Name, skills, evaluated)
	}
	if err := r.plan(scripts); err != nil {
		r.release()
		return nil, err
	}
	return r, nil
}

// suiteScripts loads the cases' model scripts; a scripted run needs one each.
func (e *Engine) suiteScripts(o SuiteOptions) (map[*suite.Task]*gateway.Script, error) {
	out := map[*suite.Task]*gateway.Script{}
	var problems []error
	for _, c := range o.Selected.Cases {
		if _, done := out[c.Task]; done {
			continue
		}
		out[c.Task] = nil
		if e.opts.kind() != gateway.KindScripted {
			continue
		}
		if c.Task.ModelScript == "" {
			problems = append(problems, fmt.Errorf("%s: the task has no model script, which a scripted run needs: write %s, or name a model with -model (-model %s: the default_model of config.yaml)",
				c.Task.File, filepath.Join(c.Task.Suite.Dir, "scripts", c.Task.Name+".toml"), ConfiguredModel))
			continue
		}
		script, err := gateway.LoadScript(c.Task.ModelScript)
		if err != nil {
			problems = append(problems, err)
		}
		out[c.Task] = script
	}
	return out, errors.Join(problems...)
}

// locateForSuites finds the sandbox and the clients, those of agent judges too. A Rust toolchain is
// there for attempts where the machine has one.
func (e *Engine) locateForSuites(ctx context.Context, o SuiteOptions) (*setup.Tools, error) {
	opts := setup.Options{Cache: e.opts.Cache}
	needs := []setup.Need{setup.NeedSandbox}
	for _, name := range append(e.clientNames(), judgeClients(o, e.clientNames())...) {
		if (e.opts.ClientPath == "" || !slices.Contains(e.clientNames(), name)) && !slices.Contains(needs, setup.Need(name)) {
			needs = append(needs, setup.Need(name))
		}
	}
	tools, err := setup.Locate(ctx, opts, needs...)
	if err != nil {
		return nil, err
	}
	tools.Toolchain = &setup.Toolchain{}
	if rust, err := setup.Locate(ctx, opts, setup.NeedRust); err == nil {
		tools.Toolchain = rust.Toolchain
		for _, name := range []string{setup.Cargo, setup.Rustc} {
			tools.ByName[name] = rust.ByName[name]
		}
	}
	return tools, nil
}

func (e *Engine) clientNames() (names []string) {
	for _, a := range e.clients {
		names = append(names, a.Name())
	}
	return names
}

// preRun runs the project's command that makes its skills. It is the user's own and runs outside.
func preRun(ctx context.Context, p *suite.Project) error {
	argv := p.Config.PreRun
	if len(argv) == 0 {
		return nil
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.WaitDelay = p.Root, 5*time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pre_run: %s: %w\n%s", strings.Join(argv, " "), err, out)
	}
	return nil
}

// plan lays out the units and their attempts, round by round, and writes run.json.
func (r *SuiteRun) plan(scripts map[*suite.Task]*gateway.Script) error {
	e := r.engine
	perUnit := map[*suiteUnit][]AttemptPlan{}
	for _, c := range r.opts.Selected.Cases {
		for _, a := range e.clients {
			u, err := r.unit(c, a, scripts[c.Task])
			if err != nil {
				return err
			}
			r.units = append(r.units, u)
			rec := result.Batch{
				BatchID: u.batch.id, Task: u.batch.taskRecord(), Client: a.Name(), Model: u.batch.model(), Isolation: e.opts.mode(),
				Rounds: r.opts.Attempts, Results: filepath.ToSlash(filepath.Join(filepath.Base(filepath.Dir(r.dir)), filepath.Base(r.dir), u.dir)),
			}
			for _, conf := range r.confs {
				rec.Configurations = append(rec.Configurations, configurationRecord(conf))
			}
			for _, t := range u.batch.plan {
				p := AttemptPlan{Trial: t, Unit: u, Name: fmt.Sprintf("attempt-%d", t.Round), Dir: u.dir}
				if len(r.confs) > 1 {
					p.Name += "-" + t.Configuration.Name
					p.Dir = filepath.Join(p.Dir, t.Configuration.Name)
				}
				p.Dir = filepath.ToSlash(filepath.Join(p.Dir, fmt.Sprintf("attempt-%d", t.Round)))
				perUnit[u] = append(perUnit[u], p)
				rec.Trials = append(rec.Trials, result.PlannedTrial{
					Name: p.Name, Configuration: t.Configuration.Name, Round: t.Round, Order: t.Order, State: result.Planned,
				})
			}
			r.record.Batches = append(r.record.Batches, rec)
		}
	}
	// A run that is cut short has whole rounds, as far as it came.
	for i := range r.opts.Attempts * len(r.confs) {
		for _, u := range r.units {
			r.plans = append(r.plans, perUnit[u][i])
		}
	}
	r.record.RunMode, r.record.Config = r.opts.Mode, r.config()
	if err := os.MkdirAll(filepath.Join(r.dir, result.ReportsDir), 0o755); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	var err error
	if r.cache, err = judge.OpenCache(filepath.Join(r.dir, result.JudgeCacheFile)); err != nil {
		return err
	}
	return r.write()
}

func (r *SuiteRun) config() *result.SuiteConfig {
	o, e := r.opts, r.engine
	excluded := []string{}
	for _, c := range r.confs {
		excluded = append(excluded, r.excluded[c.Name]...)
	}
	slices.Sort(excluded)
	c := &result.SuiteConfig{
		K: o.Attempts, Models: e.clientModels(), Parallel: o.Parallel, WithoutSkill: o.Mode == result.ModeWithoutSkill, NoSkills: o.Mode == result.ModeNoSkills,
		NoTriggers: o.Selection.NoTriggers, SkillsExcluded: slices.Compact(excluded), Tags: append([]string{}, o.Selection.Tags...),
		ExcludeTags: append([]string{}, o.Selection.ExcludeTags...), AllTags: o.Selection.AllTags, ExcludedByTag: o.Selected.ExcludedByTag,
		Specs: o.Specs, Provider: suite.HarnessName(e.clients[0].Name()), Clients: e.clientNames(), ScratchTopLevel: r.scratch.Dir,
	}
	if o.Mode == result.ModeCompare {
		c.Compare = o.Baseline
	}
	return c
}

// unit makes the batch of one case with one client. Its task is the attempts' common description: what
// the parts of a trial need of one.
func (r *SuiteRun) unit(c suite.Case, a client.Adapter, script *gateway.Script) (*suiteUnit, error) {
	id, err := newRunID()
	if err != nil {
		return nil, err
	}
	hash, err := caseHash(r.opts.Project, c)
	if err != nil {
		return nil, err
	}
	u := &suiteUnit{run: r, Case: c, script: script, dir: filepath.Join(result.ArtifactsDir, c.Task.Suite.Name, c.Name)}
	if len(r.engine.clients) > 1 {
		u.dir = filepath.Join(u.dir, a.Name())
	}
	if u.client = r.clients[a.Name()]; u.client == nil {
		u.client = newSuiteClient(r.Run, a)
		r.clients[a.Name()] = u.client
	}
	u.batch = &Batch{
		Task: &task.Task{
			Name: result.SpecName(c.Task.Suite.Name, c.Name), Kind: task.Kind(c.Task.Kind), Prompt: c.Prompt, ContentHash: hash,
			Deadlines: task.Deadlines{Setup: suiteSetupTime, Agent: c.Task.Deadline(r.opts.Project.Config)},
		},
		adapter: a, run: r.Run, index: len(r.units), id: id, rounds: r.opts.Attempts, plan: plan.Expand(r.confs, r.opts.Attempts),
		results: filepath.Join(r.dir, u.dir), done: map[string]*result.Trial{},
	}
	return u, nil
}

// suiteSetupTime is how long it may take to make an attempt's run directory.
const suiteSetupTime = 2 * time.Minute

// Attempts are the planned attempts in their order.
func (r *SuiteRun) Attempts() []AttemptPlan { return slices.Clone(r.plans) }

// ready makes the client usable, once; its error is every attempt's with it.
func (r *SuiteRun) ready(ctx context.Context, c *suiteClient) error {
	c.once.Do(func() {
		if c.err = r.open(ctx); c.err == nil {
			c.err = c.batch.openSandbox()
		}
		if c.err == nil {
			empty := filepath.Join(c.batch.space.Dir, "empty")
			c.batch.Task.Starter = empty
			c.err = os.Mkdir(empty, 0o755)
		}
		if c.err == nil {
			c.err = c.batch.stageClient(ctx)
		}
	})
	return c.err
}

// ready gives the unit's batch what its client's has.
func (u *suiteUnit) ready(ctx context.Context) (*Batch, error) {
	if err := u.run.ready(ctx, u.client); err != nil {
		return nil, err
	}
	from := u.client.batch
	b := &Batch{
		Task: u.batch.Task, adapter: u.batch.adapter, run: u.batch.run, index: u.batch.index, id: u.batch.id, rounds: u.batch.rounds,
		plan: u.batch.plan, results: u.batch.results, done: map[string]*result.Trial{},
		script: u.script,
		space:  from.space, runtime: from.runtime, boundary: from.boundary, readable: from.readable, denied: from.denied,
		clientLinks: from.clientLinks, clientPackage: from.clientPackage, client: from.client, standIns: from.standIns,
	}
	starter := *b.Task
	starter.Starter = from.Task.Starter
	if f := u.Case.Task.Setup.Fixture; f != "" {
		starter.Starter = filepath.Join(u.run.opts.Project.Evals, "fixtures", filepath.FromSlash(f))
	}
	b.Task = &starter
	return b, nil
}

// Perform makes all attempts. One that goes wrong is an attempt's error and stops no other; only the
// end of ctx does.
func (r *SuiteRun) Perform(ctx context.Context) {
	var jobs []job
	for _, p := range r.plans {
		jobs = append(jobs, job{group: p.Unit.Case.Task.Group, run: func(ctx context.Context) { r.RunAttempt(ctx, p) }})
	}
	runJobs(ctx, jobs, r.opts.Parallel, r.opts.Project.Config.ConcurrencyGroups)
}

// closeClients removes what the clients have in the scratch.
func (r *SuiteRun) closeClients() {
	for _, c := range r.clients {
		if c.batch.space != nil {
			_ = c.batch.space.Close() // swept by the next run
		}
	}
}
