package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/report"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/suite"
)

// dryRun prints what a run would be: its trials in order, the difference they could show, and what they
// would take by what earlier ones took.
func dryRun(w io.Writer, e *harness.Engine, forecasts []harness.Forecast) error {
	o := e.Options()
	trials := 0
	secs, tokens, cost := new(float64), new(float64), new(float64)
	for _, f := range forecasts {
		trials += len(f.Trials)
		fmt.Fprintf(w, "%s with %s, model %s: %d trials, in this order\n", f.Task.Name, f.Client, report.Clean(o.Model), len(f.Trials))
		for _, line := range rounds(f) {
			fmt.Fprintf(w, "  %s\n", line)
		}
		for _, d := range f.Detectable {
			fmt.Fprintf(w, "  %s\n", d)
		}
		if len(f.Detectable) == 0 {
			fmt.Fprintln(w, "  nothing will be compared")
		}
		if err := printBefore(w, f); err != nil {
			return err
		}
		s, t, c := f.Expect()
		secs, tokens, cost = add(secs, s), add(tokens, t), add(cost, c)
	}
	fmt.Fprintf(w, "in all %d trials: %s\n", trials, expected(secs, tokens, cost, o.Jobs))
	if o.MaxCost > 0 {
		fmt.Fprintf(w, "limit: $%.2f, at the end of a round%s\n", o.MaxCost, reaches(cost, o.MaxCost))
	}
	if o.MaxTokens > 0 {
		fmt.Fprintf(w, "limit: %d tokens, at the end of a round%s\n", o.MaxTokens, reaches(tokens, float64(o.MaxTokens)))
	}
	fmt.Fprintln(w, "nothing was run")
	return nil
}

// rounds are the trials, a line a round; rounds that repeat an order are told together.
func rounds(f harness.Forecast) (out []string) {
	var orders [][]string
	for _, t := range f.Trials {
		if len(orders) < t.Round {
			orders = append(orders, nil)
		}
		orders[t.Round-1] = append(orders[t.Round-1], t.Configuration.Name)
	}
	const most = 6
	for i, order := range orders {
		if i == most && len(orders) > most+1 {
			return append(out, fmt.Sprintf("… and so on, to round %d", len(orders)))
		}
		out = append(out, fmt.Sprintf("round %d: %s", i+1, strings.Join(order, ", ")))
	}
	return out
}

func printBefore(w io.Writer, f harness.Forecast) error {
	if len(f.Before) == 0 {
		_, err := fmt.Fprintln(w, "  no earlier trial of this task with this client and model: nothing to estimate from")
		return err
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "  earlier\ttrials\ttime each\ttokens each\tcost each")
	seen := map[string]bool{}
	for _, t := range f.Trials {
		name := t.Configuration.Name
		e, ok := f.Before[name]
		if seen[name] {
			continue
		}
		seen[name] = true
		if !ok {
			fmt.Fprintf(tw, "  %s\tnone\t\t\t\n", name)
			continue
		}
		note := ""
		if e.Changed {
			note = " (some of another content)"
		}
		fmt.Fprintf(tw, "  %s\t%d%s\t%s\t%s\t%s\n", name, e.Trials, note, number(e.Secs, "%.0f s"), number(e.Tokens, "%.0f"), number(e.CostUSD, "$%.4f"))
	}
	return tw.Flush()
}

func number(v *float64, format string) string {
	if v == nil {
		return "not known"
	}
	return fmt.Sprintf(format, *v)
}

// add is nil where a part is.
func add(sum, part *float64) *float64 {
	if sum == nil || part == nil {
		return nil
	}
	v := *sum + *part
	return &v
}

func expected(secs, tokens, cost *float64, jobs int) string {
	var parts []string
	if secs != nil {
		// Batches side by side help as far as there are several.
		about := time.Duration(math.Ceil(*secs)) * time.Second
		parts = append(parts, "about "+about.String())
		if jobs > 1 {
			parts[0] += fmt.Sprintf(" one after another; %d batches run side by side", jobs)
		}
	}
	if tokens != nil {
		parts = append(parts, fmt.Sprintf("%.0f tokens", *tokens))
	}
	if cost != nil {
		parts = append(parts, fmt.Sprintf("$%.2f", *cost))
	}
	if len(parts) == 0 {
		return "no estimate, as not every configuration has earlier trials"
	}
	return strings.Join(parts, ", ") + ", if they take what earlier ones took"
}

func reaches(expected *float64, limit float64) string {
	switch {
	case expected == nil:
		return ""
	case *expected > limit:
		return fmt.Sprintf("; it would be reached after about %.0f %% of the trials", 100*limit / *expected)
	default:
		return "; it would not be reached"
	}
}

// dryRunSuites prints the attempts that would be made.
func dryRunSuites(w io.Writer, e *harness.Engine, selected suite.Selected, configurations []string, attempts int) {
	o := e.Options()
	total := 0
	for _, c := range selected.Cases {
		for _, client := range o.Clients {
			n := attempts * len(configurations)
			total += n
			fmt.Fprintf(w, "%s with %s: %d × %s", report.Clean(result.SpecName(c.Task.Suite.Name, c.Name)), client, attempts, strings.Join(configurations, ", "))
			if model := o.ModelOf(client); model != "" {
				fmt.Fprintf(w, ", model %s", report.Clean(model))
			}
			fmt.Fprintln(w)
		}
	}
	fmt.Fprintf(w, "in all %d attempts\nnothing was run\n", total)
}
