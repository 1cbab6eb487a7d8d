package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/grade/assertion"
	"github.com/proctor-evals/proctor/harness/grade/judge"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/suite"
	"github.com/proctor-evals/proctor/harness/task"
	"github.com/proctor-evals/proctor/harness/transcript"
	"github.com/proctor-evals/proctor/harness/workspace"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// maxAttemptDepth is how far below artifacts/ an attempt's folder can be: suite, task, client,
// configuration, attempt.
const maxAttemptDepth = 5

// Attempts finds the attempts of the run in dir, in order, with their folders below the run's. What an
// attempt left is not entered.
func Attempts(dir string) ([]*result.Attempt, []string, error) {
	type found struct {
		rec *result.Attempt
		dir string
	}
	var all []found
	top := filepath.Join(dir, result.ArtifactsDir)
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && path == top:
			return nil
		case err != nil:
			return err
		case !d.IsDir():
			return nil
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		rec, err := result.ReadAttempt(path)
		switch {
		case err == nil:
			all = append(all, found{rec, filepath.ToSlash(rel)})
			return fs.SkipDir
		case !errors.Is(err, fs.ErrNotExist):
			return err
		case strings.Count(filepath.ToSlash(rel), "/") >= maxAttemptDepth:
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("attempts of %s: %w", filepath.Base(dir), err)
	}
	entry := func(a *result.Attempt) result.ReportAttempt {
		return result.ReportAttempt{Suite: a.Suite, Task: a.Task, Attempt: a.Attempt, Client: a.Client, Configuration: a.Configuration}
	}
	slices.SortFunc(all, func(a, b found) int { return result.CompareAttempts(entry(a.rec), entry(b.rec)) })
	var recs []*result.Attempt
	var dirs []string
	for _, f := range all {
		recs, dirs = append(recs, f.rec), append(dirs, f.dir)
	}
	return recs, dirs, nil
}

// Rescore judges the kept attempts of the run in dir by the assertions as they stand now, and writes a
// further report. No agent runs; a judge is asked only what it has not been asked before. An attempt
// whose task is gone, or whose record cannot be read, is an error and holds up no other.
func (e *Engine) Rescore(ctx context.Context, p *suite.Project, dir string, scope *result.Scope) (*result.Run, *result.Report, error) {
	run, err := result.ReadRun(dir)
	if err != nil {
		return nil, nil, err
	}
	if run.Config == nil {
		return nil, nil, fmt.Errorf("the run %s is none of suites; `proctor grade` grades the submissions of tasks again", run.RunID)
	}
	if result.Alive(dir) {
		return nil, nil, fmt.Errorf("the run %s is not finished", run.RunID)
	}
	attempts, dirs, err := Attempts(dir)
	if err != nil {
		return nil, nil, err
	}
	r := &SuiteRun{
		Run: &Run{engine: e, dir: dir, record: *run}, opts: SuiteOptions{Project: p, Mode: run.RunMode, Baseline: run.Config.Compare},
		excluded: map[string][]string{}, clients: map[string]*suiteClient{}, reports: map[string]*scoredAttempt{}, started: time.Now().UTC(), lazy: true,
	}
	defer r.closeClients()
	if r.confs, err = r.opts.configurations(); err != nil {
		return nil, nil, err
	}
	for _, c := range r.confs {
		r.excluded[c.Name] = []string{}
		if c.Name != plan.WithSkills {
			r.excluded[c.Name] = run.Config.SkillsExcluded
		}
	}
	if r.cache, err = judge.OpenCache(filepath.Join(dir, result.JudgeCacheFile)); err != nil {
		return nil, nil, err
	}
	units := map[[3]string]*suiteUnit{}
	for i, a := range attempts {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if scope != nil && (scope.Suite != a.Suite || scope.Task != "" && scope.Task != a.Task && !isCase(a.Task, scope.Task)) {
			continue
		}
		s := &scoredAttempt{ReportAttempt: result.ReportAttempt{
			Suite: a.Suite, Task: a.Task, Attempt: a.Attempt, Client: a.Client, Configuration: a.Configuration, Assertions: []result.AssertionResult{}, Dir: dirs[i],
		}}
		r.reports[dirs[i]] = s
		id := [3]string{a.Suite, a.Task, a.Client}
		if units[id] == nil {
			if units[id], err = r.unitOf(a); err != nil {
				s.Verdict, s.Cause = result.AttemptError, err.Error()
				continue
			}
		}
		s.unit = units[id]
		r.rescore(ctx, a, s)
	}
	if len(r.reports) == 0 {
		return nil, nil, fmt.Errorf("the run %s has no attempt to judge there", run.RunID)
	}
	report, err := r.report(scope)
	if err != nil {
		return nil, nil, err
	}
	_, err = result.WriteReport(dir, report, e.opts.secrets(os.Environ()).Clean)
	return run, report, err
}

