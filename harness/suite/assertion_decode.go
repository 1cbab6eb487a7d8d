package suite

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/theory/jsonpath"

	"github.com/proctor-evals/proctor/harness/task"
)

const atLeastOne = "List should have at least 1 item"

// kindOf tells how an assertion's value is read.
type kindOf struct {
	short string   // the key that a scalar sets; "" when a mapping is needed
	keys  []string // of the mapping
	read  func(r *assertionReader) Check
}

// assertionReader reads the value of one assertion.
type assertionReader struct {
	*object
	config JudgeConfig
}

var skillKeys = []string{"skill"}

// kinds are all assertions. A function: its readers name it.
func kinds() map[string]kindOf {
	return map[string]kindOf{
		"file_exists":          {"path", []string{"path"}, func(r *assertionReader) Check { return FileExists{r.path(true)} }},
		"file_contains":        {"", []string{"path", "pattern", "regex"}, (*assertionReader).fileContains},
		"tool_called":          {"name", []string{"name", "input"}, func(r *assertionReader) Check { return ToolCalled{r.name("name"), r.input()} }},
		"tool_not_called":      {"name", []string{"name", "input"}, func(r *assertionReader) Check { return ToolNotCalled{r.name("name"), r.input()} }},
		"tool_count":           {"", []string{"name", "exactly", "min", "max"}, (*assertionReader).toolCount},
		"first_skill":          {"skill", skillKeys, func(r *assertionReader) Check { return FirstSkill{r.name("skill")} }},
		"skill_invoked":        {"skill", skillKeys, func(r *assertionReader) Check { return SkillInvoked{r.name("skill")} }},
		"skill_not_invoked":    {"skill", skillKeys, func(r *assertionReader) Check { return SkillNotInvoked{r.name("skill")} }},
		"no_permission_errors": {"", nil, func(*assertionReader) Check { return NoPermissionErrors{} }},
		"judge":                {"criterion", judgeKeys, func(r *assertionReader) Check { return r.judge(false) }},
		"judge_agent":          {"criterion", judgeKeys, func(r *assertionReader) Check { return r.judge(true) }},
		"tool_order":           {"names", []string{"names"}, (*assertionReader).toolOrder},
		"command":              {"run", []string{"run", "exit_code", "output", "timeout_seconds"}, (*assertionReader).command},
		"response_contains":    {"pattern", []string{"pattern", "regex"}, (*assertionReader).responseContains},
		"json_path":            {"", []string{"path", "query", "equals", "matches"}, (*assertionReader).jsonPath},
		"max_cost":             {"usd", []string{"usd"}, func(r *assertionReader) Check { return MaxCost{r.bound("usd", true)} }},
		"max_turns":            {"turns", []string{"turns"}, (*assertionReader).maxTurns},
		"max_seconds":          {"seconds", []string{"seconds"}, func(r *assertionReader) Check { return MaxSeconds{r.bound("seconds", false)} }},
	}
}

var judgeKeys = []string{"criterion", "include_trajectory", "pass_on", "model", "votes"}

// assertions reads a task's list.
func (d *decoder) assertions(v *value, loc string, config JudgeConfig) []Assertion {
	if v.kind != isList {
		d.add(v.at, loc, "must be a list", "")
		return nil
	}
	var out []Assertion
	for i, item := range v.items {
		if a, ok := d.assertion(item, loc+index(i), config); ok {
			out = append(out, a)
		}
	}
	return out
}

func (d *decoder) assertion(v *value, loc string, config JudgeConfig) (Assertion, bool) {
	if v.kind != isMap {
		d.add(v.at, loc, "an assertion must be a mapping", "write `- type: value`")
		return Assertion{}, false
	}
	var types []field
	for _, f := range v.fields {
		if f.name != "known_issue" && f.name != "providers" {
			types = append(types, f)
		}
	}
	meta := &object{d, v, loc}
	a := Assertion{KnownIssue: meta.note("known_issue"), Providers: d.providers(meta, "providers")}
	if len(types) != 1 {
		var names []string
		for _, f := range types {
			names = append(names, f.name)
		}
		what := "there is none"
		if len(names) > 0 {
			what = "there are " + strings.Join(names, ", ")
		}
		d.add(v.at, loc, "an assertion has exactly one type key; "+what, "write one entry for each")
		return a, false
	}
	f := types[0]
	kind, ok := kinds()[f.name]
	if _, isText := f.key.(string); !ok || !isText {
		known := slices.Sorted(maps.Keys(kinds()))
		fix := "the types are " + strings.Join(known, ", ")
		if near := task.Near(f.name, known); near != "" {
			fix = fmt.Sprintf("did you mean %s?", near)
		}
		d.add(f.at, loc, "unknown assertion type "+quoted(f.name), fix)
		return a, false
	}
	a.Type, a.Raw, a.At = f.name, f.value.json(), f.at.Place
	before := len(d.problems)
	a.Check = kind.read(&assertionReader{d.wrapped(f.value, loc+"."+f.name, kind), config})
	return a, len(d.problems) == before
}

