package harness

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/task"
)

// A Forecast is what a run of a task with a client would be. Nothing is run for it, and no tool is needed.
type Forecast struct {
	Task       *task.Task
	Client     string
	Trials     []plan.Trial
	Detectable []result.Detectable
	// Before is what earlier trials took, by configuration; one without earlier trials is not there.
	Before map[string]Estimate
}

// An Estimate is the mean of earlier trials of a task with a client, a configuration and a model.
type Estimate struct {
	Trials int
	// Changed tells that the task was another one for some of them.
	Changed bool
	Secs    *float64 // of all stages, for a trial; nil where no trial told
	Tokens  *float64
	CostUSD *float64
}

// forecastTrials is how many earlier trials of a configuration an estimate rests on at most, the latest.
const forecastTrials = 50

// Forecast plans the tasks without starting anything, and looks up what their earlier trials took.
func (e *Engine) Forecast(tasks []*task.Task) []Forecast {
	var out []Forecast
	for _, t := range tasks {
		for _, a := range e.clients {
			f := Forecast{Task: t, Client: a.Name(), Trials: plan.Expand(e.confs, e.rounds(t)), Detectable: e.Detectable(t, a.Name()), Before: map[string]Estimate{}}
			for name, trials := range e.before(t, a.Name()) {
				f.Before[name] = estimate(t, trials)
			}
			out = append(out, f)
		}
	}
	return out
}

// before are the earlier trials with this client and model that went to an end of their own, the latest
// first, by configuration. A stand-in's say nothing.
func (e *Engine) before(t *task.Task, client string) map[string][]*result.Trial {
	dir := filepath.Join(e.opts.resultsDir(), t.Name, client)
	batches, err := os.ReadDir(dir) // sorted, and a batch's name begins with its time
	if err != nil {
		return nil
	}
	out := map[string][]*result.Trial{}
	model := e.model()
	for _, b := range slices.Backward(batches) {
		for _, name := range slices.Sorted(slices.Values(trialDirs(filepath.Join(dir, b.Name())))) {
			rec, err := result.ReadTrial(filepath.Join(dir, b.Name(), name), "")
			if err != nil || !keeps(rec) || rec.Execution == result.SetupFailure || len(rec.StandIns) > 0 ||
				rec.Model.Name != model.Name || rec.Model.Kind != model.Kind {
				continue
			}
			if c := rec.Configuration.Name; len(out[c]) < forecastTrials {
				out[c] = append(out[c], rec)
			}
		}
	}
	return out
}

func estimate(t *task.Task, trials []*result.Trial) Estimate {
	e := Estimate{Trials: len(trials)}
	var secs, tokens, cost []float64
	for _, rec := range trials {
		e.Changed = e.Changed || rec.Task.ContentHash != t.ContentHash
		if s, a := rec.Timings.Setup, rec.Timings.Agent; s != nil && a != nil {
			all := *s + *a
			if g := rec.Timings.Grading; g != nil {
				all += *g
			}
			secs = append(secs, all)
		}
		total := rec.Usage.Total()
		if g := rec.Gateway; g != nil {
			if wire := g.Usage.Total(); wire != nil {
				total = wire
			}
			if g.CostUSD != nil {
				cost = append(cost, *g.CostUSD)
			}
		}
		if total != nil {
			tokens = append(tokens, float64(*total))
		}
	}
	e.Secs, e.Tokens, e.CostUSD = meanOf(secs), meanOf(tokens), meanOf(cost)
	return e
}

func meanOf(values []float64) *float64 {
	if len(values) == 0 {
		return nil
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	sum /= float64(len(values))
	return &sum
}

// Expect is what the forecast's trials would take in all, from what earlier ones took; each is nil unless
// every configuration has told it.
func (f Forecast) Expect() (secs, tokens, cost *float64) {
	total := func(of func(Estimate) *float64) *float64 {
		sum := 0.0
		for _, t := range f.Trials {
			mean := of(f.Before[t.Configuration.Name])
			if mean == nil {
				return nil
			}
			sum += *mean
		}
		return &sum
	}
	return total(func(e Estimate) *float64 { return e.Secs }), total(func(e Estimate) *float64 { return e.Tokens }), total(func(e Estimate) *float64 { return e.CostUSD })
}
