package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/sandbox"
	"github.com/proctor-evals/proctor/harness/workspace"
)

// Visit is a program run in the place of a trial's client: in a run directory prepared the same
// way, with the client's environment, policy and model endpoint. It is how a user looks at what an
// agent would see, and how the isolation is attacked.
type Visit struct {
	Configuration string
	Argv          []string
	Stdin         io.Reader
	Stdout        io.Writer
	Stderr        io.Writer
	// Change, if set, changes the launch. It is for tests that take a guarantee away and look whether
	// the attack on it notices.
	Change func(*sandbox.Launch)
	// Before, if set, is called with the run directory when it is prepared, just before the launch.
	Before func(run *workspace.Run) error
	// After, if set, is called with the run directory when the program's tree is dead, just before
	// it is removed.
	After func(run *workspace.Run) error
}

// Enter runs v in a fresh run directory of the batch, which Prepare has made ready. Nothing of it
// goes to the results.
func (b *Batch) Enter(ctx context.Context, v Visit) (ended sandbox.Ended, err error) {
	i := slices.IndexFunc(b.run.engine.confs, func(c plan.Configuration) bool { return c.Name == v.Configuration })
	if i < 0 {
		return ended, fmt.Errorf("the run has no configuration %q", v.Configuration)
	}
	dir, err := os.MkdirTemp(b.space.Dir, "visit-")
	if err != nil {
		return ended, fmt.Errorf("enter: %w", err)
	}
	t := &trial{Batch: b, plan: plan.Trial{Round: 1, Order: 1, Sequence: 1, Configuration: b.run.engine.confs[i]}, dir: dir}
	t.newRecord()
	defer func() {
		if t.gw != nil || t.stop != nil {
			t.closeGateway()
		}
		if t.space != nil {
			err = errors.Join(err, t.space.Remove())
		}
	}()
	if err := t.setup(ctx); err != nil {
		return ended, err
	}
	if v.Before != nil {
		if err := v.Before(t.space); err != nil {
			return ended, err
		}
	}
	l := t.launch(v.Argv)
	l.Stdin, l.Stdout, l.Stderr = v.Stdin, v.Stdout, v.Stderr
	if v.Change != nil {
		v.Change(&l)
	}
	if ended, err = t.boundary.Run(ctx, l); err != nil {
		return ended, err
	}
	if v.After != nil {
		err = v.After(t.space)
	}
	return ended, err
}

// Place says where the batch's things lie, for those who attack them.
type Place struct {
	Evals, Results, Scratch, Batch string
	Staged                         string // the staged tools every trial may read
	PrivateTmp                     string // each launch sees an empty one of its own here
}

// Place is where the batch's things lie.
func (b *Batch) Place() Place {
	o := b.run.engine.opts
	return Place{
		Evals: o.Evals, Results: o.resultsDir(), Scratch: b.run.scratch.Dir, Batch: b.space.Dir, Staged: b.space.Tools(workspace.Common),
		PrivateTmp: b.run.scratch.PrivateTmp,
	}
}
