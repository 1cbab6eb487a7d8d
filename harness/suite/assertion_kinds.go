package suite

import (
	"fmt"
	"strings"

	"github.com/theory/jsonpath"
)

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
