package harness

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/suite"
)

// CheckSuites looks at everything of the suites below an evals root that can be seen without running
// them. It returns how many suites and tasks there are; the error has every problem.
func CheckSuites(ctx context.Context, evals string) (suites, tasks int, err error) {
	p, err := suite.Load(evals)
	if err != nil {
		return 0, 0, err
	}
	var problems []error
	var cases []suite.Case
	for _, s := range p.Suites {
		suites++
		for _, t := range s.Tasks {
			tasks++
			cases = append(cases, t.Cases()...)
			if t.ModelScript == "" {
				continue
			}
			if _, err := gateway.LoadScript(t.ModelScript); err != nil {
				problems = append(problems, err)
			}
		}
	}
	if suites == 0 {
		return 0, 0, nil
	}
	name := suite.Client(p.Config.DefaultHarness)
	if _, err := client.Lookup(name); err != nil {
		problems = append(problems, fmt.Errorf("%s: default_harness: %w", filepath.Join(p.Evals, "config.yaml"), err))
	} else if err := checkJudges(SuiteOptions{Project: p, Selected: suite.Selected{Cases: cases}}, []string{name}); err != nil {
		problems = append(problems, err)
	}
	// What a command makes before a run is not there yet.
	if skills, err := p.Skills(); len(p.Config.PreRun) == 0 {
		if err == nil && len(skills) == 0 {
			err = errors.New("skills_dirs: there is no skill in these folders: a skill is a folder with a SKILL.md")
		}
		if err != nil {
			problems = append(problems, err)
		}
	}
	found, err := p.Hygiene(ctx, cases)
	for _, x := range found {
		problems = append(problems, errors.New(x.String()))
	}
	return suites, tasks, errors.Join(append(problems, err)...)
}
