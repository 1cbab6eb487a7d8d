package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/proctor-evals/proctor/harness/result"
)

// How much evidence one page takes, in bytes: of one trial, and over all, which the trials share alike.
const (
	mostTrial = 256 << 10
	mostPage  = 48 << 20
)

// Starter finds a task's starter as it is now: its folder, and the hash of the task's content.
type Starter func(task string) (dir, contentHash string, err error)

// loadedRun is a run's records but for its trials, which are read one at a time.
type loadedRun struct {
	run     *result.Run
	dir     string
	batches []loadedBatch
}

type loadedBatch struct {
	result.Batch
	dir       string
	benchmark *result.Benchmark // nil with problem where it cannot be read
	problem   string
	starter   string   // the starter's folder, or ""
	notes     []string // what to know of the starter
	rows      []pageRow
	broken    int // records that could not be read
}

// loadRun reads a run from its folder, which lies in runs/ beside the results.
func loadRun(dir string, starter Starter) (*loadedRun, error) {
	run, err := result.ReadRun(dir)
	if err != nil {
		return nil, err
	}
	l := &loadedRun{run: run, dir: dir}
	base := filepath.Dir(filepath.Dir(dir))
	for _, b := range run.Batches {
		batch := loadedBatch{Batch: b, dir: filepath.FromSlash(b.Results)}
		if !filepath.IsAbs(batch.dir) {
			batch.dir = filepath.Join(base, batch.dir)
		}
		batch.benchmark, err = result.ReadBenchmark(batch.dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			batch.problem = "Not counted: there is no benchmark.json, so the run has not come to its end, or was stopped before it."
		case err != nil:
			batch.problem = "Not shown: " + Clean(err.Error())
		}
		batch.findStarter(starter)
		l.batches = append(l.batches, batch)
	}
	return l, nil
}

func (b *loadedBatch) findStarter(find Starter) {
	if find == nil {
		b.notes = []string{"The tasks are not here, so the submission is not compared with the starter."}
		return
	}
	dir, hash, err := find(b.Task.Name)
	switch {
	case err != nil:
		b.notes = []string{"The task is not here, so the submission is not compared with the starter: " + Clean(err.Error())}
	case b.Task.ContentHash != hash:
		b.starter = dir
		b.notes = []string{"The task has changed since this trial: the comparison is with the starter as it is now."}
	default:
		b.starter = dir
	}
}

// trials writes each trial's evidence as a data block, and keeps a row of each. A record that cannot be
// read is a row that says so.
func (l *loadedRun) trials(w io.Writer) error {
	n := 0
	for _, b := range l.batches {
		n += len(b.Trials)
	}
	each := mostTrial
	if n > 0 {
		each = min(each, mostPage/n)
	}
	index := 0
	for i := range l.batches {
		b := &l.batches[i]
		for _, planned := range b.Trials {
			row, data := l.trial(i, planned, &budget{each})
			b.rows = append(b.rows, row)
			if row.Place == placeBroken {
				b.broken++
			}
			if err := dataBlock(w, fmt.Sprintf("trial-data-%d", index), data); err != nil {
				return err
			}
			index++
		}
	}
	return nil
}

func (l *loadedRun) trial(batch int, planned result.PlannedTrial, spend *budget) (pageRow, pageTrial) {
	b := &l.batches[batch]
	row := pageRow{
		Batch: batch, Task: Clean(b.Task.Name), Client: Clean(b.Client), Name: Clean(planned.Name),
		Configuration: Clean(planned.Configuration), Round: planned.Round,
	}
	var data pageTrial
	broken := func(err error) {
		row.Place, row.Label, row.Cause = placeBroken, "unreadable", Clean(err.Error())
		data.Problems = append(data.Problems, "The record of this trial cannot be read: "+row.Cause)
	}
	dir := filepath.Join(b.dir, planned.Name)
	t, err := (*result.Trial)(nil), error(nil)
	if planned.Name != filepath.Base(planned.Name) || strings.Trim(planned.Name, ".") == "" {
		err = fmt.Errorf("%q is not a trial's name", planned.Name)
	} else {
		t, err = result.ReadTrial(dir, l.dir)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && planned.State != result.Finished:
		row.Place, row.Label = placeNotRun, Clean(string(planned.State))
	case errors.Is(err, fs.ErrNotExist) && planned.Execution == result.Cancelled:
		row.Place, row.Label, row.Cause = placeNotRun, "cancelled", Clean(planned.Cause)
	case err != nil:
		broken(err)
	default:
		root, err := os.OpenRoot(dir)
		if err != nil {
			broken(err)
			break
		}
		data = evidence(t, root, dir, b.starter, b.notes, spend)
		root.Close()
		row.Place, row.Label, row.Cause = data.Place, data.Label, data.Why
		row.Tokens, row.Secs = t.Usage.Total(), t.Timings.Agent
	}
	data.Name, data.Place, data.Label, data.Why = row.Name, row.Place, row.Label, row.Cause
	data.Folder = Clean(filepath.ToSlash(filepath.Join(b.Results, planned.Name)))
	return row, data
}

// dataBlock writes v as JSON that is inert in a page: encoding/json writes <, > and & as escapes, so no
// text in it can end the block.
func dataBlock(w io.Writer, id string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "<script type=\"application/json\" id=\"%s\">%s</script>\n", id, data)
	return err
}
