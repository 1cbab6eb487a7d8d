package suite

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Selection narrows what the specs name.
type Selection struct {
	Tags        []string // these count, although they are excluded by default
	ExcludeTags []string // never these
	AllTags     bool     // no tag is excluded by default
	NoTriggers  bool     // no trigger tasks
	Harness     string   // when given, not the tasks that are for other harnesses
}

// Selected is what is to be run.
type Selected struct {
	Cases []Case
	// ExcludedByTag counts the files left out, each under the first of its tags that excludes it.
	ExcludedByTag map[string]int
	// NotForHarness counts the files that are for other harnesses.
	NotForHarness int
}

// Select finds what the specs name, each once and in their order, and leaves out what the tags
// exclude. To name a task, or the only suite, is to want it in spite of its tags. Nothing left is an
// error: it must not look like a run in which all passed.
func (p *Project) Select(specs []Spec, sel Selection) (Selected, error) {
	out := Selected{ExcludedByTag: map[string]int{}}
	if err := p.knownTags("--tag", sel.Tags); err != nil {
		return out, err
	}
	if err := p.knownTags("--exclude-tag", sel.ExcludeTags); err != nil {
		return out, err
	}
	specs, err := p.expand(specs)
	if err != nil {
		return out, err
	}
	var cases []Case
	seen := map[[2]string]bool{}
	suites := map[string]bool{}
	for _, spec := range specs {
		s := p.suite(spec.Suite)
		if s == nil {
			return out, &UnknownError{Kind: "suite", Name: spec.Suite, Known: p.known}
		}
		suites[s.Name] = true
		named, err := s.cases(spec)
		if err != nil {
			return out, err
		}
		for _, c := range named {
			if id := [2]string{s.Name, c.Name}; !seen[id] {
				seen[id] = true
				cases = append(cases, c)
			}
		}
	}
	byDefault := p.excludedByDefault(sel)
	if len(suites) == 1 {
		for _, tag := range p.suite(specs[0].Suite).Tags {
			delete(byDefault, tag)
		}
	}
	counted := map[*Task]bool{}
	triggers := 0
	for _, c := range cases {
		tag := excluding(c, specs, byDefault, sel.ExcludeTags)
		switch {
		case tag != "":
			if !counted[c.Task] {
				out.ExcludedByTag[tag]++
			}
			counted[c.Task] = true
		case sel.Harness != "" && c.Task.Providers != nil && !slices.Contains(c.Task.Providers, sel.Harness):
			if !counted[c.Task] {
				out.NotForHarness++
			}
			counted[c.Task] = true
		case sel.NoTriggers && c.Task.Kind == Trigger:
			triggers++
		default:
			out.Cases = append(out.Cases, c)
		}
	}
	if len(out.Cases) == 0 {
		return out, nothing(specs, out, triggers, sel)
	}
	return out, nil
}

func (p *Project) knownTags(option string, tags []string) error {
	var unknown []string
	for _, tag := range tags {
		if _, ok := p.Config.Tags[tag]; !ok {
			unknown = append(unknown, tag)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	valid := sortedKeys(p.Config.Tags)
	return fmt.Errorf("%s: unknown tag(s) %s; valid: %s", option, strings.Join(unknown, ", "), cmp.Or(strings.Join(valid, ", "), "none, since config.yaml declares none"))
}

func (p *Project) excludedByDefault(sel Selection) map[string]bool {
	out := map[string]bool{}
	for tag, t := range p.Config.Tags {
		if t.ExcludeByDefault && !sel.AllTags && !slices.Contains(sel.Tags, tag) {
			out[tag] = true
		}
	}
	return out
}

// excluding is the first tag that excludes a case, or "".
func excluding(c Case, specs []Spec, byDefault map[string]bool, always []string) string {
	named := slices.ContainsFunc(specs, func(s Spec) bool {
		return s.Suite == c.Task.Suite.Name && (s.Task == c.Task.Name || s.Task == c.Name)
	})
	for _, tag := range c.Task.AllTags() {
		if slices.Contains(always, tag) || byDefault[tag] && !named {
			return tag
		}
	}
	return ""
}

// nothing says why nothing is left.
func nothing(specs []Spec, out Selected, triggers int, sel Selection) error {
	names := make([]string, len(specs))
	for i, s := range specs {
		names[i] = s.String()
	}
	spec := strings.Join(names, " ")
	switch {
	case len(out.ExcludedByTag) > 0:
		tags := sortedKeys(out.ExcludedByTag)
		if i := slices.IndexFunc(tags, func(tag string) bool { return slices.Contains(sel.ExcludeTags, tag) }); i >= 0 {
			return fmt.Errorf("every task of '%s' is excluded by --exclude-tag %s", spec, tags[i])
		}
		return fmt.Errorf("every task of '%s' is excluded by its tags (%s): use --tag %s or --all-tags", spec, strings.Join(tags, ", "), tags[0])
	case triggers > 0:
		return fmt.Errorf("'%s' has no kind: execute tasks, and trigger tasks are left out of this run", spec)
	case out.NotForHarness > 0:
		return fmt.Errorf("no task of '%s' is for %s", spec, sel.Harness)
	}
	return fmt.Errorf("'%s' names no task", spec)
}

// Header is what a run says of the tasks that are left out, or "".
func (s Selected) Header() string {
	if len(s.ExcludedByTag) == 0 {
		return ""
	}
	total := 0
	var parts []string
	for _, tag := range sortedKeys(s.ExcludedByTag) {
		total += s.ExcludedByTag[tag]
		parts = append(parts, fmt.Sprintf("%s (%d)", tag, s.ExcludedByTag[tag]))
	}
	return fmt.Sprintf("Skipped:  %d task(s) by tag: %s", total, strings.Join(parts, ", "))
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