// wrapped is the mapping form of an assertion's value.
func (d *decoder) wrapped(v *value, loc string, kind kindOf) *object {
	if v.kind != isMap && kind.short != "" {
		v = &value{at: v.at, kind: isMap, fields: []field{{kind.short, kind.short, v.at, v}}}
	}
	if v.isNull() && kind.short == "" && len(kind.keys) == 0 {
		v = &value{at: v.at, kind: isMap}
	}
	return d.object(v, loc, kind.keys...)
}

// providers reads a list of harness names, which may not be empty.
func (d *decoder) providers(o *object, key string) []string {
	v := o.given(key)
	if v == nil {
		return nil
	}
	if v.kind != isList || len(v.items) == 0 {
		d.add(v.at, o.at(key), "must be a non-empty list of harness names", "remove the key to mean all")
		return nil
	}
	var out []string
	for i, item := range v.items {
		out = append(out, d.harnessName(item, o.at(key)+index(i)))
	}
	return out
}

// verdicts reads pass_on.
func (d *decoder) verdicts(o *object, key string, mayBeEmpty bool) []string {
	if o.get(key) == nil || !mayBeEmpty && o.given(key) == nil {
		return nil
	}
	v := o.get(key)
	var out []string
	for i, item := range o.list(key) {
		loc := o.at(key) + index(i)
		if s, ok := item.scalar.(string); ok && strings.TrimSpace(s) == "" {
			d.add(item.at, loc, "must be a non-empty string", "")
			continue
		}
		out = append(out, d.choice(item, loc, "YES", "NO", "UNCLEAR"))
	}
	if v.kind == isList && len(v.items) == 0 && !mayBeEmpty {
		d.add(v.at, o.at(key), atLeastOne, "")
	}
	return out
}

// name is a required text of at least one character.
func (r *assertionReader) name(key string) string {
	v := r.need(key)
	if v == nil {
		return ""
	}
	s, ok := r.d.text(v, r.at(key))
	if ok && strings.TrimSpace(s) == "" {
		r.d.add(v.at, r.at(key), "String should have at least 1 character", "")
	}
	return s
}

// path is a path in the working directory.
func (r *assertionReader) path(needed bool) string {
	v := r.given("path")
	if needed {
		v = r.need("path")
	}
	if v == nil {
		return ""
	}
	s, ok := r.d.text(v, r.at("path"))
	if !ok {
		return s
	}
	clean := path.Clean(s)
	switch {
	case s == "" || clean == ".":
		r.d.add(v.at, r.at("path"), "the path names no file", "")
	case strings.HasPrefix(s, "/") || clean == ".." || strings.HasPrefix(clean, "../") || strings.ContainsAny(s, "\x00"):
		r.d.add(v.at, r.at("path"), "the path "+quoted(s)+" leaves the working directory", "name a file in it")
	}
	return clean
}

// regexp compiles a value's text; nil when it is missing.
func (r *assertionReader) regexp(v *value, loc string) *Regexp {
	if v == nil {
		return nil
	}
	s, ok := r.d.text(v, loc)
	if !ok {
		return nil
	}
	re, err := Compile(s)
	if err != nil {
		r.d.add(v.at, loc, err.Error(), "")
	}
	return re
}

func (r *assertionReader) pattern(empty bool) (string, *Regexp) {
	v := r.need("pattern")
	asRegexp := r.strictBool("regex", false)
	if v == nil {
		return "", nil
	}
	s, ok := r.d.text(v, r.at("pattern"))
	if ok && s == "" && !empty {
		r.d.add(v.at, r.at("pattern"), "String should have at least 1 character", "every answer contains the empty text")
	}
	if !asRegexp || !ok {
		return s, nil
	}
	return s, r.regexp(v, r.at("pattern"))
}

func (r *assertionReader) fileContains() Check {
	c := FileContains{Path: r.path(true)}
	c.Pattern, c.Regex = r.pattern(true)
	return c
}

func (r *assertionReader) responseContains() Check {
	var c ResponseContains
	c.Pattern, c.Regex = r.pattern(false)
	return c
}

