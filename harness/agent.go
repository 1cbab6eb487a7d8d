package harness

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/sandbox"
	"github.com/proctor-evals/proctor/harness/symposium"
	"github.com/proctor-evals/proctor/harness/transcript"
	"github.com/proctor-evals/proctor/harness/workspace"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// setup prepares everything up to the launch. Its error is the trial's setup failure, unless it is
// a *runnerError.
func (t *trial) setup(trialCtx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(trialCtx, t.Task.Deadlines.Setup, errSetupDeadline)
	defer cancel()
	withSymposium := t.plan.Configuration.Skills == plan.DeliverSymposium
	if withSymposium && t.symposium.unusable != "" {
		return errors.New(t.symposium.unusable)
	}
	// What a client needs in the project and the home does not hang on where the run is.
	t.spec = t.adapter.Command(client.Request{})
	layout := workspace.Layout{
		Starter: t.Task.Starter, Fixtures: t.fixtureDirs(), Links: t.links(t.plan.Configuration), EmptyDirs: t.spec.ProjectDirs,
	}
	if withSymposium {
		layout.Plugins = t.pluginDirs()
	}
	space, err := t.Batch.space.NewRun(layout)
	if err != nil {
		return &runnerError{err}
	}
	t.space = space
	t.space.Filter = t.filter
	if err := t.preflight(); err != nil {
		return err
	}
	t.skillsHad = true
	// The endpoint serves until the trial's end, not the setup's.
	var beforeTurn func()
	if withSymposium {
		t.witness = t.newWitness()
		beforeTurn = t.witness.beforeTurn
	}
	if err := t.openGateway(trialCtx, beforeTurn); err != nil {
		return err
	}
	if err := t.command(); err != nil {
		return err
	}
	if err := space.FillHome(t.spec.HomeFiles, t.spec.HomeLinks); err != nil {
		return &runnerError{err}
	}
	switch t.plan.Configuration.Skills {
	case plan.DeliverStaged:
		if err := t.stageSkills(); err != nil {
			return err
		}
	case plan.DeliverSymposium:
		if err := t.initSymposium(ctx, space, t.symposium.dialect); err != nil {
			return err
		}
	}
	t.before = t.snapshot()
	// After all was copied: what was changed meanwhile is seen.
	if err := t.unchanged(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// stageSkills copies the plugins' skills into the client's skill folder: the staged-skills
// configuration, which tells a skill's own worth from its delivery.
func (t *trial) stageSkills() error {
	skills, err := t.skills()
	if err != nil {
		return err
	}
	for name, s := range skills {
		dst := t.space.Path("project", filepath.FromSlash(t.spec.SkillDir), name)
		if _, err := treecopy.Copy(dst, s.Dir, treecopy.CopyOptions{}); err != nil {
			return fmt.Errorf("stage skill %s: %w", name, err)
		}
	}
	return nil
}

// runAgent launches the client and decides the trial's execution.
func (t *trial) runAgent(ctx context.Context) error {
	space := t.space
	stdout, err := os.Create(filepath.Join(t.dir, "transcript.jsonl"))
	if err != nil {
		return fmt.Errorf("trial: %w", err)
	}
	defer stdout.Close()
	stderr, err := os.Create(filepath.Join(t.dir, "stderr.log"))
	if err != nil {
		return fmt.Errorf("trial: %w", err)
	}
	defer stderr.Close()

	agentCtx, cancel := t.withDeadline(ctx, t.Task.Deadlines.Agent, errAgentDeadline)
	defer cancel()
	launch := t.launch(t.spec.Argv)
	cleanOut, cleanErr := t.filter(stdout), t.filter(stderr)
	launch.Stdin, launch.Stdout, launch.Stderr = strings.NewReader(t.spec.Stdin), cleanOut, cleanErr
	ended, err := t.boundary.Run(agentCtx, launch)
	if err = errors.Join(err, cleanOut.Close(), cleanErr.Close()); err != nil {
		return err
	}
	waited, _ := t.clock.Waited()
	seconds := max(ended.Elapsed-waited, 0).Seconds()
	t.rec.Timings.Agent = &seconds
	space.RemoveLeftovers(t.Task.Starter)
	if policy, err := os.ReadFile(launch.PolicyFile); err == nil {
		if err := os.WriteFile(filepath.Join(t.dir, "srt.json"), t.run.secrets.Clean(policy), 0o644); err != nil {
			return fmt.Errorf("trial: %w", err)
		}
	}
	if err := t.decodeTranscript(stdout); err != nil {
		return err
	}
	t.decideExecution(ended)
	return os.WriteFile(filepath.Join(t.dir, "response.txt"), t.clean([]byte(t.transcript.FinalText)), 0o644)
}

// command asks the adapter how the client is started in this run.
func (t *trial) command() error {
	space := t.space
	request := client.Request{
		Binary: space.Path("bin", t.adapter.Name()), Package: t.clientPackage, Prompt: t.Task.Prompt, Model: t.run.engine.opts.ModelOf(t.Client()),
		Enforced: !t.run.engine.opts.Exploratory, Root: os.Geteuid() == 0,
		DenyRead: t.denied, AllowRead: t.reopened(),
		Paths: client.Paths{
			Home: space.Path("home"), Project: space.Path("project"), Tmp: space.Path("tmp"),
			CargoHome: space.Path("cargo-home"), Evidence: space.Path("evidence"),
		},
	}
	hosts, name, err := t.reach(&request)
	if err != nil {
		return err
	}
	t.hosts, t.spec = hosts, t.adapter.Command(request)
	if name != "" { // another credential than the adapter's own
		maps.DeleteFunc(t.spec.Env, func(_, value string) bool { return value == request.Token })
		t.spec.Env[name] = request.Token
	}
	return nil
}

// launch describes a program that runs as the trial's client does: its environment, its policy, its
// folder.
func (t *trial) launch(argv []string) sandbox.Launch {
	env := t.space.Env(t.run.tools.Toolchain.Bin)
	for name, value := range t.spec.Env {
		env[name] = value
	}
	return sandbox.Launch{
		Argv: argv, Env: env, Proxy: true, Dir: t.space.Path("project"), Home: t.space.Path("home"),
		Policy:     t.Batch.space.TrialPolicy(t.space, t.denied, t.readable, t.hosts...),
		PolicyFile: t.space.Path("srt.json"), StartFile: t.space.Path("bin", "start"),
		MaxOutput: t.run.engine.opts.MaxOutput, Quota: t.run.engine.opts.quota(), SealedStdout: true,
	}
}

// decideExecution joins what the runner knows (deadline, kill, launch) with what the stream shows.
// The stream alone can say completed: srt's exit code proves nothing.
func (t *trial) decideExecution(ended sandbox.Ended) {
	u := t.transcript.Usage
	t.rec.Usage = result.Usage{InputTokens: u.Input, OutputTokens: u.Output, CacheReadTokens: u.CacheRead, CacheWriteTokens: u.CacheWrite, ReasoningTokens: u.Reasoning}
	set := func(e result.Execution, format string, args ...any) {
		t.rec.Execution, t.rec.ExecutionCause = e, fmt.Sprintf(format, args...)
	}
	if len(ended.Survivors) > 0 {
		t.find("processes_survived", fmt.Sprintf("processes %v were still there after the kill", ended.Survivors))
		// What they write from now on is nobody's submission.
		t.survived = fmt.Errorf("processes %v of the agent's session could not be killed, so nothing is graded beside them", ended.Survivors)
	}
	execution, clientErr := t.transcript.Execution()
	stopExecution, stopWord, stopped := t.stopExecution(ended.Cause)
	switch {
	case stopped:
		set(stopExecution, "%s", stopWord)
		t.find(stopWord, ended.Cause.Error())
	case errors.Is(ended.Cause, errAgentDeadline):
		set(result.TimedOut, "agent deadline of %s", t.Task.Deadlines.Agent)
	case errors.Is(ended.Cause, sandbox.ErrOutputLimit):
		set(result.ClientError, "output_limit")
	case sandbox.LimitCause(ended.Cause) != "":
		set(result.ClientError, "%s", sandbox.LimitCause(ended.Cause))
		t.find("client_error", ended.Cause.Error())
	case ended.Cause != nil:
		set(result.Cancelled, "%v", ended.Cause)
	case !ended.Started:
		set(result.SetupFailure, "the sandbox did not start: %s", ended.Diagnosis)
	case execution != transcript.ExecutionCompleted:
		set(result.ClientError, "%s", clientErr.Kind)
		t.find("client_error", clientErr.Error())
	case ended.ExitCode != 0:
		set(result.ClientError, "exit code %d after the session's end", ended.ExitCode)
	default:
		t.rec.Execution, t.rec.ExecutionCause = result.Completed, ""
	}
	t.blameEndpoint()
}

func (t *trial) find(kind, detail string) {
	t.rec.Findings = append(t.rec.Findings, result.Finding{Kind: kind, Detail: detail})
}

// closeGateway takes down the endpoint and records what it saw. It runs once, on every path.
func (t *trial) closeGateway() {
	if t.stop != nil {
		defer t.stop(nil)
	}
	if t.gw == nil { // direct
		return
	}
	err := t.gw.Close()
	s := t.gw.Summary()
	t.gw = nil
	g := t.gatewayRecord(s)
	if err == nil {
		err = s.Err
	}
	if err != nil {
		g.Error = err.Error()
	}
	t.rec.Gateway = g
	for _, o := range s.Offered {
		t.rec.Offered = append(t.rec.Offered, result.Offer{Skill: o.Skill, Via: o.Via, Path: o.Path})
	}
	if s.Refused > 0 {
		t.find("gateway_refused", fmt.Sprintf("the gateway refused %d requests with another token, host or path, or for another model", s.Refused))
	}
}

// keepEvidence freezes the submission and copies what the trial wrote as evidence, before anything
// is graded or removed.
func (t *trial) keepEvidence() error {
	t.closeGateway()
	var err error
	if t.submission, err = t.space.Capture(filepath.Join(t.dir, "submission")); err != nil {
		return err
	}
	hash, err := treecopy.Hash(t.submission.Dir, treecopy.Options{})
	if err != nil {
		return fmt.Errorf("keep the submission: %w", err)
	}
	t.rec.Submission = &result.Submission{LeftOut: append([]treecopy.Entry{}, t.submission.Report.Skipped...), SHA256: hash}
	for _, s := range t.submission.Report.Skipped {
		t.find("submission_entry", fmt.Sprintf("%q is %s and was not kept", s.Path, s.Kind.Phrase()))
	}
	skipped, err := t.space.Keep(filepath.Join(t.dir, "evidence"), "evidence")
	if err != nil {
		return err
	}
	for _, s := range skipped {
		t.find("evidence_entry", fmt.Sprintf("%q is %s and was not kept", s.Path, s.Kind.Phrase()))
	}
	if t.plan.Configuration.Skills != plan.DeliverSymposium {
		return nil
	}
	if trace, _, err := treecopy.ReadFile(t.space.Path("evidence"), "hook-trace.jsonl", 64<<20); err == nil {
		if err := os.WriteFile(filepath.Join(t.dir, "hook-trace.jsonl"), t.clean(trace), 0o644); err != nil {
			return fmt.Errorf("trial: %w", err)
		}
	}
	return os.WriteFile(filepath.Join(t.dir, "symposium.log"), t.clean(symposium.Logs(t.space.Path("home"))), 0o644)
}
