// Package grade decides about a finished trial: what the submission's code is
// worth (Code) and whether the task's expectations hold (Expect).
//
// Nothing a submission does is an error here. What the submission is to blame
// for becomes a failed verdict; what the runner or the machine is to blame for
// becomes an infrastructure error in the result.
package grade

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/sandbox"
	"github.com/proctor-evals/proctor/harness/task"
	"github.com/proctor-evals/proctor/harness/workspace"
	"github.com/proctor-evals/proctor/internal/redact"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// Input is what a grading works from.
type Input struct {
	Task       *task.Task
	Fixtures   map[string]string // name → source in the evals root
	Submission *workspace.Submission
	Batch      *workspace.Batch
	Sandbox    sandbox.Runtime
	Denied     []string
	Readable   workspace.Readable
	CargoBin   string // the toolchain's own bin folder
	Quota      sandbox.Quota
	Out        string // where the steps' output is kept
	// Secrets are not kept of what a step prints.
	Secrets *redact.Set
	// Blocked, if set, is why nothing may be graded: an infrastructure error.
	Blocked error
	// OnStep, if set, is told each step's name as it starts.
	OnStep func(name string)
}

// Code grades the submission's code in fresh copies, one step after another, each in a sandbox
// launch of its own with no network. Build and library tests share a copy; each hidden check gets
// one that no submission code has run in, and is put there for its own step only.
func Code(ctx context.Context, in Input) *result.Code {
	g := &grading{Input: in, code: &result.Code{
		Build: result.Skipped, CargoTestLib: result.Skipped, Hidden: map[string]result.Verdict{},
		EditsOutside: []string{}, Reasons: map[string]string{},
	}}
	for _, c := range in.Task.Checks {
		g.code.Hidden[c.Name] = result.Skipped
	}
	if in.Task.FmtCheck {
		skipped := result.Skipped
		g.code.CargoFmtCheck = &skipped
	}
	if err := g.run(ctx); err != nil {
		g.code.InfrastructureError = err.Error()
	}
	g.code.Judge()
	return g.code
}

type grading struct {
	Input
	code *result.Code
	lock []byte // Cargo.lock as the build left it
}

// run fills in the verdicts; its error is an infrastructure error.
func (g *grading) run(ctx context.Context) error {
	if err := os.MkdirAll(g.Out, 0o755); err != nil {
		return err
	}
	if g.Blocked != nil {
		return g.Blocked
	}
	g.code.InvalidSubmission = invalid(g.Submission, g.Task.Editable)
	if len(g.code.InvalidSubmission) > 0 {
		return nil
	}
	if g.Sandbox.SRT == "" {
		return errors.New("srt is not installed, and no submission is graded outside it: install it with `proctor setup sandbox`")
	}
	// A missing cargo would else look like code that does not build.
	if _, err := exec.LookPath(filepath.Join(g.CargoBin, "cargo")); err != nil {
		return fmt.Errorf("the Rust toolchain: %w", err)
	}
	g.code.Suspicious = suspicious(g.Submission.Dir, g.Task.Editable)
	built, err := g.own(ctx)
	if err != nil || !built {
		return err
	}
	for _, check := range g.Task.Checks {
		v, err := g.hidden(ctx, check)
		if err != nil {
			return err
		}
		g.code.Hidden[check.Name] = v
	}
	if g.Task.FmtCheck {
		v, err := g.format(ctx)
		if err != nil {
			return err
		}
		g.code.CargoFmtCheck = &v
	}
	return nil
}

// own builds the submission and runs its own tests, in one copy. The copy is gone when it returns: what
// its tests wrote must not take the room of the next.
func (g *grading) own(ctx context.Context) (built bool, err error) {
	c, err := g.copy()
	if err != nil {
		return false, err
	}
	defer c.remove()
	if g.code.Build, err = g.build(ctx, c); err != nil || g.code.Build != result.Pass {
		return false, err
	}
	g.code.CargoTestLib, err = g.step(ctx, c, "test-lib", "test", "--offline", "--lib")
	return true, err
}

// build is the first step. What it wrote as Cargo.lock goes into the copies of the later ones.
func (g *grading) build(ctx context.Context, c *gradingCopy) (result.Verdict, error) {
	if problem := g.steers(c.path("project")); problem != "" {
		g.code.Reasons["build"] = problem
		return result.Fail, nil
	}
	v, err := g.step(ctx, c, "build", "build", "--offline")
	if err != nil || v != result.Pass {
		return v, err
	}
	lock, cut, err := treecopy.ReadFile(c.path("project"), "Cargo.lock", maxLock)
	if err == nil && !cut {
		g.lock = lock
	}
	return v, nil
}

// format checks the format in a copy of its own, by the starter's configuration.
func (g *grading) format(ctx context.Context) (result.Verdict, error) {
	c, err := g.copy()
	if err != nil {
		return "", err
	}
	defer c.remove()
	if err := g.ownFormat(c); err != nil {
		return "", err
	}
	return g.step(ctx, c, "fmt", "fmt", "--check")
}

// step runs one cargo command in a copy, under a deadline of its own.
func (g *grading) step(ctx context.Context, c *gradingCopy, name string, args ...string) (result.Verdict, error) {
	g.announce(name)
	ctx, cancel := g.deadline(ctx)
	defer cancel()
	return g.launch(ctx, c, launch{step: name, files: name, args: args})
}

