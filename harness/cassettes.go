package harness

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/task"
)

// notSearched are folders in which no cassette is looked for: what trials left, builds and tools.
var notSearched = []string{".git", ".tools", "target", "node_modules", "submission", "evidence"}

// maxScanned is how much of a cassette is looked at, in bytes.
const maxScanned = 1 << 30

// CheckCassettes looks for secrets in every cassette of the evals root and the results: they are made to
// be kept in a repository.
func CheckCassettes(o Options) (task.Problems, error) {
	o, err := o.complete()
	if o.Evals == "" {
		return nil, err
	}
	var problems task.Problems
	var errs []error
	seen := map[string]bool{}
	for _, root := range []string{o.Evals, o.resultsDir()} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case d.IsDir():
				if path != root && (slices.Contains(notSearched, d.Name()) || strings.HasPrefix(d.Name(), "grading")) {
					return fs.SkipDir
				}
			case d.Name() == gateway.CassetteFile && d.Type().IsRegular() && !seen[path]:
				seen[path] = true
				found, err := scanCassette(o.Evals, path)
				problems = append(problems, found...)
				return err
			}
			return nil
		})
		errs = append(errs, err)
	}
	return problems, errors.Join(errs...)
}

func scanCassette(evals, path string) (task.Problems, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxScanned))
	if err != nil {
		return nil, err
	}
	var problems task.Problems
	for _, leak := range gateway.ScanCassette(data) {
		problems = append(problems, task.Problem{
			File: relative(evals, path), Line: leak.Line, Col: leak.Column,
			Message: "what looks like a key stands in the cassette: " + leak.Text, Fix: "revoke the key, and record again",
		})
	}
	return problems, nil
}

// checkReplay takes the model's name from the cassettes.
func (o *Options) checkReplay() []error {
	found, err := cassettesIn(o.Replay)
	if err != nil {
		return []error{err}
	}
	c, err := gateway.LoadCassette(found[0])
	if err != nil {
		return []error{fmt.Errorf("replay: %w", err)}
	}
	if o.Model != "" && o.Model != c.Model() {
		return []error{fmt.Errorf("replay: %s was recorded with the model %s, not %s; name none", o.Replay, c.Model(), o.Model)}
	}
	o.Model = c.Model()
	return nil
}

// cassettesIn lists all cassettes below a folder of results.
func cassettesIn(dir string) ([]string, error) {
	root := dir
	if run, err := result.ReadRun(dir); err == nil && len(run.Batches) > 0 {
		// A run's folder is runs/<id>; its batches are told relative to what holds runs/.
		var all []string
		for _, b := range run.Batches {
			more, err := cassettesIn(filepath.Join(filepath.Dir(filepath.Dir(dir)), filepath.FromSlash(b.Results)))
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		}
		return all, nil
	}
	var found []string
	for depth := 0; depth <= 4; depth++ {
		parts := append([]string{root}, slices.Repeat([]string{"*"}, depth)...)
		more, err := filepath.Glob(filepath.Join(append(parts, gateway.CassetteFile)...))
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("replay: no %s in %s; name a run's folder, a batch's or a trial's that was recorded with -record", gateway.CassetteFile, dir)
	}
	return found, nil
}

// cassetteOf is the cassette of a planned trial, or an error that says which is missing. It lies in
// <task>/<client>/<batch>/<trial>/, or in less of that where the replayed folder is one further in.
func (b *Batch) cassetteOf(p plan.Trial) (string, error) {
	found, err := cassettesIn(b.run.engine.opts.Replay)
	if err != nil {
		return "", err
	}
	var fit []string
	for _, path := range found {
		trial := filepath.Dir(path)
		batch := filepath.Dir(trial)
		if filepath.Base(trial) != p.Name() {
			continue
		}
		clientDir := filepath.Dir(batch)
		if batch != b.run.engine.opts.Replay && (filepath.Base(clientDir) != b.Client() || filepath.Base(filepath.Dir(clientDir)) != b.Task.Name) {
			continue
		}
		fit = append(fit, path)
	}
	if len(fit) != 1 {
		return "", fmt.Errorf("replay: %d cassettes fit %s of %s with %s in %s; one is needed", len(fit), p.Name(), b.Task.Name, b.Client(), b.run.engine.opts.Replay)
	}
	return fit[0], nil
}

// recordedRounds is the highest round of a replayed recording.
func (o Options) recordedRounds() int {
	found, err := cassettesIn(o.Replay)
	if err != nil {
		return 1
	}
	rounds := 1
	for _, path := range found {
		var n int
		if _, err := fmt.Sscanf(filepath.Base(filepath.Dir(path)), "trial-%d-", &n); err == nil && n < 10_000 {
			rounds = max(rounds, n)
		}
	}
	return rounds
}
