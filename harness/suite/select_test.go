package suite

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseSpec(t *testing.T) {
	for text, want := range map[string]Spec{
		"s":             {"s", "", -1},
		"s::trigger":    {"s", "trigger", -1},
		"s::trigger::2": {"s", "trigger", 2},
		"*":             {"*", "", -1},
		"*::x":          {"*", "x", -1},
		"*::trig::0":    {"*", "trig", 0},
	} {
		got, err := ParseSpec(text)
		require.NoError(t, err)
		assert.Equal(t, want, got)
		assert.Equal(t, text, got.String())
	}
	for text, message := range map[string]string{
		"s::trigger::last":     "non-negative integer",
		"s::trigger::-1":       "non-negative integer",
		"s::trigger::+1":       "non-negative integer",
		"s::trigger::0::extra": "bad suite spec",
		"s:t":                  "use '::'",
		"":                     "bad suite spec",
		"s::":                  "bad suite spec",
		"::t":                  "bad suite spec",
		"s:::t":                "bad suite spec",
	} {
		_, err := ParseSpec(text)
		assert.ErrorContains(t, err, message, text)
	}
	_, err := ParseSpecs([]string{"a", "s:t", "s::"})
	assert.ErrorContains(t, err, "s:t")
	assert.ErrorContains(t, err, `"s::"`)
	assert.Nil(t, SuiteNames([]Spec{{"a", "", -1}, {"*", "", -1}}))
	assert.Equal(t, []string{"a", "b"}, SuiteNames([]Spec{{"a", "", -1}, {"b", "", -1}}))
}

// project has the tasks of rows C4 to C12, and trigger tasks.
func project(t *testing.T, extra files) *Project {
	t.Helper()
	f := files{
		"config.yaml":                     "tags: {expensive: {exclude_by_default: true}, remote-account: {exclude_by_default: true}, plain: {}}\n",
		"suites/cheap/tasks/quick.yaml":   "prompt: x",
		"suites/pricey/tasks/slow.yaml":   "{prompt: x, tags: [expensive]}",
		"suites/pricey/tasks/remote.yaml": "{prompt: x, tags: [expensive, remote-account]}",
	}
	for name, content := range extra {
		f[name] = content
	}
	p, err := Load(f.write(t))
	require.NoError(t, err)
	return p
}

var triggers = files{
	"suites/t/tasks/trig.yaml": "{kind: trigger, skill: x, positive: [a, b], negative: [c], tags: [expensive]}",
	"suites/t/tasks/more.yaml": "{prompt: x}",
}

var worn = files{"suites/pricey/suite.yml": "tags: [expensive]"}