// isCase says whether name is a case of the trigger task stem.
func isCase(name, stem string) bool {
	number, ok := strings.CutPrefix(name, stem+"-")
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}

// unitOf is the unit an attempt belongs to, as its task stands now.
func (r *SuiteRun) unitOf(a *result.Attempt) (*suiteUnit, error) {
	adapter, err := client.Lookup(a.Client)
	if err != nil {
		return nil, err
	}
	for _, s := range r.opts.Project.Suites {
		for _, t := range s.Tasks {
			for _, c := range t.Cases() {
				if s.Name != a.Suite || c.Name != a.Task {
					continue
				}
				u := &suiteUnit{run: r, Case: c, batch: &Batch{Task: &task.Task{Name: result.SpecName(a.Suite, a.Task)}, adapter: adapter, run: r.Run}}
				if t.ModelScript != "" {
					if u.script, err = gateway.LoadScript(t.ModelScript); err != nil {
						return nil, err
					}
				}
				if u.client = r.clients[a.Client]; u.client == nil {
					u.client = newSuiteClient(r.Run, adapter)
					r.clients[a.Client] = u.client
				}
				r.units = append(r.units, u)
				return u, nil
			}
		}
	}
	return nil, fmt.Errorf("the suites have no task %s any more", result.SpecName(a.Suite, a.Task))
}

// rescore judges one kept attempt.
func (r *SuiteRun) rescore(ctx context.Context, a *result.Attempt, s *scoredAttempt) {
	s.KnownIssue = s.unit.Case.Task.KnownIssue
	dir := filepath.Join(r.dir, filepath.FromSlash(s.Dir))
	var err error
	if s.trial, err = result.ReadTrial(dir, ""); err != nil {
		s.Verdict, s.Cause = result.AttemptError, err.Error()
		return
	}
	if ending := endingOf(s.trial); ending != assertion.Ended {
		s.Verdict, s.Cause = result.AttemptVerdict(assertion.Decide(ending, nil, false)), a.ExecutionCause
		return
	}
	t, err := readTrajectory(dir)
	if err != nil {
		s.Verdict, s.Cause = result.AttemptError, err.Error()
		return
	}
	s.results = r.grade(ctx, gradable{
		unit: s.unit, transcript: t, cwd: filepath.Join(dir, result.ArchiveDir), excluded: a.SkillsExcluded, stopped: a.Stopped, seconds: a.Metrics.WallSeconds,
	})
	s.decide()
}

// Trajectory reads the transcript of an attempt by its folder below that of its run. A missing one is
// fs.ErrNotExist.
func Trajectory(run, dir string) (*transcript.Transcript, error) {
	if !filepath.IsLocal(filepath.FromSlash(dir)) {
		return nil, fmt.Errorf("%q is no attempt's folder", dir)
	}
	return readTrajectory(filepath.Join(run, filepath.FromSlash(dir)))
}

func readTrajectory(dir string) (*transcript.Transcript, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := treecopy.OpenIn(root, result.TrajectoryFile)
	if err != nil {
		return nil, fmt.Errorf("read the transcript: %w", err)
	}
	defer f.Close()
	return transcript.ReadDocument(f)
}

// open makes a run that was read from disk able to launch something: an assertion's command, an agent
// judge. Most assertions need neither.
func (r *SuiteRun) open(ctx context.Context) error {
	r.openOnce.Do(func() {
		if !r.lazy {
			return
		}
		tools, err := r.engine.locateForSuites(ctx, r.opts)
		if err != nil {
			r.openErr = err
			return
		}
		r.tools = tools
		r.scratch, r.openErr = workspace.OpenScratch(r.engine.opts.Scratch)
	})
	return r.openErr
}
