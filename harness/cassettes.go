package harness

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/harness/gateway"
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
