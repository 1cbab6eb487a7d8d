// Package plan expands a task into the ordered trials of one batch. It is pure:
// the same input gives the same plan, and nothing here reads a clock, a file or
// a random number.
package plan

import (
	"fmt"
	"slices"
	"strings"
)

// Configuration is what one arm of an exam offers the agent: one struct for
// code tasks and suites alike.
type Configuration struct {
	Name string `json:"name"`
	// Skills says how skills are delivered.
	Skills Delivery `json:"skills"`
	// Tools are the extra executables staged for the trial besides the client.
	Tools []string `json:"tools"`
	// Hooks says whether hooks are registered for the client before launch.
	Hooks bool `json:"hooks"`
}

// Delivery is the way skills reach the client.
type Delivery string

// The deliveries. Suites add their own from the same list.
const (
	DeliverNone      Delivery = "none"      // no skill is delivered
	DeliverSymposium Delivery = "symposium" // cargo-agents installs them during the session
	DeliverStaged    Delivery = "staged"    // copied into the client's skill folder before launch
)

// Names of the configurations of code tasks.
const (
	WithoutSymposium = "without-symposium"
	WithSymposium    = "with-symposium"
	StagedSkills     = "staged-skills"
)

var configurations = []Configuration{
	{Name: WithoutSymposium, Skills: DeliverNone, Tools: []string{}},
	{Name: WithSymposium, Skills: DeliverSymposium, Tools: []string{"cargo-agents"}, Hooks: true},
	{Name: StagedSkills, Skills: DeliverStaged, Tools: []string{}},
}

// Baseline is the configuration all others are compared with.
const Baseline = WithoutSymposium

// Default are the configurations of a run that names none.
func Default() []string { return []string{WithoutSymposium, WithSymposium} }

// Names lists every configuration of code tasks.
func Names() []string {
	var out []string
	for _, c := range configurations {
		out = append(out, c.Name)
	}
	return out
}

// Lookup returns the configurations of the given names, in the given order.
// An unknown, repeated or missing name is an error.
func Lookup(names ...string) ([]Configuration, error) {
	if len(names) == 0 {
		return nil, fmt.Errorf("no configuration named; choose from %s", strings.Join(Names(), ", "))
	}
	var out []Configuration
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("configuration %q is named twice", name)
		}
		j := slices.IndexFunc(configurations, func(c Configuration) bool { return c.Name == name })
		if j < 0 {
			return nil, fmt.Errorf("unknown configuration %q; choose from %s", name, strings.Join(Names(), ", "))
		}
		out = append(out, configurations[j])
	}
	return out, nil
}

// Trial is one planned trial.
type Trial struct {
	// Round counts from 1. Every configuration runs once a round.
	Round int
	// Order is the trial's place within its round, from 1.
	Order int
	// Sequence is the trial's place within the batch, from 1.
	Sequence      int
	Configuration Configuration
}

// Name is the trial's name in results and subtests: trial-<round>-<configuration>.
func (t Trial) Name() string { return fmt.Sprintf("trial-%d-%s", t.Round, t.Configuration.Name) }

// Expand orders rounds × configurations. Rounds go in pairs: the order of an odd round is reversed
// in the even round after it, and each pair starts one configuration further on, so that over the
// rounds each configuration comes as often before as after each other. With two configurations
// this is plain alternation: A B, B A, A B, …
func Expand(configurations []Configuration, rounds int) []Trial {
	n := len(configurations)
	if n == 0 {
		return nil
	}
	var out []Trial
	for round := 1; round <= rounds; round++ {
		order := make([]Configuration, n)
		shift := ((round - 1) / 2) % n
		if n == 2 {
			shift = 0 // reversal alone alternates; a shift would undo it at every second pair
		}
		for i := range order {
			order[i] = configurations[(i+shift)%n]
		}
		if round%2 == 0 {
			slices.Reverse(order)
		}
		for i, c := range order {
			out = append(out, Trial{Round: round, Order: i + 1, Sequence: len(out) + 1, Configuration: c})
		}
	}
	return out
}
