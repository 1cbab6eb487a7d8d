package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Names of the record files.
const (
	TrialFile     = "result.json"
	BenchmarkFile = "benchmark.json"
	RunFile       = "run.json"
	// runLock is held by the living runner of a run; a free lock beside an unfinished record means
	// the runner is dead.
	runLock = ".lock"
)

// maxRecord bounds what a reader takes into memory of one record, in bytes.
const maxRecord = 64 << 20

// Write replaces dir/name with v as JSON. A reader sees the old file or the new one, never a part.
func Write(dir, name string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("result: encode %s: %w", name, err)
	}
	path := filepath.Join(dir, name)
	if err := writeAtomic(path, append(b, '\n')); err != nil {
		return fmt.Errorf("result: write %s: %w", path, err)
	}
	return nil
}

// ReadTrial reads a result.json. A trial that was never finished, and whose runner is dead, reads
// as cancelled with cause lost; runDir is the run's folder (holding run.json), or "" to take the
// record as it stands.
func ReadTrial(dir, runDir string) (*Trial, error) {
	var t Trial
	if err := read(filepath.Join(dir, TrialFile), &t, &t.Unknown); err != nil {
		return nil, err
	}
	if t.State != Finished && runDir != "" && !Alive(runDir) {
		t.State, t.Execution, t.ExecutionCause = Finished, Cancelled, CauseLost
		t.Success, t.Outcome, t.Excluded = "", "", nil
	}
	return &t, nil
}

// ReadBenchmark reads a benchmark.json.
func ReadBenchmark(dir string) (*Benchmark, error) {
	var b Benchmark
	if err := read(filepath.Join(dir, BenchmarkFile), &b, &b.Unknown); err != nil {
		return nil, err
	}
	return &b, nil
}

// ReadRun reads a run.json. Trials a dead runner left unfinished read as cancelled, cause lost.
func ReadRun(dir string) (*Run, error) {
	var r Run
	if err := read(filepath.Join(dir, RunFile), &r, &r.Unknown); err != nil {
		return nil, err
	}
	if r.State == Finished || Alive(dir) {
		return &r, nil
	}
	r.Cause = CauseLost
	for b := range r.Batches {
		for i := range r.Batches[b].Trials {
			t := &r.Batches[b].Trials[i]
			if t.State != Finished {
				t.State, t.Execution, t.Cause = Finished, Cancelled, CauseLost
			}
		}
	}
	return &r, nil
}

func read(path string, v any, unknown *map[string]json.RawMessage) error {
	info, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("result: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxRecord {
		return fmt.Errorf("result: %s is not a regular file of at most %d bytes", path, maxRecord)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("result: %w", err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("result: %s: %w", path, err)
	}
	var head struct {
		SchemaVersion int `json:"schema_version"`
	}
	if err := json.Unmarshal(b, &head); err == nil && head.SchemaVersion > SchemaVersion {
		return fmt.Errorf("result: %s has schema_version %d; this Proctor reads up to %d: update Proctor", path, head.SchemaVersion, SchemaVersion)
	}
	*unknown, err = unknownFields(b, v)
	if err != nil {
		return fmt.Errorf("result: %s: %w", path, err)
	}
	return nil
}

// unknownFields are the top-level fields of data that v has no place for.
func unknownFields(data []byte, v any) (map[string]json.RawMessage, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	known, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var have map[string]json.RawMessage
	if err := json.Unmarshal(known, &have); err != nil {
		return nil, err
	}
	omitted := []string{"success", "outcome", "execution_cause", "cause"} // omitempty fields
	for name := range have {
		delete(all, name)
	}
	for _, name := range omitted {
		delete(all, name)
	}
	if len(all) == 0 {
		return nil, nil
	}
	return all, nil
}

// withUnknown adds the kept fields to an encoded record.
func withUnknown(encoded []byte, unknown map[string]json.RawMessage) ([]byte, error) {
	if len(unknown) == 0 {
		return encoded, nil
	}
	extra, err := json.Marshal(unknown)
	if err != nil {
		return nil, err
	}
	encoded = bytes.TrimSpace(encoded)
	if len(encoded) < 2 || encoded[len(encoded)-1] != '}' {
		return nil, errors.New("not a JSON object")
	}
	out := append(bytes.Clone(encoded[:len(encoded)-1]), ',')
	return append(out, extra[1:]...), nil
}

// MarshalJSON keeps the fields of a newer writer.
func (t Trial) MarshalJSON() ([]byte, error) {
	type plain Trial
	b, err := json.Marshal(plain(t))
	if err != nil {
		return nil, err
	}
	return withUnknown(b, t.Unknown)
}

// MarshalJSON keeps the fields of a newer writer.
func (b Benchmark) MarshalJSON() ([]byte, error) {
	type plain Benchmark
	enc, err := json.Marshal(plain(b))
	if err != nil {
		return nil, err
	}
	return withUnknown(enc, b.Unknown)
}

// MarshalJSON keeps the fields of a newer writer.
func (r Run) MarshalJSON() ([]byte, error) {
	type plain Run
	b, err := json.Marshal(plain(r))
	if err != nil {
		return nil, err
	}
	return withUnknown(b, r.Unknown)
}
