package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/suite"
	"github.com/proctor-evals/proctor/harness/transcript"
	"github.com/proctor-evals/proctor/harness/workspace"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// attempt is one attempt at a suite's task: a trial whose end is judged by assertions.
type attempt struct {
	*trial
	unit     *suiteUnit
	planned  AttemptPlan
	staged   []string
	excluded []string
	stopped  bool // the answer of a trigger task was known
	peak     *int64
	leftOut  []treecopy.Entry
	archived bool
	started  time.Time
}

// perform carries the attempt out up to its archive. Its error means that the runner broke.
func (a *attempt) perform(ctx context.Context) error {
	if ctx.Err() != nil {
		a.rec.Execution, a.rec.ExecutionCause = result.Cancelled, context.Cause(ctx).Error()
		return nil
	}
	a.started = time.Now().UTC()
	a.emitStage(StageSetup, "")
	began := time.Now()
	err := a.prepare(ctx)
	a.rec.Timings.Setup = elapsed(began)
	switch broken := (*runnerError)(nil); {
	case err == nil:
	case errors.As(err, &broken):
		return err
	case ctx.Err() != nil:
		a.rec.Execution, a.rec.ExecutionCause = result.Cancelled, context.Cause(ctx).Error()
		return nil
	default:
		a.rec.Execution, a.rec.ExecutionCause = result.SetupFailure, err.Error()
		return nil
	}
	a.emitStage(StageAgent, "")
	if err := a.runClient(ctx); err != nil {
		return err
	}
	return a.archive()
}

// prepare makes the run directory: the fixture, the skills of the configuration, a fresh home, the
// model endpoint. Its error is the attempt's setup failure, unless it is a *runnerError.
func (a *attempt) prepare(trialCtx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(trialCtx, a.Task.Deadlines.Setup, errSetupDeadline)
	defer cancel()
	a.spec = a.adapter.Command(client.Request{})
	space, err := a.Batch.space.NewRun(workspace.Layout{
		Starter: a.Task.Starter, Links: a.links(a.plan.Configuration), EmptyDirs: a.spec.ProjectDirs,
	})
	if err != nil {
		return &runnerError{err}
	}
	a.space = space
	for _, path := range a.spec.ManagedSettings {
		if err := emptyOrAbsent(path); err != nil {
			return fmt.Errorf("preflight: the client's machine-wide managed settings reach into every attempt: %w", err)
		}
	}
	project := space.Path("project")
	if err := removeKeepers(project); err != nil {
		return err
	}
	a.excluded = a.unit.run.excluded[a.plan.Configuration.Name]
	if a.staged, err = stageSkillsOf(project, a.spec.SkillDir, a.plan.Configuration.Name, a.unit.run.skills, a.excluded); err != nil {
		return err
	}
	if err := a.openGateway(trialCtx, nil); err != nil {
		return err
	}
	if err := a.command(); err != nil {
		return err
	}
	if err := a.unit.tuning().Apply(a.adapter.Name(), &a.spec); err != nil {
		return err
	}
	if err := space.FillHome(a.spec.HomeFiles, a.spec.HomeLinks); err != nil {
		return &runnerError{err}
	}
	a.before = a.snapshot()
	return context.Cause(ctx)
}

// runClient launches the client and decides how the session went.
func (a *attempt) runClient(ctx context.Context) error {
	stdout, err := os.Create(filepath.Join(a.dir, result.RawStreamFile))
	if err != nil {
		return fmt.Errorf("attempt: %w", err)
	}
	defer stdout.Close()
	stderr, err := os.Create(filepath.Join(a.dir, "stderr.log"))
	if err != nil {
		return fmt.Errorf("attempt: %w", err)
	}
	defer stderr.Close()
	agentCtx, cancelTime := a.withDeadline(ctx, a.Task.Deadlines.Agent, errAgentDeadline)
	defer cancelTime()
	agentCtx, cancel := context.WithCancelCause(agentCtx)
	defer cancel(nil)
	launch := a.launch(a.spec.Argv)
	a.unit.environment(launch.Env, a.spec.Env)
	cleanOut, cleanErr := a.filter(stdout), a.filter(stderr)
	launch.Stdin, launch.Stdout, launch.Stderr = strings.NewReader(a.spec.Stdin), cleanOut, cleanErr
	if a.unit.Case.Task.Kind == suite.Trigger {
		launch.Stdout = io.MultiWriter(cleanOut, &skillWatch{
			decoder: a.adapter, home: a.space.Path("home"), project: a.space.Path("project"), invoked: func() { cancel(errAnswered) },
		})
	}
	ended, err := a.boundary.Run(agentCtx, launch)
	if err = errors.Join(err, cleanOut.Close(), cleanErr.Close()); err != nil {
		return err
	}
	waited, _ := a.clock.Waited()
	seconds := max(ended.Elapsed-waited, 0).Seconds()
	a.rec.Timings.Agent, a.rec.ElapsedSecs = &seconds, &seconds
	a.space.RemoveLeftovers(a.Task.Starter)
	if policy, err := os.ReadFile(launch.PolicyFile); err == nil {
		if err := os.WriteFile(filepath.Join(a.dir, "srt.json"), a.run.secrets.Clean(policy), 0o644); err != nil {
			return fmt.Errorf("attempt: %w", err)
		}
	}
	if err := a.decodeTranscript(stdout); err != nil {
		return err
	}
	a.stopped = errors.Is(ended.Cause, errAnswered)
	if a.stopped {
		ended.Cause = errAnswered
	}
	a.decideExecution(ended)
	if a.stopped {
		a.rec.Execution, a.rec.ExecutionCause = result.Completed, ""
	}
	a.audit()
	a.rec.Isolation.ConfigChanges = a.before.changes(a.snapshot())
	if a.gw != nil {
		a.peak = a.gw.Summary().PeakContext
	}
	a.closeGateway()
	document, err := json.MarshalIndent(a.transcript.Document(), "", "  ")
	if err != nil {
		return fmt.Errorf("attempt: %w", err)
	}
	return os.WriteFile(filepath.Join(a.dir, result.TrajectoryFile), append(a.clean(document), '\n'), 0o644)
}

