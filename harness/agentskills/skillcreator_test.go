package agentskills

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExportSkillCreator(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "iteration-1")
	grading, turns := 0.5, int64(3)
	first := attempt("a", WithSkill, 1, 2, 100, true, true)
	first.Prompt, first.GradingSeconds, first.Turns, first.Tools, first.ToolErrors = "do it", &grading, &turns, map[string]int{"Read": 2, "Bash": 1}, 1
	written, err := ExportSkillCreator(dir, []Attempt{
		first, attempt("a", WithSkill, 2, 4, 300, true, false), attempt("a", WithoutSkill, 1, 1.5, 50, false),
	}, Metadata{SkillName: "csv", ExecutorModel: "m", Timestamp: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)})
	require.NoError(t, err)
	assert.Equal(t, []string{
		"benchmark.json", "eval-a/eval_metadata.json",
		"eval-a/with_skill/run-1/grading.json", "eval-a/with_skill/run-1/timing.json",
		"eval-a/with_skill/run-2/grading.json", "eval-a/with_skill/run-2/timing.json",
		"eval-a/without_skill/run-1/grading.json", "eval-a/without_skill/run-1/timing.json",
	}, written)
	const yes, no = `{"text": "says so", "passed": true, "evidence": "it did"}`, `{"text": "says so", "passed": false, "evidence": "it did"}`
	for file, want := range map[string]string{
		"eval-a/eval_metadata.json": `{"eval_id": 1, "eval_name": "a", "prompt": "do it", "assertions": ["says so", "says so"]}`,
		"eval-a/with_skill/run-1/grading.json": `{"expectations": [` + yes + `, ` + yes + `], "summary": {"passed": 2, "failed": 0, "total": 2, "pass_rate": 1},
			"execution_metrics": {"tool_calls": {"Bash": 1, "Read": 2}, "total_tool_calls": 3, "total_steps": 3, "errors_encountered": 1},
			"timing": {"executor_duration_seconds": 2, "grader_duration_seconds": 0.5, "total_duration_seconds": 2.5}}`,
		"eval-a/with_skill/run-2/timing.json": `{"total_tokens": 300, "duration_ms": 4000,
			"executor_duration_seconds": 4, "grader_duration_seconds": null, "total_duration_seconds": null}`,
		"benchmark.json": `{"metadata": {"skill_name": "csv", "executor_model": "m", "timestamp": "2026-01-02T03:04:05Z", "evals_run": ["a"], "runs_per_configuration": 2},
			"runs": [
				{"eval_id": 1, "eval_name": "a", "configuration": "with_skill", "run_number": 1, "notes": [], "expectations": [` + yes + `, ` + yes + `],
					"result": {"pass_rate": 1, "passed": 2, "failed": 0, "total": 2, "time_seconds": 2, "tokens": 100, "tool_calls": 3, "errors": 1}},
				{"eval_id": 1, "eval_name": "a", "configuration": "with_skill", "run_number": 2, "notes": [], "expectations": [` + yes + `, ` + no + `],
					"result": {"pass_rate": 0.5, "passed": 1, "failed": 1, "total": 2, "time_seconds": 4, "tokens": 300, "tool_calls": null, "errors": null}},
				{"eval_id": 1, "eval_name": "a", "configuration": "without_skill", "run_number": 1, "notes": [], "expectations": [` + no + `],
					"result": {"pass_rate": 0, "passed": 0, "failed": 1, "total": 1, "time_seconds": 1.5, "tokens": 50, "tool_calls": null, "errors": null}}],
			"run_summary": {
				"with_skill": {"pass_rate": {"mean": 0.75, "stddev": 0.3535533905932738, "min": 0.5, "max": 1}, "time_seconds": {"mean": 3, "stddev": 1.4142135623730951, "min": 2, "max": 4},
					"tokens": {"mean": 200, "stddev": 141.4213562373095, "min": 100, "max": 300}},
				"without_skill": {"pass_rate": {"mean": 0, "stddev": null, "min": 0, "max": 0}, "time_seconds": {"mean": 1.5, "stddev": null, "min": 1.5, "max": 1.5},
					"tokens": {"mean": 50, "stddev": null, "min": 50, "max": 50}},
				"delta": {"pass_rate": "+0.75", "time_seconds": "+1.5", "tokens": "+150"}},
			"notes": []}`,
	} {
		data, err := os.ReadFile(filepath.Join(dir, file))
		require.NoError(t, err)
		assert.JSONEq(t, want, string(data), file)
	}
	_, err = ExportSkillCreator(dir, nil, Metadata{})
	assert.ErrorContains(t, err, "there is no attempt")
}

// With one side only there is neither the other nor a difference.
func TestSkillCreatorOneSide(t *testing.T) {
	s := creatorSummaryOf([]Attempt{attempt("a", WithSkill, 1, 1, 1, true)})
	assert.NotNil(t, s.WithSkill)
	assert.Nil(t, s.WithoutSkill)
	assert.Nil(t, s.Delta)
}
