package harness

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/task"
	"github.com/proctor-evals/proctor/internal/setup"
)

// A runner that dies between any two writes of any trial, again and again, loses no finished trial and
// runs none twice: the records alone are exercised here, with trials that write what real ones do.
func TestDeathsBetweenWrites(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 7))
	for i := range 50 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			x := newDeaths(t)
			deaths := 0
			for !x.runner(random.IntN(12)) {
				deaths++
				require.Less(t, deaths, 100, "no end in sight")
			}
			run, err := result.ReadRun(x.dir)
			require.NoError(t, err)
			assert.Equal(t, result.Finished, run.State)
			for _, p := range run.Batches[0].Trials {
				assert.Equal(t, result.Completed, p.Execution, p.Name)
				assert.Equal(t, 1, x.finished[p.Name], "%s came to its end once", p.Name)
			}
			bench, err := result.ReadBenchmark(x.batch)
			require.NoError(t, err)
			for name, c := range bench.Configurations {
				assert.Equal(t, 3, c.Eligible, name)
				assert.Equal(t, 3, c.Succeeded, name)
			}
		})
	}
}

// deaths plays a run whose runner may write so many more times before it dies.
type deaths struct {
	t          *testing.T
	engine     *Engine
	dir, batch string
	finished   map[string]int
}

func newDeaths(t *testing.T) *deaths {
	root := t.TempDir()
	e := &Engine{opts: Options{Evals: root, Clients: []string{"claude"}, Model: Scripted, Trials: 3, Jobs: 1, Configurations: plan.Default()}}
	var err error
	e.confs, err = plan.Lookup("without-symposium", "staged-skills")
	require.NoError(t, err)
	a, err := client.Lookup("claude")
	require.NoError(t, err)
	e.clients = []client.Adapter{a}
	e.tasks = []*task.Task{{Name: "one", Kind: task.Capability, ContentHash: "abc"}}
	x := &deaths{t: t, engine: e, finished: map[string]int{}}
	r := x.bare()
	r.dir = filepath.Join(root, "runs", "20260101-000000-000000000000")
	require.NoError(t, os.MkdirAll(r.dir, 0o755))
	b, err := newBatch(r, 0, e.tasks[0], e.clients[0], filepath.Join(root, "results"))
	require.NoError(t, err)
	r.batches = []*Batch{b}
	r.record = result.Run{SchemaVersion: result.SchemaVersion, RunID: filepath.Base(r.dir), State: result.Started, Proctor: version(), Jobs: 1, Batches: []result.Batch{b.planned()}}
	require.NoError(t, r.write())
	x.dir, x.batch = r.dir, b.results
	return x
}

func (x *deaths) bare() *Run {
	return &Run{engine: x.engine, tools: &setup.Tools{Toolchain: &setup.Toolchain{}, ByName: map[string]setup.Tool{}}}
}

// runner takes the run up, and dies after a number of steps; it tells whether it came to the end.
func (x *deaths) runner(steps int) (ended bool) {
	release, err := result.Hold(x.dir)
	require.NoError(x.t, err)
	defer release()
	r, err := x.engine.takeUpWith(x.bare(), x.dir)
	require.NoError(x.t, err)
	r.release = func() {}
	step := func() bool { steps--; return steps < 0 }
	b := r.batches[0]
	for _, p := range b.Remaining() {
		tr := &trial{Batch: b, plan: p, dir: filepath.Join(b.results, p.Name())}
		require.NoFileExists(x.t, filepath.Join(tr.dir, result.TrialFile))
		if step() {
			return false
		}
		require.NoError(x.t, os.MkdirAll(tr.dir, 0o755))
		tr.newRecord()
		if step() { // a folder without a record
			return false
		}
		require.NoError(x.t, tr.write())
		if step() { // a record that the plan does not know of
			return false
		}
		require.NoError(x.t, os.WriteFile(filepath.Join(tr.dir, "transcript.jsonl"), []byte("{}\n"), 0o644))
		require.NoError(x.t, r.update(0, p.Name(), func(q *result.PlannedTrial) { q.State = result.Started }))
		if step() {
			return false
		}
		tr.rec.Execution, tr.rec.Code = result.Completed, &result.Code{Overall: result.Pass}
		tr.rec.Isolation.AuditState = "clean"
		tr.rec.State = result.Finished
		tr.rec.Decide()
		require.NoError(x.t, tr.write())
		x.finished[p.Name()]++
		if step() { // an end that the plan does not know of
			return false
		}
		b.done[p.Name()] = tr.rec
		require.NoError(x.t, r.update(0, p.Name(), func(q *result.PlannedTrial) {
			q.State, q.Execution, q.Outcome = result.Finished, tr.rec.Execution, tr.rec.Outcome
		}))
	}
	if step() {
		return false
	}
	_, err = b.Finish(nil)
	require.NoError(x.t, err)
	if step() { // counted, but not said to be finished
		return false
	}
	require.NoError(x.t, r.Close(nil))
	return true
}

