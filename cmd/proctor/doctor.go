package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/attack"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/report"
	"github.com/proctor-evals/proctor/harness/workspace"
	"github.com/proctor-evals/proctor/internal/setup"
)

// doctor says what this machine lacks, and with -attack whether its isolation holds.
func doctor(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := harness.Environ(os.Getenv)
	if err != nil {
		return exit(stderr, err, exitUsage)
	}
	fs := flag.NewFlagSet("proctor doctor", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&o.Evals, "evals", o.Evals, "evals root: the folder with tasks/")
	fs.StringVar(&o.Scratch, "scratch", o.Scratch, "folder trials live in")
	clientFlag(fs, &o)
	fs.Func("configurations", "comma-separated, of "+strings.Join(plan.Names(), ", "), func(s string) error {
		o.Configurations = harness.SplitList(s)
		return nil
	})
	attacks := fs.Bool("attack", false, "attack the isolation on this machine; no model, no key")
	if err := fs.Parse(args); err != nil {
		return exit(stderr, err, exitUsage)
	}
	if fs.NArg() > 0 {
		return exit(stderr, fmt.Errorf("doctor takes no names, got %q", fs.Args()), exitUsage)
	}
	if *attacks {
		return runAttacks(ctx, o, stdout, stderr)
	}
	return checkMachine(ctx, o, stdout)
}

// checkMachine reports every prerequisite, each problem with the fix to type.
func checkMachine(ctx context.Context, o harness.Options, stdout io.Writer) int {
	code := exitOK
	bad := func(what, fix string) {
		code = exitRunner
		fmt.Fprintf(stdout, "missing  %s\n", report.Clean(what))
		if fix != "" {
			fmt.Fprintf(stdout, "         fix: %s\n", report.Clean(fix))
		}
	}
	for _, need := range setup.AllNeeds() {
		if need == setup.NeedBrowser {
			continue // no exam needs one
		}
		asked := !need.IsClient() || slices.Contains(clients(o), string(need))
		tools, err := setup.Locate(ctx, setup.Options{Cache: o.Cache}, need)
		var missing *setup.MissingError
		switch {
		case errors.As(err, &missing):
			for _, p := range missing.Problems {
				if !asked {
					fmt.Fprintf(stdout, "without  %s, which is needed for -client %s only: %s\n", report.Clean(p.What), need, report.Clean(p.Fix))
					continue
				}
				bad(p.What, p.Fix)
			}
		case err != nil:
			bad(err.Error(), "")
		default:
			for _, t := range tools.Sorted() {
				fmt.Fprintf(stdout, "ok       %s %s (%s)\n", t.Name, t.Version, t.Path)
			}
			for name, why := range tools.Unavailable {
				fmt.Fprintf(stdout, "without  %s: %s\n", name, report.Clean(why))
			}
		}
	}
	if s, err := workspace.OpenScratch(o.Scratch); err != nil {
		bad(err.Error(), "")
	} else {
		fmt.Fprintf(stdout, "ok       scratch %s\n", s.Dir)
	}
	if e, err := harness.Open(o); err != nil {
		bad(err.Error(), "")
	} else {
		fmt.Fprintf(stdout, "ok       evals root %s, %d tasks\n", e.Options().Evals, len(e.Tasks()))
		for _, p := range e.MissingDenied() {
			bad("deny_read names "+p+", and there is no such file or folder", "mend the path in proctor.toml, or take it out")
		}
		note, err := e.Model()
		if err != nil {
			bad(err.Error(), "")
		} else {
			fmt.Fprintf(stdout, "%s\n", report.Clean(note))
		}
		suites, tasks, err := harness.CheckSuites(ctx, e.Options().Evals)
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				bad(line, "")
			}
		} else if suites > 0 {
			fmt.Fprintf(stdout, "ok       %d suites, %d tasks in them\n", suites, tasks)
		}
	}
	return code
}

// clients are the clients a run with these options uses.
func clients(o harness.Options) []string {
	if e, err := harness.Open(o); err == nil {
		return e.Options().Clients
	}
	if len(o.Clients) == 0 {
		return []string{harness.DefaultClient}
	}
	return o.Clients
}

