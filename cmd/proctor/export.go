package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/proctor-evals/proctor/harness/agentskills"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/report"
	"github.com/proctor-evals/proctor/harness/result"
)

// export writes a run of suites in the layout of agentskills.io.
func export(args []string, stdout, stderr io.Writer) error {
	var dir, clientName string
	o, names, err := options("export", args, stdout, func(fs *flag.FlagSet) {
		fs.StringVar(&dir, "o", "", "new `folder` to write into")
		fs.StringVar(&clientName, "client", "", "`name` of the client whose attempts are written, where the run has several")
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
	attempts, err := exported(rep, clientName, report.AttemptsOf(info.Dir))
	if err != nil {
		return err
	}
	files, err := agentskills.Export(dir, attempts)
	for _, f := range files {
		fmt.Fprintf(stdout, "wrote  %s\n", report.Clean(f))
	}
	return err
}

// exported are the attempts that say something: an error says nothing of the skill, and a timeout is a
// failure although no assertion was looked at.
func exported(rep *result.Report, clientName string, attempt func(string) *result.Attempt) ([]agentskills.Attempt, error) {
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
			x.Seconds = rec.Metrics.WallSeconds
			t := rec.Metrics.Tokens
			x.Tokens = result.Usage{InputTokens: t.Input, OutputTokens: t.Output, CacheReadTokens: t.CacheRead, CacheWriteTokens: t.CacheWrite}.Total()
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
