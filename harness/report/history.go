package report

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/internal/stats"
)

// HistoryRow is what one run says of a task, a suite or a suite's task, for a client and a configuration.
type HistoryRow struct {
	RunID         string         `json:"run_id"`
	Kind          string         `json:"kind"`
	Mode          result.RunMode `json:"mode"`
	Client        string         `json:"client"`
	Configuration string         `json:"configuration"`
	// Passed of Total: attempts with the verdict pass or unexpected_pass, or trials that succeeded, of
	// those that count; errors and exclusions do not.
	Passed int `json:"passed"`
	Total  int `json:"total"`
	// PassRateCI is the Wilson 95 % interval of their share; null with none.
	PassRateCI *[2]float64 `json:"pass_rate_ci95"`
	CostUSD    *float64    `json:"cost_usd"` // summed; null when one is unknown
	// The median and the greatest of the agent's time in seconds, and the greatest context.
	WallMedian *float64  `json:"wall_seconds_median"`
	WallMax    *float64  `json:"wall_seconds_max"`
	PeakMax    *int64    `json:"peak_context_max"`
	StartedAt  time.Time `json:"started_at"`
}

// History is what the runs say of a name: a task, a suite, or suite::task. The newest run is first.
func History(runs []RunInfo, name string, limit int) []HistoryRow {
	var out []HistoryRow
	told := 0
	for _, info := range runs {
		if info.Run == nil || limit > 0 && told == limit {
			continue
		}
		rows := taskRows(info, name)
		if info.Kind == KindSuites {
			rows = suiteRows(info, name)
		}
		if len(rows) > 0 {
			told++
		}
		out = append(out, rows...)
	}
	return out
}

// armKey is a client with a configuration.
type armKey struct{ client, configuration string }

// sample are the numbers of an arm's attempts.
type sample struct {
	passed, total int
	cost          float64
	unknownCost   bool
	wall          []float64
	peak          *int64
}

func (s *sample) add(counts, passed bool, m result.Metrics) {
	if counts {
		s.total++
	}
	if passed {
		s.passed++
	}
	if m.CostUSD == nil {
		s.unknownCost = true
	} else {
		s.cost += *m.CostUSD
	}
	if m.WallSeconds != nil {
		s.wall = append(s.wall, *m.WallSeconds)
	}
	if m.PeakContext != nil && (s.peak == nil || *m.PeakContext > *s.peak) {
		s.peak = m.PeakContext
	}
}

func rows(info RunInfo, arms map[armKey]*sample) (out []HistoryRow) {
	for a, s := range arms {
		row := HistoryRow{
			RunID: info.RunID, Kind: info.Kind, Mode: info.Mode, Client: a.client, Configuration: a.configuration,
			Passed: s.passed, Total: s.total, PeakMax: s.peak, StartedAt: info.StartedAt,
		}
		if lo, hi, ok := stats.Wilson(s.passed, s.total); ok {
			row.PassRateCI = &[2]float64{lo, hi}
		}
		if !s.unknownCost {
			row.CostUSD = &s.cost
		}
		if len(s.wall) > 0 {
			slices.Sort(s.wall)
			last, middle := s.wall[len(s.wall)-1], median(s.wall)
			row.WallMax, row.WallMedian = &last, &middle
		}
		out = append(out, row)
	}
	slices.SortFunc(out, func(a, b HistoryRow) int {
		return cmp.Or(cmp.Compare(a.Client, b.Client), cmp.Compare(a.Configuration, b.Configuration))
	})
	return out
}

// median of a sorted, non-empty list.
func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func suiteRows(info RunInfo, name string) []HistoryRow {
	rep, _, err := result.LatestReport(info.Dir)
	if err != nil {
		return nil
	}
	suite, task, _ := strings.Cut(name, "::")
	attempt := AttemptsOf(info.Dir)
	arms := map[armKey]*sample{}
	for _, a := range rep.Attempts {
		if a.Suite != suite || task != "" && a.Task != task {
			continue
		}
		key := armKey{a.Client, a.Configuration}
		if arms[key] == nil {
			arms[key] = &sample{}
		}
		passed := a.Verdict == result.AttemptPass || a.Verdict == result.AttemptUnexpectedPass
		arms[key].add(a.Verdict != result.AttemptError, passed, metricsOf(attempt(a.Dir)))
	}
	return rows(info, arms)
}

func taskRows(info RunInfo, name string) []HistoryRow {
	arms := map[armKey]*sample{}
	for _, b := range info.Run.Batches {
		if b.Task.Name != name {
			continue
		}
		for _, t := range b.Trials {
			key := armKey{b.Client, t.Configuration}
			if arms[key] == nil {
				arms[key] = &sample{}
			}
			var m result.Metrics
			dir := filepath.Join(filepath.Dir(filepath.Dir(info.Dir)), filepath.FromSlash(b.Results), t.Name)
			if rec, err := result.ReadTrial(dir, info.Dir); err == nil {
				m.WallSeconds = rec.ElapsedSecs
			}
			arms[key].add(t.Outcome != "", t.Outcome == result.Succeeded, m)
		}
	}
	return rows(info, arms)
}

// HistoryText prints history rows.
func HistoryText(w io.Writer, rows []HistoryRow, now time.Time) error {
	var out strings.Builder
	tw := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "RUN\tMODE\tCLIENT\tCONFIGURATION\tPASSED\tΣCOST\tWALL\tMAX WALL\tMAX CTX\tAGE")
	for _, r := range rows {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%d/%d\t%s\t%s\t%s\t%s\t%s\n", Clean(r.RunID), modeName(r.Kind, r.Mode), Clean(r.Client), Clean(r.Configuration),
			r.Passed, r.Total, Cost(r.CostUSD), Wall(r.WallMedian), Wall(r.WallMax), Tokens(r.PeakMax), Age(r.StartedAt, now))
	}
	tw.Flush()
	if slices.ContainsFunc(rows, func(r HistoryRow) bool { return r.Mode == result.ModeWithoutSkill || r.Mode == result.ModeNoSkills }) {
		fmt.Fprintln(&out, "without-skill and no-skills runs are reality checks: their numbers are not the skill's")
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func modeName(kind string, mode result.RunMode) string {
	if kind == KindTasks {
		return KindTasks
	}
	return Clean(string(mode))
}

// RunsText prints the index.
func RunsText(w io.Writer, runs []RunInfo, now time.Time) error {
	var out strings.Builder
	tw := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "RUN\tSTARTED\tMODE\tP/F/K/T\tCOST\tDURATION")
	for _, r := range runs {
		if r.Run == nil {
			fmt.Fprintf(tw, "%s\t(unreadable: %s)\n", Clean(r.RunID), Clean(r.Unreadable))
			continue
		}
		duration := string(r.State)
		if r.FinishedAt != nil {
			s := r.FinishedAt.Sub(r.StartedAt).Seconds()
			duration = Wall(&s)
		} else if r.Cause == result.CauseLost {
			duration = "lost"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%d/%d/%d/%d\t%s\t%s\n", Clean(r.RunID), Age(r.StartedAt, now), modeName(r.Kind, r.Mode), r.Passed, r.Failed, r.Known, r.Other, Cost(r.CostUSD), duration)
	}
	tw.Flush()
	_, err := io.WriteString(w, out.String())
	return err
}