// runAttacks prints one line a guarantee and configuration. Only all held is success.
func runAttacks(ctx context.Context, o harness.Options, stdout, stderr io.Writer) int {
	// The attacks need no model, and no key of a real one.
	o.Model, o.Direct, o.Record, o.Replay = harness.Scripted, false, false, ""
	key, err := workspace.NewID()
	if err != nil {
		return exit(stderr, err, exitRunner)
	}
	if err := os.Setenv(attack.KeyVariable, "sk-canary-"+key); err != nil {
		return exit(stderr, err, exitRunner)
	}
	var results []attack.Result
	for _, c := range clients(o) {
		one := o
		one.Clients = []string{c}
		if len(o.Configurations) == 0 {
			one.Configurations = configurationsFor(ctx, o, c)
		}
		r, code := attackClient(ctx, one, stderr)
		if code != exitOK {
			return code
		}
		results = append(results, r...)
	}
	return printAttacks(stdout, results)
}

// configurationsFor are the configurations that a client can be run in on this machine.
func configurationsFor(ctx context.Context, o harness.Options, client string) []string {
	var out []string
	for _, name := range plan.Names() {
		if name == plan.WithSymposium {
			one := o
			one.Clients, one.Configurations = []string{client}, []string{name}
			if _, err := harness.Open(one); err != nil {
				continue // this client is none of Symposium's
			}
			if _, err := setup.Locate(ctx, setup.Options{Cache: o.Cache}, setup.NeedCargoAgents); err != nil && o.CargoAgents == "" {
				continue
			}
		}
		out = append(out, name)
	}
	return out
}

// attackClient attacks from the place of one client. What a trial of a task may see of another task's
// is in the attacks: any task will do.
func attackClient(ctx context.Context, o harness.Options, stderr io.Writer) ([]attack.Result, int) {
	e, err := harness.Open(o)
	if err != nil {
		return nil, exit(stderr, err, exitUsage)
	}
	tasks := e.Tasks()
	if len(tasks) == 0 {
		return nil, exit(stderr, errors.New("no task to attack from: make tasks/<name>/task.toml"), exitUsage)
	}
	run, err := e.Rehearse(ctx, tasks[:1])
	if err != nil {
		return nil, exit(stderr, err, exitRunner)
	}
	results, err := attackRun(ctx, run, e.Options().Configurations)
	if err := errors.Join(err, run.Close(nil)); err != nil {
		return nil, exit(stderr, err, exitRunner)
	}
	return results, exitOK
}

func attackRun(ctx context.Context, run *harness.Run, configurations []string) ([]attack.Result, error) {
	var results []attack.Result
	for _, b := range run.Batches() { // one: one client, one task
		if err := b.Prepare(ctx); err != nil {
			return nil, err
		}
		r, err := attack.Run(ctx, b, configurations)
		if err != nil {
			return nil, err
		}
		results = append(results, r...)
	}
	return results, nil
}

func printAttacks(stdout io.Writer, results []attack.Result) int {
	counts := map[attack.Verdict]int{}
	several := slices.ContainsFunc(results, func(r attack.Result) bool { return r.Client != results[0].Client })
	tw := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	for _, r := range results {
		counts[r.Verdict]++
		where := r.Configuration
		if several {
			where = r.Client + " " + where
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\n", r.Verdict, where, r.Guarantee)
		if r.Detail != "" {
			fmt.Fprintf(tw, "\t\t  %s\n", report.Clean(r.Detail))
		}
	}
	tw.Flush()
	fmt.Fprintf(stdout, "%d held, %d broken, %d could not tell, %d without a target on this machine\n",
		counts[attack.Held], counts[attack.Broken], counts[attack.CouldNotTell], counts[attack.NoTarget])
	// What is not there cannot be reached.
	if counts[attack.Held] == 0 || counts[attack.Held]+counts[attack.NoTarget] != len(results) {
		return exitRunner
	}
	return exitOK
}
