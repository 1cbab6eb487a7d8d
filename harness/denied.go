package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/proctor-evals/proctor/harness/symposium"
	"github.com/proctor-evals/proctor/harness/workspace"
)

// rehearsalSurvey bounds the look around the machine where no trial waits for it.
const rehearsalSurvey = 15 * time.Second

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
			Extra:    slices.Concat(e.opts.DenyRead, e.opts.keyFiles(), workspace.Relatives(e.opts.Evals)),
			Searched: filepath.SplitList(os.Getenv("PATH")),
		}
		known := d.Paths()
		home, _ := os.UserHomeDir() // "" where the runner has none
		neighbours, whole := workspace.Neighbours(e.opts.Evals)
		more := append(workspace.SkillHomes(home, os.Getenv), neighbours...)
		survey := workspace.Survey{Names: e.tellingNames(), Skip: known}
		if r.rehearsal != "" {
			survey.Limit = rehearsalSurvey
		}
		found, searched := survey.Find()
		more = append(more, e.copies(found)...)
		d.Extra = append(d.Extra, workspace.NotIn(more, known)...)
		r.denied = d.Paths()
		r.survey = Survey{Denied: without(r.denied, known), Neighbours: whole, Machine: searched}
	})
	return r.denied
}

// Survey is what a look around the machine found, beyond what is denied by name, and whether it came
// to its end.
type Survey struct {
	// Denied are the paths it added, alike in every configuration.
	Denied []string
	// Neighbours and Machine say whether all folders beside the evals root, and all usual places of
	// the machine, were looked at.
	Neighbours, Machine bool
}

// Whole says whether the look came to its end.
func (s Survey) Whole() bool { return s.Neighbours && s.Machine }

// Survey looks around the machine, once for the run.
func (r *Run) Survey() Survey {
	r.deniedPaths()
	return r.survey
}

// Survey is that of the batch's run.
func (b *Batch) Survey() Survey { return b.run.Survey() }

func without(all, known []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(p string) bool { return slices.Contains(known, p) })
}

// tellingNames are the names of files that may give something away.
func (e *Engine) tellingNames() []string {
	names := []string{"cargo-agents", "SKILL.md", "HEAD"}
	for _, t := range e.tasks {
		for _, c := range t.Checks {
			names = append(names, filepath.Base(c.File))
		}
	}
	return names
}

// copies are the folders and files to deny for the files that a survey found: an installed
// cargo-agents, a copy of a hidden check, of one of the tasks' skills, or of the repository.
func (e *Engine) copies(found []string) []string {
	skills := map[string]bool{}
	for _, t := range e.tasks {
		for _, p := range t.Plugins {
			list, _ := symposium.Skills(t.PluginDir(p)) // a broken plugin is told of elsewhere
			for _, s := range list {
				skills[s.Name] = true
			}
		}
	}
	repository := workspace.RepositoryOf(e.opts.Evals)
	var out []string
	for _, path := range found {
		switch filepath.Base(path) {
		case "cargo-agents":
			out = append(out, path)
		case "SKILL.md":
			if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
				continue
			}
			if s, err := symposium.ReadSkill(path); err == nil && skills[s.Name] {
				out = append(out, copyRoots(path)...)
			}
		case "HEAD":
			if repository.Shares(path) {
				out = append(out, workspace.WorkTree(filepath.Dir(path)))
			}
		default:
			out = append(out, copyRoots(path)...)
		}
	}
	return out
}

// copyRoots are the folders to deny for a found file and, when that is a link, for what it leads to.
func copyRoots(path string) []string {
	out := workspace.CopyRoot(path)
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		out = append(out, workspace.CopyRoot(real)...)
	}
	return out
}

// surveyFinding is what a result says when the look around the machine was not complete.
func (t *trial) surveyFinding() {
	if !t.run.Survey().Whole() {
		t.find("survey", "the look around the machine for other copies of the evals root, of its skills and of cargo-agents was cut short; `proctor doctor -attack` looks longer")
	}
}

// Notes are what a user should know before a run that is no reason not to start it.
func (e *Engine) Notes() []string {
	var out []string
	for _, p := range e.MissingDenied() {
		out = append(out, fmt.Sprintf("deny_read names %s, and there is no such file or folder: nothing is denied by it", p))
	}
	if e.opts.Direct {
		out = append(out, DirectWarning)
	}
	return out
}

// MissingDenied are the paths of deny_read where nothing is.
func (e *Engine) MissingDenied() []string {
	return slices.DeleteFunc(slices.Clone(e.opts.DenyRead), func(p string) bool {
		_, err := os.Lstat(p)
		return !errors.Is(err, fs.ErrNotExist)
	})
}