func (g *grading) announce(step string) {
	if g.OnStep != nil {
		g.OnStep(step)
	}
}

func (g *grading) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, g.Task.Deadlines.Grading, errStepDeadline)
}

// launch is one launch of cargo.
type launch struct {
	step     string // whose reason is given
	files    string // the output files' name
	args     []string
	stdin    []byte
	compiles bool // a hidden check is compiled, not run
	project  access
	accept   func(stdout []byte) error // when given, must agree besides the exit code
}

func (g *grading) launch(ctx context.Context, c *gradingCopy, l launch) (result.Verdict, error) {
	name, args := l.step, l.args
	stdout, err := os.Create(filepath.Join(g.Out, l.files+".stdout"))
	if err != nil {
		return "", err
	}
	defer stdout.Close()
	stderr, err := os.Create(filepath.Join(g.Out, l.files+".stderr"))
	if err != nil {
		return "", err
	}
	defer stderr.Close()
	cleanOut, cleanErr := g.Secrets.Writer(stdout, nil), g.Secrets.Writer(stderr, nil)
	free, err := freeSpace(c.dir)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if free < leastFree {
		return "", fmt.Errorf("%s: the disk of the scratch is full: %d MiB are free, and a step needs %d; make room and grade again", name, free>>20, leastFree>>20)
	}
	ended, err := g.Sandbox.Run(ctx, sandbox.Launch{
		Argv: append([]string{filepath.Join(g.CargoBin, "cargo")}, args...),
		Env:  c.env(g.CargoBin), Dir: c.path("project"), Home: c.path("home"),
		Policy: c.policy(g.Denied, g.Readable, l.project), PolicyFile: c.path("srt.json"), StartFile: c.path("bin", "start"),
		Stdin: bytes.NewReader(l.stdin), Stdout: cleanOut, Stderr: cleanErr, MaxOutput: maxStepOutput, Quota: g.Quota,
	})
	if err = errors.Join(err, cleanOut.Close(), cleanErr.Close()); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	switch {
	case len(ended.Survivors) > 0: // they could reach into the next step
		return "", fmt.Errorf("%s: processes %v could not be killed", name, ended.Survivors)
	case errors.Is(ended.Cause, errStepDeadline):
		g.code.Reasons[name] = fmt.Sprintf("not finished after %s", g.Task.Deadlines.Grading)
		return result.Timeout, nil
	case errors.Is(ended.Cause, sandbox.ErrOutputLimit):
		g.code.Reasons[name] = fmt.Sprintf("printed more than %d bytes", int64(maxStepOutput))
		return result.Fail, nil
	case sandbox.LimitCause(ended.Cause) != "":
		g.code.Reasons[name] = ended.Cause.Error()
		return result.Fail, nil
	case ended.Cause != nil:
		return "", fmt.Errorf("%s: interrupted: %w", name, ended.Cause)
	case !ended.Started:
		return "", fmt.Errorf("%s: the sandbox did not start: %s", name, ended.Diagnosis)
	case ended.ExitCode != 0 && g.diskFull(c, free):
		return "", fmt.Errorf("%s: the disk of the scratch became full, and not by what the step wrote; make room and grade again", name)
	case ended.ExitCode != 0:
		g.code.Reasons[name] = fmt.Sprintf("cargo %s: exit code %d", strings.Join(args, " "), ended.ExitCode)
		if l.compiles {
			g.code.Reasons[name] += ": the check does not compile with the submission"
		}
		return result.Fail, nil
	}
	if l.accept != nil {
		out, err := os.ReadFile(stdout.Name())
		if err != nil {
			return "", err
		}
		if err := l.accept(out); err != nil {
			g.code.Reasons[name] = err.Error()
			return result.Fail, nil
		}
	}
	return result.Pass, nil
}

var errStepDeadline = errors.New("grading deadline")

// maxLock caps the Cargo.lock that is carried on, in bytes.
const maxLock = 4 << 20

// maxStepOutput caps what one step may print, in bytes.
const maxStepOutput = 64 << 20

// invalid names what makes the submission impossible to grade: anything under an editable path,
// or in the way to one, that is not a regular file or a folder.
func invalid(s *workspace.Submission, editable []string) []string {
	var out []string
	concerns := func(rel string) bool { return rel == "." || onTheWay(editable, rel) }
	for _, skipped := range s.Report.Skipped {
		if concerns(skipped.Path) {
			out = append(out, fmt.Sprintf("%q is %s", skipped.Path, skipped.Kind.Phrase()))
		}
	}
	for _, e := range editable {
		for parent := filepath.Dir(e); parent != "."; parent = filepath.Dir(parent) {
			info, err := os.Lstat(filepath.Join(s.Dir, parent))
			if err == nil && !info.IsDir() {
				out = append(out, fmt.Sprintf("%q is not a folder", parent))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// onTheWay reports whether a path of the submission is an editable path, below one or above one. "."
// is the whole project.
func onTheWay(editable []string, rel string) bool {
	return slices.ContainsFunc(editable, func(e string) bool {
		return within(rel, e) || strings.HasPrefix(e, rel+"/")
	})
}

// within reports whether rel is the editable path or below it.
func within(rel, editable string) bool {
	return editable == "." || rel == editable || strings.HasPrefix(rel, editable+"/")
}
