package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/report"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/suite"
	"github.com/proctor-evals/proctor/harness/task"
	"github.com/proctor-evals/proctor/internal/setup"
)

// Exit codes.
const (
	exitOK     = 0
	exitGated  = 1 // a regression task failed
	exitUsage  = 2 // bad arguments or bad input files
	exitRunner = 3 // the runner broke, something is missing, or nothing was measured
)

const usage = `Proctor supervises exams for coding agents.

  proctor init [SKILL.md]   make an evals folder for a skill, which runs at once without a key
  proctor run TASK...       run tasks and compare the configurations
  proctor run SUITE...      run suites: SUITE, SUITE::TASK, SUITE::TASK::N or *
  proctor check [TASK...]   look for mistakes in tasks; no model, no key, no client (default: all tasks)
  proctor list              list the tasks
  proctor grade RESULT...   grade kept submissions again: a trial's or a batch's folder, or a run
  proctor runs              list the runs of tasks and of suites
  proctor show [RUN]        print a run's trials and how each ended (default: the latest run); of a run
                            of suites also RUN::SUITE, RUN::SUITE::TASK, RUN::SUITE::TASK::attempt-N
  proctor report [RUN]      write a run's report as one HTML file (default: the latest run)
  proctor history NAME      what the runs say of a task, a SUITE or a SUITE::TASK
  proctor diff RUN RUN      what changed from one run to another
  proctor export -o DIR RUN write a run of suites in the layout of agentskills: grading.json, benchmark.json
  proctor rescore RUN       judge a run of suites by the assertions as they are now; no agent runs
  proctor transcript RESULT print a trial's session; with -client NAME, that of a client's raw output
  proctor record-script RESULT
                            turn what a trial's agent did into a model script to edit
  proctor score TASK.yaml   grade any working directory and transcript against a suite's task
  proctor enter TASK CMD... run a command where a trial's agent would run, and see what it would see
  proctor import FILE       make a suite of an agentskills evals.json, or of a set of trigger queries
  proctor doctor [-attack]  check this machine; with -attack, try to break the isolation on it
  proctor setup [NEED...]   install what a run needs: %s (default: sandbox rust claude)

Options come before names; "proctor run -h" lists them. Each has an environment variable:
`

// run is the program; main only adds the process around it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		printUsage(stderr)
		return exitUsage
	}
	var err error
	switch args[0] {
	case "run":
		return runTasks(ctx, args[1:], stdout, stderr)
	case "check":
		return check(ctx, args[1:], stdout, stderr)
	case "init":
		err = initEvals(args[1:], stdout, stderr)
	case "list":
		err = list(args[1:], stdout, stderr)
	case "doctor":
		return doctor(ctx, args[1:], stdout, stderr)
	case "enter":
		return enter(ctx, args[1:], stdout, stderr)
	case "grade":
		return regrade(ctx, args[1:], stdout, stderr)
	case "score":
		return score(ctx, args[1:], stdout, stderr)
	case "show":
		err = show(args[1:], stdout, stderr)
	case "runs":
		err = runs(args[1:], stdout, stderr)
	case "history":
		err = history(args[1:], stdout, stderr)
	case "diff":
		err = diff(args[1:], stdout, stderr)
	case "export":
		err = export(args[1:], stdout, stderr)
	case "rescore":
		return rescore(ctx, args[1:], stdout, stderr)
	case "import":
		err = importSuite(args[1:], stdout, stderr)
	case "report":
		err = htmlReport(args[1:], stdout, stderr)
	case "transcript":
		err = showTranscript(args[1:], stdout, stderr)
	case "record-script":
		err = recordScript(args[1:], stdout, stderr)
	case "setup":
		return runSetup(ctx, args[1:], stdout, stderr)
	case "help", "-h", "-help", "--help":
		printUsage(stdout)
		return exitOK
	default:
		err = fmt.Errorf("unknown command %q; try `proctor help`", args[0])
	}
	return exit(stderr, err, exitUsage)
}

