package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/proctor-evals/proctor/harness/grade"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/task"
	"github.com/proctor-evals/proctor/harness/workspace"
	"github.com/proctor-evals/proctor/internal/setup"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// Regrading says what to grade again.
type Regrading struct {
	// Results are folders of trials, batches or runs.
	Results []string
	// Broken leaves out trials whose grading came to a verdict.
	Broken bool
	// Reason is written into the record; "" stands for what is known of it.
	Reason string
}

// Regraded is what became of one batch.
type Regraded struct {
	Dir       string
	Trials    []RegradedTrial
	Benchmark *result.Benchmark // nil where nothing was counted anew
	// Notes are what a reader should know, a sentence each.
	Notes []string
}

// RegradedTrial is what became of one trial that was named.
type RegradedTrial struct {
	Name string
	// Folder is where the new grading's output is, or "" with NotGraded saying why there is none.
	Folder    string
	NotGraded string
	// Refused says that it should have been graded and cannot be.
	Refused bool
	// Before and After are the trial's place in the count.
	Before, After string
	// Error is the infrastructure error of the new grading, or "".
	Error string
}

// Regrade grades kept submissions again with the present checks, in the sandbox like any other, and
// counts their batches anew. A new grading stands beside the old ones and never over them. A batch is
// never left with verdicts of different checks: where only some of its trials are named and the checks
// have changed, that is an error and nothing is done; and where a regrade of all is interrupted, what
// was graded is kept and counts when the same call has done the rest.
//
// The error says that what was asked for is not possible or that the runner broke; what was done
// until then is returned with it.
func (e *Engine) Regrade(ctx context.Context, what Regrading) ([]Regraded, error) {
	batches, err := e.findResults(what.Results)
	if err != nil {
		return nil, err
	}
	if len(batches) == 0 {
		return nil, errors.New("name what to grade again: a trial's or a batch's folder, or a run")
	}
	return e.regrade(ctx, batches, what, func() (grader, error) { return e.sandboxGrader(ctx) })
}

// grader grades submissions. It is the sandbox; tests of the bookkeeping have another.
type grader struct {
	toolchain string
	grade     func(ctx context.Context, t *task.Task, s *workspace.Submission, out string, onStep func(string)) *result.Code
	close     func()
}

// sandboxGrader needs srt and Rust alone: no client, no model.
func (e *Engine) sandboxGrader(ctx context.Context) (grader, error) {
	tools, err := setup.Locate(ctx, setup.Options{Cache: e.opts.Cache}, setup.NeedSandbox, setup.NeedRust)
	if err != nil {
		return grader{}, err
	}
	scratch, err := workspace.OpenScratch(e.opts.Scratch)
	if err != nil {
		return grader{}, err
	}
	b := &Batch{run: &Run{engine: e, tools: tools, scratch: scratch}}
	if err := b.openSandbox(); err != nil {
		return grader{}, err
	}
	return grader{
		toolchain: tools.Toolchain.Rustc,
		close:     func() { _ = b.space.Close() }, // what is left is swept by the next run
		grade: func(ctx context.Context, t *task.Task, s *workspace.Submission, out string, onStep func(string)) *result.Code {
			fixtures := map[string]string{}
			for _, name := range t.Fixtures {
				fixtures[name] = t.FixtureDir(name)
			}
			return grade.Code(ctx, grade.Input{
				Task: t, Fixtures: fixtures, Submission: s, Batch: b.space, Sandbox: b.runtime, Denied: b.denied, Readable: b.readable,
				CargoBin: tools.Toolchain.Bin, Quota: e.opts.quota(), Out: out, OnStep: onStep, Secrets: e.opts.secrets(os.Environ()),
			})
		},
	}, nil
}

