package harness

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/proctor-evals/proctor/harness/suite"
)

// ConfiguredModel, given as the model of a run of suites, is each client's own default_model of config.yaml. Without
// it nothing is paid for by accident: a run that names no model is scripted, whatever the configuration says.
const ConfiguredModel = "default"

// suiteModels finds what the model's name means for each client of a run of suites: an alias of config.yaml, or the
// client's default. Clients for which it means the same have it as the run's model.
func (o *Options) suiteModels(p *suite.Project) error {
	if o.Model == "" || o.Model == Scripted || o.Replay != "" {
		return nil
	}
	named := map[string]string{}
	var problems []error
	for _, name := range clientsOr(o.Clients) {
		harness := suite.HarnessName(name)
		block := p.Config.Providers[harness]
		model := o.Model
		if model == ConfiguredModel {
			model = block.DefaultModel
		}
		if model == "" {
			problems = append(problems, fmt.Errorf("%s: providers.%s has no default_model: write one there, or name a model with -model", filepath.Join(p.Evals, "config.yaml"), harness))
			continue
		}
		if alias, ok := block.ModelAliases[model]; ok {
			model = alias
		}
		named[name] = model
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	values := slices.Compact(slices.Sorted(maps.Values(named)))
	if len(values) == 1 {
		o.Model = values[0]
		return nil
	}
	o.ClientModels = named
	return nil
}

func clientsOr(names []string) []string {
	if len(names) == 0 {
		return []string{DefaultClient}
	}
	return names
}

// ModelOf is the model that a client is run with.
func (o Options) ModelOf(clientName string) string {
	if m, ok := o.ClientModels[clientName]; ok {
		return m
	}
	return o.Model
}

// clientModels are the models of the run's clients, each once.
func (e *Engine) clientModels() []string {
	var out []string
	for _, name := range e.clientNames() {
		if m := e.opts.ModelOf(name); !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}
