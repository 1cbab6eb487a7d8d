package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/agentskills"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/report"
	"github.com/proctor-evals/proctor/harness/result"
)

// The dialects of the layout.
const (
	dialectAgentSkills  = "agentskills"
	dialectSkillCreator = "skill-creator"
)

// export writes a run of suites in the layout of agentskills.io.
func export(args []string, stdout, stderr io.Writer) error {
	var dir, clientName, dialect string
	o, names, err := options("export", args, stdout, func(fs *flag.FlagSet) {
		fs.StringVar(&dir, "o", "", "new `folder` to write into")
		fs.StringVar(&clientName, "client", "", "`name` of the client whose attempts are written, where the run has several")
		fs.StringVar(&dialect, "dialect", dialectAgentSkills, "`layout`: "+dialectAgentSkills+" or "+dialectSkillCreator)
	})
	if err != nil {
		return err
	}
	if len(names) > 1 {
		return fmt.Errorf("export takes one run, got %q", names)
	}
	if dir == "" {
		return errors.New("name the folder to write with -o")
	}
	if dialect != dialectAgentSkills && dialect != dialectSkillCreator {
		return fmt.Errorf("-dialect %q: write %s or %s", dialect, dialectAgentSkills, dialectSkillCreator)
	}
	name := report.Latest
	if len(names) == 1 {
		name = names[0]
	}
	info, err := findRun(o, name)
	if err != nil {
		return err
	}
	if info.Kind != report.KindSuites {
		return fmt.Errorf("%s is a run of tasks; the layout is for suites", info.RunID)
	}
	rep, err := report.ReadReport(info, "")
	if err != nil {
		return err
	}
	attempts, err := exported(info.Dir, rep, clientName)
	if err != nil {
		return err
	}
	var files []string
	if dialect == dialectSkillCreator {
		files, err = agentskills.ExportSkillCreator(dir, attempts, metadata(info, rep, clientName))
	} else {
		files, err = agentskills.Export(dir, attempts)
	}
	for _, f := range files {
		fmt.Fprintf(stdout, "wrote  %s\n", report.Clean(f))
	}
	return err
}

// exported are the attempts that say something: an error says nothing of the skill, and a timeout is a
// failure although no assertion was looked at.
func exported(dir string, rep *result.Report, clientName string) ([]agentskills.Attempt, error) {
	suites, clients := map[string]bool{}, map[string]bool{}
	for _, a := range rep.Attempts {
		if clientName == "" || a.Client == clientName {
			suites[a.Suite], clients[a.Client] = true, true
		}
	}
	if len(clients) > 1 {
		return nil, fmt.Errorf("the run has several clients, and the layout has one: give -client, one of %q", keys(clients))
	}
	var out []agentskills.Attempt
	attempt := report.AttemptsOf(dir)
	for _, a := range rep.Attempts {
		if !clients[a.Client] || a.Verdict == result.AttemptError {
			continue
		}
		x := agentskills.Attempt{Eval: a.Task, Configuration: agentskills.WithSkill, Number: a.Attempt}
		if len(suites) > 1 {
			x.Eval = a.Suite + "-" + a.Task
		}
		if a.Configuration != plan.WithSkills {
			x.Configuration = agentskills.WithoutSkill
		}
		if rec := attempt(a.Dir); rec != nil {
			x.Seconds, x.Prompt, x.Turns, x.ToolErrors = rec.Metrics.WallSeconds, rec.Prompt, rec.Metrics.Turns, rec.Metrics.ToolErrors
			t := rec.Metrics.Tokens
			x.Tokens = result.Usage{InputTokens: t.Input, OutputTokens: t.Output, CacheReadTokens: t.CacheRead, CacheWriteTokens: t.CacheWrite}.Total()
		}
		if t, err := harness.Trajectory(dir, a.Dir); err == nil {
			if trial, err := result.ReadTrial(filepath.Join(dir, filepath.FromSlash(a.Dir)), dir); err == nil {
				x.GradingSeconds = trial.Timings.Grading
			}
			x.Tools = map[string]int{}
			for _, turn := range t.Turns {
				for _, c := range turn.ToolCalls {
					x.Tools[c.Name]++
				}
			}
		}
		if a.Verdict == result.AttemptTimeout {
			x.Assertions = []agentskills.Assertion{{Text: "the session ends in time", Evidence: a.Cause}}
		}
		for _, one := range a.Assertions {
			if one.SkippedReason != nil || one.Error != "" {
				continue
			}
			config, err := json.Marshal(one.Config)
			if err != nil {
				return nil, err
			}
			x.Assertions = append(x.Assertions, agentskills.Assertion{Text: one.Type + ": " + string(config), Passed: one.Pass, Evidence: one.Reason})
		}
		out = append(out, x)
	}
	return out, nil
}

// metadata is what skill-creator's benchmark.json says of the run.
func metadata(info *report.RunInfo, rep *result.Report, clientName string) agentskills.Metadata {
	m := agentskills.Metadata{Timestamp: info.StartedAt}
	var suites, models []string
	for _, a := range rep.Attempts {
		suites = append(suites, a.Suite)
	}
	for _, b := range info.Run.Batches {
		if clientName == "" || b.Client == clientName {
			models = append(models, b.Model.Name)
		}
	}
	join := func(names []string) string {
		slices.Sort(names)
		return strings.Join(slices.DeleteFunc(slices.Compact(names), func(s string) bool { return s == "" }), ", ")
	}
	m.SkillName, m.ExecutorModel = join(suites), join(models)
	return m
}
