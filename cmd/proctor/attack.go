package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/attack"
	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/report"
	"github.com/proctor-evals/proctor/harness/task"
	"github.com/proctor-evals/proctor/harness/workspace"
	"github.com/proctor-evals/proctor/internal/setup"
)

// runAttacks prints one line a guarantee, configuration and client. Only all held is success; what has
// no target on this machine is told, and is neither.
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
	wanted := o.Configurations
	if len(wanted) > 0 {
		if _, err := plan.Lookup(wanted...); err != nil {
			return exit(stderr, err, exitUsage)
		}
	}
	// The clients are those of all sources of options; which configurations each can run comes after.
	o.Configurations = []string{plan.Baseline}
	e, err := harness.Open(o)
	if err != nil {
		return exit(stderr, err, exitUsage)
	}
	_, err = setup.Locate(ctx, setup.Options{Cache: o.Cache}, setup.NeedCargoAgents)
	visits, notes, err := attackPlan(e.Options().Clients, wanted, err == nil || o.CargoAgents != "")
	for _, note := range notes {
		fmt.Fprintf(stderr, "proctor: %s\n", note)
	}
	if err != nil {
		return exit(stderr, err, exitUsage)
	}
	var session attack.Session
	var results []attack.Result
	for _, v := range visits {
		one := o
		one.Clients, one.Configurations = []string{v.client}, v.configurations
		r, err := attackClient(ctx, one, &session)
		if err != nil {
			return exit(stderr, fmt.Errorf("%s: %w", v.client, err), exitRunner)
		}
		results = append(results, r...)
	}
	return printAttacks(stdout, results)
}

// attackVisit is a client and the configurations it is attacked in.
type attackVisit struct {
	client         string
	configurations []string
}

// attackPlan are the clients' visits: in the wanted configurations, or in all where none is named (with
// Symposium only if there is a cargo-agents), without those a client cannot run, which notes names when
// they were asked for.
func attackPlan(clients, wanted []string, cargoAgents bool) (visits []attackVisit, notes []string, err error) {
	for _, name := range clients {
		adapter, err := client.Lookup(name)
		if err != nil {
			return nil, notes, err
		}
		configurations := slices.Clone(wanted)
		if len(wanted) == 0 {
			configurations = slices.DeleteFunc(plan.Names(), func(c string) bool { return c == plan.WithSymposium && !cargoAgents })
		}
		if !adapter.SupportsSymposium() && slices.Contains(configurations, plan.WithSymposium) {
			if len(wanted) > 0 {
				notes = append(notes, fmt.Sprintf("%s cannot run %s: not attacked", name, plan.WithSymposium))
			}
			configurations = slices.DeleteFunc(configurations, func(c string) bool { return c == plan.WithSymposium })
		}
		if len(configurations) > 0 {
			visits = append(visits, attackVisit{name, configurations})
		}
	}
	if len(visits) == 0 {
		return nil, notes, fmt.Errorf("nothing to attack: none of %s can run %s", strings.Join(clients, ", "), strings.Join(wanted, ", "))
	}
	return visits, notes, nil
}

// attackClient attacks from the place of one client.
func attackClient(ctx context.Context, o harness.Options, session *attack.Session) ([]attack.Result, error) {
	e, err := harness.Open(o)
	if err != nil {
		return nil, err
	}
	tasks := e.Tasks()
	if len(tasks) == 0 {
		return nil, errors.New("no task to attack from: make tasks/<name>/task.toml")
	}
	// From one task's place, for the files of all. A scripted run needs a model script.
	from := max(0, slices.IndexFunc(tasks, func(t *task.Task) bool { return t.ModelScript != "" }))
	run, err := e.Rehearse(ctx, tasks[from:from+1])
	if err != nil {
		return nil, err
	}
	results, err := attackRun(ctx, run, e.Options().Configurations, session)
	return results, errors.Join(err, run.Close(nil))
}

func attackRun(ctx context.Context, run *harness.Run, configurations []string, session *attack.Session) (results []attack.Result, err error) {
	for _, b := range run.Batches() {
		if err := b.Prepare(ctx); err != nil {
			return results, err
		}
		r, err := session.Run(ctx, b, configurations)
		results = append(results, r...)
		if err != nil {
			return results, err
		}
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
			where = r.Client + "\t" + where
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\n", r.Verdict, where, r.Guarantee)
		if r.Detail != "" {
			fmt.Fprintf(tw, "\t%s\t  %s\n", strings.Repeat("\t", strings.Count(where, "\t")), report.Clean(r.Detail))
		}
	}
	tw.Flush()
	fmt.Fprintf(stdout, "%d held, %d broken, %d could not tell, %d without a target on this machine\n", counts[attack.Held], counts[attack.Broken], counts[attack.CouldNotTell], counts[attack.NoTarget])
	if counts[attack.Held] == 0 || counts[attack.Broken]+counts[attack.CouldNotTell] > 0 {
		return exitRunner
	}
	return exitOK
}
