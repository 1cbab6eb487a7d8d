package plan

import (
	"fmt"
	"slices"
	"strings"
)

// Names of the configurations of suites.
const (
	WithSkills   = "with-skills"   // every skill of skills_dirs
	WithoutSkill = "without-skill" // all but the skills the suites evaluate
	NoSkills     = "no-skills"     // none
)

var suiteConfigurations = []Configuration{
	{Name: WithSkills, Skills: DeliverStaged, Tools: []string{}},
	{Name: WithoutSkill, Skills: DeliverStaged, Tools: []string{}},
	{Name: NoSkills, Skills: DeliverNone, Tools: []string{}},
}

// SuiteNames lists every configuration of suites.
func SuiteNames() []string {
	var out []string
	for _, c := range suiteConfigurations {
		out = append(out, c.Name)
	}
	return out
}

// Suite returns a configuration of suites by name.
func Suite(name string) (Configuration, error) {
	i := slices.IndexFunc(suiteConfigurations, func(c Configuration) bool { return c.Name == name })
	if i < 0 {
		return Configuration{}, fmt.Errorf("unknown configuration of suites %q; choose from %s", name, strings.Join(SuiteNames(), ", "))
	}
	return suiteConfigurations[i], nil
}
