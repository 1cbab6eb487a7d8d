package report

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/result"
)

// The task whose files the made runs use, and a real session of it.
const (
	madeStarter  = "../../tasks/store-durability/starter"
	madeSolution = "../../tasks/store-durability/solution"
	madeSession  = "testdata/session.jsonl"
	madeHash     = "625a0e67b5b97149be401252c430f3f77d40db6952bd08d2a45391dfa1f2e53c"
)

// madeBatch is one batch of a made run: the trials of each configuration, in order.
type madeBatch struct {
	task   string
	arms   map[string][]*result.Trial
	change func(*result.Benchmark)
}

// makeRun writes a run's records as the engine does and returns the run's folder. The trials' files are
// those of a real trial.
func makeRun(t *testing.T, batches ...madeBatch) string {
	t.Helper()
	base := t.TempDir()
	start := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	end := start.Add(25 * time.Minute)
	run := &result.Run{SchemaVersion: 1, RunID: "20261130-090000-0123456789ab", State: result.Finished, StartedAt: start, FinishedAt: &end, Proctor: "test", Jobs: 1}
	session, err := os.ReadFile(madeSession)
	require.NoError(t, err)
	solution, err := os.ReadFile(filepath.Join(madeSolution, "src", "lib.rs"))
	require.NoError(t, err)
	manifest, err := os.ReadFile(filepath.Join(madeStarter, "Cargo.toml"))
	require.NoError(t, err)
	var benchmarks []*result.Benchmark
	for i, m := range batches {
		id := fmt.Sprintf("batch-%d", i+1)
		batch := result.Batch{
			BatchID: id, Task: result.Task{Name: m.task, Kind: "capability", ContentHash: madeHash}, Client: "claude", Isolation: "enforced",
			Model: result.Model{Name: "some-model-1", Kind: "forward"}, Results: "results/" + m.task + "/claude/" + id,
		}
		b := benchmark(t, m.arms)
		b.RunID, b.BatchID, b.Task, b.ContentHash, b.Isolation = run.RunID, id, m.task, madeHash, "enforced"
		if m.change != nil {
			m.change(b)
		}
		benchmarks = append(benchmarks, b)
		dir := filepath.Join(base, filepath.FromSlash(batch.Results))
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, result.Write(dir, result.BenchmarkFile, b))
		for _, name := range order(b) {
			for n, trial := range m.arms[name] {
				trial.SchemaVersion, trial.State, trial.Round, trial.Order = 1, result.Finished, n+1, len(batch.Trials)+1
				trial.RunID, trial.BatchID, trial.Task, trial.Model, trial.StartedAt = run.RunID, id, batch.Task, batch.Model, start
				trial.Client = result.Client{Name: "claude", Version: "2.1.197"}
				trial.Timings = result.Timings{Setup: ptr(1.4), Agent: trial.Timings.Agent, Grading: ptr(3.2)}
				trial.DeadlinesSecs = result.Deadlines{Setup: 120, Agent: 600, Grading: 300}
				planned := result.PlannedTrial{Name: fmt.Sprintf("trial-%d-%s", n+1, name), Configuration: name, Round: n + 1, State: result.Finished, Execution: trial.Execution, Outcome: trial.Outcome}
				batch.Trials = append(batch.Trials, planned)
				files := map[string]string{"transcript.jsonl": string(session), "submission/src/lib.rs": string(solution), "submission/Cargo.toml": string(manifest),
					"grading/build.stderr": "   Compiling app-settings v0.1.0\n", "srt.json": "{\n  \"filesystem\": {}\n}\n"}
				if trial.Execution == result.SetupFailure || trial.Execution == result.Cancelled {
					files = map[string]string{}
				}
				// As the engine would, without waiting for the disk.
				record, err := json.Marshal(trial)
				require.NoError(t, err)
				files[result.TrialFile] = string(record)
				writeFiles(t, filepath.Join(dir, planned.Name), files)
			}
		}
		run.Batches = append(run.Batches, batch)
	}
	run.Summary = result.Summarize(benchmarks)
	dir := filepath.Join(base, "runs", run.RunID)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, result.Write(dir, result.RunFile, run))
	return dir
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
}

// trialFolder is the folder of a made run's trial.
func trialFolder(run string, batch int, task, name string) string {
	return filepath.Join(filepath.Dir(filepath.Dir(run)), "results", task, "claude", fmt.Sprintf("batch-%d", batch), name)
}

func madeStarterOf(string) (string, string, error) { return madeStarter, madeHash, nil }

// makePage writes a run's page to a file among the test's artifacts and returns its path and text.
func makePage(t *testing.T, run, name string) (path, html string, info PageInfo) {
	t.Helper()
	path = filepath.Join(t.ArtifactDir(), name)
	f, err := os.Create(path)
	require.NoError(t, err)
	info, err = Page(f, PageOptions{Run: run, Starter: madeStarterOf})
	require.NoError(t, err)
	require.NoError(t, f.Close())
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	path, err = filepath.Abs(path)
	require.NoError(t, err)
	return path, string(data), info
}

