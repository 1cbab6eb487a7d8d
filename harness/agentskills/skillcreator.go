package agentskills

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Metadata is what benchmark.json of skill-creator's dialect says of the run. Nobody analyses here: analyzer_model is
// left out.
type Metadata struct {
	SkillName     string    `json:"skill_name"`
	ExecutorModel string    `json:"executor_model"`
	Timestamp     time.Time `json:"timestamp"`
	EvalsRun      []string  `json:"evals_run"`
	// RunsPerConfiguration is the largest number of attempts at one eval in one configuration.
	RunsPerConfiguration int `json:"runs_per_configuration"`
}

// creatorGrading is grading.json of skill-creator. claims, user_notes_summary and eval_feedback are a grading model's
// own thoughts; there are none.
type creatorGrading struct {
	Expectations []Assertion    `json:"expectations"`
	Summary      Summary        `json:"summary"`
	Metrics      creatorMetrics `json:"execution_metrics"`
	Timing       creatorTimes   `json:"timing"`
}

// creatorMetrics are null where the transcript did not tell.
type creatorMetrics struct {
	ToolCalls      map[string]int `json:"tool_calls"`
	TotalToolCalls *int           `json:"total_tool_calls"`
	TotalSteps     *int64         `json:"total_steps"`
	Errors         *int           `json:"errors_encountered"`
}

type creatorTimes struct {
	Executor *float64 `json:"executor_duration_seconds"`
	Grader   *float64 `json:"grader_duration_seconds"`
	Total    *float64 `json:"total_duration_seconds"`
}

// creatorTiming is timing.json of skill-creator, a superset of the other's.
type creatorTiming struct {
	Timing
	creatorTimes
}

// evalMetadata is eval_metadata.json, which names what graders call expectations assertions.
type evalMetadata struct {
	EvalID     int      `json:"eval_id"`
	EvalName   string   `json:"eval_name"`
	Prompt     string   `json:"prompt"`
	Assertions []string `json:"assertions"`
}

type creatorRun struct {
	EvalID        int           `json:"eval_id"`
	EvalName      string        `json:"eval_name"`
	Configuration string        `json:"configuration"`
	RunNumber     int           `json:"run_number"`
	Result        creatorResult `json:"result"`
	Expectations  []Assertion   `json:"expectations"`
	Notes         []string      `json:"notes"`
}

type creatorResult struct {
	Summary
	TimeSeconds *float64 `json:"time_seconds"`
	Tokens      *int64   `json:"tokens"`
	ToolCalls   *int     `json:"tool_calls"`
	Errors      *int     `json:"errors"`
}

type creatorBenchmark struct {
	Metadata   Metadata       `json:"metadata"`
	Runs       []creatorRun   `json:"runs"`
	RunSummary creatorSummary `json:"run_summary"`
	Notes      []string       `json:"notes"`
}

type creatorSummary struct {
	WithSkill    *creatorMeasures `json:"with_skill,omitempty"`
	WithoutSkill *creatorMeasures `json:"without_skill,omitempty"`
	Delta        *creatorDelta    `json:"delta,omitempty"`
}

type creatorMeasures struct {
	PassRate    *creatorSpread `json:"pass_rate"`
	TimeSeconds *creatorSpread `json:"time_seconds"`
	Tokens      *creatorSpread `json:"tokens"`
}

type creatorSpread struct {
	Spread
	Min float64 `json:"min"`
	Max float64 `json:"max"`
}

// creatorDelta has the differences as texts with a sign, such as "+0.50"; null when one side is unknown.
type creatorDelta struct {
	PassRate    *string `json:"pass_rate"`
	TimeSeconds *string `json:"time_seconds"`
	Tokens      *string `json:"tokens"`
}

