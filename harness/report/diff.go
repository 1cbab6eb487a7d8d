package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/internal/stats"
)

// Tolerances within which a change of a metric is not told, as shares; the public tool agent-exam's.
const (
	costTolerance    = 0.15
	contextTolerance = 0.20
	wallTolerance    = 0.25
)

// Difference is what changed from one run to another.
type Difference struct {
	Before string `json:"before"`
	After  string `json:"after"`
	// Warnings say why the runs may not be comparable.
	Warnings []string `json:"warnings"`
	// Rates are the shares of what passed, by name, client and configuration: one attempt says little.
	Rates    []RateChange    `json:"rates"`
	Verdicts []VerdictChange `json:"verdicts"`
	Metrics  []MetricChange  `json:"metrics"`
	Graders  []GraderChange  `json:"graders"`
}

// RateChange is how often something passed in both runs. P is Boschloo's exact two-sided p.
type RateChange struct {
	Name          string  `json:"name"`
	Client        string  `json:"client"`
	Configuration string  `json:"configuration"`
	Before        [2]int  `json:"before"` // passed, of
	After         [2]int  `json:"after"`
	P             float64 `json:"p"`
}

// VerdictChange is an attempt of the same number with another verdict.
type VerdictChange struct {
	Suite         string                `json:"suite"`
	Task          string                `json:"task"`
	Attempt       int                   `json:"attempt"`
	Client        string                `json:"client"`
	Configuration string                `json:"configuration"`
	Before        result.AttemptVerdict `json:"before"`
	After         result.AttemptVerdict `json:"after"`
}

// MetricChange is a metric that left its tolerance. Attempt is 0 for a mean over attempts or trials.
type MetricChange struct {
	Name          string   `json:"name"`
	Attempt       int      `json:"attempt"`
	Client        string   `json:"client"`
	Configuration string   `json:"configuration"`
	Metric        string   `json:"metric"`
	Before        *float64 `json:"before"`
	After         *float64 `json:"after"`
	Change        string   `json:"change"`
}

// GraderChange is an assertion that is not the same in both runs: then their verdicts answer
// different questions.
type GraderChange struct {
	Name   string `json:"name"`
	Change string `json:"change"` // added, removed or definition changed
	Key    string `json:"key"`
}

// Reports are the reports to take of two runs; "" is the latest.
type Reports struct{ Before, After string }

// Diff compares two runs of suites by their reports, or two of tasks by their counts. scope, unless
// "", is a suite, a suite::task or a task.
func Diff(before, after *RunInfo, reports Reports, scope string) (*Difference, error) {
	d := &Difference{Before: before.RunID, After: after.RunID, Warnings: []string{}, Rates: []RateChange{}, Verdicts: []VerdictChange{}, Metrics: []MetricChange{}, Graders: []GraderChange{}}
	if before.Kind != after.Kind {
		return nil, fmt.Errorf("%s is a run of %s and %s one of %s: they have nothing in common", before.RunID, before.Kind, after.RunID, after.Kind)
	}
	if before.Mode != after.Mode {
		d.Warnings = append(d.Warnings, fmt.Sprintf("the modes differ: %s and %s", before.Mode, after.Mode))
	}
	if a, b := models(before.Run), models(after.Run); a != b {
		d.Warnings = append(d.Warnings, fmt.Sprintf("the models differ: %s and %s", a, b))
	}
	if before.Kind == KindTasks {
		d.tasks(before, after, scope)
		return d, nil
	}
	return d, d.suites(before, after, reports, scope)
}

func models(run *result.Run) string {
	seen := map[string]bool{}
	for _, b := range run.Batches {
		seen[b.Model.Name] = true
	}
	return strings.Join(sorted(seen), ", ")
}

// tasks compares the tasks both runs have, configuration by configuration.
func (d *Difference) tasks(before, after *RunInfo, scope string) {
	names := map[string]bool{}
	hashes := map[string]string{}
	for _, b := range before.Run.Batches {
		hashes[b.Task.Name] = b.Task.ContentHash
	}
	for _, b := range after.Run.Batches {
		hash, both := hashes[b.Task.Name]
		if !both || scope != "" && scope != b.Task.Name {
			continue
		}
		if !names[b.Task.Name] && hash != b.Task.ContentHash {
			d.Warnings = append(d.Warnings, fmt.Sprintf("the task %s is not the same in both", b.Task.Name))
		}
		names[b.Task.Name] = true
	}
	for _, name := range sorted(names) {
		d.rates(name, taskRows(*before, name), taskRows(*after, name))
	}
}

