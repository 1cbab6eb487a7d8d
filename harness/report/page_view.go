package report

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/result"
)

// pageView is what the page's template writes as it stands, before any script.
type pageView struct {
	RunID, State, Started, Took, Proctor string
	Headline                             string // the answer in one line
	Warnings                             []string
	Summary                              []string
	Overview                             []overviewRow // with several comparisons
	Batches                              []batchView
	Trials                               int
	NothingLeftOut                       string // said where nothing was
}

type overviewRow struct {
	Batch             int
	Task, Client, Arm string
	Says, Class       string
	Delta             *span
	Words             string
}

type batchView struct {
	Index                                int
	Task, Client, Model, Kind, Isolation string
	Hash, Look                           string
	Problem                              string
	Warnings                             []string
	Verdicts                             []verdictView
	Arms                                 []armView
	LeftOut                              []leftOutView
	Cells                                []cellRow
	Detectable                           []string
	Folder                               string
}

type verdictView struct {
	Class, Says, Words, CodeAlone string
	Treatment, Baseline           string
	Delta                         *span
	DeltaWords                    string
	Bounds                        []result.Bound
}

type armView struct {
	Name, Succeeded, Rate, Interval, Code, Loads, AllPassed string
	Tokens, Secs                                            meanView
	Tries                                                   string
	Span                                                    *span
}

// meanView is a mean, and how sure it is.
type meanView struct{ At, Sure string }

func meanOf(m result.Mean, decimals int) meanView {
	if m.Mean == nil {
		return meanView{"—", "not reported"}
	}
	v := meanView{grouped(*m.Mean, decimals), "no interval"}
	if m.CI95 != nil {
		v.Sure = grouped(m.CI95[0], decimals) + " to " + grouped(m.CI95[1], decimals)
	}
	return v
}

// grouped writes a number of 0 or more with its thousands apart.
func grouped(f float64, decimals int) string {
	s := strconv.FormatFloat(f, 'f', decimals, 64)
	whole, rest, _ := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		whole += "." + rest
	}
	return whole
}

// modelName says which model, and what kind of one it is.
func modelName(m result.Model) string {
	switch {
	case m.Kind == gateway.KindScripted:
		return "scripted model"
	case m.Name == "":
		return Clean(m.Kind) + " model"
	}
	return Clean(m.Name) + " (" + Clean(m.Kind) + ")"
}

type leftOutView struct {
	Name                                         string
	Planned, Setup, Cancelled, Started           int
	Isolation, Grading, Eligible, Unsure, Failed int
	Lines                                        []string
}

type cellRow struct {
	Name  string
	Cells []cell
}

type cell struct {
	Index               int
	Class, Glyph, Title string
}

// span is a point with its interval, in percent of a drawing's width.
type span struct{ At, Low, High, Width string }

// newSpan places a value and its interval on a scale.
func newSpan(at *float64, ci *[2]float64, low, high float64) *span {
	if at == nil {
		return nil
	}
	x := func(v float64) float64 { return 100 * min(1, max(0, (v-low)/(high-low))) }
	p := func(v float64) string { return fmt.Sprintf("%.2f%%", v) }
	s := &span{At: p(x(*at)), Low: p(x(*at)), High: p(x(*at)), Width: p(0)}
	if ci != nil {
		s.Low, s.High, s.Width = p(x(ci[0])), p(x(ci[1])), p(x(ci[1])-x(ci[0]))
	}
	return s
}

// plot is one drawn row: a span on a scale with five marks.
type plot struct {
	Span  *span
	Class string
	Ticks []string
}

func newPlot(s *span, colour, scale string) plot {
	return plot{s, colour + " " + scale, []string{"0%", "25%", "50%", "75%", "100%"}}
}

