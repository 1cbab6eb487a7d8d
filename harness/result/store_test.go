package result

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sample is a record with something at every level.
func sample() *Trial {
	return &Trial{
		SchemaVersion: SchemaVersion, RunID: "r", BatchID: "b", State: Finished, Mode: "with-symposium", Trial: 3, Round: 3, Order: 2,
		Task: Task{Name: "store-durability", Kind: "capability"}, Model: Model{Name: "m", Settings: map[string]any{"seed": json.Number("9007199254740993")}},
		StartedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Tools: map[string]Tool{"srt": {Version: "1"}},
		Execution: Completed, Code: &Code{Build: Pass, Hidden: map[string]Verdict{"a": Pass}, Overall: Pass},
		Gradings: []Grading{{Folder: "grading"}, {Folder: "grading-2", Code: &Code{Build: Fail}}}, Offered: []Offer{},
		Expectations: &Expectations{Skills: map[string]SkillExpectation{"a": {Used: verdict(Pass)}}, Hooks: map[string]Verdict{}, Sync: passSync},
		Success:      Pass, Outcome: Succeeded,
	}
}

func TestWriteThenRead(t *testing.T) {
	dir := t.TempDir()
	want := sample()
	require.NoError(t, Write(dir, TrialFile, want))
	got, err := ReadTrial(dir, "")
	require.NoError(t, err)
	assert.Equal(t, want, got)

	bench := &Benchmark{SchemaVersion: 1, Task: "x", StandIns: []string{}, Configurations: map[string]Counts{"a": {Planned: 1}}, Comparisons: []Comparison{}, Model: Model{Settings: map[string]any{}}}
	require.NoError(t, Write(dir, BenchmarkFile, bench))
	gotBench, err := ReadBenchmark(dir)
	require.NoError(t, err)
	assert.Equal(t, bench, gotBench)
	assert.ElementsMatch(t, []string{BenchmarkFile, TrialFile}, names(t, dir), "no temporary file is left")
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestUnknownFieldsSurvive(t *testing.T) {
	b, err := json.Marshal(sample())
	require.NoError(t, err)
	var doc map[string]any
	require.NoError(t, json.Unmarshal(b, &doc))
	at := func(path ...string) map[string]any {
		m := doc
		for _, p := range path {
			m = m[p].(map[string]any)
		}
		return m
	}
	at()["new_top"] = map[string]any{"deep": []any{1.0, nil, "x"}}
	at()["success_because"] = "beside an omitempty field"
	at("task")["owner"] = "someone"
	at("tools", "srt")["from"] = "npm"
	at("expectations", "skills", "a")["read_twice"] = true
	at("code")["clippy"] = nil
	gradings := doc["gradings"].([]any)
	gradings[1].(map[string]any)["code"].(map[string]any)["clippy"] = "fail"
	delete(doc, "success") // an omitempty field a writer may leave out
	b, err = json.Marshal(doc)
	require.NoError(t, err)

	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, TrialFile), b, 0o644))
	tr, err := ReadTrial(dir, "")
	require.NoError(t, err)
	require.NoError(t, Write(dir, TrialFile, tr))
	again, err := os.ReadFile(filepath.Join(dir, TrialFile))
	require.NoError(t, err)
	assert.JSONEq(t, string(b), string(again))
	assert.Less(t, strings.Index(string(again), `"run_id"`), strings.Index(string(again), `"task"`), "the order of known fields stays")

	t.Run("what is changed stays changed", func(t *testing.T) {
		tr.Success, tr.Outcome, tr.Code, tr.Gradings = Fail, Failed, nil, tr.Gradings[:1]
		b, err := json.Marshal(tr)
		require.NoError(t, err)
		var got map[string]any
		require.NoError(t, json.Unmarshal(b, &got))
		assert.Equal(t, "fail", got["success"])
		assert.Nil(t, got["code"], "its unknown fields go with it")
		assert.Len(t, got["gradings"], 1)
		assert.Equal(t, "someone", got["task"].(map[string]any)["owner"])
	})
	t.Run("an emptied omitempty field does not come back", func(t *testing.T) {
		tr.Outcome, tr.Success, tr.ExecutionCause = "", "", ""
		b, err := json.Marshal(tr)
		require.NoError(t, err)
		for _, f := range []string{`"success":`, `"outcome":`, `"execution_cause":`} {
			assert.NotContains(t, string(b), f)
		}
	})
	t.Run("another case is the same field", func(t *testing.T) {
		var tr Trial
		require.NoError(t, decode([]byte(`{"schema_version":1,"MODE":"m","Task":{"NAME":"n","x":1}}`), &tr, &tr.strays))
		b, err := json.Marshal(tr)
		require.NoError(t, err)
		assert.NotContains(t, string(b), "MODE")
		assert.Contains(t, string(b), `"content_hash":"","x":1}`)
	})
	t.Run("run and benchmark", func(t *testing.T) {
		run := `{"schema_version":1,"state":"finished","x":1,"batches":[{"trials":[{"name":"a"},{"name":"b","y":[2]}]}]}`
		require.NoError(t, os.WriteFile(filepath.Join(dir, RunFile), []byte(run), 0o644))
		r, err := ReadRun(dir)
		require.NoError(t, err)
		b, err := json.Marshal(r)
		require.NoError(t, err)
		assert.Contains(t, string(b), `"x":1`)
		assert.Contains(t, string(b), `"y":[2]`)
		bench := `{"schema_version":1,"configurations":{"a":{"planned":1,"z":3}}}`
		require.NoError(t, os.WriteFile(filepath.Join(dir, BenchmarkFile), []byte(bench), 0o644))
		bm, err := ReadBenchmark(dir)
		require.NoError(t, err)
		b, err = json.Marshal(bm)
		require.NoError(t, err)
		assert.Contains(t, string(b), `"z":3`)
	})
}

