package harness

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/task"
)

// earlier are the batches beside this one that showed a difference for the same question, by time: the
// same content, client, model, isolation and stand-ins, and one of the same configurations set against
// the baseline. One that cannot be read, or was never counted, showed nothing.
func (b *Batch) earlier() []*result.Benchmark {
	e := b.run.engine
	like := result.Benchmark{
		ContentHash: b.Task.ContentHash, Model: b.model(), Isolation: e.opts.mode(), StandIns: b.standIns,
	}
	return looks(filepath.Dir(b.results), b.id, like, e.treatments())
}

// treatments are the configurations that are set against the baseline.
func (e *Engine) treatments() []string {
	var out []string
	for _, c := range e.confs {
		if c.Name != plan.Baseline {
			out = append(out, c.Name)
		}
	}
	return out
}

func looks(dir, own string, like result.Benchmark, treatments []string) []*result.Benchmark {
	entries, err := os.ReadDir(dir) // sorted, and a batch's name begins with its time
	if err != nil {
		return nil
	}
	var out []*result.Benchmark
	for _, entry := range entries {
		if !entry.IsDir() || entry.Name() == own {
			continue
		}
		b, err := result.ReadBenchmark(filepath.Join(dir, entry.Name()))
		if err == nil && sameQuestion(b, &like) && slices.ContainsFunc(treatments, func(name string) bool {
			// Rates side by side are a look, also where exploratory ones get no verdict.
			return b.Configurations[name].SuccessRate != nil && b.Configurations[plan.Baseline].SuccessRate != nil
		}) {
			out = append(out, b)
		}
	}
	return out
}

// looked is how many looks at their numbers the batches were: one each, and one for each regrade with
// changed checks.
func looked(batches []*result.Benchmark) int {
	n := 0
	for _, b := range batches {
		n += 1 + max(0, b.ChecksChanged)
	}
	return n
}

func sameQuestion(a, b *result.Benchmark) bool {
	return a.ContentHash == b.ContentHash && a.Model.Name == b.Model.Name && a.Model.Kind == b.Model.Kind && a.Isolation == b.Isolation &&
		slices.Equal(slices.Sorted(slices.Values(a.StandIns)), slices.Sorted(slices.Values(b.StandIns)))
}

// guesses are the baseline rates Detectable is computed for when no earlier batch says more: the most
// favourable one, and the least.
var guesses = []float64{0, 0.5}

// Detectable is what this engine's number of trials for a task could show, by the verdict rule, for
// guesses of the baseline's success rate: what the latest batch with the same content and client found
// without stand-ins, else 0 and a half. It is empty where nothing will be compared. Nothing need be
// installed, and nothing is run.
func (e *Engine) Detectable(t *task.Task, client string) []result.Detectable {
	isBaseline := func(c plan.Configuration) bool { return c.Name == plan.Baseline }
	if e.opts.Exploratory || len(e.confs) < 2 || !slices.ContainsFunc(e.confs, isBaseline) {
		return nil
	}
	rates := guesses
	like := result.Benchmark{ContentHash: t.ContentHash, Model: e.model(), Isolation: e.opts.mode()}
	if before := looks(filepath.Join(e.opts.resultsDir(), t.Name, client), "", like, e.treatments()); len(before) > 0 {
		if rate := before[len(before)-1].Configurations[plan.Baseline].SuccessRate; rate != nil && *rate >= 0 && *rate <= 1 {
			rates = []float64{*rate}
		}
	}
	return result.DetectableAt(e.rounds(t), e.rounds(t), rates...)
}

// Detectable is what the batch could show, as its run's record says.
func (b *Batch) Detectable() []result.Detectable {
	b.run.mu.Lock()
	defer b.run.mu.Unlock()
	return slices.Clone(b.run.record.Batches[b.index].Detectable)
}