func (l *loadedRun) view() pageView {
	r := l.run
	v := pageView{RunID: Clean(r.RunID), State: Clean(string(r.State)), Started: clock(r.StartedAt), Proctor: Clean(r.Proctor)}
	switch {
	case r.Cause == result.CauseLost:
		v.Warnings = append(v.Warnings, "The runner of this run died before it could finish. What was measured until then is below.")
	case r.Cause != "":
		v.Warnings = append(v.Warnings, "The run ended early: "+Clean(r.Cause))
	case r.State != result.Finished:
		v.Warnings = append(v.Warnings, "The run is still going on; this page shows it as it was.")
	}
	if r.FinishedAt != nil {
		v.Took = r.FinishedAt.Sub(r.StartedAt).Round(time.Second).String()
	}
	var scripted, standIns bool
	first := 0
	left := 0
	for i := range l.batches {
		b := &l.batches[i]
		view := b.view(i, first)
		first += len(b.rows)
		v.Batches = append(v.Batches, view)
		scripted = scripted || b.Model.Kind == gateway.KindScripted
		standIns = standIns || b.benchmark != nil && len(b.benchmark.StandIns) > 0
		for _, x := range view.LeftOut {
			left += len(x.Lines)
		}
		if b.problem != "" || b.broken > 0 {
			left++
		}
		for _, c := range view.Verdicts {
			v.Overview = append(v.Overview, overviewRow{i, view.Task, view.Client, c.Treatment, c.Says, c.Class, c.Delta, c.DeltaWords})
		}
	}
	v.Trials = first
	if left == 0 {
		v.NothingLeftOut = fmt.Sprintf("Nothing was left out: all %d planned trials were started, ended, and are counted.", first)
	}
	if scripted {
		v.Warnings = append(v.Warnings, upperFirst(ScriptedNote)+".")
	}
	if standIns {
		v.Warnings = append(v.Warnings, "Made with stand-ins for real parts; see the tasks below.")
	}
	var lines bytes.Buffer
	if err := Summary(&lines, r.Summary); err == nil {
		for line := range strings.Lines(lines.String()) {
			v.Summary = append(v.Summary, upperFirst(strings.TrimSpace(line)))
		}
	}
	v.Headline = headline(v.Overview)
	if scripted && len(v.Overview) > 0 {
		// In the same breath: the answer is the model script's.
		v.Headline = strings.TrimSuffix(v.Headline, ".") + ", on the scripted model."
	}
	return v
}