// regrade checks all batches before it opens the grader, so that a mistake costs nothing.
func (e *Engine) regrade(ctx context.Context, batches []*keptBatch, what Regrading, open func() (grader, error)) (out []Regraded, err error) {
	var works []*regradeWork
	var problems []error
	for _, b := range batches {
		release, err := result.Hold(b.dir)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		defer release()
		w, err := e.prepareRegrade(b, what)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		works = append(works, w)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	var g grader
	for _, w := range works {
		if g.grade == nil && slices.ContainsFunc(w.jobs, func(j regradeJob) bool { return !j.pending }) {
			if g, err = open(); err != nil {
				return out, err
			}
			defer g.close()
		}
		err := w.run(ctx, g)
		out = append(out, w.out)
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// regradeWork is one batch's part.
type regradeWork struct {
	*batchRecords
	engine *Engine
	task   *task.Task
	hash   string // of the present checks
	reason string
	jobs   []regradeJob
	out    Regraded
}

// regradeJob is one submission to grade. A pending one was graded by a call that was interrupted.
type regradeJob struct {
	name    string
	pending bool
	line    int // its line in out.Trials
}

func (e *Engine) prepareRegrade(b *keptBatch, what Regrading) (*regradeWork, error) {
	if b.runDir != "" && result.Alive(b.runDir) {
		return nil, fmt.Errorf("%s: its run is still going; wait until it has ended", b.dir)
	}
	records, err := readBatch(b.dir, b.runDir)
	if err != nil {
		return nil, err
	}
	w := &regradeWork{batchRecords: records, engine: e, reason: what.Reason, out: Regraded{Dir: b.dir}}
	name, content := w.taskOf()
	i := slices.IndexFunc(e.tasks, func(t *task.Task) bool { return t.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("%s: its task %q is not in %s; the tasks are: %s", b.dir, name, e.opts.Evals, e.taskNames())
	}
	w.task = e.tasks[i]
	if w.hash, err = checksHash(w.task); err != nil {
		return nil, err
	}
	// The task was read before its checks were hashed.
	if now, err := task.ContentHash(w.task); err != nil || now != w.task.ContentHash {
		return nil, errors.Join(fmt.Errorf("%s: the files of the task %s changed since they were read: give the command again", b.dir, name), err)
	}
	if content != w.task.ContentHash {
		w.out.Notes = append(w.out.Notes, "the task is not what it was when the trials ran: they are graded with the present checks, starter and fixtures")
	}
	for _, name := range slices.Sorted(keys(w.trials)) {
		if len(b.only) > 0 && !slices.Contains(b.only, name) {
			continue
		}
		w.plan(name, what.Broken)
	}
	return w, w.refuseMixture()
}

func (w *regradeWork) taskOf() (name, contentHash string) {
	if w.planned != nil {
		return w.planned.Task.Name, w.planned.Task.ContentHash
	}
	return w.benchmark.Task, w.benchmark.ContentHash
}

// plan decides about one trial that was named.
func (w *regradeWork) plan(name string, brokenOnly bool) {
	t := w.trials[name]
	line := RegradedTrial{Name: name, Before: describe(t)}
	counting := t.Counting()
	last := len(t.Gradings) - 1
	info, err := os.Lstat(filepath.Join(w.dir, name, "submission"))
	switch {
	case !t.Execution.Started():
		line.NotGraded = fmt.Sprintf("%s: it was not started, so there is nothing to grade", t.Execution)
	case err != nil || !info.IsDir():
		line.NotGraded = "its submission was not kept"
	case t.Submission != nil && t.Submission.SHA256 != "" && !keptAsIs(filepath.Join(w.dir, name, "submission"), t.Submission.SHA256):
		line.Refused = true
		line.NotGraded = "its submission is no longer what the trial left: somebody changed the results; the grading it has stands"
	case brokenOnly && counting != nil && counting.Code != nil && counting.Code.Overall != result.Inconclusive:
		line.NotGraded = "its grading came to a verdict"
	default:
		job := regradeJob{name: name, line: len(w.out.Trials)}
		if last > 0 {
			g := t.Gradings[last]
			job.pending = !g.Counts && g.ChecksHash == w.hash && g.Code != nil && g.Code.Overall != result.Inconclusive
		}
		w.jobs = append(w.jobs, job)
	}
	w.out.Trials = append(w.out.Trials, line)
}

// keptAsIs says whether a kept folder still has the hash it was kept with.
func keptAsIs(dir, want string) bool {
	got, err := treecopy.Hash(dir, treecopy.Options{})
	return err == nil && got == want
}

// refuseMixture keeps verdicts of different checks out of one batch.
func (w *regradeWork) refuseMixture() error {
	if len(w.jobs) == 0 {
		return nil
	}
	var names, changed []string
	for _, name := range slices.Sorted(keys(w.trials)) {
		t := w.trials[name]
		if slices.ContainsFunc(w.jobs, func(j regradeJob) bool { return j.name == name }) {
			continue
		}
		if hashes := result.ChecksHashes([]*result.Trial{t}); len(hashes) > 0 && hashes[0] != w.hash {
			names = append(names, name)
			if slices.ContainsFunc(w.out.Trials, func(line RegradedTrial) bool { return line.Name == name && line.Refused }) {
				changed = append(changed, name)
			}
		}
	}
	switch {
	case len(names) == 0:
		return nil
	case len(changed) > 0:
		return fmt.Errorf("%s: the checks have changed, and %s cannot be graded with the new ones, since its submission is no longer what the trial left: verdicts of different checks are never put in one comparison; bring it back, or run the batch anew",
			w.dir, someOf(changed))
	}
	return fmt.Errorf("%s: the checks have changed, and %s would keep the verdict of the old ones beside the new: verdicts of different checks are never put in one comparison; name the whole batch, `proctor grade %s`, to grade all its trials with the present checks",
		w.dir, someOf(names), w.dir)
}

// someOf lists names for a sentence.
func someOf(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
}

// run grades, then lets the new gradings count, then counts. It may end anywhere: a grading stands in
// its trial's record before any counts, and the old ones stay.
func (w *regradeWork) run(ctx context.Context, g grader) error {
	done := 0
	for _, job := range w.jobs {
		if !job.pending {
			if ctx.Err() != nil {
				break
			}
			graded, err := w.grade(ctx, g, job.name)
			if err != nil {
				return err
			}
			if !graded {
				break
			}
		}
		done++
	}
	if done < len(w.jobs) && w.mixed(w.jobs[:done]) {
		w.out.Notes = append(w.out.Notes, fmt.Sprintf("interrupted: %d of %d submissions are graded with the changed checks; their gradings are kept and will count when the same command has done the rest", done, len(w.jobs)))
		return interrupted(ctx)
	}
	for _, job := range w.jobs[:done] {
		t := w.trials[job.name]
		t.CountLatest(w.hash)
		if err := result.Write(filepath.Join(w.dir, job.name), result.TrialFile, t); err != nil {
			return err
		}
		newest := t.Gradings[len(t.Gradings)-1]
		line := &w.out.Trials[job.line]
		line.Folder, line.After = newest.Folder, describe(t)
		if newest.Code != nil {
			line.Error = newest.Code.InfrastructureError
		}
	}
	var err error
	if done > 0 || w.benchmark == nil {
		w.out.Benchmark, err = w.recount()
	}
	return errors.Join(err, interrupted(ctx))
}

func interrupted(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// mixed tells whether the batch would hold verdicts of different checks if these alone counted.
func (w *regradeWork) mixed(done []regradeJob) bool {
	if len(done) == 0 {
		return false
	}
	for name, t := range w.trials {
		if slices.ContainsFunc(done, func(j regradeJob) bool { return j.name == name }) {
			continue
		}
		if hashes := result.ChecksHashes([]*result.Trial{t}); len(hashes) > 0 && hashes[0] != w.hash {
			return true
		}
	}
	return false
}

// grade grades one submission into a folder of its own and writes that into the trial's record, where
// it does not count yet. It is false when the call was interrupted: that says nothing of the code.
func (w *regradeWork) grade(ctx context.Context, g grader, name string) (bool, error) {
	t, dir := w.trials[name], filepath.Join(w.dir, name)
	folder := nextFolder(dir, t)
	code := g.grade(ctx, w.task, keptSubmission(t, dir), filepath.Join(dir, folder), func(step string) {
		w.engine.emit(w.task.Name, t.Client.Name, name, StageGrading, step)
	})
	if ctx.Err() != nil {
		return false, treecopy.Remove(filepath.Join(dir, folder))
	}
	// It was looked at before the first of the batch was graded, which may be hours ago.
	if t.Submission != nil && t.Submission.SHA256 != "" && !keptAsIs(filepath.Join(dir, "submission"), t.Submission.SHA256) {
		return false, errors.Join(fmt.Errorf("%s: its submission changed while the batch was graded: its new grading is thrown away", dir),
			treecopy.Remove(filepath.Join(dir, folder)))
	}
	// The hash of a grading is that of the checks it used: one that nobody can name is thrown away.
	if hash, err := checksHash(w.task); err != nil || hash != w.hash {
		return false, errors.Join(fmt.Errorf("%s: the checks, the starter, a fixture or the task's settings changed while it was graded: its new grading is thrown away; give the command again", dir),
			err, treecopy.Remove(filepath.Join(dir, folder)))
	}
	if t.Submission == nil {
		// An early record does not say what was left out of the submission, but what it found wrong with it.
		for _, old := range t.Gradings {
			if old.Code != nil && len(code.InvalidSubmission) == 0 && len(old.Code.InvalidSubmission) > 0 {
				code.InvalidSubmission = old.Code.InvalidSubmission
				code.Judge()
			}
		}
	}
	if t.Code != nil {
		code.EditsOutside = t.Code.EditsOutside // compared with the starter the agent had
	}
	for _, what := range code.Suspicious {
		if f := (result.Finding{Kind: "suspicious_source", Detail: what}); !slices.Contains(t.Findings, f) {
			t.Findings = append(t.Findings, f)
		}
	}
	t.Gradings = append(t.Gradings, result.Grading{
		Folder: folder, Time: time.Now().UTC(), ChecksHash: w.hash, Toolchain: g.toolchain, Reason: w.why(t), Code: code,
	})
	return true, result.Write(dir, result.TrialFile, t)
}

func (w *regradeWork) why(t *result.Trial) string {
	old := t.Counting()
	switch {
	case w.reason != "":
		return w.reason
	case old == nil:
		return "not graded before"
	case old.ChecksHash != w.hash:
		return "changed checks"
	case old.Code == nil || old.Code.Overall == result.Inconclusive:
		return "after an infrastructure error"
	default:
		return "asked for again"
	}
}

// keptSubmission is the submission as its trial left it.
func keptSubmission(t *result.Trial, dir string) *workspace.Submission {
	s := &workspace.Submission{Dir: filepath.Join(dir, "submission")}
	if t.Submission != nil {
		s.Report.Skipped = t.Submission.LeftOut
	}
	return s
}

// nextFolder is grading-2, or the first number after it that no grading has used, finished or not.
func nextFolder(dir string, t *result.Trial) string {
	for n := 2; ; n++ {
		name := fmt.Sprintf("grading-%d", n)
		_, err := os.Lstat(filepath.Join(dir, name))
		if err != nil && !slices.ContainsFunc(t.Gradings, func(g result.Grading) bool { return g.Folder == name }) {
			return name
		}
	}
}