func printUsage(w io.Writer) {
	var needs []string
	for _, n := range setup.AllNeeds() {
		needs = append(needs, string(n))
	}
	fmt.Fprintf(w, usage, strings.Join(needs, ", "))
	for _, v := range harness.Variables {
		fmt.Fprintf(w, "  %-24s %s\n", v.Name, v.Meaning)
	}
}

func exit(stderr io.Writer, err error, code int) int {
	if err == nil {
		return exitOK
	}
	if !errors.Is(err, flag.ErrHelp) {
		between := " "
		if strings.Contains(err.Error(), "\n") {
			between = "\n" // a list of file:line:column, each at the start of its line
		}
		fmt.Fprintf(stderr, "proctor:%s%v\n", between, err)
		return code
	}
	return exitOK
}

// options are the flags shared by commands, over the environment.
// more adds flags of one command.
func options(name string, args []string, stderr io.Writer, more ...func(*flag.FlagSet)) (harness.Options, []string, error) {
	o, err := harness.Environ(os.Getenv)
	if err := errors.Join(err, harness.UnknownVariables(os.Environ())); err != nil {
		return o, nil, err
	}
	fs := flag.NewFlagSet("proctor "+name, flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&o.Evals, "evals", o.Evals, "evals root: the folder with tasks/")
	if name != "list" {
		fs.StringVar(&o.Results, "results", o.Results, "folder results are kept in")
	}
	if name == "run" || name == "enter" || name == "grade" || name == "rescore" {
		fs.StringVar(&o.Scratch, "scratch", o.Scratch, "folder trials live in")
	}
	if name == "run" || name == "enter" {
		fs.BoolVar(&o.Exploratory, "exploratory", o.Exploratory, "the client's own sandbox in place of srt; results are not compared")
		clientFlag(fs, &o)
		fs.StringVar(&o.Model, "model", o.Model, "model; without one, the task's model script")
		fs.BoolVar(&o.Direct, "direct", o.Direct, "the client has the real key and reaches its provider itself; the agent can read the key")
		fs.StringVar(&o.Replay, "replay", o.Replay, "folder of a recorded run, batch or trial, to answer from its cassettes")
		fs.IntVar(&o.Trials, "k", o.Trials, "trials per configuration")
		fs.IntVar(&o.Jobs, "jobs", o.Jobs, "batches that run side by side")
		fs.Func("configurations", "comma-separated, of "+strings.Join(plan.Names(), ", "), func(s string) error {
			o.Configurations = harness.SplitList(s)
			return nil
		})
	}
	if name == "run" {
		fs.BoolVar(&o.Record, "record", o.Record, "keep a cassette of each trial's model traffic beside its result")
		limitFlags(fs, &o)
	}
	for _, add := range more {
		add(fs)
	}
	var names []string
	for {
		if err := fs.Parse(args); err != nil {
			return o, nil, err
		}
		if args = fs.Args(); !anywhere[name] || len(args) == 0 {
			names = append(names, args...)
			break
		}
		names, args = append(names, args[0]), args[1:]
	}
	var wrong []error
	fs.Visit(func(f *flag.Flag) {
		// 0 would pass for "not given" and start the default number of trials.
		g, ok := f.Value.(flag.Getter)
		if !ok {
			return
		}
		if n, ok := g.Get().(int); ok && n < 1 {
			wrong = append(wrong, fmt.Errorf("-%s %d: give a whole number of at least 1", f.Name, n))
		}
	})
	if err := errors.Join(wrong...); err != nil {
		return o, nil, err
	}
	return o, names, nil
}

// anywhere are the commands whose options may also stand behind names.
var anywhere = map[string]bool{"run": true, "show": true, "runs": true, "history": true, "diff": true, "export": true, "rescore": true}

