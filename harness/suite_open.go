package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/suite"
)

// OpenForSuites opens an engine for the suites of a project. Where nobody names a client it is the
// project's default_harness.
func OpenForSuites(opts Options, p *suite.Project) (*Engine, error) {
	if name := suite.Client(p.Config.DefaultHarness); len(opts.Clients) == 0 && name != DefaultClient {
		if name == "" {
			return nil, fmt.Errorf("%s: default_harness %q is no client that can run: name one there, or with -client", filepath.Join(p.Evals, "config.yaml"), p.Config.DefaultHarness)
		}
		opts.Clients = []string{name}
	}
	if err := opts.suiteModels(p); err != nil {
		return nil, err
	}
	opts.Evals = p.Evals
	opts.Configurations = []string{plan.WithoutSymposium} // every client has it; attempts have their own
	// Whoever could read the sources would have the assertions, the fixtures and every skill.
	opts.DenyRead = append(slices.Clone(opts.DenyRead), p.Root, p.Evals)
	opts.DenyRead = append(opts.DenyRead, p.Config.SkillsDirs...)
	e, err := Open(opts)
	if err == nil && opts.Model == "" { // it may stand in proctor.toml
		err = e.opts.suiteModels(p)
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Record is the run's record as it stands.
func (r *SuiteRun) Record() result.Run {
	r.Run.mu.Lock()
	defer r.Run.mu.Unlock()
	return r.record
}

// suitesBeside names the suites of an evals root for a message about tasks; "" where there are none.
func suitesBeside(evals string) string {
	entries, err := os.ReadDir(filepath.Join(evals, "suites"))
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "; the suites are: " + strings.Join(names, ", ")
}
