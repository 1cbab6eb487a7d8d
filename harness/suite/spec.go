package suite

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/proctor-evals/proctor/harness/task"
)

// Spec names what is to be run: <suite>, <suite>::<task>, <suite>::<task>::<n>, * or *::<task>.
type Spec struct {
	Suite string // "*" is every suite
	Task  string // file stem, or a case's name; "" is every task
	Case  int    // number of a trigger task's prompt, -1 is all
}

func (s Spec) String() string {
	out := s.Suite
	if s.Task != "" {
		out += "::" + s.Task
	}
	if s.Case >= 0 {
		out += "::" + strconv.Itoa(s.Case)
	}
	return out
}

// UnknownError is a suite or task that is not there.
type UnknownError struct {
	Kind  string // "suite" or "task"
	Name  string
	Known []string // sorted
}

func (e *UnknownError) Error() string {
	s := fmt.Sprintf("there is no %s %q", e.Kind, e.Name)
	if len(e.Known) == 0 {
		return s + "; there are none"
	}
	if near := task.Near(e.Name, e.Known); near != "" {
		s += fmt.Sprintf("; did you mean %q?", near)
	}
	return s + fmt.Sprintf("; the %ss are %s", e.Kind, strings.Join(e.Known, ", "))
}

// ParseSpec reads a spec.
func ParseSpec(text string) (Spec, error) {
	s := Spec{Case: -1}
	parts := strings.Split(text, "::")
	if len(parts) == 1 && strings.Contains(text, ":") {
		return s, fmt.Errorf("bad suite spec %q: use '::' between suite and task", text)
	}
	if len(parts) > 3 || slices.Contains(parts, "") || slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(p, ":") }) {
		return s, fmt.Errorf("bad suite spec %q: write <suite>, <suite>::<task> or <suite>::<task>::<n>", text)
	}
	s.Suite = parts[0]
	if len(parts) > 1 {
		s.Task = parts[1]
	}
	if len(parts) > 2 {
		n, err := strconv.Atoi(parts[2])
		if err != nil || n < 0 || strings.ContainsAny(parts[2], "+-") {
			return s, fmt.Errorf("bad suite spec %q: the case must be a non-negative integer", text)
		}
		s.Case = n
	}
	return s, nil
}

// ParseSpecs reads all, and says all that is wrong.
func ParseSpecs(texts []string) ([]Spec, error) {
	var out []Spec
	var wrong []string
	for _, text := range texts {
		s, err := ParseSpec(text)
		if err != nil {
			wrong = append(wrong, err.Error())
		}
		out = append(out, s)
	}
	if len(wrong) > 0 {
		return nil, fmt.Errorf("%s", strings.Join(wrong, "\n"))
	}
	return out, nil
}

// SuiteNames are the suites that [Load] needs for the specs; none means all of them.
func SuiteNames(specs []Spec) []string {
	var out []string
	for _, s := range specs {
		if s.Suite == "*" {
			return nil
		}
		out = append(out, s.Suite)
	}
	return out
}

// expand is the specs with every * replaced by the suites it means.
func (p *Project) expand(specs []Spec) ([]Spec, error) {
	var out []Spec
	for _, s := range specs {
		if s.Suite != "*" {
			out = append(out, s)
			continue
		}
		n := len(out)
		for _, su := range p.Suites {
			one := Spec{su.Name, s.Task, s.Case}
			if cases, err := su.cases(one); err == nil && len(cases) > 0 {
				out = append(out, one)
			}
		}
		if len(out) == n {
			return nil, fmt.Errorf("wildcard spec '%s' matched nothing", s)
		}
	}
	return out, nil
}

func (p *Project) suite(name string) *Suite {
	for _, s := range p.Suites {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// cases are what a spec means in its suite.
func (s *Suite) cases(spec Spec) ([]Case, error) {
	var all []Case
	var stems []string
	for _, t := range s.Tasks {
		stems = append(stems, t.Name)
		cases := t.Cases()
		all = append(all, cases...)
		if t.Name != spec.Task {
			continue
		}
		switch {
		case spec.Case < 0:
			return cases, nil
		case t.Kind != Trigger:
			return nil, fmt.Errorf("%s: %s has no cases; only a trigger task has", spec, t.File)
		case spec.Case >= len(cases):
			return nil, fmt.Errorf("%s: %s has %d case(s) (indices 0..%d)", spec, t.File, len(cases), len(cases)-1)
		}
		return cases[spec.Case : spec.Case+1], nil
	}
	if spec.Task == "" {
		return all, nil
	}
	if i := slices.IndexFunc(all, func(c Case) bool { return c.Name == spec.Task }); i >= 0 && spec.Case < 0 {
		return all[i : i+1], nil
	}
	return nil, &UnknownError{Kind: "task", Name: spec.Task, Known: stems}
}
