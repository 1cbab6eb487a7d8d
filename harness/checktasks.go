package harness

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/proctor-evals/proctor/harness/lint"
	"github.com/proctor-evals/proctor/harness/task"
	"github.com/proctor-evals/proctor/harness/workspace"
	"github.com/proctor-evals/proctor/internal/setup"
)

// TaskCheck is what was found out about one task.
type TaskCheck struct {
	Task *task.Task
	// Problems are what the task's files show, sorted. A file that several tasks use is in the list of
	// the first of them alone.
	Problems task.Problems
	// Proofs are the submissions that were graded in the sandbox, in the order of the function submissions.
	Proofs []Proof
	// NotProved says why nothing was graded, or "".
	NotProved string
}

// Good reports whether nothing speaks against the task.
func (c *TaskCheck) Good() bool {
	return len(c.Problems) == 0 && c.NotProved == "" && !slices.ContainsFunc(c.Proofs, func(p Proof) bool { return !p.Good() })
}

// All are the problems of the task's files and what its proofs showed.
func (c *TaskCheck) All() task.Problems {
	all := slices.Clone(c.Problems)
	for _, p := range c.Proofs {
		if !p.Good() && p.Infrastructure == "" && p.Submission != "" {
			all = append(all, p.Problem(c.Task))
		}
	}
	return all
}

// Broken is the first infrastructure error of the task's proofs, "" when there was none.
func (c *TaskCheck) Broken() string {
	for _, p := range c.Proofs {
		if p.Infrastructure != "" {
			return p.Submission + ": " + p.Infrastructure
		}
	}
	return ""
}

// CheckOptions choose what CheckTasks does.
type CheckOptions struct {
	Options
	// Tasks are the names of the tasks to check; none means all.
	Tasks []string
	// Static keeps to the files: nothing is run, and no sandbox is needed.
	Static bool
}

// UsageError is a mistake in what a check was asked for.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// CheckTasks examines tasks: first their files, every problem of every task at once; then, in the
// sandbox, whether the hidden checks tell a solution from what is none. It needs srt and Rust, no
// client, no model and no key, and writes no results.
//
// The error is a *UsageError, or says that the runner or the machine is broken; what was found until
// then is returned with it.
func CheckTasks(ctx context.Context, opts CheckOptions) ([]*TaskCheck, error) {
	o, err := opts.complete()
	if err != nil {
		return nil, &UsageError{err}
	}
	sketches, problems, err := task.Inspect(o.Evals, opts.Tasks...)
	if err != nil {
		return nil, &UsageError{err}
	}
	if len(sketches) == 0 {
		return nil, &UsageError{fmt.Errorf("there is no task to check in %s: make tasks/<name>/task.toml", o.Evals)}
	}
	checks := inspect(o.Evals, sketches, problems)
	if opts.Static {
		return checks, nil
	}
	return checks, prove(ctx, o, checks)
}

// inspect finds the problems of the tasks' files, and which tasks are worth a try in the sandbox.
func inspect(evals string, sketches []task.Sketch, problems task.Problems) []*TaskCheck {
	var checks []*TaskCheck
	for _, s := range sketches {
		c := &TaskCheck{Task: s.Task}
		project := lint.Project(s.Task)
		if !s.Valid || len(project) > 0 {
			c.NotProved = "not tried in the sandbox: its problems come first"
		}
		c.Problems = append(append(project, lint.Texts(s.Task)...), checkScript(evals, s.Task)...)
		checks = append(checks, c)
	}
	assign(checks, problems)
	for i, c := range checks {
		c.Problems = slices.DeleteFunc(c.Problems.Sorted(), func(p task.Problem) bool {
			return slices.ContainsFunc(checks[:i], func(other *TaskCheck) bool { return slices.Contains(other.Problems, p) })
		})
	}
	return checks
}

// assign gives each problem of loading to the task it concerns: by its folder, or as the first task
// that names the fixture or plugin.
func assign(checks []*TaskCheck, problems task.Problems) {
	for _, p := range problems {
		owner := checks[0]
		for _, c := range checks {
			if concerns(p, c.Task) {
				owner = c
				break
			}
		}
		owner.Problems = append(owner.Problems, p)
	}
}

func concerns(p task.Problem, t *task.Task) bool {
	in := func(kind, name string) bool {
		dir := kind + "/" + name
		return p.File == dir || len(p.File) > len(dir) && p.File[:len(dir)+1] == dir+"/"
	}
	return in("tasks", t.Name) ||
		slices.ContainsFunc(t.Fixtures, func(n string) bool { return in("fixtures", n) }) ||
		slices.ContainsFunc(t.Plugins, func(n string) bool { return in("plugins", n) })
}

// prove grades the submissions of every task that is worth it, some at a time.
func prove(ctx context.Context, o Options, checks []*TaskCheck) error {
	worth := slices.DeleteFunc(slices.Clone(checks), func(c *TaskCheck) bool { return c.NotProved != "" })
	if len(worth) == 0 {
		return nil
	}
	tools, err := setup.Locate(ctx, setup.Options{Cache: o.Cache}, setup.NeedSandbox, setup.NeedRust)
	if err != nil {
		return notProved(worth, err)
	}
	scratch, err := workspace.OpenScratch(o.Scratch)
	if err != nil {
		return notProved(worth, err)
	}
	e := &Engine{opts: o}
	for _, c := range checks {
		e.tasks = append(e.tasks, c.Task)
	}
	r := &Run{engine: e, tools: tools, scratch: scratch}
	slots := make(chan struct{}, max(o.Jobs, min(4, runtime.GOMAXPROCS(0))))
	errs := make([]error, len(worth))
	var wg sync.WaitGroup
	for i, c := range worth {
		wg.Go(func() {
			if errs[i] = r.prove(ctx, c, slots); errs[i] != nil || c.Broken() != "" {
				c.NotProved = "not all of it was tried in the sandbox: see the error"
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return notProved(worth, context.Cause(ctx))
	}
	for _, c := range worth {
		if broken := c.Broken(); broken != "" {
			errs = append(errs, fmt.Errorf("%s: %s", c.Task.Name, broken))
		}
	}
	return errors.Join(errs...)
}

func notProved(checks []*TaskCheck, err error) error {
	for _, c := range checks {
		c.NotProved = "not tried in the sandbox: see the error"
	}
	return err
}

// prove grades one task's submissions.
func (r *Run) prove(ctx context.Context, c *TaskCheck, slots chan struct{}) (err error) {
	b := &Batch{Task: c.Task, run: r}
	if err := b.openSandbox(); err != nil {
		return fmt.Errorf("%s: %w", c.Task.Name, err)
	}
	defer func() { err = errors.Join(err, b.space.Close()) }()
	subs := submissions(c.Task)
	c.Proofs = make([]Proof, len(subs))
	errs := make([]error, len(subs))
	var wg sync.WaitGroup
	for i, s := range subs {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			c.Proofs[i], errs[i] = b.proof(ctx, s)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
