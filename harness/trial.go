package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/grade"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/transcript"
	"github.com/proctor-evals/proctor/harness/workspace"
	"github.com/proctor-evals/proctor/internal/setup"
)

// Causes of a stage's end that a trial's result tells apart.
var (
	errSetupDeadline = errors.New("setup deadline")
	errAgentDeadline = errors.New("agent deadline")
)

// trial is one trial on its way. Its fields fill up stage by stage.
type trial struct {
	*Batch
	plan    plan.Trial
	dir     string // its result directory
	rec     *result.Trial
	space   *workspace.Run
	spec    client.Spec
	gw      *gateway.Gateway // nil in a direct trial
	hosts   []string         // that the client may reach
	clock   *gateway.Clock   // nil but when forwarding
	spend   *gateway.Spend   // as clock
	replay  *gateway.Replay
	stopped context.Context // ended by stop, with the model's reason to end the trial
	stop    context.CancelCauseFunc
	before  snapshot // configuration before launch
	witness *witness // nil where Symposium delivers nothing

	removed atomic.Int64 // secrets taken out of what the trial wrote

	transcript *transcript.Transcript
	submission *workspace.Submission
	survived   error // the agent's processes that could not be killed, or nil
	skillsHad  bool  // the skill directory was empty before launch
}

// RunTrial runs one planned trial to its result, which it writes on every path. The error is
// non-nil only when the runner broke; the trial's result then says what is known.
func (b *Batch) RunTrial(ctx context.Context, p plan.Trial) (*result.Trial, error) {
	t := &trial{Batch: b, plan: p, dir: filepath.Join(b.results, p.Name())}
	if err := t.create(); err != nil {
		return nil, err
	}
	err := t.perform(ctx)
	if t.gw != nil || t.stop != nil {
		t.closeGateway()
	}
	if err != nil && t.rec.Execution == "" {
		// The runner broke. The trial did not run to an end that says anything about the agent.
		t.rec.Execution, t.rec.ExecutionCause = result.Cancelled, "runner error: "+err.Error()
	}
	if finErr := t.finalize(); finErr != nil {
		return t.rec, errors.Join(err, finErr)
	}
	if t.space != nil {
		// A folder that cannot be removed now goes with the batch; it must not cost the result.
		_ = t.space.Remove()
	}
	return t.rec, err
}

// create allocates the result directory and the record before anything can fail.
func (t *trial) create() error {
	if err := os.MkdirAll(t.dir, 0o755); err != nil {
		return fmt.Errorf("trial: %w", err)
	}
	t.newRecord()
	if err := t.write(); err != nil {
		return err
	}
	return t.run.update(t.index, t.plan.Name(), func(p *result.PlannedTrial) { p.State = result.Started })
}

func (t *trial) newRecord() {
	e := t.run.engine
	t.rec = &result.Trial{
		SchemaVersion: result.SchemaVersion, RunID: t.run.ID(), BatchID: t.id, State: result.Started,
		Task: t.taskRecord(), Client: t.client, Model: t.model(),
		Mode: t.plan.Configuration.Name, Configuration: configurationRecord(t.plan.Configuration),
		Trial: t.plan.Round, Round: t.plan.Round, Order: t.plan.Order, Jobs: e.opts.Jobs,
		OS: platform(), Tools: map[string]result.Tool{}, StandIns: append([]string{}, t.standIns...),
		StartedAt: time.Now().UTC(), Offered: []result.Offer{}, Gradings: []result.Grading{}, Findings: []result.Finding{},
		DeadlinesSecs: result.Deadlines{
			Setup: secs(t.Task.Deadlines.Setup), Agent: secs(t.Task.Deadlines.Agent), Grading: secs(t.Task.Deadlines.Grading),
		},
		Isolation: result.Isolation{Mode: e.opts.mode(), SRTVersion: t.runtime.Version, AuditState: "not_run",
			AuditFindings: []string{}, ConfigChanges: []string{}, Root: os.Geteuid() == 0},
	}
	if tools := t.run.tools; tools != nil {
		t.rec.Toolchain = tools.Toolchain.Rustc
		for _, name := range []string{setup.Node, setup.SRT, setup.Bubblewrap, setup.Socat, setup.Ripgrep, setup.Cargo, setup.Rustc} {
			t.rec.Tools[name] = result.Tool{Version: tools.ByName[name].Version, SHA256: tools.ByName[name].SHA256}
		}
	}
	if t.plan.Configuration.Skills == plan.DeliverSymposium && t.symposium != nil && t.symposium.path != "" {
		info := t.symposium.info
		t.rec.Symposium = &info
	}
}

func secs(d time.Duration) int { return int(d / time.Second) }

