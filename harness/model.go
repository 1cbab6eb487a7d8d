package harness

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/gateway"
)

// EndpointOptions say where a provider's API is and where its key is kept. Both may be "".
type EndpointOptions struct {
	URL     string
	KeyFile string // absolute
}

// apis are the APIs: their dialects, their usual variables and their providers' own addresses.
var apis = map[string]struct {
	dialects       []string
	keyVar, urlVar string
	url            string
}{
	client.APIAnthropic: {[]string{gateway.DialectMessages}, "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "https://api.anthropic.com"},
	client.APIOpenAI:    {[]string{gateway.DialectResponses, gateway.DialectChat}, "OPENAI_API_KEY", "OPENAI_BASE_URL", "https://api.openai.com/v1"},
}

// apiOf is the API a client speaks to the gateway.
func apiOf(clientName string) string {
	if a, err := client.Lookup(clientName); err == nil {
		return a.API()
	}
	return ""
}

// kind is where the run's model answers come from.
func (o Options) kind() string {
	switch {
	case o.Replay != "":
		return gateway.KindReplay
	case o.Model == Scripted || o.Model == "":
		return gateway.KindScripted
	case o.Direct:
		return gateway.KindDirect
	}
	return gateway.KindForward
}

// checkModel looks at what was said of the model. Keys are looked for when a run starts.
func (o *Options) checkModel() (problems []error) {
	bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if o.Replay != "" {
		path, err := filepath.Abs(o.Replay)
		if err != nil {
			return append(problems, err)
		}
		o.Replay = path
		problems = append(problems, o.checkReplay()...)
	}
	if o.Direct && (o.Model == "" || o.Model == Scripted || o.Replay != "") {
		bad("direct: the agent asks a real model itself; name one with PROCTOR_MODEL or -model, and replay nothing")
	}
	if o.Record && (o.Direct || o.Replay != "") {
		bad("record: only what passes the gateway can be recorded, and a replay is recorded already; leave out -direct and -replay")
	}
	for name, e := range o.Endpoints {
		if e.URL == "" {
			continue
		}
		if err := gateway.CheckBaseURL(e.URL); err != nil {
			bad("%s: endpoints.%s.url: %w", ConfigFile, name, err)
		}
	}
	limits := o.MaxCost > 0 || o.TrialMaxCost > 0
	spent := limits || o.MaxTokens > 0 || o.TrialMaxTokens > 0
	if spent && o.kind() == gateway.KindDirect {
		bad("limits of tokens and cost need the gateway; with -direct nothing is counted at the wire")
	}
	if limits && o.kind() == gateway.KindForward {
		for _, m := range o.models() {
			if _, ok := o.Prices[m]; !ok {
				bad("a limit of cost needs the price of each model: add [prices.%q] with input, output, cache_read and cache_write, in US dollars for a million tokens, to %s", m, ConfigFile)
			}
		}
	}
	return problems
}

// models are all models a trial may ask.
func (o Options) models() []string {
	out := []string{o.Model}
	if len(o.ClientModels) > 0 {
		out = nil
	}
	for _, m := range append(slices.Sorted(maps.Values(o.ClientModels)), o.Models...) {
		if !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// endpoint is the run's endpoint for a client's API, its key from the environment or a file.
func (o Options) endpoint(clientName string) (gateway.Endpoint, error) {
	name := apiOf(clientName)
	api, conf := apis[name], o.Endpoints[name]
	e := gateway.Endpoint{BaseURL: strings.TrimRight(firstOf(conf.URL, os.Getenv(api.urlVar), api.url), "/")}
	if err := gateway.CheckBaseURL(e.BaseURL); err != nil {
		return e, fmt.Errorf("%s: %w", api.urlVar, err)
	}
	if conf.KeyFile != "" {
		data, err := os.ReadFile(conf.KeyFile)
		if err != nil {
			return e, fmt.Errorf("%s: endpoints.%s.key_file: %w", ConfigFile, name, err)
		}
		e.Key = gateway.Key(strings.TrimSpace(string(data)))
	} else {
		e.Key = gateway.Key(strings.TrimSpace(os.Getenv(api.keyVar)))
	}
	if e.Key == "" {
		return e, fmt.Errorf("model %s with %s needs a key: set %s, or name a file that holds it as key_file under [endpoints.%s] in %s",
			o.Model, clientName, api.keyVar, name, ConfigFile)
	}
	if strings.ContainsAny(string(e.Key), "\r\n\x00") {
		return e, fmt.Errorf("the key for %s holds a line break; give the key alone", clientName)
	}
	return e, nil
}

// keyFiles are the files that hold keys.
func (o Options) keyFiles() (files []string) {
	for _, e := range o.Endpoints {
		if e.KeyFile != "" {
			files = append(files, e.KeyFile)
		}
	}
	slices.Sort(files)
	return files
}

func firstOf(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}

// checkKeys says before anything is planned which keys are missing.
func (e *Engine) checkKeys() error {
	var problems []error
	for _, a := range e.clients {
		var err error
		switch e.opts.kind() {
		case gateway.KindForward:
			_, err = e.opts.endpoint(a.Name())
		case gateway.KindDirect:
			_, err = e.opts.credential(a.Name())
		}
		if err != nil {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// Model says in a line for a report of the machine where answers come from, or what is missing for it.
func (e *Engine) Model() (string, error) {
	if err := e.checkKeys(); err != nil {
		return "", err
	}
	switch o := e.opts; o.kind() {
	case gateway.KindDirect:
		return "warning  " + DirectWarning, nil
	case gateway.KindForward:
		return fmt.Sprintf("ok       model %s, forwarded: the key stays outside the trial", o.Model), nil
	case gateway.KindReplay:
		return fmt.Sprintf("ok       model %s, replayed from %s", o.Model, o.Replay), nil
	}
	return "ok       scripted model: no key, no cost", nil
}

// spend is a counter with the given limits and the run's prices.
func (o Options) spend(tokens int64, cost float64) *gateway.Spend {
	return gateway.NewSpend(gateway.Limits{Tokens: tokens, Cost: cost}, o.Prices)
}
