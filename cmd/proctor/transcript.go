package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/term"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/report"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/transcript"
)

// showTranscript decodes a session and prints it: for people, as JSON, or in
// the Agent Trajectory Interchange Format.
func showTranscript(args []string, stdout, stderr io.Writer) error {
	o, envErr := environ()
	var asJSON, asATIF, schema bool
	var name, session, home, project string
	flags := newFlags("transcript", stdout)
	flags.StringVar(&o.Results, "results", o.Results, "`folder` results are kept in")
	flags.BoolVar(&asJSON, "json", false, "print the transcript as JSON (see -schema)")
	flags.BoolVar(&asATIF, "atif", false, "print the transcript as an "+transcript.ATIFVersion+" trajectory")
	flags.BoolVar(&schema, "schema", false, "print the JSON Schema of -json")
	flags.StringVar(&name, "client", "", "`name` of the client that wrote FILE")
	flags.StringVar(&session, "session", "", "the client's session `file`")
	flags.StringVar(&home, "home", "", "home `folder` the session ran with, where FILE does not tell")
	flags.StringVar(&project, "project", "", "project `folder` the session ran in, where FILE does not tell")
	names, err := flags.names(args, false)
	if err := cmp.Or(err, envErr); err != nil {
		return err
	}
	switch {
	case schema && len(names) == 0:
		_, err := report.Raw(stdout).Write(transcript.Schema)
		return err
	case asJSON && asATIF:
		return errors.New("give one of -json and -atif")
	case len(names) != 1:
		return fmt.Errorf("transcript takes one result folder, or one file with -client; got %q", names)
	case name == "" && (session != "" || home != "" || project != ""):
		return errors.New("-session, -home and -project belong to a file: give -client too")
	}
	var t *transcript.Transcript
	var asked []string
	if name != "" {
		t, err = decodeFile(name, names[0], session, home, project)
	} else {
		t, asked, err = decodeResult(o, names[0])
	}
	if err != nil {
		return err
	}
	if err := printTranscript(stdout, t, asked, asJSON, asATIF); err != nil {
		return err
	}
	if t.Understood == 0 {
		return fmt.Errorf("%s: none of its %d lines was understood, so nothing is known of the session: is it the standard output of %s?", names[0], t.Lines, t.Client)
	}
	return nil
}

func printTranscript(stdout io.Writer, t *transcript.Transcript, asked []string, asJSON, asATIF bool) error {
	document := t.Document(asked...)
	switch {
	case asJSON:
		return encode(stdout, document)
	case asATIF:
		trajectory, err := t.ATIF()
		if err != nil {
			return err
		}
		return encode(stdout, trajectory)
	}
	return report.Transcript(stdout, document, report.Style{Color: colored(stdout)})
}

func encode(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := report.Raw(w).Write(report.CleanJSON(b.Bytes()))
	return err
}

// colored tells whether the output is a terminal that wants colours.
func colored(w io.Writer) bool {
	f, ok := report.Raw(w).(*os.File)
	color := ok && term.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	if p, ok := w.(*report.Printer); ok {
		p.Color = color
	}
	return color
}

// decodeFile decodes a client's raw stream.
func decodeFile(name, file, session, home, project string) (*transcript.Transcript, error) {
	decoder, err := client.LookupDecoder(name)
	if err != nil {
		return nil, err
	}
	stream, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	r := client.Recording{Stream: stream, Home: home, Project: project}
	if session != "" {
		f, err := os.Open(session)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		r.Session = f
	}
	return decoder.Decode(r)
}

// decodeResult decodes the session of a trial: its folder, or the path of one
// below the results. It also gives the skills the result tells of.
func decodeResult(o harness.Options, name string) (*transcript.Transcript, []string, error) {
	dir := name
	for _, base := range []string{"", o.Results, o.Evals} {
		candidate := filepath.Join(base, name)
		if _, err := os.Stat(filepath.Join(candidate, result.TrialFile)); err == nil {
			dir = candidate
			break
		}
	}
	trial, err := result.ReadTrial(dir, "")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s holds no result.json: name a trial's folder, as `proctor show` lists them below the results, or give -client for a raw stream", name)
	}
	if err != nil {
		return nil, nil, err
	}
	t, err := harness.Transcript(dir, trial.Client.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s holds no transcript.jsonl: its client was never started", name)
	}
	if err != nil {
		return nil, nil, err
	}
	var asked []string
	for skill := range trial.ObservedLoad {
		asked = append(asked, skill)
	}
	return t, asked, nil
}
