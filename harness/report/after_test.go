package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/result"
)

// made is an attempt of a run that a test makes.
type made struct {
	task    string
	number  int
	verdict result.AttemptVerdict
	wall    float64
	cost    *float64
	context int64
	config  any
}

// makeSuites writes a run of suites as the engine does.
func makeSuites(t *testing.T, runs, id string, mode result.RunMode, attempts ...made) {
	t.Helper()
	dir := filepath.Join(runs, id)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, result.ReportsDir), 0o755))
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	end := start.Add(90 * time.Second)
	require.NoError(t, result.Write(dir, result.RunFile, result.Run{
		SchemaVersion: 1, RunID: id, State: result.Finished, StartedAt: start, FinishedAt: &end, RunMode: mode, Config: &result.SuiteConfig{K: 1},
	}))
	rep := &result.Report{SchemaVersion: 1, StartedAt: start, FinishedAt: end}
	for _, m := range attempts {
		a := result.ReportAttempt{Suite: "s", Task: m.task, Attempt: m.number, Client: "claude", Configuration: "with-skills", Verdict: m.verdict,
			Dir:        filepath.ToSlash(filepath.Join(result.ArtifactsDir, "s", m.task, "attempt-"+string(rune('0'+m.number)))),
			Assertions: []result.AssertionResult{{Type: "file_contains", Config: m.config, Pass: m.verdict == result.AttemptPass, Details: json.RawMessage(`{}`)}}}
		rep.Attempts = append(rep.Attempts, a)
		at := filepath.Join(dir, filepath.FromSlash(a.Dir))
		require.NoError(t, os.MkdirAll(at, 0o755))
		require.NoError(t, result.Write(at, result.AttemptFile, result.Attempt{SchemaVersion: 1, Suite: "s", Task: m.task, Attempt: m.number, Metrics: result.Metrics{
			WallSeconds: &m.wall, CostUSD: m.cost, PeakContext: &m.context,
		}}))
	}
	_, err := result.WriteReport(dir, rep, nil)
	require.NoError(t, err)
}

func pattern(s string) any { return map[string]any{"path": "x", "pattern": s} }

func twoRuns(t *testing.T) string {
	t.Helper()
	runs := t.TempDir()
	makeSuites(t, runs, "20260102-030405-000000000001", result.ModeRun,
		made{"a", 1, result.AttemptPass, 100, usd(1), 1000, pattern("p")}, made{"a", 2, result.AttemptPass, 100, usd(1), 1000, pattern("p")},
		made{"b", 1, result.AttemptKnownIssue, 10, usd(1), 10, pattern("p")})
	makeSuites(t, runs, "20260102-030406-000000000002", result.ModeRun,
		made{"a", 1, result.AttemptFail, 125, usd(1.14), 1200, pattern("q")}, made{"a", 2, result.AttemptError, 124, nil, 1199, pattern("q")},
		made{"c", 1, result.AttemptTimeout, 10, usd(1), 10, pattern("p")})
	// What is no run, or none that can be read, stands in nobody's way.
	require.NoError(t, os.MkdirAll(filepath.Join(runs, "20260102-030407-000000000003"), 0o755))
	broken := filepath.Join(runs, "20260102-030408-000000000004")
	require.NoError(t, os.MkdirAll(broken, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(broken, result.RunFile), []byte("{"), 0o644))
	return runs
}

func TestRuns(t *testing.T) {
	list, err := Runs(twoRuns(t))
	require.NoError(t, err)
	require.Len(t, list, 3)
	for i := range list {
		list[i].Count()
	}
	var out strings.Builder
	require.NoError(t, RunsText(&out, list, list[1].StartedAt.Add(time.Hour)))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 4)
	assert.Contains(t, lines[1], "(unreadable:")
	assert.Regexp(t, `^20260102-030406\S+ +1h ago +run +0/1/0/2 +\? +1m30s$`, lines[2])
	assert.Regexp(t, `^20260102-030405\S+ +1h ago +run +2/0/1/0 +\$3.0000 +1m30s$`, lines[3])
}

func TestFindRun(t *testing.T) {
	runs := twoRuns(t)
	for name, want := range map[string]string{Latest: "20260102-030406-000000000002", Prev: "20260102-030405-000000000001", "20260102-030405": "20260102-030405-000000000001"} {
		info, err := FindRun(runs, name)
		require.NoError(t, err)
		assert.Equal(t, want, info.RunID)
	}
	for name, want := range map[string]string{"../x": "not a run's name", "20260102": "fits 3 runs", "nosuch": "no run nosuch", "20260102-030408": "is not a record"} {
		_, err := FindRun(runs, name)
		assert.ErrorContains(t, err, want)
	}
}

