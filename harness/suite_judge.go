package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/grade/assertion"
	"github.com/proctor-evals/proctor/harness/grade/judge"
	"github.com/proctor-evals/proctor/harness/suite"
	"github.com/proctor-evals/proctor/harness/transcript"
	"github.com/proctor-evals/proctor/harness/workspace"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// agentJudges says whether an attempt at the case with the client asks an agent judge.
func agentJudges(c suite.Case, clientName string) bool {
	return slices.ContainsFunc(c.Assertions, func(x suite.Assertion) bool {
		q, ok := x.Check.(suite.Judge)
		return ok && q.Agent && (x.Providers == nil || slices.Contains(x.Providers, suite.HarnessName(clientName)))
	})
}

// judgeClients are the clients that agent judges run with beside the attempts' own.
func judgeClients(o SuiteOptions, clients []string) []string {
	name := suite.Client(o.Project.Config.Judge.Provider)
	if name == "" {
		return nil
	}
	for _, c := range o.Selected.Cases {
		if slices.ContainsFunc(clients, func(a string) bool { return agentJudges(c, a) }) {
			return []string{name}
		}
	}
	return nil
}

// checkJudges says before anything runs which agent judges could not be asked.
func checkJudges(o SuiteOptions, clients []string) error {
	var problems []error
	for _, c := range o.Selected.Cases {
		for _, name := range clients {
			if !agentJudges(c, name) {
				continue
			}
			if by := suite.Client(o.Project.Config.Judge.Provider); by != "" {
				name = by
			}
			if err := client.ReadOnly(name, &client.Spec{Env: map[string]string{}}, "/"); err != nil {
				problems = append(problems, fmt.Errorf("%s: judge_agent: %w", c.Task.File, err))
			}
		}
	}
	return errors.Join(problems...)
}

// judgeModel is the model that judges answer with when an assertion names none.
func (r *SuiteRun) judgeModel(u *suiteUnit) string {
	if r.engine.opts.kind() == gateway.KindScripted {
		return Scripted
	}
	config := r.opts.Project.Config
	if config.Judge.Model != "" {
		return config.Judge.Model
	}
	p := config.Providers[suite.HarnessName(u.batch.Client())]
	name := p.JudgeModel
	if name == "" {
		name = p.DefaultModel
	}
	if name == "" {
		name = r.engine.opts.ModelOf(u.batch.Client())
	}
	if alias, ok := p.ModelAliases[name]; ok {
		name = alias
	}
	return name
}

// judges asks the model of the unit's judges: with one request, or with a client that can read.
func (r *SuiteRun) judges(u *suiteUnit) judge.Ask {
	if r.engine.opts.kind() != gateway.KindScripted || u.script == nil {
		return func(context.Context, judge.Call) (judge.Reply, error) {
			return judge.Reply{}, errors.New("this version has judges on the scripted model only")
		}
	}
	model := gateway.NewScriptedJudge(u.script)
	free := 0.0 // a scripted answer costs nothing
	return func(ctx context.Context, call judge.Call) (judge.Reply, error) {
		if call.Agent {
			text, err := r.agentJudge(ctx, u, model, call)
			return judge.Reply{Text: text, CostUSD: &free}, err
		}
		turn, err := model.Turn(ctx, &gateway.Request{
			Model: call.Model, Messages: []gateway.Message{{Role: "user", Blocks: []gateway.Block{{Kind: gateway.BlockText, Text: call.Prompt}}}}, Raw: []byte(call.Prompt),
		})
		if err != nil {
			return judge.Reply{}, err
		}
		if turn.Failure != nil {
			return judge.Reply{}, fmt.Errorf("the model's endpoint failed: %s (%d)", turn.Failure.Type, turn.Failure.Status)
		}
		var text strings.Builder
		for _, b := range turn.Blocks {
			if b.Kind == gateway.BlockText {
				text.WriteString(b.Text)
			}
		}
		return judge.Reply{Text: text.String(), CostUSD: &free}, nil
	}
}

