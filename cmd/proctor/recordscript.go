package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"unicode/utf8"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/report"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

const maxRecordedFile = 1 << 20 // bytes; a model script holds no more

// recordScript turns a trial's recorded conversation into a model script.
func recordScript(args []string, stdout, stderr io.Writer) error {
	o, envErr := environ()
	flags := newFlags("record-script", stdout)
	flags.StringVar(&o.Results, "results", o.Results, "`folder` results are kept in")
	names, err := flags.names(args, false)
	if err := cmp.Or(err, envErr); err != nil {
		return err
	}
	if len(names) != 1 {
		return fmt.Errorf("record-script takes one result folder, got %q", names)
	}
	name := names[0]
	dir, trial, err := trialResult(o, name)
	if err != nil {
		return err
	}
	t, err := harness.Transcript(dir, trial.Client.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s holds no transcript.jsonl: its client was never started", name)
	}
	if err != nil {
		return err
	}
	text, left := gateway.ScriptOf(gateway.ScriptSource{Transcript: t, File: func(rel string) (string, bool) {
		b, cut, err := treecopy.ReadFile(filepath.Join(dir, "submission"), rel, maxRecordedFile)
		return string(b), err == nil && !cut && utf8.Valid(b)
	}})
	if s, err := gateway.ParseScript("the recorded script", text); err != nil {
		if len(t.Turns) == 0 || s == nil && left == 0 {
			return fmt.Errorf("%s: nothing to record: %w", name, err)
		}
		fmt.Fprintf(stderr, "proctor: edit the script before use: %v\n", err)
	}
	if left > 0 {
		fmt.Fprintf(stderr, "proctor: %d of the agent's tool calls have no step; they stand in the script as comments\n", left)
	}
	_, err = report.Raw(stdout).Write(text)
	return err
}

// trialResult finds a trial's folder by its path, or by its path below the results or the evals root.
func trialResult(o harness.Options, name string) (string, *result.Trial, error) {
	results := cmp.Or(o.Results, filepath.Join(o.Evals, "results"))
	for _, base := range []string{"", results, o.Evals} {
		dir := filepath.Join(base, name)
		t, err := result.ReadTrial(dir, "")
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return dir, t, err
		}
	}
	return "", nil, fmt.Errorf("%s holds no result.json: name a trial's folder, as `proctor show` lists them below the results", name)
}
