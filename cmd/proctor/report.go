package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/report"
	"github.com/proctor-evals/proctor/harness/result"
)

// reportFile is where a run's report is written if no other place is named: beside its record.
const reportFile = "report.html"

// htmlReport writes a run's report as one HTML file.
func htmlReport(args []string, stdout, stderr io.Writer) error {
	var file string
	o, names, err := options("report", args, stdout, func(fs *flag.FlagSet) {
		fs.StringVar(&file, "o", "", "`file` to write, - for standard output (default: "+reportFile+" in the run's folder)")
	})
	if err != nil {
		return err
	}
	if len(names) > 1 {
		return fmt.Errorf("report takes one run, got %q; options come before it", names)
	}
	name := "latest"
	if len(names) == 1 {
		name = names[0]
	}
	dir, err := reportedRun(o, name)
	if err != nil {
		return err
	}
	page := report.PageOptions{Run: dir, Starter: starters(o)}
	if file == "-" {
		_, err := report.Page(report.Raw(stdout), page)
		return err
	}
	if file == "" {
		file = filepath.Join(dir, reportFile)
	}
	info, size, err := writePage(file, page)
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if info.Unreadable > 0 {
		fmt.Fprintf(stderr, "proctor: the records of %d trials cannot be read; the report says which\n", info.Unreadable)
	}
	fmt.Fprintf(stdout, "%s\t%d trials, %.1f MB\n", report.Clean(file), info.Trials, float64(size)/1e6)
	return nil
}

// writePage writes beside the file and renames: a page that could not be made whole does not replace the
// one before. The page can be made again, so no power cut is waited for.
func writePage(file string, page report.PageOptions) (info report.PageInfo, size int64, err error) {
	f, err := os.CreateTemp(filepath.Dir(file), ".report-*")
	if err != nil {
		return info, 0, err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if info, err = report.Page(f, page); err != nil {
		return info, 0, err
	}
	if size, err = f.Seek(0, io.SeekCurrent); err != nil {
		return info, 0, err
	}
	if err = f.Chmod(0o644); err != nil {
		return info, 0, err
	}
	if err = f.Close(); err != nil {
		return info, 0, err
	}
	err = os.Rename(f.Name(), file)
	return info, size, err
}

// reportedRun finds a run by its name, "latest", or its folder's path.
func reportedRun(o harness.Options, name string) (string, error) {
	if _, err := os.Lstat(filepath.Join(name, result.RunFile)); err == nil {
		return filepath.Abs(name)
	}
	runs, err := harness.RunsDir(o)
	if err != nil {
		return "", err
	}
	return runDir(runs, name)
}

// starters finds tasks' starters in the evals root. A root that cannot be opened is told where a trial's
// changes would stand, since the rest of a report does not need it.
func starters(o harness.Options) report.Starter {
	e, err := harness.Open(o)
	if err != nil {
		return func(string) (string, string, error) { return "", "", err }
	}
	return func(name string) (string, string, error) {
		tasks, err := e.Task(name)
		if err != nil {
			return "", "", err
		}
		if len(tasks) != 1 {
			return "", "", errors.New("no such task")
		}
		return tasks[0].Starter, tasks[0].ContentHash, nil
	}
}
