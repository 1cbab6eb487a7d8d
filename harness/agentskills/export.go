// Package agentskills writes results in the layout that agentskills.io describes for evaluating
// skills: grading.json and timing.json for each attempt, benchmark.json over all. It knows no engine:
// what was run is handed to it.
package agentskills

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
)

// The configurations of the layout.
const (
	WithSkill    = "with_skill"
	WithoutSkill = "without_skill"
)

// Attempt is one attempt at one eval.
type Attempt struct {
	Eval          string // name of the task; one element of a path
	Configuration string // [WithSkill] or [WithoutSkill]
	Number        int    // from 1
	Assertions    []Assertion
	Seconds       *float64 // nil: unknown
	Tokens        *int64   // nil: unknown

	// What skill-creator's dialect tells beside.
	Prompt         string
	GradingSeconds *float64       // nil: unknown
	Tools          map[string]int // calls by tool; nil: unknown
	ToolErrors     int            // of these calls
	Turns          *int64         // of the assistant; nil: unknown
}

// Assertion is one that counted; those that were skipped are left out.
type Assertion struct {
	Text     string `json:"text"`
	Passed   bool   `json:"passed"`
	Evidence string `json:"evidence"`
}

// Grading is grading.json.
type Grading struct {
	AssertionResults []Assertion `json:"assertion_results"`
	Summary          Summary     `json:"summary"`
}

// Summary counts assertions.
type Summary struct {
	Passed   int      `json:"passed"`
	Failed   int      `json:"failed"`
	Total    int      `json:"total"`
	PassRate *float64 `json:"pass_rate"` // null when there is none to count
}

// Timing is timing.json; null is unknown.
type Timing struct {
	TotalTokens *int64   `json:"total_tokens"`
	DurationMS  *float64 `json:"duration_ms"`
}

// Benchmark is benchmark.json.
type Benchmark struct {
	RunSummary RunSummary `json:"run_summary"`
}

// RunSummary compares the configurations; one that was not run is null, and so is the difference.
type RunSummary struct {
	WithSkill    *Measures `json:"with_skill"`
	WithoutSkill *Measures `json:"without_skill"`
	Delta        *Delta    `json:"delta"`
}

// Measures are those of one configuration, over the attempts for which they are known.
type Measures struct {
	PassRate    *Spread `json:"pass_rate"`
	TimeSeconds *Spread `json:"time_seconds"`
	Tokens      *Spread `json:"tokens"`
}

// Spread is a mean with the sample's standard deviation (n - 1), which one value does not have.
type Spread struct {
	Mean   float64  `json:"mean"`
	StdDev *float64 `json:"stddev"`
}

// Delta is with the skill less without it; null when either is unknown.
type Delta struct {
	PassRate    *float64 `json:"pass_rate"`
	TimeSeconds *float64 `json:"time_seconds"`
	Tokens      *float64 `json:"tokens"`
}

// Grade is the grading of an attempt.
func Grade(a Attempt) Grading {
	g := Grading{AssertionResults: append([]Assertion{}, a.Assertions...)}
	for _, one := range a.Assertions {
		if one.Passed {
			g.Summary.Passed++
		}
	}
	g.Summary.Total = len(a.Assertions)
	g.Summary.Failed = g.Summary.Total - g.Summary.Passed
	if g.Summary.Total > 0 {
		rate := float64(g.Summary.Passed) / float64(g.Summary.Total)
		g.Summary.PassRate = &rate
	}
	return g
}

// Summarize compares the configurations over all attempts.
func Summarize(attempts []Attempt) Benchmark {
	s := RunSummary{WithSkill: measures(attempts, WithSkill), WithoutSkill: measures(attempts, WithoutSkill)}
	if s.WithSkill != nil && s.WithoutSkill != nil {
		s.Delta = &Delta{
			less(s.WithSkill.PassRate, s.WithoutSkill.PassRate), less(s.WithSkill.TimeSeconds, s.WithoutSkill.TimeSeconds), less(s.WithSkill.Tokens, s.WithoutSkill.Tokens),
		}
	}
	return Benchmark{s}
}

