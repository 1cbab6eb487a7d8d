package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/report"
	"github.com/proctor-evals/proctor/harness/result"
)

// runSpec names a run, and of a run of suites a part: <run>[::suite[::task[::attempt-N]]].
type runSpec struct {
	run, suite, task string
	attempt          int // 0: all
}

func parseRunSpec(text string) (s runSpec, err error) {
	parts := strings.Split(text, "::")
	bad := fmt.Errorf("%q is not RUN, RUN::SUITE, RUN::SUITE::TASK or RUN::SUITE::TASK::attempt-N", text)
	if len(parts) > 4 {
		return s, bad
	}
	for _, p := range parts {
		if p == "" {
			return s, bad
		}
	}
	parts = append(parts, make([]string, 4-len(parts))...)
	s = runSpec{run: parts[0], suite: parts[1], task: parts[2]}
	if parts[3] == "" {
		return s, nil
	}
	number, ok := strings.CutPrefix(parts[3], "attempt-")
	if s.attempt, err = strconv.Atoi(number); !ok || err != nil || s.attempt < 1 {
		return s, bad
	}
	return s, nil
}

// narrow keeps the part of a report that the spec names. A name behind the run that is no suite may be
// that of a task, if one suite alone has it.
func (s runSpec) narrow(rep *result.Report) (*result.Report, error) {
	suites, owners, tasks := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, a := range rep.Attempts {
		suites[a.Suite], tasks[a.Task] = true, true
		if a.Task == s.suite {
			owners[a.Suite] = true
		}
	}
	if s.suite != "" && !suites[s.suite] && s.task == "" {
		if len(owners) > 1 {
			return nil, fmt.Errorf("the task %s is in several suites; name one: RUN::SUITE::%s", s.suite, s.suite)
		}
		for owner := range owners {
			s.suite, s.task = owner, s.suite
		}
	}
	out := *rep
	out.Attempts, out.Comparisons = []result.ReportAttempt{}, nil
	fits := func(suite, task string) bool {
		return (s.suite == "" || suite == s.suite) && (s.task == "" || task == s.task)
	}
	for _, a := range rep.Attempts {
		if fits(a.Suite, a.Task) && (s.attempt == 0 || a.Attempt == s.attempt) {
			out.Attempts = append(out.Attempts, a)
		}
	}
	for _, c := range rep.Comparisons {
		if fits(c.Suite, c.Task) && s.attempt == 0 {
			out.Comparisons = append(out.Comparisons, c)
		}
	}
	if len(out.Attempts) == 0 {
		return nil, fmt.Errorf("the run has nothing of that name; it has the suites %s", strings.Join(keys(suites), ", "))
	}
	return &out, nil
}

// show prints a run's plan and how far each trial came, or a run of suites' report, from its records
// alone: a run whose runner is dead is read like any other.
func show(args []string, stdout, stderr io.Writer) error {
	var asJSON, noIssues bool
	var reportName string
	o, names, err := options("show", args, stdout, func(fs *flag.FlagSet) {
		fs.BoolVar(&asJSON, "json", false, "print JSON")
		fs.StringVar(&reportName, "report", "", "suites: this report, by its `time`, in place of the latest")
		fs.BoolVar(&noIssues, "no-issues", false, "suites: leave out the tool calls that did not go well")
	})
	if err != nil {
		return err
	}
	if len(names) > 1 {
		return fmt.Errorf("show takes one run, got %q", names)
	}
	spec := runSpec{run: report.Latest}
	if len(names) == 1 {
		if spec, err = parseRunSpec(names[0]); err != nil {
			return err
		}
	}
	info, err := findRun(o, spec.run)
	if err != nil {
		return err
	}
	if info.Kind == report.KindTasks {
		if spec.suite != "" {
			return fmt.Errorf("%s is a run of tasks: it has no suites", info.RunID)
		}
		if asJSON {
			return encode(stdout, info.Run)
		}
		return showTasks(info.Dir, info.Run, stdout)
	}
	rep, err := report.ReadReport(info, reportName)
	if errors.Is(err, fs.ErrNotExist) { // not finished, or its runner is dead: the plan is all there is
		if asJSON {
			return encode(stdout, shown{Run: info.Run})
		}
		return showTasks(info.Dir, info.Run, stdout)
	}
	if err != nil {
		return err
	}
	if rep, err = spec.narrow(rep); err != nil {
		return err
	}
	attempt := report.AttemptsOf(info.Dir)
	if asJSON {
		out := shown{Run: info.Run, Report: rep}
		for _, a := range rep.Attempts {
			out.Attempts = append(out.Attempts, attempt(a.Dir))
		}
		return encode(stdout, out)
	}
	if spec.attempt == 0 && (spec.task == "" || len(rep.Attempts) > 1) {
		fmt.Fprintf(stdout, "run %s: %s\n", report.Clean(info.RunID), stateOf(info.Run))
		since, err := report.SinceEarlier(filepath.Dir(info.Dir), info, rep)
		if err != nil {
			return err
		}
		return report.SuiteSince(stdout, info.Run, rep, attempt, since)
	}
	for _, a := range rep.Attempts {
		t, err := harness.Trajectory(info.Dir, a.Dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := report.Attempt(stdout, info.Dir, a, attempt(a.Dir), t, !noIssues, report.Style{Color: colored(stdout)}); err != nil {
			return err
		}
	}
	return nil
}

// shown is the JSON form of a run of suites; Attempts are the report's, in its order, null where one
// cannot be read.
type shown struct {
	Run      *result.Run       `json:"run"`
	Report   *result.Report    `json:"report"`
	Attempts []*result.Attempt `json:"attempts"`
}

func findRun(o harness.Options, name string) (*report.RunInfo, error) {
	runs, err := harness.RunsDir(o)
	if err != nil {
		return nil, err
	}
	return report.FindRun(runs, name)
}

func stateOf(run *result.Run) string {
	switch {
	case run.Cause == result.CauseLost:
		return "lost: its runner died before it could finish"
	case run.Cause != "":
		return string(run.State) + " (" + report.Clean(run.Cause) + ")"
	}
	return string(run.State)
}

func showTasks(dir string, run *result.Run, stdout io.Writer) error {
	fmt.Fprintf(stdout, "run %s: %s\n", run.RunID, stateOf(run))
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
			outcome := string(t.Outcome)
			if t.Verdict != "" {
				outcome = string(t.Verdict)
			}
			fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\t%s", report.Clean(t.Name), t.State, t.Execution, report.Clean(outcome), report.Clean(t.Cause))
			if took := traffic(dir, b, t.Name); took != "" {
				fmt.Fprintf(tw, "\t%s", took)
			}
			fmt.Fprintln(tw)
		}
		if err := tw.Flush(); err != nil {
			return err
		}
	}
	if run.State == result.Finished && run.Cause != "" && run.RunMode == "" {
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

// runDir finds a run's folder by its name or "latest".
func runDir(runs, name string) (string, error) {
	if name != report.Latest && name == filepath.Base(name) && name != report.Prev {
		return filepath.Join(runs, name), nil
	}
	info, err := report.FindRun(runs, name)
	if err != nil {
		return "", err
	}
	return info.Dir, nil
}
