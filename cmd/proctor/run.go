package main

import (
	"cmp"
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

// run is the program; main only adds the process around it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		return exit(stderr, next(ctx, stdout), exitUsage)
	}
	name := args[0]
	switch name {
	case "-h", "-help", "--help":
		name = "help"
	case completeCommand:
		return exit(stderr, complete(args[1:], stdout), exitUsage)
	}
	c, ok := lookup(name)
	if !ok {
		return exit(stderr, unknownCommand(name), exitUsage)
	}
	return c.run(ctx, args[1:], stdout, stderr)
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

// options are the flags shared by commands, over the environment; help is the writer of their help.
// more adds flags of one command.
func options(name string, args []string, help io.Writer, more ...func(*flag.FlagSet)) (harness.Options, []string, error) {
	o, envErr := environ()
	fs := newFlags(name, help)
	evalsFlag(fs.FlagSet, &o)
	if name != "list" {
		fs.StringVar(&o.Results, "results", o.Results, "`folder` results are kept in")
	}
	if name == "run" || name == "enter" || name == "grade" || name == "rescore" {
		fs.StringVar(&o.Scratch, "scratch", o.Scratch, "`folder` trials live in")
	}
	if name == "run" || name == "enter" {
		fs.BoolVar(&o.Exploratory, "exploratory", o.Exploratory, "the client's own sandbox in place of srt; results are not compared")
		clientFlag(fs.FlagSet, &o)
		fs.StringVar(&o.Model, "model", o.Model, "`name` of a model; without one, the task's model script")
		fs.BoolVar(&o.Direct, "direct", o.Direct, "the client has the real key and reaches its provider itself; the agent can read the key")
		fs.StringVar(&o.Replay, "replay", o.Replay, "`folder` of a recorded run, batch or trial, to answer from its cassettes")
		fs.IntVar(&o.Trials, "k", o.Trials, "trials per configuration (default: 5 with the scripted model, else the task's); of a suite, attempts of each task (default: 1)")
		fs.IntVar(&o.Jobs, "jobs", o.Jobs, "batches that run side by side (default: 1)")
		configurationsFlag(fs.FlagSet, &o)
	}
	if name == "run" {
		fs.BoolVar(&o.Record, "record", o.Record, "keep a cassette of each trial's model traffic beside its result")
		limitFlags(fs.FlagSet, &o)
	}
	for _, add := range more {
		add(fs.FlagSet)
	}
	names, err := fs.names(args, name == "enter")
	if err := cmp.Or(err, envErr); err != nil {
		return o, nil, err
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

func evalsFlag(fs *flag.FlagSet, o *harness.Options) {
	fs.StringVar(&o.Evals, "evals", o.Evals, "evals root: the `folder` with tasks/ or suites/ (default: here, in evals/ here, or the same further up)")
}

func configurationsFlag(fs *flag.FlagSet, o *harness.Options) {
	fs.Func("configurations", "comma-separated `names`, of "+strings.Join(plan.Names(), ", "), func(s string) error {
		o.Configurations = harness.SplitList(s)
		return nil
	})
}

// limitFlags are the run's limits; 0 would pass for "not given".
func limitFlags(fs *flag.FlagSet, o *harness.Options) {
	fs.Func("max-tokens", "stop the run at the end of the round that reaches `n` tokens", func(s string) error {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 1 {
			return errors.New("give a whole number of at least 1")
		}
		o.MaxTokens = n
		return nil
	})
	fs.Func("max-cost", "stop the run at the end of the round that reaches this many US `dollars`; needs prices in proctor.toml", func(s string) error {
		n, err := strconv.ParseFloat(s, 64)
		if err != nil || !(n > 0) || math.IsInf(n, 0) {
			return errors.New("give a number above 0")
		}
		o.MaxCost = n
		return nil
	})
}

func clientFlag(fs *flag.FlagSet, o *harness.Options) {
	fs.Func("client", "agent client, or several, comma-separated `names` of "+strings.Join(client.Names(), ", "), func(s string) error {
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
	o, names, err := options("run", args, stdout, suites.add, again.flag, ci.add, dryFlag)
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
	o, names, err := options("list", args, stdout)
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
	names, err := newFlags("setup", stdout).names(args, false)
	if err != nil {
		return exit(stderr, err, exitUsage)
	}
	needs, err := setup.ParseNeeds(names)
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
