package sandbox

import (
	"context"

	"github.com/proctor-evals/proctor/internal/proc"
)

// Modes of isolation.
const (
	Enforced    = "enforced"    // srt is the boundary
	Exploratory = "exploratory" // the client's own sandbox is; never compared
)

// Sandbox runs a program that a trial influences.
type Sandbox interface {
	// Mode is Enforced or Exploratory.
	Mode() string
	Run(context.Context, Launch) (Ended, error)
}

// Mode implements Sandbox.
func (Runtime) Mode() string { return Enforced }

// Bare runs a program with the launch's environment and nothing else around it but its process
// tree: the policy is the client's own sandbox to keep. It is for exploratory trials.
type Bare struct{ Bwrap string }

// Mode implements Sandbox.
func (Bare) Mode() string { return Exploratory }

// Run implements Sandbox. It writes no policy and no start script, and passes no proxy. A shell says
// on stderr that the process tree stands, then replaces itself with the program.
func (s Bare) Run(ctx context.Context, l Launch) (Ended, error) {
	if err := l.check(); err != nil {
		return Ended{}, err
	}
	nonce, err := newNonce()
	if err != nil {
		return Ended{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := l.MaxOutput
	if limit == 0 {
		limit = DefaultMaxOutput
	}
	go l.Quota.watch(ctx, l.Policy.AllowWrite, cancel)
	budget := &outputBudget{left: limit, exceeded: func() { cancel(ErrOutputLimit) }}
	var env []string
	for name, value := range l.Env {
		env = append(env, name+"="+value)
	}
	mark := &markWriter{mark: []byte(nonce + "\n"), next: budget.writer(l.Stderr)}
	res, err := proc.Run(ctx, proc.Command{
		Argv: append([]string{"/bin/sh", "-c", `echo "$0" >&2; exec "$@"`, nonce}, withoutShells(l)...), Env: env, Dir: l.Dir, Stdin: l.Stdin,
		Stdout: budget.writer(l.Stdout), Stderr: mark, SealedStdout: l.SealedStdout, Bwrap: s.Bwrap, MaxProcesses: l.Quota.processes(), MaxMemory: l.Quota.memory(),
	})
	mark.flush()
	if err != nil {
		return Ended{}, err
	}
	ended := Ended{Started: mark.seen, ExitCode: res.ExitCode, Cause: l.Quota.atEnd(res.Cause, l.Policy.AllowWrite), Elapsed: res.Elapsed, Survivors: res.Survivors}
	if !mark.seen {
		ended.Diagnosis = mark.diagnosis("bubblewrap", ended)
	}
	return ended, nil
}
