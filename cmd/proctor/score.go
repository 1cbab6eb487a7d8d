package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/grade/assertion"
	"github.com/proctor-evals/proctor/harness/report"
	"github.com/proctor-evals/proctor/harness/suite"
	"github.com/proctor-evals/proctor/harness/transcript"
)

// scoreOptions are what score is asked.
type scoreOptions struct {
	cwd, transcript, client, session, home, project string
	excluded                                        []string
	number                                          int // of the case; -1: the only one
	seconds                                         float64
	noJudges, asJSON                                bool
}

// score grades one attempt of whatever origin.
func score(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, envErr := environ()
	so := scoreOptions{}
	flags := newFlags("score", stdout)
	flags.StringVar(&so.cwd, "cwd", "", "working directory, the `folder` as the attempt left it")
	flags.StringVar(&so.transcript, "transcript", "", "`file` with the transcript")
	flags.StringVar(&so.client, "client", "", "`name` of the attempt's client; needed for what a client printed, and for assertions with providers")
	flags.StringVar(&so.session, "session", "", "the client's session `file`")
	flags.StringVar(&so.home, "home", "", "home `folder` the session ran with, where FILE does not tell")
	flags.StringVar(&so.project, "project", "", "project `folder` the session ran in, where FILE does not tell")
	flags.Func("excluded", "comma-separated `skills` that were left out, as in a reality check", func(s string) error {
		so.excluded = harness.SplitList(s)
		return nil
	})
	flags.IntVar(&so.number, "case", -1, "number of the prompt of a trigger task, from 0")
	flags.Float64Var(&so.seconds, "seconds", 0, "`seconds` the agent took, where the transcript does not tell")
	flags.BoolVar(&so.noJudges, "no-judges", false, "leave out judge and judge_agent")
	flags.BoolVar(&so.asJSON, "json", false, "print JSON")
	flags.StringVar(&o.Scratch, "scratch", o.Scratch, "`folder` commands run in")
	names, err := flags.names(args, false)
	if err := cmp.Or(err, envErr); err != nil {
		return exit(stderr, err, exitUsage)
	}
	switch {
	case len(names) != 1:
		err = fmt.Errorf("score takes one task file; got %q", names)
	case so.cwd == "" || so.transcript == "":
		err = errors.New("give -cwd, the working directory, and -transcript")
	case so.seconds < 0:
		err = fmt.Errorf("-seconds %g: give a time of at least 0", so.seconds)
	}
	if err != nil {
		return exit(stderr, err, exitUsage)
	}
	return scoreTask(ctx, o, so, names[0], stdout, stderr)
}

func scoreTask(ctx context.Context, o harness.Options, so scoreOptions, file string, stdout, stderr io.Writer) int {
	p, t, err := suite.LoadTask(file)
	if err != nil {
		return exit(stderr, err, exitUsage)
	}
	c, err := chooseCase(t, so.number)
	if err != nil {
		return exit(stderr, err, exitUsage)
	}
	tr, err := so.read()
	if err != nil {
		return exit(stderr, err, exitUsage)
	}
	cwd, err := filepath.Abs(so.cwd)
	if err == nil {
		cwd, err = filepath.EvalSymlinks(cwd) // the folder itself is the user's
	}
	if err != nil {
		return exit(stderr, fmt.Errorf("-cwd: %w", err), exitUsage)
	}
	if info, err := os.Stat(cwd); err != nil || !info.IsDir() {
		return exit(stderr, fmt.Errorf("-cwd: %s is not a folder", so.cwd), exitUsage)
	}
	if _, cause := tr.Execution(); cause != nil && tr.Lines > 0 && t.Kind != suite.Trigger {
		fmt.Fprintf(stderr, "note: the session did not complete: %s\n", report.Clean(cause.Error()))
	}
	o.Evals = p.Evals // closed to the commands of assertions
	command, done := harness.Commands(o)
	defer done()
	a := assertion.Attempt{Transcript: tr, Cwd: cwd, Client: tr.Client, Excluded: so.excluded, Stopped: t.Kind == suite.Trigger}
	if so.client != "" {
		a.Client = so.client
	}
	if so.seconds > 0 {
		a.Seconds = &so.seconds
	}
	results := assertion.Grade(ctx, a, c.Assertions, assertion.Tools{Command: command, NoJudges: so.noJudges, Judging: p.Config.Judge})
	if ctx.Err() != nil {
		return exit(stderr, errors.New("interrupted"), exitRunner)
	}
	return printScore(scored{
		SchemaVersion: 1, Task: t.Suite.Name + "::" + c.Name, Verdict: assertion.Decide(assertion.Ended, results, t.KnownIssue != nil),
		KnownIssue: t.KnownIssue, Assertions: results,
	}, so.asJSON, stdout, stderr)
}

// scored is the JSON form of a score.
type scored struct {
	SchemaVersion int                `json:"schema_version"`
	Task          string             `json:"task"`
	Verdict       assertion.Verdict  `json:"verdict"`
	KnownIssue    *string            `json:"known_issue"`
	Assertions    []assertion.Result `json:"assertions"`
}

func printScore(s scored, asJSON bool, stdout, stderr io.Writer) int {
	var err error
	if asJSON {
		err = encode(stdout, s)
	} else {
		err = report.Assertions(stdout, s.Assertions, s.Verdict, report.Style{Color: colored(stdout)})
	}
	switch {
	case err != nil:
		return exit(stderr, err, exitRunner)
	case s.Verdict == assertion.Error:
		return exitRunner
	case s.Verdict.Gates():
		return exitGated
	}
	return exitOK
}

func chooseCase(t *suite.Task, number int) (suite.Case, error) {
	cases := t.Cases()
	switch {
	case number < 0 && len(cases) == 1:
		return cases[0], nil
	case number < 0:
		return suite.Case{}, fmt.Errorf("%s has %d case(s): name one with -case, 0 to %d", t.File, len(cases), len(cases)-1)
	case number >= len(cases):
		return suite.Case{}, fmt.Errorf("-case %d: %s has %d case(s), numbered from 0", number, t.File, len(cases))
	}
	return cases[number], nil
}

// read gets the transcript: a document, or a client's stream.
func (so scoreOptions) read() (*transcript.Transcript, error) {
	if so.client != "" {
		if _, err := client.LookupDecoder(so.client); err != nil {
			return nil, err
		}
	}
	f, err := os.Open(so.transcript)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := transcript.ReadDocument(f)
	switch {
	case err == nil && so.client != "" && t.Client != "" && t.Client != so.client:
		return nil, fmt.Errorf("%s is a transcript of %s, not of %s", so.transcript, t.Client, so.client)
	case err == nil && so.session != "":
		return nil, errors.New("-session belongs to what a client printed, and the transcript is in the normalised form")
	case err == nil:
		return t, nil
	case !errors.Is(err, transcript.ErrNoDocument):
		return nil, fmt.Errorf("%s: %w", so.transcript, err)
	case so.client == "":
		return nil, fmt.Errorf("%s: %w; if a client printed it, name the client with -client", so.transcript, err)
	}
	return decodeFile(so.client, so.transcript, so.session, so.home, so.project)
}