// agentJudge runs a client with read-only tools. It starts in an empty folder: what lies in the
// working directory is data beside it, so that no settings, hook, skill or instruction file in it has
// a say. It has its own home, endpoint and token.
func (r *SuiteRun) agentJudge(ctx context.Context, u *suiteUnit, model gateway.Model, call judge.Call) (text string, err error) {
	c, err := r.judgeClient(u)
	if err != nil {
		return "", err
	}
	if err := r.ready(ctx, c); err != nil {
		return "", err
	}
	b := c.batch
	space, err := b.space.NewRun(workspace.Layout{
		Starter: b.Task.Starter, Links: map[string]string{"sh": "/bin/sh"}, EmptyDirs: b.adapter.Command(client.Request{}).ProjectDirs,
	})
	if err != nil {
		return "", err
	}
	t := &trial{Batch: b, space: space}
	t.newRecord()
	defer func() { err = errors.Join(err, space.Remove()) }()
	for name, target := range b.clientLinks {
		if err := os.Symlink(target, space.Path("bin", name)); err != nil {
			return "", err
		}
	}
	copied := space.Path("fixtures", "cwd")
	if _, err := treecopy.Copy(copied, call.Cwd, treecopy.CopyOptions{Options: treecopy.Options{Untrusted: true}, ReadOnly: true}); err != nil {
		return "", err
	}
	if t.gw, err = gateway.Open(ctx, gateway.Options{Model: model, ModelName: call.Model, ProjectDir: space.Path("project"), Prompt: call.Prompt}); err != nil {
		return "", err
	}
	defer t.closeGateway()
	t.hosts = []string{t.gw.Addr()}
	t.spec = b.adapter.Command(client.Request{
		Binary: space.Path("bin", b.adapter.Name()), Package: b.clientPackage, Model: call.Model,
		Prompt:     fmt.Sprintf("The copy of the working directory is at %s.\n\n%s", copied, call.Prompt),
		GatewayURL: t.gw.URL(), Token: t.gw.Token(), Enforced: !r.engine.opts.Exploratory, Root: os.Geteuid() == 0, DenyRead: b.denied, AllowRead: t.reopened(),
		Paths: client.Paths{Home: space.Path("home"), Project: space.Path("project"), Tmp: space.Path("tmp"), CargoHome: space.Path("cargo-home"), Evidence: space.Path("evidence")},
	})
	if err := client.ReadOnly(b.adapter.Name(), &t.spec, copied); err != nil {
		return "", err
	}
	if err := space.FillHome(t.spec.HomeFiles, t.spec.HomeLinks); err != nil {
		return "", err
	}
	out, err := os.Create(filepath.Join(space.Dir, "judge.jsonl"))
	if err != nil {
		return "", err
	}
	defer out.Close()
	launch := t.launch(t.spec.Argv)
	launch.Stdin, launch.Stdout, launch.Stderr = strings.NewReader(t.spec.Stdin), out, io.Discard
	ended, err := b.boundary.Run(ctx, launch)
	switch {
	case err != nil:
		return "", err
	case ended.Cause != nil:
		return "", ended.Cause
	case !ended.Started:
		return "", &sandboxError{ended.Diagnosis}
	}
	if _, err := out.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	said, err := b.adapter.Decode(client.Recording{Stream: out, Home: space.Path("home"), Project: space.Path("project")})
	if err != nil {
		return "", err
	}
	if e, cause := said.Execution(); e != transcript.ExecutionCompleted {
		return "", cause
	}
	return said.FinalText, nil
}

// judgeClient is the client of the unit's agent judges: the configured one, else the attempt's.
func (r *SuiteRun) judgeClient(u *suiteUnit) (*suiteClient, error) {
	name := suite.Client(r.opts.Project.Config.Judge.Provider)
	if name == "" || name == u.batch.Client() {
		return u.client, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.clients[name]; c != nil {
		return c, nil
	}
	a, err := client.Lookup(name)
	if err != nil {
		return nil, err
	}
	c := newSuiteClient(r.Run, a)
	r.clients[name] = c
	return c, nil
}

// commands runs an assertion's command in a sandbox, on a copy of the working directory.
func (r *SuiteRun) commands(u *suiteUnit) assertion.CommandRunner {
	return func(ctx context.Context, run assertion.CommandRun) (assertion.CommandEnd, error) {
		if err := r.ready(ctx, u.client); err != nil {
			return assertion.CommandEnd{}, err
		}
		return u.client.batch.runCommand(ctx, run)
	}
}