func measures(attempts []Attempt, configuration string) *Measures {
	rates, seconds, tokens, found := values(attempts, configuration)
	if !found {
		return nil
	}
	return &Measures{spread(rates), spread(seconds), spread(tokens)}
}

// values are what is known of one configuration's attempts; found is whether it has any.
func values(attempts []Attempt, configuration string) (rates, seconds, tokens []float64, found bool) {
	for _, a := range attempts {
		if a.Configuration != configuration {
			continue
		}
		found = true
		if rate := Grade(a).Summary.PassRate; rate != nil {
			rates = append(rates, *rate)
		}
		if a.Seconds != nil {
			seconds = append(seconds, *a.Seconds)
		}
		if a.Tokens != nil {
			tokens = append(tokens, float64(*a.Tokens))
		}
	}
	return rates, seconds, tokens, found
}

func spread(values []float64) *Spread {
	if len(values) == 0 {
		return nil
	}
	s := Spread{}
	for _, v := range values {
		s.Mean += v / float64(len(values))
	}
	if len(values) > 1 {
		sum := 0.0
		for _, v := range values {
			sum += (v - s.Mean) * (v - s.Mean)
		}
		deviation := math.Sqrt(sum / float64(len(values)-1))
		s.StdDev = &deviation
	}
	return &s
}

func less(a, b *Spread) *float64 {
	if a == nil || b == nil {
		return nil
	}
	d := a.Mean - b.Mean
	return &d
}

// Export writes a new folder: eval-<name>/<configuration>/ with grading.json and timing.json, in
// run-<n>/ below it when there are several attempts, and benchmark.json. It returns what it wrote,
// below dir.
func Export(dir string, attempts []Attempt) ([]string, error) {
	f, err := newFolder(dir, attempts)
	if err != nil {
		return nil, err
	}
	several := map[string]int{}
	for _, a := range attempts {
		several[a.Eval+"/"+a.Configuration]++
	}
	for _, a := range attempts {
		to := "eval-" + a.Eval + "/" + a.Configuration + "/"
		if several[a.Eval+"/"+a.Configuration] > 1 {
			to += fmt.Sprintf("run-%d/", a.Number)
		}
		if err := errors.Join(f.write(to+"grading.json", Grade(a)), f.write(to+"timing.json", Timing{TotalTokens: a.Tokens, DurationMS: milliseconds(a.Seconds)})); err != nil {
			return nil, err
		}
	}
	if err := f.write("benchmark.json", Summarize(attempts)); err != nil {
		return nil, err
	}
	slices.Sort(f.written)
	return f.written, nil
}

func milliseconds(seconds *float64) *float64 {
	if seconds == nil {
		return nil
	}
	ms := math.Round(*seconds * 1000)
	return &ms
}

// folder is a new folder that is being written.
type folder struct {
	dir     string
	written []string // below dir
}

// newFolder makes the folder when the attempts fit the layout.
func newFolder(dir string, attempts []Attempt) (*folder, error) {
	if len(attempts) == 0 {
		return nil, errors.New("export: there is no attempt")
	}
	for _, a := range attempts {
		if a.Configuration != WithSkill && a.Configuration != WithoutSkill {
			return nil, fmt.Errorf("export: the layout has no configuration %q", a.Configuration)
		}
		if a.Eval == "" || a.Eval != filepath.Base(a.Eval) || !filepath.IsLocal(a.Eval) {
			return nil, fmt.Errorf("export: %q cannot name a folder", a.Eval)
		}
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	return &folder{dir: dir}, nil
}

func (f *folder) write(rel string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("export %s: %w", rel, err)
	}
	path := filepath.Join(f.dir, filepath.FromSlash(rel))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("export: %s would be written twice", rel)
	}
	f.written = append(f.written, rel)
	return os.WriteFile(path, append(data, '\n'), 0o644)
}