// limitFlags are the run's limits; 0 would pass for "not given".
func limitFlags(fs *flag.FlagSet, o *harness.Options) {
	fs.Func("max-tokens", "tokens after which the run stops at the end of a round", func(s string) error {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 1 {
			return errors.New("give a whole number of at least 1")
		}
		o.MaxTokens = n
		return nil
	})
	fs.Func("max-cost", "US dollars after which the run stops at the end of a round; needs prices in proctor.toml", func(s string) error {
		n, err := strconv.ParseFloat(s, 64)
		if err != nil || !(n > 0) || math.IsInf(n, 0) {
			return errors.New("give a number above 0")
		}
		o.MaxCost = n
		return nil
	})
}

func clientFlag(fs *flag.FlagSet, o *harness.Options) {
	fs.Func("client", "agent client, or several, comma-separated, of "+strings.Join(client.Names(), ", "), func(s string) error {
		o.Clients = harness.SplitList(s)
		return nil
	})
}

func runTasks(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var suites suiteFlags
	var again resumption
	ci := ciRun{out: stdout}
	dry := false
	dryFlag := func(fs *flag.FlagSet) {
		fs.BoolVar(&dry, "dry-run", false, "print the plan, what difference it could show and what it would take, and run nothing")
	}
	o, names, err := options("run", args, stderr, suites.add, again.flag, ci.add, dryFlag)
	if err == nil {
		o, names, err = again.options(o, names)
	}
	if err != nil {
		return exit(stderr, err, exitUsage)
	}
	o.DefaultTrials = 5
	live := newProgress(stderr)
	defer live.finish()
	o.OnEvent = live.tell
	if ci.json && !dry {
		o.OnEvent, stdout = ci.event, io.Discard
	}
	if is, err := areSuites(o.Evals, names); err != nil {
		return exit(stderr, err, exitUsage)
	} else if is {
		return runSuites(ctx, o, names, suites, live, &ci, dry, stdout, stderr)
	}
	if given := suites.used(); len(given) > 0 && len(names) > 0 {
		return exit(stderr, fmt.Errorf("%s: for suites only, and %s names none", strings.Join(given, " "), strings.Join(names, " ")), exitUsage)
	}
	e, err := harness.Open(o)
	if err != nil {
		return exit(stderr, err, exitUsage)
	}
	if len(names) == 0 {
		return exit(stderr, errors.New("name a task, or several; `proctor list` lists them"), exitUsage)
	}
	tasks, err := e.Task(names...)
	if err != nil {
		return exit(stderr, err, exitUsage)
	}
	if dry && again.dir != "" {
		return exit(stderr, errors.New("-dry-run and -resume: `proctor show` tells which trials of a run are left"), exitUsage)
	}
	if dry {
		return exit(stderr, dryRun(stdout, e, e.Forecast(tasks)), exitRunner)
	}
	r, err := again.start(ctx, e, tasks)
	if err != nil {
		return exit(stderr, err, exitRunner)
	}
	for _, note := range e.Notes() {
		fmt.Fprintf(stderr, "proctor: %s\n", report.Clean(note))
	}
	for _, b := range r.Batches() {
		if kept := len(b.Kept()); kept > 0 {
			fmt.Fprintf(stderr, "%s with %s: %d trials kept, %d to run\n", b.Task.Name, b.Client(), kept, len(b.Remaining()))
		}
		for _, d := range b.Detectable() {
			fmt.Fprintf(stderr, "%s: %s\n", b.Task.Name, d)
		}
	}
	total := 0
	for _, b := range r.Batches() {
		total += len(b.Remaining())
	}
	live.withClient = len(e.Options().Clients) > 1
	live.start(total, e.Options().MaxTokens, e.Options().MaxCost, r.Spent)
	defer live.announceEnd(ctx)()
	runErr := runBatches(ctx, r, e.Options().Jobs)
	live.finish()
	cause := runErr
	if ctx.Err() != nil {
		cause = errors.New("interrupted")
	}
	if err := r.Close(cause); err != nil {
		return exit(stderr, err, exitRunner)
	}
	code := exitOK
	for _, b := range r.Batches() {
		bench, err := b.Finish(cause)
		if err != nil {
			return exit(stderr, err, exitRunner)
		}
		if err := report.Text(stdout, bench, b.Results()); err != nil {
			return exit(stderr, err, exitRunner)
		}
		code = max(code, gate(bench, stderr))
		if err := ci.batch(b, bench, r.Dir()); err != nil {
			return exit(stderr, err, exitRunner)
		}
	}
	if err := report.Summary(stdout, r.Summary()); err != nil {
		return exit(stderr, err, exitRunner)
	}
	fmt.Fprintf(stdout, "run: %s\n", r.Dir())
	if cause != nil {
		fmt.Fprintf(stderr, "to go on: proctor run -resume %s\n", r.ID())
		code = exit(stderr, cause, exitRunner)
	}
	return ci.finish(r.ID(), r.Dir(), cause, code, stderr)
}

