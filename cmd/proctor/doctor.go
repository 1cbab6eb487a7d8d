package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/report"
	"github.com/proctor-evals/proctor/harness/workspace"
	"github.com/proctor-evals/proctor/internal/setup"
)

// doctor says what this machine lacks, and with -attack whether its isolation holds.
func doctor(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, envErr := environ()
	fs := newFlags("doctor", stdout)
	evalsFlag(fs.FlagSet, &o)
	fs.StringVar(&o.Scratch, "scratch", o.Scratch, "`folder` trials live in")
	clientFlag(fs.FlagSet, &o)
	configurationsFlag(fs.FlagSet, &o)
	attacks := fs.Bool("attack", false, "attack the isolation on this machine; no model, no key")
	names, err := fs.names(args, false)
	if err := cmp.Or(err, envErr); err != nil {
		return exit(stderr, err, exitUsage)
	}
	if len(names) > 0 {
		return exit(stderr, fmt.Errorf("doctor takes no names, got %q", names), exitUsage)
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
