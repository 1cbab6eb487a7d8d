package suite

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

var (
	commonKeys = []string{"kind", "description", "setup", "timeout_seconds", "concurrency_group", "tags", "providers",
		"claude_code", "codex_cli", "opencode", "copilot_cli", "dummy"}
	executeKeys = append(slices.Clone(commonKeys), "prompt", "assertions", "known_issue")
	triggerKeys = append(slices.Clone(commonKeys), "skill", "positive", "negative")
)

// suiteFile reads suite.yml into s; a nil v is that of no file.
func (d *decoder) suiteFile(v *value, s *Suite) {
	s.EvaluatedSkills = []string{s.Name}
	if v == nil || v.isNull() {
		return
	}
	if v.kind != isMap {
		d.add(v.at, "", "the file must be a YAML mapping", "")
		return
	}
	o := d.object(v, "", "evaluated_skills", "tags")
	if skills := o.optionalTexts("evaluated_skills"); len(skills) > 0 {
		s.EvaluatedSkills = skills
	}
	s.Tags, s.tagsAt = o.tags()
}

// tags are a list of tags and where each stands.
func (o *object) tags() (tags []string, at []spot) {
	for i, v := range o.list("tags") {
		if tag, ok := o.d.text(v, o.at("tags")+index(i)); ok {
			tags, at = append(tags, tag), append(at, v.at)
		}
	}
	return tags, at
}

// task reads a task file.
func (d *decoder) task(v *value, t *Task, judge JudgeConfig) {
	if v.isNull() { // the file is empty
		v = &value{at: v.at, kind: isMap}
	}
	if v.kind != isMap {
		d.add(v.at, "", "task file must be a YAML mapping", "")
		return
	}
	t.Kind = Execute
	if k := v.get("kind"); k != nil {
		switch s, _ := k.scalar.(string); Kind(s) {
		case Execute, Trigger:
			t.Kind = Kind(s)
		default:
			d.add(k.at, "kind", fmt.Sprintf("Input tag %s does not match any of the expected tags: 'execute', 'trigger'", k.shown()), "")
			return
		}
	}
	keys := executeKeys
	if t.Kind == Trigger {
		keys = triggerKeys
	}
	o := d.object(v, string(t.Kind), keys...)
	t.Description = o.optional("description")
	o.setup(t)
	t.Timeout = o.seconds("timeout_seconds")
	t.Group = o.optional("concurrency_group")
	if g := o.given("concurrency_group"); g != nil {
		t.places.group = g.at
	}
	t.Tags, t.places.tags = o.tags()
	t.Providers = d.providers(o, "providers")
	t.Harness = o.harness()
	if t.Kind == Trigger {
		o.trigger(t)
		return
	}
	t.Prompt = o.requiredText("prompt")
	t.KnownIssue = o.note("known_issue")
	if a := o.get("assertions"); a != nil {
		t.Assertions = d.assertions(a, o.at("assertions"), judge)
	}
}

// shown is a value in a message.
func (v *value) shown() string {
	if v.kind == isScalar {
		text, _ := pythonText(v.scalar)
		return quoted(text)
	}
	return "of another type"
}

func (o *object) trigger(t *Task) {
	t.Skill = o.requiredText("skill")
	lists := []*[]string{&t.Positive, &t.Negative}
	for i, key := range []string{"positive", "negative"} {
		for j, v := range o.list(key) {
			s, ok := v.scalar.(string)
			if !ok || strings.TrimSpace(s) == "" {
				o.d.add(v.at, o.at(key)+index(j), "must be a non-empty string", "")
			}
			*lists[i] = append(*lists[i], s)
		}
	}
	if len(t.Positive)+len(t.Negative) == 0 && o.v != nil {
		o.d.add(o.v.at, o.loc, "at least one of positive and negative must hold a prompt", "")
	}
}

func (o *object) setup(t *Task) {
	v := o.get("setup")
	if v == nil {
		return
	}
	s := o.d.object(v, o.at("setup"), "fixture", "env")
	t.Setup.Fixture = s.optional("fixture")
	if f := s.given("fixture"); f != nil {
		t.places.fixture = f.at
		if t.Setup.Fixture == "" && f.kind == isScalar {
			o.d.add(f.at, s.at("fixture"), "must be a non-empty string", "remove the key for an empty folder")
		}
	}
	env := s.get("env")
	if env == nil {
		return
	}
	if env.kind != isMap {
		o.d.add(env.at, s.at("env"), wantMap, "")
		return
	}
	t.Setup.Env = map[string]*string{}
	for _, f := range env.fields {
		loc := s.at("env") + "." + f.name
		if f.name == "" || strings.ContainsAny(f.name, "=\x00") {
			o.d.add(f.at, loc, "this is no name of an environment variable", "")
			continue
		}
		text, ok := pythonText(f.value.scalar)
		switch {
		case f.value.kind != isScalar || !ok:
			o.d.add(f.value.at, loc, "a list or mapping is no value of an environment variable", "write it as one quoted text")
		case strings.ContainsRune(text, 0):
			o.d.add(f.value.at, loc, "the value holds a NUL character", "")
		case f.value.isNull():
			t.Setup.Env[f.name] = nil
		default:
			t.Setup.Env[f.name] = &text
		}
	}
}

// AllTags are the task's tags and its suite's, sorted, each once.
func (t *Task) AllTags() []string {
	all := slices.Concat(t.Tags, t.Suite.Tags)
	slices.Sort(all)
	return slices.Compact(all)
}

// Deadline is the time of one attempt: the task's own, or its kind's default.
func (t *Task) Deadline(c Config) time.Duration {
	switch {
	case t.Timeout > 0:
		return t.Timeout
	case t.Kind == Trigger:
		return min(triggerTimeout, c.DefaultTimeout)
	}
	return c.DefaultTimeout
}

// Cases are what is run of the task: itself, or one for each prompt of a trigger task, the positive
// ones first, numbered from 0.
func (t *Task) Cases() []Case {
	if t.Kind == Execute {
		return []Case{{Task: t, Name: t.Name, Prompt: t.Prompt, Assertions: t.Assertions}}
	}
	var out []Case
	for i, prompt := range slices.Concat(t.Positive, t.Negative) {
		c := Case{Task: t, Name: fmt.Sprintf("%s-%d", t.Name, i), Prompt: prompt, Positive: i < len(t.Positive)}
		a := Assertion{Type: "skill_not_invoked", Check: SkillNotInvoked{t.Skill}, Raw: t.Skill, At: t.places.file.Place}
		if c.Positive {
			a.Type, a.Check = "first_skill", FirstSkill{t.Skill}
		}
		c.Assertions = []Assertion{a}
		out = append(out, c)
	}
	return out
}