// ExportSkillCreator writes a new folder in the dialect of the skill-creator skill: below eval-<name>/ an
// eval_metadata.json and <configuration>/run-<n>/ with grading.json and timing.json, and one benchmark.json with every
// run. It returns what it wrote, below dir.
func ExportSkillCreator(dir string, attempts []Attempt, meta Metadata) ([]string, error) {
	f, err := newFolder(dir, attempts)
	if err != nil {
		return nil, err
	}
	ids := map[string]int{}
	runs := map[string]int{}
	b := creatorBenchmark{Metadata: meta, Runs: []creatorRun{}, Notes: []string{}, RunSummary: creatorSummaryOf(attempts)}
	b.Metadata.EvalsRun = []string{}
	for _, a := range attempts {
		if ids[a.Eval] == 0 {
			ids[a.Eval] = len(ids) + 1
			b.Metadata.EvalsRun = append(b.Metadata.EvalsRun, a.Eval)
			m := evalMetadata{EvalID: ids[a.Eval], EvalName: a.Eval, Prompt: a.Prompt, Assertions: []string{}}
			for _, one := range a.Assertions {
				m.Assertions = append(m.Assertions, one.Text)
			}
			if err := f.write("eval-"+a.Eval+"/eval_metadata.json", m); err != nil {
				return nil, err
			}
		}
		runs[a.Eval+"/"+a.Configuration]++
		b.Metadata.RunsPerConfiguration = max(b.Metadata.RunsPerConfiguration, runs[a.Eval+"/"+a.Configuration])
		run := creatorRunOf(a, ids[a.Eval])
		b.Runs = append(b.Runs, run)
		to := fmt.Sprintf("eval-%s/%s/run-%d/", a.Eval, a.Configuration, a.Number)
		times := creatorTimes{a.Seconds, a.GradingSeconds, sum(a.Seconds, a.GradingSeconds)}
		grading := creatorGrading{run.Expectations, run.Result.Summary, creatorMetrics{a.Tools, run.Result.ToolCalls, a.Turns, run.Result.Errors}, times}
		timing := creatorTiming{Timing{a.Tokens, milliseconds(a.Seconds)}, times}
		if err := errors.Join(f.write(to+"grading.json", grading), f.write(to+"timing.json", timing)); err != nil {
			return nil, err
		}
	}
	if err := f.write("benchmark.json", b); err != nil {
		return nil, err
	}
	slices.Sort(f.written)
	return f.written, nil
}

func creatorRunOf(a Attempt, id int) creatorRun {
	g := Grade(a)
	r := creatorRun{
		EvalID: id, EvalName: a.Eval, Configuration: a.Configuration, RunNumber: a.Number, Expectations: g.AssertionResults, Notes: []string{},
		Result: creatorResult{Summary: g.Summary, TimeSeconds: a.Seconds, Tokens: a.Tokens},
	}
	if a.Tools != nil {
		calls, failed := 0, a.ToolErrors
		for _, n := range a.Tools {
			calls += n
		}
		r.Result.ToolCalls, r.Result.Errors = &calls, &failed
	}
	return r
}

func creatorSummaryOf(attempts []Attempt) creatorSummary {
	s := creatorSummary{WithSkill: creatorMeasuresOf(attempts, WithSkill), WithoutSkill: creatorMeasuresOf(attempts, WithoutSkill)}
	if d := Summarize(attempts).RunSummary.Delta; d != nil {
		s.Delta = &creatorDelta{signed(d.PassRate, "%+.2f"), signed(d.TimeSeconds, "%+.1f"), signed(d.Tokens, "%+.0f")}
	}
	return s
}

func creatorMeasuresOf(attempts []Attempt, configuration string) *creatorMeasures {
	rates, seconds, tokens, found := values(attempts, configuration)
	if !found {
		return nil
	}
	return &creatorMeasures{creatorSpreadOf(rates), creatorSpreadOf(seconds), creatorSpreadOf(tokens)}
}

func creatorSpreadOf(values []float64) *creatorSpread {
	s := spread(values)
	if s == nil {
		return nil
	}
	return &creatorSpread{*s, slices.Min(values), slices.Max(values)}
}

func signed(n *float64, format string) *string {
	if n == nil {
		return nil
	}
	text := fmt.Sprintf(format, *n)
	return &text
}

func sum(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	both := *a + *b
	return &both
}