func (d *Difference) suites(before, after *RunInfo, reports Reports, scope string) error {
	a, err := ReadReport(before, reports.Before)
	if err != nil {
		return err
	}
	b, err := ReadReport(after, reports.After)
	if err != nil {
		return err
	}
	old := map[attemptID]result.ReportAttempt{}
	first := map[string]result.ReportAttempt{}
	tasks := map[string]bool{}
	for _, x := range a.Attempts {
		old[idOf(x)] = x
		if name := result.SpecName(x.Suite, x.Task); len(first[name].Assertions) == 0 {
			first[name] = x
		}
	}
	attemptA, attemptB := AttemptsOf(before.Dir), AttemptsOf(after.Dir)
	graded := map[string]bool{}
	for _, y := range b.Attempts {
		name := result.SpecName(y.Suite, y.Task)
		if suite, task, _ := strings.Cut(scope, "::"); scope != "" && (suite != y.Suite || task != "" && task != y.Task) {
			continue
		}
		if x, ok := first[name]; ok && !graded[name] && len(x.Assertions) > 0 && len(y.Assertions) > 0 {
			graded[name] = true
			d.graders(name, x.Assertions, y.Assertions)
		}
		x, both := old[idOf(y)]
		if !both {
			continue
		}
		tasks[name] = true
		if x.Verdict != y.Verdict {
			d.Verdicts = append(d.Verdicts, VerdictChange{y.Suite, y.Task, y.Attempt, y.Client, y.Configuration, x.Verdict, y.Verdict})
		}
		d.metrics(name, y, metricsOf(attemptA(x.Dir)), metricsOf(attemptB(y.Dir)))
	}
	for _, name := range sorted(tasks) {
		d.rates(name, suiteRows(*before, name), suiteRows(*after, name))
	}
	return nil
}

// ReadReport reads a report of a run by its time; "" is the latest.
func ReadReport(info *RunInfo, name string) (*result.Report, error) {
	if name == "" {
		rep, _, err := result.LatestReport(info.Dir)
		return rep, err
	}
	names, err := result.ReportNames(info.Dir)
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		if n == name || n == name+".json" {
			return result.ReadReport(info.Dir, n)
		}
	}
	return nil, fmt.Errorf("the run %s has no report %s; it has %s", info.RunID, name, strings.Join(names, ", "))
}

func (d *Difference) rates(name string, before, after []HistoryRow) {
	for _, y := range after {
		i := slices.IndexFunc(before, func(x HistoryRow) bool { return x.Client == y.Client && x.Configuration == y.Configuration })
		if i < 0 {
			continue
		}
		x := before[i]
		if x.Passed != y.Passed || x.Total != y.Total {
			d.Rates = append(d.Rates, RateChange{
				name, y.Client, y.Configuration, [2]int{x.Passed, x.Total}, [2]int{y.Passed, y.Total}, stats.Boschloo(y.Passed, y.Total, x.Passed, x.Total),
			})
		}
		if x.Kind == KindTasks {
			d.metric(MetricChange{Name: name, Client: y.Client, Configuration: y.Configuration, Metric: "wall_time_seconds (median)", Before: x.WallMedian, After: y.WallMedian}, wallTolerance)
		}
	}
}

func (d *Difference) metrics(name string, y result.ReportAttempt, before, after result.Metrics) {
	change := MetricChange{Name: name, Attempt: y.Attempt, Client: y.Client, Configuration: y.Configuration}
	for _, m := range []struct {
		name          string
		before, after *float64
		tolerance     float64
	}{
		{"cost_usd", before.CostUSD, after.CostUSD, costTolerance},
		{"peak_context", float(before.PeakContext), float(after.PeakContext), contextTolerance},
		{"wall_time_seconds", before.WallSeconds, after.WallSeconds, wallTolerance},
	} {
		change.Metric, change.Before, change.After = m.name, m.before, m.after
		d.metric(change, m.tolerance)
	}
}