func (r *assertionReader) input() map[string]*Regexp {
	v := r.given("input")
	if v == nil {
		return nil
	}
	out := map[string]*Regexp{}
	for key, e := range r.d.entries(v, r.at("input")) {
		if re := r.regexp(e.value, r.at("input")+"."+key); re != nil {
			out[key] = re
		}
	}
	return out
}

func (r *assertionReader) toolCount() Check {
	c := ToolCount{Name: r.name("name"), Exactly: r.strictInteger("exactly", 0), Min: r.strictInteger("min", 0), Max: r.strictInteger("max", 0)}
	if r.v == nil {
		return c
	}
	exactly, bounds := r.given("exactly") != nil, r.given("min") != nil || r.given("max") != nil
	switch {
	case !exactly && !bounds:
		r.d.add(r.v.at, r.loc, "tool_count needs exactly, min or max", "")
	case exactly && bounds:
		r.d.add(r.v.at, r.loc, "exactly cannot stand with both it and min or max", "keep one of the two")
	case c.Min != nil && c.Max != nil && *c.Min > *c.Max:
		r.d.add(r.v.at, r.loc, "min must be <= max", "")
	}
	return c
}

func (r *assertionReader) judge(agent bool) Check {
	j := Judge{Agent: agent, IncludeTrajectory: r.strictBool("include_trajectory", r.config.IncludeTrajectory), Model: r.optional("model")}
	if v := r.need("criterion"); v != nil {
		s, ok := r.d.text(v, r.at("criterion"))
		if ok && strings.TrimSpace(s) == "" {
			r.d.add(v.at, r.at("criterion"), "criterion is empty or whitespace", "")
		}
		j.Criterion = s
	}
	j.PassOn = r.d.verdicts(r.object, "pass_on", false)
	if n := r.strictInteger("votes", 1); n != nil {
		j.Votes = *n
		r.d.odd(r.get("votes"), r.at("votes"), *n)
	}
	return j
}

func (r *assertionReader) toolOrder() Check {
	var c ToolOrder
	v := r.need("names")
	if v == nil {
		return c
	}
	for i, item := range r.list("names") {
		if s := r.d.filled(item, r.at("names")+index(i)); s != "" {
			c.Names = append(c.Names, s)
		}
	}
	if v.kind == isList && len(v.items) < 2 {
		r.d.add(v.at, r.at("names"), "an order has at least two tools", "use tool_called for one")
	}
	return c
}

func (r *assertionReader) command() Check {
	c := Command{Timeout: r.seconds("timeout_seconds")}
	if v := r.need("run"); v != nil {
		c.Run = r.d.words(v, r.at("run"))
	}
	if n := r.strictInteger("exit_code", 0); n != nil {
		c.ExitCode = *n
		if *n > 255 {
			r.d.add(r.get("exit_code").at, r.at("exit_code"), "Input should be less than or equal to 255", "")
		}
	}
	c.Output = r.regexp(r.given("output"), r.at("output"))
	return c
}

func (r *assertionReader) jsonPath() Check {
	c := JSONPath{Path: r.path(false), Query: r.name("query")}
	if v := r.given("query"); v != nil && c.Query != "" {
		if _, err := jsonpath.Parse(c.Query); err != nil {
			r.d.add(v.at, r.at("query"), fmt.Sprintf("%s is no JSONPath: %v", quoted(c.Query), err), "write it as RFC 9535 has it, such as $.a[0].b")
		}
	}
	if v := r.get("equals"); v != nil {
		c.Equals, c.HasEqual = v.json(), true
	}
	c.Matches = r.regexp(r.given("matches"), r.at("matches"))
	if c.HasEqual && r.given("matches") != nil {
		r.d.add(r.v.at, r.loc, "equals and matches cannot stand together", "keep one, or write two assertions")
	}
	return c
}

func (r *assertionReader) maxTurns() Check {
	var c MaxTurns
	if v := r.need("turns"); v != nil && v.isNull() {
		r.d.add(v.at, r.at("turns"), wantInteger, "")
	}
	if n := r.strictInteger("turns", 1); n != nil {
		c.Turns = *n
	}
	return c
}

// bound is a number that must be there.
func (r *assertionReader) bound(key string, zero bool) float64 {
	if v := r.need(key); v != nil && v.isNull() {
		r.d.add(v.at, r.at(key), wantNumber, "")
	}
	return r.number(key, zero)
}

func index(i int) string { return "[" + strconv.Itoa(i) + "]" }

func quoted(s string) string { return strconv.Quote(s) }