// headline is the answer in one line, or how the answers are spread; nothing is put in one pot.
func headline(rows []overviewRow) string {
	switch len(rows) {
	case 0:
		return "Nothing was compared."
	case 1:
		r := rows[0]
		switch r.Says {
		case string(result.Helps), string(result.Hurts):
			return r.Arm + " " + r.Says + "."
		}
		return "Cannot tell whether " + r.Arm + " helps."
	}
	n := map[string]int{}
	for _, r := range rows {
		n[r.Says]++
	}
	var parts []string
	for _, j := range []result.Judgement{result.Helps, result.Hurts, result.CannotTell} {
		if k := n[string(j)]; k > 0 {
			parts = append(parts, fmt.Sprintf("%s in %d", j, k))
		}
	}
	return fmt.Sprintf("Of %d comparisons: %s.", len(rows), strings.Join(parts, ", "))
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func (b *loadedBatch) view(index, first int) batchView {
	v := batchView{
		Index: index, Task: Clean(b.Task.Name), Client: Clean(b.Client), Kind: Clean(b.Task.Kind), Isolation: Clean(b.Isolation),
		Model: modelName(b.Model), Hash: Clean(b.Task.ContentHash), Folder: Clean(b.Results),
		Problem: b.problem, Cells: b.cells(first),
	}
	for _, d := range b.Detectable {
		v.Detectable = append(v.Detectable, d.String())
	}
	if b.broken > 0 {
		v.Warnings = append(v.Warnings, fmt.Sprintf("%d records of trials cannot be read; they are marked below.", b.broken))
	}
	m := b.benchmark
	if m == nil {
		return v
	}
	if err := m.Check(); err != nil {
		v.Warnings = append(v.Warnings, "WRONG, do not use these numbers: "+Clean(strings.ReplaceAll(err.Error(), "\n", "; ")))
	}
	if s := b.stale(); s != "" {
		v.Warnings = append(v.Warnings, s)
	}
	if len(m.StandIns) > 0 {
		v.Warnings = append(v.Warnings, "Made with stand-ins: "+Clean(strings.Join(m.StandIns, ", ")))
	}
	if m.Isolation == exploratory {
		v.Warnings = append(v.Warnings, "Exploratory: kept apart by the client's own sandbox alone, so nothing is compared.")
	}
	if m.NotCompared != "" {
		v.Warnings = append(v.Warnings, "Not compared: "+Clean(m.NotCompared))
	}
	if m.Jobs > 1 {
		v.Warnings = append(v.Warnings, fmt.Sprintf("Up to %d batches ran side by side: times compare less well.", m.Jobs))
	}
	if m.ChecksChanged > 0 {
		s := regraded(m.ChecksChanged)
		v.Warnings = append(v.Warnings, strings.ToUpper(s[:1])+s[1:]+".")
	}
	if m.Look > 1 {
		v.Look = fmt.Sprintf("%s look at this task's content: repeated looks make a false verdict likelier.", ordinal(m.Look))
		v.Warnings = append(v.Warnings, v.Look)
	}
	for _, c := range m.Comparisons {
		v.Verdicts = append(v.Verdicts, verdictOf(c))
	}
	for _, name := range order(m) {
		c := m.Configurations[name]
		arm := armView{
			Name: Clean(name), Succeeded: fmt.Sprintf("%d of %d", c.Succeeded, c.Eligible), Rate: percent(c.SuccessRate), Interval: interval(c.SuccessRateCI),
			Code: fmt.Sprintf("%d of %d", c.CodePassed, c.CodeJudged), Loads: loads(c), Tokens: meanOf(c.Cost.Eligible.Tokens, 0),
			Secs: meanOf(c.Cost.Eligible.AgentSecs, 1), Tries: tries(c), Span: newSpan(c.SuccessRate, c.SuccessRateCI, 0, 1),
		}
		if m.Kind == regression {
			arm.AllPassed = yesNo(c.PassAll)
		}
		v.Arms = append(v.Arms, arm)
		v.LeftOut = append(v.LeftOut, leftOutView{
			Name: Clean(name), Planned: c.Planned, Setup: c.SetupFailures, Cancelled: c.Cancelled, Started: c.Started, Isolation: c.Excluded.Isolation,
			Grading: c.Excluded.Grading, Eligible: c.Eligible, Unsure: c.Inconclusive, Failed: c.Failed, Lines: notCounted(c),
		})
	}
	return v
}

// stale says where the counts are not those of the trials as their records are now: a regrade whose
// runner died before it counted leaves such a batch, and so does who deletes a trial.
func (b *loadedBatch) stale() string {
	now := map[string]map[place]int{}
	for _, r := range b.rows {
		if now[r.Configuration] == nil {
			now[r.Configuration] = map[place]int{}
		}
		now[r.Configuration][r.Place]++
	}
	var wrong []string
	for _, name := range order(b.benchmark) {
		c := b.benchmark.Configurations[name]
		for _, x := range []struct {
			at      place
			label   string
			counted int
		}{{placeSucceeded, "succeeded", c.Succeeded}, {placeFailed, "failed", c.Failed}, {placeUnsure, "inconclusive", c.Inconclusive}} {
			if n := now[Clean(name)][x.at]; n != x.counted {
				wrong = append(wrong, fmt.Sprintf("%s: %d %s were counted, and the records say %d", Clean(name), x.counted, x.label, n))
			}
		}
	}
	if len(wrong) == 0 {
		return ""
	}
	return "WRONG, do not use these numbers: the trials are not what was counted (" + strings.Join(wrong, "; ") + "); proctor grade counts them anew."
}

func verdictOf(c result.Comparison) verdictView {
	v := verdictView{
		Says: Clean(string(c.Verdict)), Class: "unsure", Treatment: Clean(c.Treatment), Baseline: Clean(c.Baseline), CodeAlone: codeAlone(c),
		Bounds: c.Bounds, Words: verdict(c), DeltaWords: "no difference known", Delta: newSpan(c.Diff, c.CI95, -1, 1),
	}
	switch c.Verdict {
	case result.Helps:
		v.Class = "good"
	case result.Hurts:
		v.Class = "bad"
	}
	if c.Diff != nil {
		v.DeltaWords = points(*c.Diff) + " points"
		if c.CI95 != nil {
			v.DeltaWords += fmt.Sprintf(", %s to %s", points(c.CI95[0]), points(c.CI95[1]))
		}
	}
	_, v.Words, _ = strings.Cut(v.Words, ", ")
	if c.Diff == nil {
		v.Words = Clean(c.Reason)
	}
	return v
}

var glyphs = map[place]string{
	placeSucceeded: "●", placeFailed: "✕", placeUnsure: "?", placeExcluded: "⊘", placeNotRun: "–", placeBroken: "!",
}

// cells are the batch's trials, a row a configuration, in the order of the rounds.
func (b *loadedBatch) cells(first int) []cellRow {
	by := map[string]*cellRow{}
	rounds := map[int]int{}
	for i, r := range b.rows {
		if by[r.Configuration] == nil {
			by[r.Configuration] = &cellRow{Name: r.Configuration}
		}
		rounds[first+i] = r.Round
		by[r.Configuration].Cells = append(by[r.Configuration].Cells, cell{
			Index: first + i, Class: string(r.Place), Glyph: glyphs[r.Place], Title: fmt.Sprintf("%s: %s", r.Name, r.Label),
		})
	}
	var out []cellRow
	for _, name := range slices.Sorted(maps.Keys(by)) {
		row := *by[name]
		slices.SortStableFunc(row.Cells, func(x, y cell) int { return rounds[x.Index] - rounds[y.Index] })
		out = append(out, row)
	}
	// The baseline first, as in the tables.
	if b.benchmark != nil {
		names := order(b.benchmark)
		slices.SortStableFunc(out, func(x, y cellRow) int {
			return slices.Index(names, x.Name) - slices.Index(names, y.Name)
		})
	}
	return out
}
