package harness

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/proctor-evals/proctor/harness/workspace"
)

// deniedPaths are the regions no trial of the run may read: the named ones, and what a look around
// the machine finds. They are the same for all its batches, and looked up once.
func (r *Run) deniedPaths() []string {
	r.deniedOnce.Do(func() {
		e := r.engine
		cache := e.opts.Cache
		if cache == "" {
			if user, err := os.UserCacheDir(); err == nil {
				cache = filepath.Join(user, "proctor")
			}
		}
		d := workspace.Denied{
			Scratch: r.scratch.Dir, Evals: e.opts.Evals, Results: e.opts.resultsDir(), Cache: cache,
			Extra:    append(slices.Clone(e.opts.DenyRead), workspace.Relatives(e.opts.Evals)...),
			Searched: filepath.SplitList(os.Getenv("PATH")),
		}
		survey := workspace.Survey{Names: []string{"cargo-agents"}, Skip: d.Paths()}
		checks := map[string]bool{}
		for _, t := range e.tasks {
			for _, c := range t.Checks {
				name := filepath.Base(c.File)
				checks[name] = true
				survey.Names = append(survey.Names, name)
			}
		}
		found, whole := survey.Find()
		for _, path := range found {
			if checks[filepath.Base(path)] {
				d.Extra = append(d.Extra, workspace.CopyRoot(path)...)
				continue
			}
			d.Extra = append(d.Extra, path)
		}
		r.denied = d.Paths()
		if !whole {
			r.surveyNote = "the look around the machine for other copies of the evals root and of cargo-agents was cut short; `proctor doctor -attack` looks longer"
		}
	})
	return r.denied
}

// surveyFinding is what a result says when the look around the machine was not complete.
func (t *trial) surveyFinding() {
	if note := t.run.surveyNote; note != "" {
		t.find("survey", note)
	}
}
