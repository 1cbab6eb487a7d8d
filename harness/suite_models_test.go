package harness

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/suite"
)

// What a model's name means in a run of suites.
func TestSuiteModels(t *testing.T) {
	p := &suite.Project{Evals: "e", Config: suite.Config{Providers: map[string]suite.Provider{
		"claude_code": {DefaultModel: "small", ModelAliases: map[string]string{"small": "claude-small-1", "big": "claude-big-1"}},
		"opencode":    {ModelAliases: map[string]string{"small": "anthropic/claude-small-1"}},
	}}}
	for name, c := range map[string]struct {
		model   string
		clients []string
		want    map[string]string
		err     string
	}{
		"none: scripted, whatever the configuration says": {"", []string{"claude"}, map[string]string{"claude": ""}, ""},
		"scripted":                 {Scripted, []string{"claude"}, map[string]string{"claude": Scripted}, ""},
		"the default, by an alias": {ConfiguredModel, nil, map[string]string{"claude": "claude-small-1"}, ""},
		"an alias":                 {"big", []string{"claude"}, map[string]string{"claude": "claude-big-1"}, ""},
		"another name as it is":    {"claude-x", []string{"claude", "codex"}, map[string]string{"claude": "claude-x", "codex": "claude-x"}, ""},
		"an alias of each client":  {"small", []string{"claude", "opencode", "codex"}, map[string]string{"claude": "claude-small-1", "opencode": "anthropic/claude-small-1", "codex": "small"}, ""},
		"no default":               {ConfiguredModel, []string{"claude", "opencode"}, nil, "providers.opencode has no default_model"},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Model: c.model, Clients: c.clients}
			err := o.suiteModels(p)
			if c.err != "" {
				assert.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			for client, want := range c.want {
				assert.Equal(t, want, o.ModelOf(client), client)
			}
		})
	}
	o := Options{Model: "small", Clients: []string{"claude", "opencode"}}
	require.NoError(t, o.suiteModels(p))
	assert.Equal(t, []string{"anthropic/claude-small-1", "claude-small-1"}, o.models(), "prices and the gateway go by these")
	o.Replay = "somewhere"
	o.Model, o.ClientModels = "small", nil
	require.NoError(t, o.suiteModels(p))
	assert.Equal(t, "small", o.ModelOf("claude"), "a cassette has its own name")
}