// gate is a batch's exit code: a regression task must pass all, and something must be measured.
func gate(b *result.Benchmark, stderr io.Writer) int {
	code := exitOK
	for _, g := range result.Gate(b, b.Kind == string(task.Regression), plan.WithSymposium) {
		fmt.Fprintf(stderr, "proctor: %s: %s\n", b.Task, g.Text)
		if g.Infrastructure {
			code = exitRunner
		} else {
			code = max(code, exitGated)
		}
	}
	return code
}

// runBatches runs batches side by side, each one's trials in order. A broken runner stops all.
func runBatches(ctx context.Context, r *harness.Run, jobs int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slots := make(chan struct{}, jobs)
	var wg sync.WaitGroup
	for _, b := range r.Batches() {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := runBatch(ctx, b); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return nil
}

func runBatch(ctx context.Context, b *harness.Batch) error {
	if err := ctx.Err(); err != nil {
		return nil
	}
	rest := b.Remaining()
	if len(rest) == 0 { // of a resumed run
		_, err := b.Finish(nil)
		return err
	}
	if err := b.Prepare(ctx); err != nil {
		return err
	}
	for _, t := range rest {
		if ctx.Err() != nil {
			return nil
		}
		if _, err := b.RunTrial(ctx, t); err != nil {
			return err
		}
	}
	_, err := b.Finish(nil)
	return err
}

func list(args []string, stdout, stderr io.Writer) error {
	o, names, err := options("list", args, stderr)
	if err != nil {
		return err
	}
	if len(names) > 0 {
		return fmt.Errorf("list takes no names, got %q", names)
	}
	e, err := harness.Open(o)
	if err != nil {
		return err
	}
	for _, t := range e.Tasks() {
		fmt.Fprintf(stdout, "%s\t%s\t%s\n", t.Name, t.Kind, t.Description)
	}
	p, err := suite.Load(e.Options().Evals)
	if err != nil {
		return err
	}
	for _, su := range p.Suites {
		for _, t := range su.Tasks {
			fmt.Fprintf(stdout, "%s\t%s\t%s\n", report.Clean(result.SpecName(su.Name, t.Name)), t.Kind, report.Clean(t.Description))
		}
	}
	return nil
}

func runSetup(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	needs, err := setup.ParseNeeds(args)
	if err != nil {
		return exit(stderr, err, exitUsage)
	}
	if len(needs) == 0 {
		needs = []setup.Need{setup.NeedSandbox, setup.NeedRust, setup.NeedClaude}
	}
	link := ""
	if root, err := harness.FindEvals(os.Getenv("PROCTOR_EVALS")); err == nil {
		link = root
	}
	_, err = setup.Install(ctx, setup.Options{Cache: os.Getenv("PROCTOR_CACHE"), Link: link, Out: report.Raw(stdout)}, needs...)
	return exit(stderr, err, exitRunner)
}
