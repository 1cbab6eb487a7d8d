package harness

import (
	"fmt"
	"os"
	"slices"
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

// credential finds what a direct run's client logs in with.
func (o Options) credential(clientName string) (credential, error) {
	adapter, err := client.Lookup(clientName)
	if err != nil {
		return credential{}, err
	}
	login, err := adapter.Login(o.Model)
	if err != nil {
		return credential{}, fmt.Errorf("direct: %w", err)
	}
	c := credential{hosts: login.Hosts}
	name := adapter.API()
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
	for _, v := range login.Variables {
		if value := strings.TrimSpace(os.Getenv(v)); value != "" {
			if c.value = gateway.Key(value); slices.Contains(login.Own, v) {
				c.name = v
			}
			return c, nil
		}
	}
	return c, fmt.Errorf("direct: model %s with %s needs a credential in its environment: set %s", o.Model, clientName, strings.Join(login.Variables, " or "))
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
