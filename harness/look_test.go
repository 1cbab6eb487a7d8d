package harness

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/result"
)

func TestLooks(t *testing.T) {
	rate := 0.25
	arms := func(names ...string) map[string]result.Counts {
		out := map[string]result.Counts{}
		for _, name := range names {
			out[name] = result.Counts{SuccessRate: &rate}
		}
		return out
	}
	like := result.Benchmark{SchemaVersion: 1, ContentHash: "h", Model: result.Model{Name: "m", Kind: "forward"}, Isolation: "enforced", StandIns: []string{},
		Configurations: arms("without-symposium", "with-symposium")}
	dir := t.TempDir()
	put := func(name string, change func(*result.Benchmark)) {
		b := like
		b.BatchID = name
		if change != nil {
			change(&b)
		}
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o755))
		require.NoError(t, result.Write(filepath.Join(dir, name), result.BenchmarkFile, b))
	}
	put("20260101-1", nil)
	put("20260103-own", nil)
	put("20260102-2", func(b *result.Benchmark) { b.StandIns = nil })
	for name, change := range map[string]func(*result.Benchmark){
		"content":   func(b *result.Benchmark) { b.ContentHash = "other" },
		"model":     func(b *result.Benchmark) { b.Model.Name = "other" },
		"kind":      func(b *result.Benchmark) { b.Model.Kind = "scripted" },
		"isolation": func(b *result.Benchmark) { b.Isolation = "exploratory" },
		"stand-in":  func(b *result.Benchmark) { b.StandIns = []string{"fake-client"} },
		"nothing-eligible": func(b *result.Benchmark) {
			b.Configurations = arms("without-symposium")
			b.Configurations["with-symposium"] = result.Counts{Planned: 3}
		},
		"treatment":   func(b *result.Benchmark) { b.Configurations = arms("without-symposium", "staged-skills") },
		"no-baseline": func(b *result.Benchmark) { b.Configurations = arms("with-symposium") },
	} {
		put("x-"+name, change)
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "y-empty"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "z-file"), nil, 0o644))

	var ids []string
	for _, b := range looks(dir, "20260103-own", like, []string{"with-symposium"}) {
		ids = append(ids, b.BatchID)
	}
	assert.Equal(t, []string{"20260101-1", "20260102-2"}, ids)
	assert.Empty(t, looks(filepath.Join(dir, "nosuch"), "", like, []string{"with-symposium"}))
	assert.Len(t, looks(dir, "20260103-own", like, []string{"staged-skills"}), 1)
}

func TestDetectableOfATask(t *testing.T) {
	k := newKept(t, coded(result.Fail), coded(result.Pass), coded(result.Pass), coded(result.Pass))
	tiny := k.engine.tasks[0]
	k.engine.opts.Trials = 5
	var rates []float64
	for _, d := range k.engine.Detectable(tiny, "claude") {
		assert.Equal(t, []int{5, 5}, []int{d.Treatment, d.Baseline})
		rates = append(rates, d.BaselineRate)
	}
	assert.Equal(t, guesses, rates, "no batch with this model")

	b := k.benchmark()
	b.Model = k.engine.model()
	b.StandIns = nil
	require.NoError(t, result.Write(k.dir, result.BenchmarkFile, b))
	got := k.engine.Detectable(tiny, "claude")
	require.Len(t, got, 1)
	assert.InDelta(t, 0.5, got[0].BaselineRate, 0, "what the latest batch found")
	assert.Len(t, k.engine.Detectable(tiny, "codex"), len(guesses))

	k.engine.opts.Exploratory = true
	assert.Empty(t, k.engine.Detectable(tiny, "claude"))
	k.engine.opts.Exploratory = false
	k.engine.confs = k.engine.confs[1:]
	assert.Empty(t, k.engine.Detectable(tiny, "claude"), "one configuration")
}