// A run is refused where anything that could change its trials is another.
func TestResumeRefuses(t *testing.T) {
	for name, row := range map[string]struct {
		change func(x *deaths, record *result.Run)
		want   string
	}{
		"nothing is another": {func(*deaths, *result.Run) {}, ""},
		"a task's content":   {func(x *deaths, _ *result.Run) { x.engine.tasks[0].ContentHash = "abd" }, "task one is not what it was"},
		"Proctor":            {func(_ *deaths, r *result.Run) { r.Proctor = "another" }, "begun by Proctor another"},
		"the model":          {func(x *deaths, _ *result.Run) { x.engine.opts.Model = "big" }, "the model is another"},
		"the plan":           {func(_ *deaths, r *result.Run) { r.Batches[0].Rounds = 2 }, "its plan is another one"},
		"the client":         {func(_ *deaths, r *result.Run) { r.Batches[0].Client = "codex" }, "the client codex is not chosen"},
		"a task that is gone": {func(x *deaths, r *result.Run) { x.engine.tasks[0].Name = "two" },
			`no task "one"`},
		"a tool": {func(x *deaths, _ *result.Run) {
			name := "trial-1-without-symposium"
			rec, err := result.ReadTrial(filepath.Join(x.batch, name), "")
			require.NoError(x.t, err)
			rec.Tools[setup.SRT] = result.Tool{Version: "0.0.1"}
			require.NoError(x.t, result.Write(filepath.Join(x.batch, name), result.TrialFile, rec))
		}, "its tools are not those of its finished trials: tools was"},
	} {
		t.Run(name, func(t *testing.T) {
			x := newDeaths(t)
			require.False(t, x.runner(6))
			record, err := result.ReadRun(x.dir)
			require.NoError(t, err)
			row.change(x, record)
			require.NoError(t, result.Write(x.dir, result.RunFile, record))
			before := files(t, x.engine.opts.Evals)
			_, err = x.engine.takeUpWith(x.bare(), x.dir)
			if row.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, row.want)
			assert.Equal(t, before, files(t, x.engine.opts.Evals), "a refusal changes nothing")
		})
	}
}

// What staged programs are is known after the batch was prepared.
func TestResumeRefusesOtherPrograms(t *testing.T) {
	x := newDeaths(t)
	require.False(t, x.runner(6))
	r, err := x.engine.takeUpWith(x.bare(), x.dir)
	require.NoError(t, err)
	b := r.batches[0]
	require.Len(t, b.Kept(), 1)
	require.NoError(t, b.sameStaged())
	b.client.SHA256 = "another"
	require.ErrorContains(t, b.sameStaged(), "the client of without-symposium was")
	b.client.SHA256 = ""
	b.standIns = []string{"fake-client"}
	require.ErrorContains(t, b.sameStaged(), "the stand-ins of")
}

// What was spent before counts against the run's limit; a round that was begun is still ended.
func TestResumeCountsWhatWasSpent(t *testing.T) {
	x := newDeaths(t)
	require.False(t, x.runner(6))
	dir := filepath.Join(x.batch, "trial-1-without-symposium")
	rec, err := result.ReadTrial(dir, "")
	require.NoError(t, err)
	in, out, cost := int64(60), int64(40), 1.5
	rec.Gateway = &result.Gateway{Usage: result.Usage{InputTokens: &in, OutputTokens: &out}, CostUSD: &cost}
	require.NoError(t, result.Write(dir, result.TrialFile, rec))
	for limits, over := range map[gateway.Limits]bool{
		{Tokens: 100}: true, {Tokens: 101}: false, {Cost: 1.5}: true, {Cost: 1.6}: false, {}: false,
	} {
		r := x.bare()
		r.spend = gateway.NewSpend(limits, nil)
		_, err := x.engine.takeUpWith(r, x.dir)
		require.NoError(t, err)
		b := r.batches[0]
		rest := b.Remaining()
		require.NoError(t, r.overLimit(b, rest[0]), "the rest of the first round")
		if err := r.overLimit(b, rest[1]); over {
			require.ErrorContains(t, err, "the run's limit")
		} else {
			require.NoError(t, err)
		}
	}
}

func TestResumeOptions(t *testing.T) {
	dir := t.TempDir()
	batch := func(task, client string) result.Batch {
		return result.Batch{Task: result.Task{Name: task}, Client: client, Isolation: "enforced", Model: result.Model{Name: "m"},
			Configurations: []result.Configuration{{Name: "b"}, {Name: "a"}}}
	}
	require.NoError(t, result.Write(dir, result.RunFile, result.Run{SchemaVersion: result.SchemaVersion, RunID: "r", State: result.Started, Jobs: 2,
		Batches: []result.Batch{batch("one", "claude"), batch("one", "codex"), batch("two", "claude"), batch("two", "codex")}}))
	o, tasks, err := ResumeOptions(Options{Scratch: "/s", Trials: 9, Clients: []string{"x"}, Exploratory: true}, dir)
	require.NoError(t, err)
	assert.Equal(t, []string{"one", "two"}, tasks)
	assert.Equal(t, Options{Scratch: "/s", Clients: []string{"claude", "codex"}, Configurations: []string{"b", "a"}, Model: "m", Jobs: 2}, o)
}

// files are the paths and the contents of all files below a folder.
func files(t *testing.T, root string) []string {
	var out []string
	require.NoError(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		out = append(out, path+": "+string(data))
		return err
	}))
	slices.Sort(out)
	return out
}
