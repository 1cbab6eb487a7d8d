package report

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/proctor-evals/proctor/harness/result"
)

// RunInfo is a line of the index over the runs of tasks and of suites.
type RunInfo struct {
	RunID  string         `json:"run_id"`
	Kind   string         `json:"kind"` // tasks or suites
	Mode   result.RunMode `json:"mode"`
	State  result.State   `json:"state"`
	Cause  string         `json:"cause,omitempty"`
	Passed int            `json:"passed"`
	Failed int            `json:"failed"`
	Known  int            `json:"known"` // known_issue and unexpected_pass
	Other  int            `json:"other"` // timeouts, errors, what was excluded or not run
	// CostUSD is the sum of the attempts' costs; null when one is unknown.
	CostUSD    *float64   `json:"cost_usd"`
	StartedAt  time.Time  `json:"started_at"`
	FinishedAt *time.Time `json:"finished_at"`
	// Unreadable says why the record could not be read.
	Unreadable string `json:"unreadable,omitempty"`

	Run *result.Run `json:"-"`
	Dir string      `json:"-"`
}

// Kinds of runs.
const (
	KindTasks  = "tasks"
	KindSuites = "suites"
)

// Runs lists the runs in a folder, the newest first. A folder without a record is no run; one whose
// record cannot be read stands in the list with the reason.
func Runs(dir string) ([]RunInfo, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the runs: %w", err)
	}
	var out []RunInfo
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		info := RunInfo{RunID: e.Name(), Dir: filepath.Join(dir, e.Name())}
		run, err := result.ReadRun(info.Dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			info.Unreadable = err.Error()
		default:
			info.fill(run)
		}
		out = append(out, info)
	}
	// A run id sorts by time, to the second; within one, the record knows.
	second := func(i RunInfo) string { return i.RunID[:min(len(i.RunID), len("20060102-150405"))] }
	slices.SortFunc(out, func(a, b RunInfo) int {
		return cmp.Or(cmp.Compare(second(b), second(a)), b.StartedAt.Compare(a.StartedAt), cmp.Compare(b.RunID, a.RunID))
	})
	return out, nil
}

func (i *RunInfo) fill(run *result.Run) {
	i.Run, i.Kind, i.Mode, i.State, i.Cause, i.StartedAt, i.FinishedAt = run, KindTasks, run.RunMode, run.State, run.Cause, run.StartedAt, run.FinishedAt
	if run.Config != nil {
		i.Kind = KindSuites
	}
}

// Count fills in the counts and the cost, from the latest report and its attempts.
func (i *RunInfo) Count() {
	run := i.Run
	if run == nil {
		return
	}
	if i.Kind == KindTasks {
		for _, b := range run.Batches {
			for _, t := range b.Trials {
				switch t.Outcome {
				case result.Succeeded:
					i.Passed++
				case result.Failed:
					i.Failed++
				default:
					i.Other++
				}
			}
		}
		return
	}
	rep, _, err := result.LatestReport(i.Dir)
	if err != nil {
		for _, b := range run.Batches {
			for _, t := range b.Trials {
				i.count(t.Verdict)
			}
		}
		return
	}
	for _, a := range rep.Attempts {
		i.count(a.Verdict)
	}
	i.CostUSD = totalCost(rep, AttemptsOf(i.Dir))
}

func (i *RunInfo) count(v result.AttemptVerdict) {
	switch v {
	case result.AttemptPass:
		i.Passed++
	case result.AttemptFail:
		i.Failed++
	case result.AttemptKnownIssue, result.AttemptUnexpectedPass:
		i.Known++
	default:
		i.Other++
	}
}

// totalCost is the sum of the attempts' costs, null when one of them is unknown.
func totalCost(rep *result.Report, attempt func(string) *result.Attempt) *float64 {
	sum := 0.0
	for _, a := range rep.Attempts {
		m := metricsOf(attempt(a.Dir))
		if m.CostUSD == nil {
			return nil
		}
		sum += *m.CostUSD
	}
	return &sum
}

// AttemptsOf reads attempts of the run in dir by their folder; nil for one that cannot be read.
func AttemptsOf(run string) func(string) *result.Attempt {
	return func(dir string) *result.Attempt {
		if !filepath.IsLocal(filepath.FromSlash(dir)) {
			return nil
		}
		a, err := result.ReadAttempt(filepath.Join(run, filepath.FromSlash(dir)))
		if err != nil {
			return nil
		}
		return a
	}
}

// Names of runs that are told by their place.
const (
	Latest = "latest"
	Prev   = "prev" // the one before the latest
)

// FindRun finds a run by its id, the start of one that fits a single run, "latest" or "prev".
func FindRun(dir, name string) (*RunInfo, error) {
	if name != Latest && name != Prev && (name == "" || name != filepath.Base(name) || name == "." || name == "..") {
		return nil, fmt.Errorf("%q is not a run's name", name)
	}
	runs, err := Runs(dir)
	if err != nil {
		return nil, err
	}
	readable := slices.DeleteFunc(slices.Clone(runs), func(i RunInfo) bool { return i.Run == nil })
	switch {
	case len(runs) == 0:
		return nil, fmt.Errorf("no run in %s yet; `proctor run TASK` makes one", dir)
	case name == Latest && len(readable) > 0:
		return &readable[0], nil
	case name == Prev && len(readable) > 1:
		return &readable[1], nil
	case name == Latest || name == Prev:
		return nil, fmt.Errorf("%s: there is no such run in %s", name, dir)
	}
	var found []RunInfo
	for _, r := range runs {
		if r.RunID == name {
			found = []RunInfo{r}
			break
		}
		if len(name) >= 4 && len(r.RunID) > len(name) && r.RunID[:len(name)] == name {
			found = append(found, r)
		}
	}
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("there is no run %s in %s; `proctor runs` lists them", name, dir)
	case len(found) > 1:
		return nil, fmt.Errorf("%s fits %d runs, from %s to %s; give more of the id", name, len(found), found[len(found)-1].RunID, found[0].RunID)
	case found[0].Run == nil:
		return nil, errors.New(found[0].Unreadable)
	}
	return &found[0], nil
}