// archive freezes the working directory, without the skills that were put there. It is the trial's:
// what is no regular file or folder is left out and named.
func (a *attempt) archive() error {
	report, err := treecopy.Copy(filepath.Join(a.dir, result.ArchiveDir), a.space.Path("project"), treecopy.CopyOptions{Filter: a.filter, Options: treecopy.Options{
		Untrusted: true, Ignore: func(rel string) bool { return slices.Contains(skillFolders, rel) },
	}})
	if err != nil {
		return fmt.Errorf("archive the working directory: %w", err)
	}
	a.leftOut, a.archived = report.Skipped, true
	return nil
}

// record writes attempt.json.
func (a *attempt) record() error {
	rec := result.Attempt{
		SchemaVersion: result.SchemaVersion, RunID: a.run.ID(), Suite: a.unit.Case.Task.Suite.Name, Task: a.unit.Case.Name, Attempt: a.plan.Round, Prompt: a.Task.Prompt,
		Provider: suite.HarnessName(a.Client()), Client: a.Client(), Configuration: a.plan.Configuration.Name, Model: a.run.engine.opts.ModelOf(a.Client()),
		StartedAt: a.started.Truncate(time.Second), FinishedAt: time.Now().UTC().Truncate(time.Second),
		Execution: a.rec.Execution, ExecutionCause: a.rec.ExecutionCause, Stopped: a.stopped,
		SkillsStaged: append([]string{}, a.staged...), SkillsExcluded: append([]string{}, a.excluded...), LeftOut: append([]treecopy.Entry{}, a.leftOut...),
		SkillsNotOffered: notOffered(a.staged, a.rec),
		Metrics:          result.Metrics{WallSeconds: a.rec.Timings.Agent, PeakContext: a.peak, Raw: map[string]any{}},
	}
	if t := a.transcript; t != nil {
		raw := result.RawStreamFile
		rec.RawTranscriptPath = &raw
		if t.Model != "" {
			rec.Model = t.Model
		}
		metricsOf(&rec.Metrics, t)
	}
	return result.WriteClean(a.dir, result.AttemptFile, rec, a.run.secrets.Clean)
}

// notOffered are the staged skills that the client never offered its model: one with a broken front matter, say, which
// then cannot fire. Nil when no request tells.
func notOffered(staged []string, rec *result.Trial) []string {
	if rec.Gateway == nil || rec.Gateway.Turns == 0 {
		return nil
	}
	out := []string{}
	for _, name := range staged {
		if !slices.ContainsFunc(rec.Offered, func(o result.Offer) bool { return suite.SameSkill(o.Skill, name) }) {
			out = append(out, name)
		}
	}
	return out
}

// metricsOf adds what the transcript says.
func metricsOf(m *result.Metrics, t *transcript.Transcript) {
	u := t.Usage
	m.Tokens = result.AttemptTokens{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Reasoning: u.Reasoning}
	m.CostUSD, m.Turns = t.CostUSD, t.NumTurns
	if m.Turns == nil {
		var n int64
		for _, turn := range t.Turns {
			if turn.Role == transcript.RoleAssistant && turn.ParentID == "" {
				n++
			}
		}
		m.Turns = &n
	}
	if t.SessionID != "" {
		m.Raw["session_id"] = t.SessionID
	}
	for _, turn := range t.Turns {
		for _, c := range turn.ToolCalls {
			if slices.Contains([]string{"Skill", "skill", "report_intent"}, c.Name) {
				continue
			}
			m.ToolCalls++
			switch c.Status {
			case transcript.StatusError:
				m.ToolErrors++
			case transcript.StatusDenied:
				m.PermissionDenials++
			case transcript.StatusRejected:
				m.ToolRejections++
			}
		}
	}
}