// TestDiff: verdicts and metrics of the same attempts, each metric with its own tolerance, and what
// changed in the question itself.
func TestDiff(t *testing.T) {
	runs := twoRuns(t)
	before, err := FindRun(runs, Prev)
	require.NoError(t, err)
	after, err := FindRun(runs, Latest)
	require.NoError(t, err)
	d, err := Diff(before, after, Reports{}, "")
	require.NoError(t, err)
	assert.Empty(t, d.Warnings)
	assert.Equal(t, []VerdictChange{
		{"s", "a", 1, "claude", "with-skills", result.AttemptPass, result.AttemptFail}, {"s", "a", 2, "claude", "with-skills", result.AttemptPass, result.AttemptError},
	}, d.Verdicts)
	var metrics []string
	for _, m := range d.Metrics {
		metrics = append(metrics, m.Metric+m.Change)
	}
	assert.Equal(t, []string{"peak_context+20%", "wall_time_seconds+25%"}, metrics, "only attempt 1 reaches its tolerances, and its cost does not")
	assert.Equal(t, []GraderChange{{"s::a", "definition changed", "file_contains:x"}}, d.Graders)
	require.Len(t, d.Rates, 1)
	assert.Equal(t, [2]int{2, 2}, d.Rates[0].Before)
	assert.Equal(t, [2]int{0, 1}, d.Rates[0].After, "an error does not count")

	d, err = Diff(before, after, Reports{}, "s::c")
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, DiffText(&out, d))
	assert.Contains(t, out.String(), "no change")
	_, err = Diff(before, after, Reports{After: "nosuch"}, "")
	assert.ErrorContains(t, err, "has no report nosuch")
}

func TestHistory(t *testing.T) {
	list, err := Runs(twoRuns(t))
	require.NoError(t, err)
	rows := History(list, "s::a", 0)
	require.Len(t, rows, 2)
	assert.Equal(t, []int{0, 1}, []int{rows[0].Passed, rows[0].Total})
	assert.Equal(t, []int{2, 2}, []int{rows[1].Passed, rows[1].Total})
	assert.Nil(t, rows[0].CostUSD, "one cost is unknown")
	assert.InDelta(t, 2, *rows[1].CostUSD, 1e-9)
	assert.InDelta(t, 124.5, *rows[0].WallMedian, 1e-9)
	assert.Equal(t, int64(1200), *rows[0].PeakMax)
	assert.Len(t, History(list, "s", 1), 1)
	assert.Empty(t, History(list, "nosuch", 0))
}

// TestReportOrder: of two reports in one second the second is the later, also the tenth.
func TestReportOrder(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, result.ReportsDir), 0o755))
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for range 11 {
		_, err := result.WriteReport(dir, &result.Report{SchemaVersion: 1, FinishedAt: at}, nil)
		require.NoError(t, err)
	}
	_, name, err := result.LatestReport(dir)
	require.NoError(t, err)
	assert.Equal(t, "2026-01-02-030405-11.json", name)
}

// show says what changed since the nearest earlier run of the same mode and models that has the attempt.
func TestSince(t *testing.T) {
	runs := twoRuns(t)
	makeSuites(t, runs, "20260102-030409-000000000005", result.ModeNoSkills, made{"a", 1, result.AttemptPass, 1, usd(1), 1, pattern("p")})
	makeSuites(t, runs, "20260102-030410-000000000006", result.ModeRun, made{"other", 1, result.AttemptPass, 1, usd(1), 1, pattern("p")})
	makeSuites(t, runs, "20260102-030411-000000000007", result.ModeRun,
		made{"a", 1, result.AttemptPass, 62.5, usd(1.14), 1440, pattern("q")}, made{"a", 2, result.AttemptPass, 124, usd(1), 1199, pattern("q")}, made{"new", 1, result.AttemptPass, 1, usd(1), 1, pattern("p")})
	text := func(name string) string {
		info, err := FindRun(runs, name)
		require.NoError(t, err)
		rep, err := ReadReport(info, "")
		require.NoError(t, err)
		since, err := SinceEarlier(runs, info, rep)
		require.NoError(t, err)
		var out strings.Builder
		require.NoError(t, SuiteSince(&out, info.Run, rep, AttemptsOf(info.Dir), since))
		return out.String()
	}
	latest := text(Latest)
	assert.Regexp(t, `(?m)TOOLS +Δ vs prev$`, latest)
	assert.Regexp(t, `(?m)^s::a +1 .*  ctx \+20%, wall -50%$`, latest)
	assert.Regexp(t, `(?m)^s::a +2 .*  cost new$`, latest)
	assert.Regexp(t, `(?m)^s::new .*—$`, latest)
	assert.Contains(t, latest, "prev: run 20260102-030406-000000000002\n")
	// The first run of its mode has nothing before it.
	assert.NotContains(t, text("20260102-030409"), "prev")
	assert.NotContains(t, text("20260102-030405"), "prev")
}

// A skill that a client never offered its model could not fire: the report says so.
func TestNeverOffered(t *testing.T) {
	recs := map[string]*result.Attempt{
		"1": {SkillsStaged: []string{"a", "b", "c"}, SkillsNotOffered: []string{"a", "b"}},
		"2": {SkillsStaged: []string{"a", "b"}, SkillsNotOffered: []string{"a"}},
		"3": {SkillsStaged: []string{"c"}}, // no request told
		"4": {SkillsStaged: []string{"b"}, SkillsNotOffered: []string{"b"}},
	}
	rep := &result.Report{Attempts: []result.ReportAttempt{
		{Client: "claude", Dir: "1"}, {Client: "claude", Dir: "2"}, {Client: "codex", Dir: "3"}, {Client: "codex", Dir: "4"}, {Client: "claude", Dir: "gone"},
	}}
	lines := neverOffered(rep, func(dir string) *result.Attempt { return recs[dir] })
	require.Len(t, lines, 2)
	assert.Contains(t, lines[0], "skill a: claude had it and never offered it")
	assert.Contains(t, lines[1], "skill b: codex had it and never offered it")
}