// perform goes through the stages. A stage that decides the trial's execution ends it.
func (t *trial) perform(ctx context.Context) error {
	if ctx.Err() != nil {
		t.rec.Execution, t.rec.ExecutionCause = result.Cancelled, context.Cause(ctx).Error()
		return nil
	}
	t.emitStage(StageSetup, "")
	started := time.Now()
	if over := t.run.overLimit(t.Batch, t.plan); over != nil {
		t.rec.Execution, t.rec.ExecutionCause = result.Cancelled, over.Error()
		return nil
	}
	err := t.setup(ctx)
	t.rec.Timings.Setup = elapsed(started)
	if err != nil {
		var broken *runnerError
		if errors.As(err, &broken) {
			return err
		}
		if ctx.Err() != nil {
			t.rec.Execution, t.rec.ExecutionCause = result.Cancelled, context.Cause(ctx).Error()
			return nil
		}
		t.rec.Execution, t.rec.ExecutionCause = result.SetupFailure, err.Error()
		return nil
	}
	t.emitStage(StageAgent, "")
	if err := t.runAgent(ctx); err != nil {
		return err
	}
	if err := t.keepEvidence(); err != nil {
		return err
	}
	t.tellRemoved()
	switch t.rec.Execution {
	case result.Cancelled, result.SetupFailure:
		return nil
	}
	started = time.Now()
	if err := t.grade(ctx); err != nil {
		return err
	}
	t.rec.Timings.Grading = elapsed(started)
	t.observe()
	t.surveyFinding()
	return t.excludeIfReached()
}

func (t *trial) emitStage(s Stage, detail string) {
	t.run.engine.tell(t.event(t.plan.Name(), s, detail))
}

func elapsed(since time.Time) *float64 {
	s := time.Since(since).Round(time.Millisecond).Seconds()
	return &s
}

// grade grades the kept submission into grading/.
func (t *trial) grade(ctx context.Context) error {
	in := grade.Input{
		Task: t.Task, Fixtures: t.fixtureDirs(), Submission: t.submission, Batch: t.Batch.space, Sandbox: t.runtime,
		Denied: t.denied, Readable: t.readable, CargoBin: t.run.tools.Toolchain.Bin, Quota: t.run.engine.opts.quota(), Out: filepath.Join(t.dir, "grading"),
		Blocked: t.survived, Secrets: t.run.secrets, OnStep: func(name string) { t.emitStage(StageGrading, name) },
	}
	code := grade.Code(ctx, in)
	if err := t.sameChecks(); err != nil {
		code.InfrastructureError = err.Error()
		code.Judge()
	}
	known, err := t.knownPaths()
	if err != nil {
		return err
	}
	edits, err := workspace.EditsOutside(t.Task.Starter, t.submission.Dir, t.Task.Editable, known)
	if err != nil {
		return err
	}
	code.EditsOutside = edits
	for _, what := range code.Suspicious {
		t.rec.Findings = append(t.rec.Findings, result.Finding{Kind: "suspicious_source", Detail: what})
	}
	t.rec.Code = code
	t.rec.Gradings = append(t.rec.Gradings, result.Grading{
		Folder: "grading", Time: time.Now().UTC(), ChecksHash: t.Batch.checks, Toolchain: t.rec.Toolchain, Reason: "first grading", Counts: true, Code: code,
	})
	return nil
}

// knownPaths are the paths in the project that are not the agent's edits: the lock file cargo
// writes and, where skills were delivered, the skills in the client's folder. A delivered skill that
// the agent changed is told by its expectation, not here.
func (t *trial) knownPaths() ([]string, error) {
	known := []string{"Cargo.lock"}
	if t.plan.Configuration.Skills == plan.DeliverNone {
		return known, nil
	}
	skills, err := t.skills()
	if err != nil {
		return nil, err
	}
	for name := range skills {
		known = append(known, path.Join(t.spec.SkillDir, name))
	}
	// Releases up to 0.4.0 put one beside the skill folder they made.
	return append(known, path.Join(path.Dir(t.spec.SkillDir), ".gitignore")), nil
}

// observe decides expectations, the audit and the exclusions from what was kept.
func (t *trial) observe() {
	t.audit()
	t.reconcile()
	t.rec.Isolation.ConfigChanges = t.before.changes(t.snapshot())
	t.rec.ObservedLoad = t.loads()
	if t.plan.Configuration.Skills == plan.DeliverSymposium {
		ev := t.evidence()
		t.rec.Expectations = grade.Expect(t.Task.Expected, ev)
		t.doubts(ev)
	}
}

// finalize decides the trial and writes its record and the plan's line.
func (t *trial) finalize() error {
	now := time.Now().UTC()
	t.rec.FinishedAt, t.rec.State = &now, result.Finished
	t.rec.ElapsedSecs = t.rec.Timings.Agent
	t.rec.Decide()
	if err := t.write(); err != nil {
		return err
	}
	t.Batch.mu.Lock()
	t.done[t.plan.Name()] = t.rec
	t.Batch.mu.Unlock()
	t.emitStage(StageDone, describe(t.rec))
	return t.run.update(t.index, t.plan.Name(), func(p *result.PlannedTrial) {
		p.State, p.Execution, p.Outcome, p.Cause = result.Finished, t.rec.Execution, t.rec.Outcome, t.rec.ExecutionCause
	})
}

func describe(r *result.Trial) string {
	switch {
	case r.Excluded != nil:
		return "excluded (" + r.Excluded.Kind + ")"
	case r.Outcome != "" && r.Execution != result.Completed:
		return string(r.Outcome) + " (" + string(r.Execution) + ")"
	case r.Outcome != "":
		return string(r.Outcome)
	default:
		return string(r.Execution)
	}
}

func (t *trial) write() error {
	return result.WriteClean(t.dir, result.TrialFile, t.rec, t.run.secrets.Clean)
}

// runnerError is a failure of the runner itself, not of the trial.
type runnerError struct{ err error }

func (e *runnerError) Error() string { return e.err.Error() }
func (e *runnerError) Unwrap() error { return e.err }
