package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/sandbox"
	"github.com/proctor-evals/proctor/harness/symposium"
	"github.com/proctor-evals/proctor/harness/workspace"
	"github.com/proctor-evals/proctor/internal/setup"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// maxConfig bounds a configuration file read back from a run, in bytes.
const maxConfig = 1 << 20

// stageSymposium stages the cargo-agents under evaluation and finds out which registry dialect it
// understands, by what its init leaves of the configuration.
func (b *Batch) stageSymposium(ctx context.Context) error {
	tool := b.run.tools.ByName[setup.CargoAgents]
	if why := b.run.tools.Unavailable[setup.CargoAgents]; why != "" {
		b.symposium = &symposiumTool{unusable: "release: " + why}
		return nil
	}
	if path := b.run.engine.opts.CargoAgents; path != "" {
		b.addStandIn(path)
		sum, err := fileSHA256(path)
		if err != nil {
			return fmt.Errorf("PROCTOR_CARGO_AGENTS: %w", err)
		}
		tool = setup.Tool{Path: path, SHA256: sum}
	}
	staged, err := b.space.Stage(workspace.Symposium, "cargo-agents", tool.Path, tool.SHA256)
	if err != nil {
		return err
	}
	b.symposium = &symposiumTool{path: staged, info: result.Symposium{Version: tool.Version, SHA256: tool.SHA256}}
	var tried []string
	for _, d := range symposium.Dialects() {
		version, err := b.probe(ctx, d)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var refused *initError
		var noSandbox *sandboxError
		if errors.As(err, &noSandbox) {
			b.symposium.unusable = err.Error()
			return nil
		}
		if errors.As(err, &refused) {
			tried = append(tried, fmt.Sprintf("[[%s]]: %v", d, err))
			continue
		}
		if err != nil {
			return err
		}
		if b.symposium.info.Version == "" {
			b.symposium.info.Version = version
		}
		b.symposium.dialect, b.symposium.info.Dialect = d, string(d)
		return nil
	}
	// The trials of that configuration say so, each in its own result; the baseline goes on.
	b.symposium.unusable = "release: this cargo-agents takes no registry: " + strings.Join(tried, "; ")
	return nil
}

// probe runs init with a dialect in a run directory of its own.
func (b *Batch) probe(ctx context.Context, d symposium.Dialect) (version string, err error) {
	links := map[string]string{"sh": "/bin/sh", "cargo-agents": b.symposium.path}
	run, err := b.space.NewRun(workspace.Layout{Starter: b.Task.Starter, Plugins: map[string]string{}, Links: links})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, run.Remove()) }()
	ctx, cancel := context.WithTimeoutCause(ctx, b.Task.Deadlines.Setup, errSetupDeadline)
	defer cancel()
	out, err := b.cargoAgents(ctx, run, "--version")
	if err != nil {
		return "", err
	}
	if m := versionNumber.FindString(out); m != "" {
		version = m
	}
	return version, b.initSymposium(ctx, run, d)
}

var versionNumber = regexp.MustCompile(`\d+\.\d+\.\d+\S*`)

// initError is a refusal of cargo-agents, as opposed to a failure of the runner.
type initError struct{ reason string }

func (e *initError) Error() string { return e.reason }

// initSymposium writes the configuration and registers Symposium's hooks in the run's fresh home.
func (b *Batch) initSymposium(ctx context.Context, run *workspace.Run, d symposium.Dialect) error {
	config := run.Path("home", filepath.FromSlash(symposium.ConfigFile))
	if err := os.MkdirAll(filepath.Dir(config), 0o755); err != nil {
		return err
	}
	registry := run.Path("registry")
	if err := os.WriteFile(config, symposium.Config(d, registry), 0o600); err != nil {
		return err
	}
	if _, err := b.cargoAgents(ctx, run, symposium.InitArgs(b.adapter.Name())...); err != nil {
		return err
	}
	rewritten, _, err := treecopy.ReadFile(run.Path("home"), symposium.ConfigFile, maxConfig)
	if err != nil {
		return &initError{fmt.Sprintf("init left no %s: %v", symposium.ConfigFile, err)}
	}
	if err := symposium.CheckConfig(rewritten, registry); err != nil {
		return &initError{err.Error()}
	}
	return nil
}

// cargoAgents runs the staged cargo-agents in the run, under the trial's policy without network.
func (b *Batch) cargoAgents(ctx context.Context, run *workspace.Run, args ...string) (string, error) {
	var out bytes.Buffer
	ended, err := b.boundary.Run(ctx, sandbox.Launch{
		Argv: append([]string{run.Path("bin", "cargo-agents")}, args...),
		Env:  run.Env(b.run.tools.Toolchain.Bin), Dir: run.Path("project"), Home: run.Path("home"),
		Policy:     b.space.TrialPolicy(run, b.denied, b.readable, ""),
		PolicyFile: run.Path("init.json"), StartFile: run.Path("bin", "start"),
		Stdout: &out, Stderr: &out, MaxOutput: maxConfig,
	})
	what := "cargo-agents " + strings.Join(args, " ")
	switch {
	case err != nil:
		return "", err
	case len(ended.Survivors) > 0:
		return "", &initError{fmt.Sprintf("%s: processes %v could not be killed", what, ended.Survivors)}
	case ended.Cause != nil:
		// It did not end by itself: its deadline, its output limit, or the run's end, which the caller knows.
		return "", &initError{fmt.Sprintf("%s: %v", what, ended.Cause)}
	case !ended.Started:
		return "", &sandboxError{ended.Diagnosis}
	case ended.ExitCode != 0:
		return "", &initError{fmt.Sprintf("%s: exit code %d: %s", what, ended.ExitCode, lastWords(out.String()))}
	}
	return out.String(), nil
}

// lastWords is the end of what a program printed, short enough for a result's cause.
func lastWords(s string) string {
	const most = 2 << 10
	if s = strings.TrimSpace(s); len(s) > most {
		s = "… " + s[len(s)-most:]
	}
	return strings.ToValidUTF8(s, "�")
}

// sandboxError says that the sandbox did not start.
type sandboxError struct{ diagnosis string }

func (e *sandboxError) Error() string { return "the sandbox did not start: " + e.diagnosis }
