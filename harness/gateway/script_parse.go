package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/proctor-evals/proctor/internal/tomlspot"
)

var skillName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$`)

var (
	actionKeys    = []string{"fail_with", "load_skill", "read", "run", "say", "write"}
	failCodes     = []int64{400, 401, 429, 500, 529}
	failWords     = []string{"refusal", "truncated", "slow"}
	judgeAnswers  = []string{"yes", "no", "unclear"}
	scriptKeys    = []string{"version", "step", "judge"}
	stepKeys      = append([]string{"content", "otherwise", "times", "when_prompt", "when_skill_offered"}, actionKeys...)
	judgeKeys     = []string{"match", "answer", "reason"}
	maxFailTimes  = int64(1000)
	failWithValid = `400, 401, 429, 500, 529, "refusal", "truncated", "slow"`
)

// ParseScript reads a model script. name is how messages call the file. The error, if any, is a [Problems] with every
// problem of the file; only a TOML syntax error hides the ones behind it.
func ParseScript(name string, data []byte) (*Script, error) {
	p := &scriptParser{file: name}
	if len(data) > maxScriptBytes {
		p.problem(top, "the script is larger than %d bytes; shorten it", maxScriptBytes)
		return nil, p.problems
	}
	var doc map[string]any
	if err := toml.Unmarshal(data, &doc); err != nil {
		at, text := top, err.Error()
		var pe toml.ParseError
		if errors.As(err, &pe) {
			text = pe.Message
			at.line, at.col = tomlspot.Of(string(data), pe)
		}
		p.problem(at, "is not valid TOML: %s; correct the line", text)
		return nil, p.problems
	}
	p.lines = locate(data)
	s := p.script(doc)
	if len(p.problems) > 0 {
		slices.SortStableFunc(p.problems, func(a, b Problem) int { return cmp.Or(a.Line-b.Line, a.Col-b.Col) })
		return nil, p.problems
	}
	s.Name = name
	return s, nil
}

type scriptParser struct {
	file     string
	lines    lineIndex
	problems Problems
}

func (p *scriptParser) problem(at spot, format string, args ...any) {
	p.problems = append(p.problems, Problem{File: p.file, Line: at.line, Col: at.col, Text: fmt.Sprintf(format, args...)})
}

func (p *scriptParser) script(doc map[string]any) *Script {
	s := &Script{}
	root := table{parser: p, values: doc}
	root.unknown("the script", scriptKeys)
	switch v, ok := doc["version"]; {
	case !ok:
		p.problem(top, "version is missing; write version = %d", ScriptVersion)
	case v != int64(ScriptVersion):
		p.problem(root.at("version"), "version is %v; this release reads version = %d", v, ScriptVersion)
	}
	steps := root.tables("step")
	conditionAbove := false
	for _, t := range steps {
		st := p.step(t)
		if st.Otherwise && !conditionAbove {
			p.problem(t.at("otherwise"), "otherwise has no step with a condition above it; add one or drop otherwise")
		}
		if st.WhenSkillOffered != "" || st.WhenPrompt != nil {
			conditionAbove = true
		}
		s.Steps = append(s.Steps, st)
	}
	if _, written := doc["step"]; len(steps) == 0 && (!written || len(p.problems) == 0) {
		p.problem(top, "there is no step; add a [[step]]")
	}
	for _, t := range root.tables("judge") {
		s.Judges = append(s.Judges, p.judge(t))
	}
	return s
}

func (p *scriptParser) step(t table) Step {
	t.unknown("a step", stepKeys)
	head := t.at("")
	st := Step{Line: head.line}
	var actions []string
	for _, k := range actionKeys {
		if _, ok := t.values[k]; ok {
			actions = append(actions, k)
		}
	}
	switch len(actions) {
	case 0:
		p.problem(head, "the step does nothing; give it one of %s", strings.Join(actionKeys, ", "))
	case 1:
		st.Action = Action(actions[0])
		p.action(t, &st)
	default:
		p.problem(head, "the step has %s; split it so that each step has one", strings.Join(actions, " and "))
	}
	p.companions(t, &st)

	if name, ok := t.text("when_skill_offered"); ok {
		st.WhenSkillOffered = name
		p.checkSkill(t, "when_skill_offered", name)
	}
	if expr, ok := t.text("when_prompt"); ok {
		re, err := regexp.Compile(expr)
		if err != nil {
			p.problem(t.at("when_prompt"), "when_prompt is no regular expression: %v; see https://pkg.go.dev/regexp/syntax", err)
		}
		st.WhenPrompt = re
	}
	if v, ok := t.values["otherwise"]; ok {
		if v != true {
			p.problem(t.at("otherwise"), "otherwise is %v; write otherwise = true or drop it", v)
		}
		st.Otherwise = v == true
	}
	if _, prompt := t.values["when_prompt"]; (st.WhenSkillOffered != "" || prompt) && st.Otherwise {
		p.problem(t.at("otherwise"), "the step has both a condition and otherwise; keep one")
		st.Otherwise = false
	}
	return st
}

// action reads the value of the step's one action.
func (p *scriptParser) action(t table, st *Step) {
	key := string(st.Action)
	if st.Action == ActionFailWith {
		st.Arg = p.failWith(t)
		return
	}
	arg, ok := t.text(key)
	if !ok {
		return
	}
	st.Arg = arg
	switch st.Action {
	case ActionLoadSkill:
		p.checkSkill(t, key, arg)
	case ActionRead, ActionWrite:
		if text := pathProblem(arg); text != "" {
			p.problem(t.at(key), "%s = %q %s", key, arg, text)
		}
	default:
		if strings.TrimSpace(arg) == "" {
			p.problem(t.at(key), "%s is blank; write what to %s", key, key)
		}
	}
}

// companions reads the keys that belong to one action only.
func (p *scriptParser) companions(t table, st *Step) {
	_, write := t.values["write"]
	_, content := t.values["content"]
	switch {
	case content && !write:
		p.problem(t.at("content"), "content stands in a step without write; drop it or add write")
	case write && !content:
		p.problem(t.at("write"), "write has no content; add content (it may be empty)")
	case content:
		st.Content, _ = t.text("content")
	}
	st.Times = 1
	v, ok := t.values["times"]
	if !ok {
		return
	}
	if _, fails := t.values["fail_with"]; !fails {
		p.problem(t.at("times"), "times stands in a step without fail_with; drop it")
		return
	}
	n, isInt := v.(int64)
	if !isInt || n < 0 || n > maxFailTimes {
		p.problem(t.at("times"), "times is %v; write a whole number from 0 (for ever) to %d", v, maxFailTimes)
		return
	}
	st.Times = int(n)
}

func (p *scriptParser) failWith(t table) string {
	switch v := t.values["fail_with"].(type) {
	case int64:
		if slices.Contains(failCodes, v) {
			return strconv.FormatInt(v, 10)
		}
	case string:
		if slices.Contains(failWords, v) {
			return v
		}
	}
	p.problem(t.at("fail_with"), "fail_with is %#v; write one of %s", t.values["fail_with"], failWithValid)
	return ""
}

func (p *scriptParser) checkSkill(t table, key, name string) {
	if !skillName.MatchString(name) {
		p.problem(t.at(key), "%s = %q is no skill name; use letters, digits, and . _ - : between them", key, name)
	}
}

func (p *scriptParser) judge(t table) Judge {
	t.unknown("a judge", judgeKeys)
	head := t.at("")
	j := Judge{Line: head.line}
	for _, k := range []string{"match", "answer"} {
		if _, ok := t.values[k]; !ok {
			p.problem(head, "the judge has no %s; add it", k)
		}
	}
	if expr, ok := t.text("match"); ok {
		re, err := regexp.Compile(expr)
		if err != nil {
			p.problem(t.at("match"), "match is no regular expression: %v; see https://pkg.go.dev/regexp/syntax", err)
		}
		j.Match = re
	}
	if answer, ok := t.text("answer"); ok {
		if !slices.Contains(judgeAnswers, answer) {
			p.problem(t.at("answer"), "answer is %q; write one of %s", answer, strings.Join(judgeAnswers, ", "))
		}
		j.Answer = answer
	}
	j.Reason, _ = t.text("reason")
	return j
}

// pathProblem says what is wrong with a path below the project, or "".
func pathProblem(s string) string {
	switch {
	case s == "" || strings.TrimSpace(s) != s:
		return "is blank or padded; write a path below the project"
	case strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~"):
		return "is not relative; write a path below the project"
	case strings.ContainsAny(s, "\\\x00\n"):
		return "holds a backslash, NUL or line break; write a plain path with /"
	case s == ".." || strings.HasPrefix(s, "../") || strings.Contains(s, "/../") || strings.HasSuffix(s, "/.."):
		return "leaves the project with ..; write a path below the project"
	case s == "." || path.Clean(s) != s:
		return fmt.Sprintf("is not clean; write %q", path.Clean(s))
	}
	return ""
}

// A table is one decoded TOML table and where it stands.
type table struct {
	parser *scriptParser
	name   string // "", "step" or "judge"
	n      int    // which of that name, 0-based
	values map[string]any
}

// at is where key stands in the file, or the table itself when key is "" or not found.
func (t table) at(key string) spot { return t.parser.lines.of(t.name, t.n, key) }

// text returns the string at key. A missing key is not ok; neither is another type, which is a problem.
func (t table) text(key string) (string, bool) {
	v, ok := t.values[key]
	if !ok {
		return "", false
	}
	s, ok := v.(string)
	if !ok {
		t.parser.problem(t.at(key), "%s is not a string; put it in quotes", key)
	}
	return s, ok
}

func (t table) unknown(what string, known []string) {
	for _, k := range slices.Sorted(maps.Keys(t.values)) {
		if !slices.Contains(known, k) {
			t.parser.problem(t.at(k), "%s has no key %q; the keys are %s", what, k, strings.Join(slices.Sorted(slices.Values(known)), ", "))
		}
	}
}

// tables returns the tables of an array of tables at key.
func (t table) tables(key string) []table {
	v, ok := t.values[key]
	if !ok {
		return nil
	}
	var list []map[string]any
	switch v := v.(type) {
	case []map[string]any:
		list = v
	case []any: // step = [{…}]
		for _, e := range v {
			m, ok := e.(map[string]any)
			if !ok {
				t.parser.problem(t.at(key), "%s holds something that is no table; write [[%s]] blocks", key, key)
				return nil
			}
			list = append(list, m)
		}
	default:
		t.parser.problem(t.at(key), "%s is not an array of tables; write [[%s]] with two brackets", key, key)
		return nil
	}
	tables := make([]table, len(list))
	for i, m := range list {
		tables[i] = table{parser: t.parser, name: key, n: i, values: m}
	}
	return tables
}
