package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"

	"github.com/proctor-evals/proctor/internal/treecopy"
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

// Write replaces dir/name with v as JSON. A reader sees the old file or the new one, never a part,
// also when the writer or the machine dies meanwhile.
func Write(dir, name string, v any) error { return WriteClean(dir, name, v, nil) }

// WriteClean is Write for a record of which clean, if not nil, takes what must not be kept.
func WriteClean(dir, name string, v any, clean func([]byte) []byte) error {
	path := filepath.Join(dir, name)
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("result: encode %s: %w", path, err)
	}
	if clean != nil {
		b = clean(b)
	}
	if len(b) >= maxRecord {
		return fmt.Errorf("result: %s would have %d bytes, more than a reader takes (%d)", path, len(b), maxRecord)
	}
	if err := writeAtomic(dir, name, append(b, '\n')); err != nil {
		return fmt.Errorf("result: write %s: %w", path, err)
	}
	return nil
}

// ReadTrial reads a result.json. A trial that was never finished, and whose runner is dead, reads
// as cancelled with cause lost; runDir is the run's folder (holding run.json), or "" to take the
// record as it stands. A missing record is fs.ErrNotExist.
func ReadTrial(dir, runDir string) (*Trial, error) {
	t, err := readTrial(dir)
	if err != nil || t.State == Finished || runDir == "" || Alive(runDir) {
		return t, err
	}
	// A runner holds its lock until its last word is written, so what is read now is final.
	if t, err = readTrial(dir); err != nil || t.State == Finished {
		return t, err
	}
	t.State, t.Execution, t.ExecutionCause = Finished, Cancelled, CauseLost
	t.Success, t.Outcome, t.Excluded = "", "", nil
	return t, nil
}

func readTrial(dir string) (*Trial, error) {
	var t Trial
	if err := read(dir, TrialFile, &t, &t.strays); err != nil {
		return nil, err
	}
	return &t, nil
}

// ReadBenchmark reads a benchmark.json. A missing one is fs.ErrNotExist.
func ReadBenchmark(dir string) (*Benchmark, error) {
	var b Benchmark
	if err := read(dir, BenchmarkFile, &b, &b.strays); err != nil {
		return nil, err
	}
	return &b, nil
}

// ReadRun reads a run.json. The unfinished run of a dead runner reads as finished with cause lost,
// and the trials it left unfinished as cancelled with cause lost; where a trial has a result.json,
// that one tells more. A missing record is fs.ErrNotExist.
func ReadRun(dir string) (*Run, error) {
	r, err := readRun(dir)
	if err != nil || r.State == Finished || Alive(dir) {
		return r, err
	}
	if r, err = readRun(dir); err != nil || r.State == Finished { // as in ReadTrial
		return r, err
	}
	r.State, r.Cause = Finished, CauseLost
	for b := range r.Batches {
		for i := range r.Batches[b].Trials {
			t := &r.Batches[b].Trials[i]
			if t.State != Finished {
				t.State, t.Execution, t.Outcome, t.Cause = Finished, Cancelled, "", CauseLost
			}
		}
	}
	return r, nil
}

func readRun(dir string) (*Run, error) {
	var r Run
	if err := read(dir, RunFile, &r, &r.strays); err != nil {
		return nil, err
	}
	return &r, nil
}

// read decodes dir/name into record, a pointer to a record's struct. A link or anything else that
// is no regular file is refused.
func read(dir, name string, record any, s *strays) error {
	path := filepath.Join(dir, name)
	data, more, err := treecopy.ReadSource(dir, name, maxRecord)
	// A living runner may replace the record between the look at it and the opening; then it is
	// looked at again. Many replacements in a row are no runner's.
	for try := 1; changed(err) && try < 100; try++ {
		data, more, err = treecopy.ReadSource(dir, name, maxRecord)
	}
	if err != nil {
		return fmt.Errorf("result: read %s: %w", path, err)
	}
	if more {
		return fmt.Errorf("result: %s is larger than %d bytes, which no record is", path, maxRecord)
	}
	if err := decode(data, record, s); err != nil {
		return fmt.Errorf("result: %s %w", path, err)
	}
	return nil
}

func changed(err error) bool {
	var entry *treecopy.EntryError
	return errors.As(err, &entry) && entry.Kind == treecopy.Changed
}

// decode fills record and s from a record's bytes; its errors read on after the file's name.
func decode(data []byte, record any, s *strays) error {
	// The version comes first: what a newer one means may not even fit into the types here.
	var head struct {
		SchemaVersion *int `json:"schema_version"`
	}
	err := json.Unmarshal(data, &head)
	switch {
	case err != nil:
		return fmt.Errorf("is not a record: %w", err)
	case head.SchemaVersion == nil || *head.SchemaVersion < 1:
		return errors.New("is not a record: it has no schema_version of 1 or more")
	case *head.SchemaVersion > SchemaVersion:
		return fmt.Errorf("has schema_version %d; this Proctor reads up to %d: update Proctor", *head.SchemaVersion, SchemaVersion)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber() // a model setting may be an integer a float64 cannot hold
	if err := d.Decode(record); err != nil {
		return fmt.Errorf("cannot be read: %w", err)
	}
	*s = straysOf(data, reflect.TypeOf(record))
	return nil
}