func TestRecordsRefused(t *testing.T) {
	for name, row := range map[string]struct{ content, want string }{
		"newer":                  {`{"schema_version": 2, "trial": 1}`, "schema_version 2; this Proctor reads up to 1: update Proctor"},
		"newer, of other types":  {`{"schema_version": 99, "trial": {"no": "int"}}`, "update Proctor"},
		"no version":             {`{"trial": 1}`, "no schema_version"},
		"version 0":              {`{"schema_version": 0}`, "no schema_version"},
		"version null":           {`{"schema_version": null}`, "no schema_version"},
		"version of words":       {`{"schema_version": "one"}`, "is not a record"},
		"null":                   {`null`, "no schema_version"},
		"an array":               {`[{"schema_version":1}]`, "is not a record"},
		"empty":                  {``, "is not a record"},
		"cut off":                {`{"schema_version": 1, "mode": "with`, "is not a record"},
		"two records":            {`{"schema_version": 1}{"schema_version": 1}`, "is not a record"},
		"a wrong type":           {`{"schema_version": 1, "trial": "three"}`, "cannot be read"},
		"a number out of range":  {`{"schema_version": 1, "elapsed_secs": 1e999}`, "cannot be read"},
		"an integer that is not": {`{"schema_version": 1, "usage": {"input_tokens": 1.5}}`, "cannot be read"},
		"deep nesting":           {`{"schema_version": 1, "x": ` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`, "is not a record"},
		"a bad time":             {`{"schema_version": 1, "started_at": "yesterday"}`, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, TrialFile), []byte(row.content), 0o644))
			_, err := ReadTrial(dir, "")
			require.ErrorContains(t, err, row.want)
			require.ErrorContains(t, err, filepath.Join(dir, TrialFile), "the error says where")
		})
	}
}

func TestMissingRecord(t *testing.T) {
	dir := t.TempDir()
	_, trial := ReadTrial(dir, dir)
	_, bench := ReadBenchmark(dir)
	_, run := ReadRun(filepath.Join(dir, "nowhere"))
	for _, err := range []error{trial, bench, run} {
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
}

func TestLinksAndFoldersAreNoRecords(t *testing.T) {
	elsewhere := t.TempDir()
	require.NoError(t, Write(elsewhere, TrialFile, sample()))
	t.Run("link", func(t *testing.T) {
		dir := t.TempDir()
		require.NoError(t, os.Symlink(filepath.Join(elsewhere, TrialFile), filepath.Join(dir, TrialFile)))
		_, err := ReadTrial(dir, "")
		require.ErrorContains(t, err, "symbolic link")

		require.NoError(t, Write(dir, TrialFile, &Trial{SchemaVersion: 1, Mode: "new"}), "a write replaces the link")
		target, err := ReadTrial(elsewhere, "")
		require.NoError(t, err)
		assert.Equal(t, "with-symposium", target.Mode, "and does not go through it")
	})
	t.Run("folder", func(t *testing.T) {
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, TrialFile), 0o755))
		_, err := ReadTrial(dir, "")
		require.Error(t, err)
		require.Error(t, Write(dir, TrialFile, sample()))
	})
	t.Run("huge", func(t *testing.T) {
		dir := t.TempDir()
		f, err := os.Create(filepath.Join(dir, TrialFile))
		require.NoError(t, err)
		require.NoError(t, f.Truncate(maxRecord+1)) // sparse
		require.NoError(t, f.Close())
		_, err = ReadTrial(dir, "")
		require.ErrorContains(t, err, "larger than")
	})
}

func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, Write(dir, TrialFile, sample()))
	require.ErrorContains(t, Write(dir, TrialFile, map[string]any{"f": func() {}}), "encode")
	require.ErrorContains(t, Write(dir, TrialFile, strings.Repeat("x", maxRecord)), "more than a reader takes")
	require.Error(t, Write(filepath.Join(dir, "nowhere"), TrialFile, sample()))
	got, err := ReadTrial(dir, "")
	require.NoError(t, err, "a failed write leaves the old record")
	assert.Equal(t, sample(), got)
	assert.Equal(t, []string{TrialFile}, names(t, dir))
}

// What a writer killed between its temporary file and the rename leaves behind is no record.
func TestTemporaryFilesAreNoRecords(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "."+TrialFile+"123456"), []byte(`{"schema_version":1,"mode":"ha`), 0o600))
	_, err := ReadTrial(dir, "")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, Write(dir, TrialFile, sample()))
	got, err := ReadTrial(dir, "")
	require.NoError(t, err)
	assert.Equal(t, Succeeded, got.Outcome)
}

// Nobody holds the run's folder; for a living runner see TestRunnerKilled.
func TestUnfinishedRecords(t *testing.T) {
	dir, runDir := t.TempDir(), t.TempDir()
	started := sample()
	started.State, started.Execution, started.Success, started.Outcome = Started, "", "", ""
	require.NoError(t, Write(dir, TrialFile, started))
	run := &Run{SchemaVersion: 1, State: Started, Batches: []Batch{{Trials: []PlannedTrial{
		{Name: "a", State: Finished, Execution: Completed, Outcome: Succeeded}, {Name: "b", State: Started}, {Name: "c", State: Planned},
	}}}}
	require.NoError(t, Write(runDir, RunFile, run))

	tr, err := ReadTrial(dir, runDir)
	require.NoError(t, err)
	assert.Equal(t, Finished, tr.State)
	assert.Equal(t, Cancelled, tr.Execution)
	assert.Equal(t, CauseLost, tr.ExecutionCause)
	c, err := Count([]*Trial{tr})
	require.NoError(t, err, "a lost trial can be counted")
	assert.Equal(t, map[string]int{CauseLost: 1}, c.Causes.Cancelled)
	tr, err = ReadTrial(dir, "")
	require.NoError(t, err)
	assert.Equal(t, Started, tr.State, "as it stands")

	r, err := ReadRun(runDir)
	require.NoError(t, err)
	assert.Equal(t, Finished, r.State)
	assert.Equal(t, CauseLost, r.Cause)
	assert.Equal(t, []PlannedTrial{
		{Name: "a", State: Finished, Execution: Completed, Outcome: Succeeded},
		{Name: "b", State: Finished, Execution: Cancelled, Cause: CauseLost},
		{Name: "c", State: Finished, Execution: Cancelled, Cause: CauseLost},
	}, r.Batches[0].Trials)

	finished := &Run{SchemaVersion: 1, State: Finished, Cause: "interrupt", Batches: run.Batches}
	require.NoError(t, Write(runDir, RunFile, finished))
	r, err = ReadRun(runDir)
	require.NoError(t, err)
	assert.Equal(t, "interrupt", r.Cause, "a run that ended by itself is not lost")
}

// The reference's own examples: every field they have is written, and their numbers come out.
func TestReferenceFields(t *testing.T) {
	tr := sample()
	tr.Symposium = &Symposium{}
	b, err := json.Marshal(tr)
	require.NoError(t, err)
	requireFields(t, "testdata/reference-result.json", b)

	load := counts(2, 3, 0, 0)
	load.Planned, load.Started = 5, 5
	with := counts(4, 1, 0, 0)
	with.ObservedLoad = map[string]LoadCounts{"fixture-store": {}}
	b, err = json.Marshal(Benchmark{
		Configurations: map[string]Counts{"without-symposium": load, "with-symposium": with}, Delta: DeltaOf(with, load)})
	require.NoError(t, err)
	requireFields(t, "testdata/reference-benchmark.json", b)
}

func requireFields(t *testing.T, reference string, encoded []byte) {
	t.Helper()
	want, err := os.ReadFile(reference)
	require.NoError(t, err)
	var wantDoc, gotDoc any
	require.NoError(t, json.Unmarshal(want, &wantDoc))
	require.NoError(t, json.Unmarshal(encoded, &gotDoc))
	var walk func(path string, want, got any)
	walk = func(path string, want, got any) {
		w, ok := want.(map[string]any)
		if !ok {
			return
		}
		g, ok := got.(map[string]any)
		if !assert.True(t, ok, "%s is not an object", path) {
			return
		}
		for name, sub := range w {
			if assert.Contains(t, g, name, "%s", path) {
				walk(path+"."+name, sub, g[name])
			}
		}
	}
	walk(filepath.Base(reference), wantDoc, gotDoc)
}
