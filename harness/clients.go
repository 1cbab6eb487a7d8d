package harness

import (
	"fmt"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/plan"
)

// checkClients looks at the names of the clients, and whether each can run all configurations.
func (o Options) checkClients(confs []plan.Configuration) (problems []error) {
	for i, name := range o.Clients {
		adapter, err := client.Lookup(name)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if slices.Contains(o.Clients[:i], name) {
			problems = append(problems, fmt.Errorf("client %q is named twice; -k or PROCTOR_TRIALS sets the number of trials", name))
			continue
		}
		for _, c := range confs {
			if c.Skills == plan.DeliverSymposium && !adapter.SupportsSymposium() {
				problems = append(problems, fmt.Errorf("the client %s cannot run the configuration %s: Symposium is evaluated with %s; give it others, such as %s",
					name, c.Name, strings.Join(withSymposium(), " and "), strings.Join([]string{plan.WithoutSymposium, plan.StagedSkills}, ",")))
			}
		}
	}
	if o.ClientPath != "" && len(o.Clients) > 1 {
		problems = append(problems, fmt.Errorf("PROCTOR_CLIENT_PATH is one client's program; name that client alone, not %s", strings.Join(o.Clients, ", ")))
	}
	return problems
}

// withSymposium are the clients that can run with-symposium.
func withSymposium() (names []string) {
	for _, name := range client.Names() {
		if a, err := client.Lookup(name); err == nil && a.SupportsSymposium() {
			names = append(names, name)
		}
	}
	return names
}