// arm makes a configuration's trials: passed succeed, failed fail, and more are as they are changed.
func arm(name string, passed, failed int, more ...func(*result.Trial)) []*result.Trial {
	detail := func(overall, check result.Verdict) *result.Code {
		return &result.Code{Build: result.Pass, CargoTestLib: result.Pass, Hidden: map[string]result.Verdict{"settings_persist": check, "settings_read_back": result.Pass},
			Reasons: map[string]string{}, Overall: overall}
	}
	out := trials(nil, name, passed, func(t *result.Trial) { t.Code = detail(result.Pass, result.Pass) })
	out = trials(out, name, failed, func(t *result.Trial) {
		t.Code = detail(result.Fail, result.Fail)
		t.Code.Reasons["hidden-settings_persist"] = "cargo test --offline --test settings_persist: exit code 101"
	})
	for _, change := range more {
		out = trials(out, name, 1, func(t *result.Trial) {
			t.Code = detail(result.Pass, result.Pass)
			change(t)
			t.Code.Judge()
		})
	}
	for i, t := range out { // costs that differ
		if name == with {
			t.Configuration = result.Configuration{Name: with, Mode: with, Skills: "symposium", Hooks: true}
			t.Expectations = &result.Expectations{
				Skills: map[string]result.SkillExpectation{"fixture-store": {Installed: ptr(result.Pass), Used: ptr(result.Pass), ObservedLoad: "loaded"}},
				Hooks:  map[string]result.Verdict{"PreToolUse": result.Pass},
				Sync:   result.SyncExpectation{SkillDirEmptyBefore: result.Pass, SessionStart: result.Pass, SyncRecorded: result.Pass},
			}
		}
		t.Usage.InputTokens, t.Timings.Agent = ptr(int64(30_000+977*i)), ptr(60+7.5*float64(i%9))
	}
	return out
}

// exclusions are trials that do not count, or not simply.
func exclusions() []func(*result.Trial) {
	return []func(*result.Trial){
		func(t *result.Trial) {
			t.Execution, t.ExecutionCause = result.SetupFailure, "npm registry did not answer"
		},
		func(t *result.Trial) { t.Execution, t.ExecutionCause = result.Cancelled, "budget" },
		func(t *result.Trial) {
			t.Excluded = &result.Exclusion{Kind: result.ExcludedIsolation, Cause: "reached /home/someone/notes.txt"}
		},
		func(t *result.Trial) { t.Code.InfrastructureError = "the sandbox did not start" },
		func(t *result.Trial) { t.Execution, t.ExecutionCause = result.TimedOut, "agent deadline of 10m0s" },
	}
}

// madeVerdicts is a run of several tasks with each verdict, and with exclusions.
func madeVerdicts(t *testing.T) string {
	return makeRun(t,
		madeBatch{task: "store-durability", arms: map[string][]*result.Trial{baseline: arm(baseline, 2, 8), with: arm(with, 9, 1)}},
		madeBatch{task: "invoice-split", arms: map[string][]*result.Trial{baseline: arm(baseline, 10, 0), staged: arm(staged, 2, 8)}},
		madeBatch{task: "store-report", arms: map[string][]*result.Trial{baseline: arm(baseline, 4, 6, exclusions()...), staged: arm(staged, 6, 4, exclusions()[:2]...)},
			change: func(b *result.Benchmark) { b.Look = 3 }},
	)
}

// hostilePage holds what is made to break out of a page.
var hostilePage = []string{
	`</script><img src=x onerror="window.broken=1">`, `<script>window.broken=1</script>`, `]]><svg onload="window.broken=1">`,
	`<!--<script>`, `__proto__`, "\x1b[31mred\x1b[0m\x07", "\u202egnp.exe\u2066", `{{.}} ${window.broken=1} javascript:window.broken=1`, "\u2028\u2029 \xff\xfe",
}

// madeHostile is a run whose every text is hostile.
func madeHostile(t *testing.T) string {
	all := strings.Join(hostilePage, " ")
	run := makeRun(t, madeBatch{task: "one", arms: map[string][]*result.Trial{
		baseline: arm(baseline, 1, 1),
		staged: arm(staged, 0, 0, func(t *result.Trial) {
			t.Execution, t.ExecutionCause = result.ClientError, all
			t.Findings = []result.Finding{{Kind: all, Detail: all}}
			t.ObservedLoad = map[string]string{}
			for _, s := range hostilePage {
				t.ObservedLoad[s] = s
				t.Code.Hidden[s], t.Code.Reasons["hidden-"+s] = result.Fail, s
			}
			t.Code.EditsOutside, t.Code.Suspicious = hostilePage, hostilePage
			t.Offered = []result.Offer{{Skill: "__proto__", Via: all}}
			t.OS, t.Toolchain = all, all
			t.Model.Settings = map[string]any{"__proto__": all}
		}),
	}, change: func(b *result.Benchmark) { b.NotCompared = all }})
	dir := trialFolder(run, 1, "one", "trial-1-staged-skills")
	var session strings.Builder
	data, err := os.ReadFile(madeSession)
	require.NoError(t, err)
	for line := range strings.Lines(string(data)) {
		for _, s := range []string{"Launching skill: fixture-store", "Base directory for this skill"} {
			// As JSON in JSON: what the client would print of a tool that printed it.
			line = strings.ReplaceAll(line, s, jsonText(all))
		}
		session.WriteString(line)
	}
	writeFiles(t, dir, map[string]string{"transcript.jsonl": session.String(), "submission/src/lib.rs": all + "\n" + strings.Join(hostilePage, "\n"),
		"submission/src/<img onerror=x>.rs": "x\n", "grading/test-lib.stdout": all, "srt.json": all})
	return run
}

// jsonText is s as it stands between the quotes of a JSON string.
func jsonText(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return strings.Trim(string(data), `"`)
}
