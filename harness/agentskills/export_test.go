package agentskills

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func attempt(eval, configuration string, number int, seconds float64, tokens int64, passed ...bool) Attempt {
	a := Attempt{Eval: eval, Configuration: configuration, Number: number, Seconds: &seconds, Tokens: &tokens}
	for _, p := range passed {
		a.Assertions = append(a.Assertions, Assertion{"says so", p, "it did"})
	}
	return a
}

func TestExport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "csv-workspace", "iteration-1")
	unknown := Attempt{Eval: "b", Configuration: WithoutSkill, Number: 1}
	written, err := Export(dir, []Attempt{
		attempt("a", WithSkill, 1, 2, 100, true, true), attempt("a", WithSkill, 2, 4, 300, true, false),
		attempt("a", WithoutSkill, 1, 1.5, 50, false), unknown,
	})
	require.NoError(t, err)
	assert.Equal(t, []string{
		"benchmark.json",
		"eval-a/with_skill/run-1/grading.json", "eval-a/with_skill/run-1/timing.json",
		"eval-a/with_skill/run-2/grading.json", "eval-a/with_skill/run-2/timing.json",
		"eval-a/without_skill/grading.json", "eval-a/without_skill/timing.json",
		"eval-b/without_skill/grading.json", "eval-b/without_skill/timing.json",
	}, written)
	for file, want := range map[string]string{
		"eval-a/with_skill/run-2/grading.json": `{"assertion_results": [{"text": "says so", "passed": true, "evidence": "it did"}, {"text": "says so", "passed": false, "evidence": "it did"}],
			"summary": {"passed": 1, "failed": 1, "total": 2, "pass_rate": 0.5}}`,
		"eval-a/without_skill/timing.json":  `{"total_tokens": 50, "duration_ms": 1500}`,
		"eval-b/without_skill/grading.json": `{"assertion_results": [], "summary": {"passed": 0, "failed": 0, "total": 0, "pass_rate": null}}`,
		"eval-b/without_skill/timing.json":  `{"total_tokens": null, "duration_ms": null}`,
		"benchmark.json": `{"run_summary": {
			"with_skill": {"pass_rate": {"mean": 0.75, "stddev": 0.3535533905932738}, "time_seconds": {"mean": 3, "stddev": 1.4142135623730951}, "tokens": {"mean": 200, "stddev": 141.4213562373095}},
			"without_skill": {"pass_rate": {"mean": 0, "stddev": null}, "time_seconds": {"mean": 1.5, "stddev": null}, "tokens": {"mean": 50, "stddev": null}},
			"delta": {"pass_rate": 0.75, "time_seconds": 1.5, "tokens": 150}}}`,
	} {
		data, err := os.ReadFile(filepath.Join(dir, file))
		require.NoError(t, err)
		assert.JSONEq(t, want, string(data), file)
	}
}

func TestExportIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	for message, attempts := range map[string][]Attempt{
		"there is no attempt":          nil,
		`no configuration "no-skills"`: {{Eval: "a", Configuration: "no-skills"}},
		`"../a" cannot name a folder`:  {{Eval: "../a", Configuration: WithSkill}},
	} {
		_, err := Export(dir, attempts)
		assert.ErrorContains(t, err, message)
		assert.NoDirExists(t, dir)
	}
	twice := []Attempt{attempt("a", WithSkill, 1, 1, 1), attempt("a", WithSkill, 1, 1, 1)}
	_, err := Export(dir, twice)
	assert.ErrorContains(t, err, "would be written twice")
	_, err = Export(dir, twice[:1])
	assert.ErrorIs(t, err, os.ErrExist)
}

// A side that was not run, or of which nothing is known, has no difference.
func TestSummarizeOneSide(t *testing.T) {
	data, err := json.Marshal(Summarize([]Attempt{attempt("a", WithSkill, 1, 1, 1, true)}))
	require.NoError(t, err)
	assert.JSONEq(t, `{"run_summary": {"with_skill": {"pass_rate": {"mean": 1, "stddev": null}, "time_seconds": {"mean": 1, "stddev": null}, "tokens": {"mean": 1, "stddev": null}}, "without_skill": null, "delta": null}}`, string(data))
	s := Summarize([]Attempt{attempt("a", WithSkill, 1, 1, 1, true), {Eval: "a", Configuration: WithoutSkill}}).RunSummary
	require.NotNil(t, s.Delta)
	assert.Equal(t, Delta{}, *s.Delta)
}