// metric takes a change in where it leaves the tolerance; one from or to nothing tells of no trend.
func (d *Difference) metric(c MetricChange, tolerance float64) {
	if c.Before == nil || *c.Before == 0 || c.After == nil {
		return
	}
	if c.Change = Change(c.Before, c.After, tolerance); c.Change != "" {
		d.Metrics = append(d.Metrics, c)
	}
}

func float(n *int64) *float64 {
	if n == nil {
		return nil
	}
	f := float64(*n)
	return &f
}

func (d *Difference) graders(name string, before, after []result.AssertionResult) {
	byKey := func(list []result.AssertionResult) map[string][]any {
		out := map[string][]any{}
		for _, x := range list {
			out[AssertionKey(x)] = append(out[AssertionKey(x)], x.Config)
		}
		return out
	}
	old, new := byKey(before), byKey(after)
	keys := map[string]bool{}
	for k := range old {
		keys[k] = true
	}
	for k := range new {
		keys[k] = true
	}
	for _, k := range sorted(keys) {
		change := ""
		switch {
		case len(old[k]) == 0:
			change = "added"
		case len(new[k]) == 0:
			change = "removed"
		case !reflect.DeepEqual(old[k], new[k]):
			change = "definition changed"
		default:
			continue
		}
		d.Graders = append(d.Graders, GraderChange{name, change, k})
	}
}

// AssertionKey names an assertion across runs: by its type and what it is about.
func AssertionKey(x result.AssertionResult) string {
	fields, _ := x.Config.(map[string]any)
	about := func(key string) (string, bool) {
		if s, ok := x.Config.(string); ok {
			return s, true
		}
		s, ok := fields[key].(string)
		return s, ok
	}
	switch x.Type {
	case "file_exists", "file_contains":
		if s, ok := about("path"); ok {
			return x.Type + ":" + s
		}
	case "tool_called", "tool_not_called", "tool_count":
		if s, ok := about("name"); ok {
			return x.Type + ":" + s
		}
	case "judge", "judge_agent":
		if s, ok := about("criterion"); ok {
			if r := []rune(s); len(r) > 40 {
				s = string(r[:40])
			}
			return x.Type + ":" + s
		}
	case "first_skill":
		return x.Type
	}
	config, err := json.Marshal(x.Config)
	if err != nil || x.Config == nil {
		return x.Type
	}
	return x.Type + string(config)
}

// DiffText prints a difference.
func DiffText(w io.Writer, d *Difference) error {
	var out strings.Builder
	fmt.Fprintf(&out, "%s → %s\n", Clean(d.Before), Clean(d.After))
	for _, s := range d.Warnings {
		fmt.Fprintf(&out, "WARNING: %s\n", Clean(s))
	}
	tw := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for _, r := range d.Rates {
		fmt.Fprintf(tw, "passed\t%s\t%s\t%s\t%d/%d → %d/%d\tp %.3g\n", Clean(r.Name), Clean(r.Client), Clean(r.Configuration), r.Before[0], r.Before[1], r.After[0], r.After[1], r.P)
	}
	for _, v := range d.Verdicts {
		fmt.Fprintf(tw, "verdict\t%s attempt %d\t%s\t%s\t%s → %s\t\n", Clean(result.SpecName(v.Suite, v.Task)), v.Attempt, Clean(v.Client), Clean(v.Configuration), Clean(string(v.Before)), Clean(string(v.After)))
	}
	for _, m := range d.Metrics {
		name := Clean(m.Name)
		if m.Attempt > 0 {
			name += fmt.Sprintf(" attempt %d", m.Attempt)
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s → %s\t%s\n", Clean(m.Metric), name, Clean(m.Client), Clean(m.Configuration), amount(m.Metric, m.Before), amount(m.Metric, m.After), m.Change)
	}
	for _, g := range d.Graders {
		fmt.Fprintf(tw, "assertion\t%s\t%s\t%s\t\t\n", Clean(g.Name), g.Change, Clean(g.Key))
	}
	tw.Flush()
	if len(d.Rates)+len(d.Verdicts)+len(d.Metrics)+len(d.Graders) == 0 {
		fmt.Fprintln(&out, "no change")
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func amount(metric string, v *float64) string {
	switch {
	case v == nil:
		return "?"
	case metric == "cost_usd":
		return Cost(v)
	case metric == "peak_context":
		n := int64(*v)
		return Tokens(&n)
	}
	return Wall(v)
}

func sorted[K cmp.Ordered](m map[K]bool) []K {
	var out []K
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
