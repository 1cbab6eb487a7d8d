package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/report"
)

// regrade grades kept submissions again and counts their batches anew.
func regrade(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var what harness.Regrading
	o, names, err := options("grade", args, stdout, func(fs *flag.FlagSet) {
		fs.BoolVar(&what.Broken, "broken", false, "only trials whose grading came to no verdict")
		fs.StringVar(&what.Reason, "reason", "", "why, a `text` for the record")
	})
	if err != nil {
		return exit(stderr, err, exitUsage)
	}
	o.OnEvent = newProgress(stderr).tell
	e, err := harness.Open(o)
	if err != nil {
		return exit(stderr, err, exitUsage)
	}
	if what.Results, err = resultPaths(e.Options(), names); err != nil {
		return exit(stderr, err, exitUsage)
	}
	batches, err := e.Regrade(ctx, what)
	code, graded := exitOK, 0
	for _, b := range batches {
		for _, t := range b.Trials {
			line := t.Before
			switch {
			case t.NotGraded != "":
				line = "not graded: " + t.NotGraded
				if t.Refused {
					code = exitRunner
				}
			case t.Folder != "":
				graded++
				if line = fmt.Sprintf("%s, was %s (%s)", t.After, t.Before, t.Folder); t.Error != "" {
					line += ": infrastructure error: " + t.Error
					code = exitRunner
				}
			}
			fmt.Fprintf(stdout, "%s: %s\n", report.Clean(t.Name), report.Clean(line))
		}
		for _, n := range b.Notes {
			fmt.Fprintf(stdout, "note: %s\n", report.Clean(n))
		}
		if b.Benchmark != nil {
			if err := report.Text(stdout, b.Benchmark, b.Dir); err != nil {
				return exit(stderr, err, exitRunner)
			}
			code = max(code, gate(b.Benchmark, stderr))
		}
	}
	switch {
	case ctx.Err() != nil:
		return exit(stderr, errors.New("interrupted"), exitRunner)
	case err != nil && batches == nil:
		return exit(stderr, err, exitUsage)
	case err != nil:
		return exit(stderr, err, exitRunner)
	case graded == 0:
		return exit(stderr, errors.New("nothing was graded"), exitRunner)
	}
	return code
}

// resultPaths turns the names of runs into folders; what is a path stays one.
func resultPaths(o harness.Options, names []string) ([]string, error) {
	runs, err := harness.RunsDir(o)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range names {
		if _, err := os.Stat(name); err == nil {
			out = append(out, name)
			continue
		}
		if dir, err := runDir(runs, name); err == nil {
			if _, err := os.Stat(dir); err == nil {
				out = append(out, dir)
				continue
			}
		}
		return nil, fmt.Errorf("%q is neither a folder nor a run in %s", name, runs)
	}
	return out, nil
}
