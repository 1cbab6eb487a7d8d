package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/report"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/task"
)

// ciFlags are what `proctor run` writes for CI servers.
type ciFlags struct {
	junit, summary string
	json           bool
}

func (f *ciFlags) add(fs *flag.FlagSet) {
	fs.StringVar(&f.junit, "junit", "", "ci: write JUnit XML to this `file`")
	fs.StringVar(&f.summary, "summary", "", "ci: append a summary in Markdown to this `file` (default: $GITHUB_STEP_SUMMARY)")
	fs.BoolVar(&f.json, "json", false, "ci: print a JSON object a line (events, then the end) in place of text")
	// A step of GitHub's has a file for its summary.
	f.summary = os.Getenv("GITHUB_STEP_SUMMARY")
}

// A ciRun collects what CI servers are told of a run. Its writes fail the run: who asks for a file relies
// on it.
type ciRun struct {
	ciFlags
	out io.Writer // for JSON, and workflow commands
	mu  sync.Mutex
	ci  report.CI
}

// event prints an event as a line of JSON.
func (c *ciRun) event(ev harness.Event) { _ = c.line(map[string]any{"event": "stage", "stage": ev}) }

func (c *ciRun) line(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("json: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err = report.Raw(c.out).Write(append(report.CleanJSON(text), '\n'))
	return err
}

// batch adds a batch that is counted, with its trials as their records tell.
func (c *ciRun) batch(b *harness.Batch, bench *result.Benchmark, runDir string) error {
	var trials []*result.Trial
	var problems []error
	for _, p := range b.Plan() {
		t, err := result.ReadTrial(filepath.Join(b.Results(), p.Name()), runDir)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		trials = append(trials, t)
	}
	gates := result.Gate(bench, bench.Kind == string(task.Regression), plan.WithSymposium)
	file := filepath.Join(b.Task.Dir, "task.toml")
	c.ci.Groups = append(c.ci.Groups, report.CIBatch(bench, trials, b.Results(), workspaceFile(file), lineOf(file, "kind"), gates))
	if c.json {
		problems = append(problems, c.line(map[string]any{"event": "batch", "benchmark": bench, "dir": b.Results()}))
	}
	return errors.Join(problems...)
}

// suites adds a run of suites.
func (c *ciRun) suites(root string, mode result.RunMode, rep *result.Report, attempt func(string) *result.Attempt) error {
	gating := func(a result.ReportAttempt) bool {
		return a.Verdict.Gates() && a.Configuration == plan.WithSkills && (mode == result.ModeRun || mode == result.ModeCompare)
	}
	c.ci.Groups = report.CISuites(rep, gating, attempt, func(name string) string {
		return workspaceFile(filepath.Join(root, "suites", filepath.Base(name), "suite.yml"))
	})
	if !c.json {
		return nil
	}
	return c.line(map[string]any{"event": "report", "report": rep})
}

// finish writes everything. code is the run's exit code, and returned but for a failure to write.
func (c *ciRun) finish(runID, dir string, cause error, code int, stderr io.Writer) int {
	c.ci.RunID = runID
	if cause != nil {
		c.ci.Cause = cause.Error()
	}
	var problems []error
	if c.junit != "" {
		var text bytes.Buffer
		problems = append(problems, report.JUnit(&text, c.ci), writeNew(c.junit, text.Bytes()))
	}
	if c.summary != "" {
		problems = append(problems, appendSummary(c.summary, c.ci))
	}
	if os.Getenv("GITHUB_ACTIONS") == "true" {
		to := c.out
		if c.json {
			to = stderr
		}
		problems = append(problems, report.Annotations(report.Raw(to), c.ci))
	}
	if err := errors.Join(problems...); err != nil {
		code = exit(stderr, err, exitRunner)
	}
	if c.json {
		end := map[string]any{"event": "end", "run": runID, "dir": dir, "exit": code}
		if cause != nil {
			end["cause"] = cause.Error()
		}
		if err := c.line(end); err != nil {
			return exit(stderr, err, exitRunner)
		}
	}
	return code
}

// writeNew writes a file, with the folders above it.
func writeNew(file string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// appendSummary appends to a file that several steps may share, within the size a server takes of it.
func appendSummary(file string, ci report.CI) error {
	room := report.MaxSummary
	if info, err := os.Stat(file); err == nil {
		room = max(0, room-int(min(info.Size(), report.MaxSummary)))
	}
	var text bytes.Buffer
	if err := report.Markdown(&text, ci, room); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("summary: %w", err)
	}
	_, err = f.Write(text.Bytes())
	return errors.Join(err, f.Close())
}

// workspaceFile is a file as an annotation names it: from the top of the checkout.
func workspaceFile(file string) string {
	top := os.Getenv("GITHUB_WORKSPACE")
	if top == "" {
		top, _ = os.Getwd() // "" leaves the file as it is
	}
	if rel, err := filepath.Rel(top, file); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(file)
}

// lineOf is the line of a top-level key in a TOML file, from 1; 1 where it is not found.
func lineOf(file, key string) int {
	text, err := os.ReadFile(file)
	if err != nil {
		return 1
	}
	for i, line := range strings.Split(string(text), "\n") {
		if name, _, ok := strings.Cut(line, "="); ok && strings.TrimSpace(name) == key {
			return i + 1
		}
	}
	return 1
}
