package harness

import (
	"fmt"
	"os"
	"strings"

	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/gateway"
)

// A credential is what a direct trial's client has, and the hosts it may reach with it.
type credential struct {
	name    string // the variable the client takes it from; "" for the adapter's own choice
	value   gateway.Key
	baseURL string   // "" for the client's own provider
	hosts   []string // of the policy
}

// directWays are, by client, the variables a credential is taken from, in order of preference, with the
// hosts it is for. A subscription's token has a variable of its own.
var directWays = map[string]struct {
	variables []string
	hosts     []string
}{
	"claude":  {[]string{"ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"}, []string{"api.anthropic.com"}},
	"codex":   {[]string{"CODEX_API_KEY", "OPENAI_API_KEY"}, []string{"api.openai.com"}},
	"copilot": {[]string{"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"}, []string{"api.github.com", "*.githubcopilot.com"}},
}

// openCodeHosts are the hosts of the providers OpenCode has a key's variable for; a model is PROVIDER/MODEL.
var openCodeHosts = map[string]struct{ variable, host string }{
	"anthropic":  {"ANTHROPIC_API_KEY", "api.anthropic.com"},
	"openai":     {"OPENAI_API_KEY", "api.openai.com"},
	"google":     {"GOOGLE_GENERATIVE_AI_API_KEY", "generativelanguage.googleapis.com"},
	"openrouter": {"OPENROUTER_API_KEY", "openrouter.ai"},
	"opencode":   {"OPENCODE_API_KEY", "opencode.ai"},
}

// credential finds what a direct run's client logs in with.
func (o Options) credential(clientName string) (credential, error) {
	variables, hosts := directWays[clientName].variables, directWays[clientName].hosts
	if clientName == "opencode" {
		provider, _, _ := strings.Cut(o.Model, "/")
		way, ok := openCodeHosts[provider]
		if !ok {
			return credential{}, fmt.Errorf("direct: the client opencode needs a model like anthropic/NAME, not %q", o.Model)
		}
		variables, hosts = []string{way.variable}, []string{way.host}
	}
	c := credential{hosts: hosts}
	name := apiOf(clientName)
	// Another address than the provider's own is the endpoint's, with the endpoint's key.
	if url := firstOf(o.Endpoints[name].URL, os.Getenv(apis[name].urlVar)); url != "" || o.Endpoints[name].KeyFile != "" {
		e, err := o.endpoint(clientName)
		if err != nil {
			return c, err
		}
		c.value = e.Key
		if url != "" {
			// Adapters of the OpenAI API put the version behind the address themselves.
			c.baseURL, c.hosts = strings.TrimSuffix(e.BaseURL, "/v1"), []string{gateway.HostOf(e.BaseURL)}
		}
		return c, nil
	}
	for i, v := range variables {
		if value := strings.TrimSpace(os.Getenv(v)); value != "" {
			if c.value = gateway.Key(value); i > 0 && clientName == "claude" {
				c.name = v
			}
			return c, nil
		}
	}
	return c, fmt.Errorf("direct: model %s with %s needs a credential in its environment: set %s", o.Model, clientName, strings.Join(variables, " or "))
}

// DirectWarning is what a user must know of a direct run.
const DirectWarning = "direct: the agent can read the credential and send it to the model's host; use a key of its own with a low limit"

// reach is what the client is told of its model: the gateway, or in a direct trial the real host and key.
func (t *trial) reach(r *client.Request) (hosts []string, name string, err error) {
	if t.gw != nil {
		r.GatewayURL, r.Token = t.gw.URL(), t.gw.Token()
		return []string{t.gw.Addr()}, "", nil
	}
	c, err := t.run.engine.opts.credential(t.Client())
	if err != nil {
		return nil, "", err
	}
	r.GatewayURL, r.Token = c.baseURL, string(c.value)
	return c.hosts, c.name, nil
}
