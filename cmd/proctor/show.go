package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/report"
	"github.com/proctor-evals/proctor/harness/result"
)

// show prints a run's plan and how far each trial came, from its record alone: a run whose runner
// is dead is read like any other.
func show(args []string, stdout, stderr io.Writer) error {
	o, names, err := options("show", args, stderr)
	if err != nil {
		return err
	}
	if len(names) > 1 {
		return fmt.Errorf("show takes one run, got %q", names)
	}
	runs, err := harness.RunsDir(o)
	if err != nil {
		return err
	}
	name := "latest"
	if len(names) == 1 {
		name = names[0]
	}
	dir, err := runDir(runs, name)
	if err != nil {
		return err
	}
	run, err := result.ReadRun(dir)
	if err != nil {
		return err
	}
	state := string(run.State)
	if run.Cause == result.CauseLost {
		state = "lost: its runner died before it could finish"
	} else if run.Cause != "" {
		state += " (" + report.Clean(run.Cause) + ")"
	}
	fmt.Fprintf(stdout, "run %s: %s\n", run.RunID, state)
	for _, again := range run.Resumed {
		fmt.Fprintf(stdout, "resumed %s: %d trials kept, %d to run\n", again.At.Format("2006-01-02 15:04:05"), again.Kept, again.Run)
	}
	for _, b := range run.Batches {
		fmt.Fprintf(stdout, "%s with %s: %s\n", report.Clean(b.Task.Name), report.Clean(b.Client), report.Clean(b.Results))
		if b.Model.Kind != "" {
			fmt.Fprintf(stdout, "  model %s (%s)\n", report.Clean(b.Model.Name), report.Clean(b.Model.Kind))
		}
		tw := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
		for _, t := range b.Trials {
			fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\t%s", report.Clean(t.Name), t.State, t.Execution, t.Outcome, report.Clean(t.Cause))
			if took := traffic(dir, b, t.Name); took != "" {
				fmt.Fprintf(tw, "\t%s", took)
			}
			fmt.Fprintln(tw)
		}
		if err := tw.Flush(); err != nil {
			return err
		}
	}
	if run.State == result.Finished && run.Cause != "" {
		fmt.Fprintf(stdout, "to go on: proctor run -resume %s\n", report.Clean(run.RunID))
	}
	return nil
}

// traffic is what a trial's model took, by the wire; "" for a scripted one and where there is no record.
func traffic(runDir string, b result.Batch, trial string) string {
	if b.Model.Kind == gateway.KindScripted {
		return ""
	}
	dir := filepath.Join(filepath.Dir(filepath.Dir(runDir)), filepath.FromSlash(b.Results), filepath.Base(trial))
	rec, err := result.ReadTrial(dir, runDir)
	if err != nil || rec.Gateway == nil {
		return ""
	}
	g, parts := rec.Gateway, []string{}
	if n := g.Usage.Total(); n != nil {
		parts = append(parts, fmt.Sprintf("%d tokens at the wire", *n))
	}
	if g.CostUSD != nil {
		parts = append(parts, fmt.Sprintf("$%.4f", *g.CostUSD))
	}
	if g.Waits > 0 {
		parts = append(parts, fmt.Sprintf("waited %.0f s for the model's host, %d times", g.WaitSecs, g.Waits))
	}
	return strings.Join(parts, ", ")
}

// runDir finds a run by its name or "latest".
func runDir(runs, name string) (string, error) {
	if name != "latest" {
		if name != filepath.Base(name) {
			return "", fmt.Errorf("%q is not a run's name", name)
		}
		return filepath.Join(runs, name), nil
	}
	entries, err := os.ReadDir(runs)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	// A run id sorts by time, to the second; within one, the record knows.
	var latest string
	var started time.Time
	for _, e := range slices.Backward(entries) {
		if !e.IsDir() {
			continue
		}
		if latest != "" && second(e.Name()) != second(latest) {
			break
		}
		// A folder without a readable record is a run that a full disk kept from being planned.
		run, err := result.ReadRun(filepath.Join(runs, e.Name()))
		if err == nil && (latest == "" || run.StartedAt.After(started)) {
			latest, started = e.Name(), run.StartedAt
		}
	}
	if latest != "" {
		return filepath.Join(runs, latest), nil
	}
	return "", fmt.Errorf("no run in %s yet; `proctor run TASK` makes one", runs)
}

// second is the part of a run id that tells its time.
func second(id string) string { return id[:min(len(id), len("20060102-150405"))] }