func TestSelect(t *testing.T) {
	for name, row := range map[string]struct {
		extra    files
		specs    []string
		sel      Selection
		want     []string
		excluded map[string]int
	}{
		"C1 one case":                     {triggers, []string{"t::trig::2"}, Selection{}, []string{"t::trig-2"}, nil},
		"C1 a case by its name":           {triggers, []string{"t::trig-1"}, Selection{}, []string{"t::trig-1"}, nil},
		"C4 both excluded":                {nil, []string{"*"}, Selection{}, []string{"cheap::quick"}, map[string]int{"expensive": 2}},
		"C7 a named task":                 {nil, []string{"cheap", "pricey::slow"}, Selection{}, []string{"cheap::quick", "pricey::slow"}, nil},
		"C8 a named trigger file":         {triggers, []string{"t::trig"}, Selection{}, []string{"t::trig-0", "t::trig-1", "t::trig-2"}, nil},
		"C9 include":                      {nil, []string{"*"}, Selection{Tags: []string{"expensive"}}, []string{"cheap::quick", "pricey::slow"}, map[string]int{"remote-account": 1}},
		"C10 all tags":                    {nil, []string{"*"}, Selection{AllTags: true}, []string{"cheap::quick", "pricey::remote", "pricey::slow"}, nil},
		"C12 all tags but one":            {nil, []string{"*"}, Selection{AllTags: true, ExcludeTags: []string{"remote-account"}}, []string{"cheap::quick", "pricey::slow"}, map[string]int{"remote-account": 1}},
		"the only suite's own tags":       {worn, []string{"pricey"}, Selection{}, []string{"pricey::slow"}, map[string]int{"remote-account": 1}},
		"a suite's tags among suites":     {worn, []string{"*"}, Selection{}, []string{"cheap::quick"}, map[string]int{"expensive": 2}},
		"a wildcard names tasks":          {nil, []string{"*::slow"}, Selection{}, []string{"pricey::slow"}, nil},
		"excluded although named":         {nil, []string{"cheap", "pricey::slow"}, Selection{ExcludeTags: []string{"expensive"}}, []string{"cheap::quick"}, map[string]int{"expensive": 1}},
		"C16 a case of a wildcard":        {triggers, []string{"*::trig::0"}, Selection{}, []string{"t::trig-0"}, nil},
		"once, in the order of the specs": {nil, []string{"pricey::slow", "cheap", "cheap::quick", "*::slow"}, Selection{}, []string{"pricey::slow", "cheap::quick"}, nil},
		"a trigger file counts once":      {triggers, []string{"t"}, Selection{}, []string{"t::more"}, map[string]int{"expensive": 1}},
		"I14 no triggers":                 {triggers, []string{"t"}, Selection{NoTriggers: true, AllTags: true}, []string{"t::more"}, nil},
		"for another harness":             {files{"suites/cheap/tasks/only.yaml": "{prompt: x, providers: [opencode]}"}, []string{"cheap"}, Selection{Harness: "codex_cli"}, []string{"cheap::quick"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			specs, err := ParseSpecs(row.specs)
			require.NoError(t, err)
			got, err := project(t, row.extra).Select(specs, row.sel)
			require.NoError(t, err)
			var names []string
			for _, c := range got.Cases {
				names = append(names, c.Task.Suite.Name+"::"+c.Name)
			}
			assert.Equal(t, row.want, names)
			if row.excluded == nil {
				row.excluded = map[string]int{}
				assert.Empty(t, got.Header())
			}
			assert.Equal(t, row.excluded, got.ExcludedByTag)
		})
	}
	got, err := project(t, nil).Select([]Spec{{"*", "", -1}}, Selection{})
	require.NoError(t, err)
	assert.Equal(t, "Skipped:  2 task(s) by tag: expensive (2)", got.Header())
}

func TestSelectIsRefused(t *testing.T) {
	for name, row := range map[string]struct {
		extra   files
		spec    string
		sel     Selection
		message string
	}{
		"C3 case":            {triggers, "t::trig::9", Selection{}, "has 3 case(s) (indices 0..2)"},
		"no cases":           {triggers, "t::more::0", Selection{}, "has no cases; only a trigger task has"},
		"C6, C14 by default": {nil, "pricey", Selection{}, "every task of 'pricey' is excluded by its tags (expensive): use --tag expensive or --all-tags"},
		"C13 include":        {nil, "*", Selection{Tags: []string{"expensiv"}}, "--tag: unknown tag(s) expensiv; valid: expensive, plain, remote-account"},
		"C13 exclude":        {nil, "*", Selection{ExcludeTags: []string{"x", "y"}}, "--exclude-tag: unknown tag(s) x, y"},
		"no globs":           {nil, "pricey::*", Selection{}, `there is no task "*"`},
		"C14 by the option":  {nil, "pricey", Selection{AllTags: true, ExcludeTags: []string{"expensive"}}, "every task of 'pricey' is excluded by --exclude-tag expensive"},
		"C16 wildcard":       {triggers, "*::trig::9", Selection{}, "wildcard spec '*::trig::9' matched nothing"},
		"unknown suite":      {nil, "chep", Selection{}, `there is no suite "chep"; did you mean "cheap"?; the suites are cheap, pricey`},
		"unknown task":       {nil, "cheap::quik", Selection{}, `there is no task "quik"; did you mean "quick"?; the tasks are quick`},
		"I13 triggers only":  {triggers, "t::trig", Selection{NoTriggers: true}, "no kind: execute"},
		"another harness":    {files{"suites/o/tasks/only.yaml": "{prompt: x, providers: [opencode]}"}, "o", Selection{Harness: "codex_cli"}, "no task of 'o' is for codex_cli"},
	} {
		t.Run(name, func(t *testing.T) {
			spec, err := ParseSpec(row.spec)
			require.NoError(t, err)
			_, err = project(t, row.extra).Select([]Spec{spec}, row.sel)
			assert.ErrorContains(t, err, row.message)
		})
	}
}

func TestEvaluatedSkills(t *testing.T) {
	p := project(t, files{"suites/cheap/suite.yml": "evaluated_skills: [a, cheap]"})
	got, err := p.Select([]Spec{{"*", "", -1}}, Selection{AllTags: true})
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "cheap", "pricey"}, EvaluatedSkills(got.Cases))
}
