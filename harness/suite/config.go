package suite

import (
	"path/filepath"
	"strings"
	"time"
)

// The configuration's files, below the evals folder; the second is laid over the first.
const (
	configFile      = "config.yaml"
	localConfigFile = "config.local.yaml"
)

// The last three keys of the file are accepted and say nothing, as in agent-exam, which puts its own
// values in their place.
var (
	configKeys = []string{"default_harness", "skills_dirs", "providers", "judge", "default_task_timeout_seconds",
		"concurrency_groups", "tags", "pre_run", "project_root", "evals_dir", "pre_run_hook"}
	providerKeys = []string{"default_model", "judge_model", "model_aliases", "extra_args", "permission_mode",
		"blocked_plugins", "pure", "writable_roots", "network_access"}
	judgeConfigKeys = []string{"timeout_seconds", "agent_timeout_seconds", "include_trajectory", "pass_on", "model", "provider", "votes"}
)

var harnessNames = []string{"claude_code", "codex_cli", "copilot_cli", "opencode", "dummy"}

// defaultTimeout is an execute task's when nothing else says one, and triggerTimeout the most a
// trigger task gets unless it says so itself.
const (
	defaultTimeout = 300 * time.Second
	triggerTimeout = 60 * time.Second
)

// config reads the merged configuration. A nil v is that of no file.
func (d *decoder) config(v *value, root string, isDir func(string) bool) Config {
	c := Config{
		DefaultHarness: "claude_code", Providers: map[string]Provider{}, DefaultTimeout: defaultTimeout,
		ConcurrencyGroups: map[string]int{}, Tags: map[string]Tag{},
		Judge: JudgeConfig{Timeout: 60 * time.Second, AgentTimeout: 300 * time.Second, IncludeTrajectory: true, PassOn: []string{"YES"}, Votes: 1},
	}
	standard := filepath.Join(root, "skills")
	if v == nil || v.isNull() {
		if isDir(standard) {
			c.SkillsDirs = []string{standard}
		}
		return c
	}
	if v.kind != isMap {
		d.add(v.at, "", "the file must be a YAML mapping", "")
		return c
	}
	o := d.object(v, "", configKeys...)
	if h := o.get("default_harness"); h != nil {
		c.DefaultHarness = d.harnessName(h, "default_harness")
	}
	switch dirs := o.get("skills_dirs"); {
	case dirs == nil && isDir(standard):
		c.SkillsDirs = []string{standard}
	case dirs != nil && !dirs.isNull():
		c.SkillsDirs = []string{}
		for i, s := range o.texts("skills_dirs") {
			if strings.TrimSpace(s) == "" {
				d.add(dirs.items[i].at, "skills_dirs", "a folder's name is empty", "")
				continue
			}
			dir := filepath.FromSlash(s)
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(root, dir)
			}
			c.SkillsDirs = append(c.SkillsDirs, filepath.Clean(dir))
		}
	}
	if p := o.get("providers"); p != nil {
		for name, block := range d.entries(p, "providers") {
			d.harnessName(block.name, "providers."+name)
			c.Providers[name] = d.provider(block.value, "providers."+name)
		}
	}
	if j := o.get("judge"); j != nil {
		c.Judge = d.judgeConfig(j, c.Judge)
	}
	c.DefaultTimeout = time.Duration(o.integer("default_task_timeout_seconds", 1, int(defaultTimeout/time.Second))) * time.Second
	if g := o.get("concurrency_groups"); g != nil {
		groups := &object{d, g, "concurrency_groups"}
		for name := range d.entries(g, "concurrency_groups") {
			c.ConcurrencyGroups[name] = groups.integer(name, 1, 1)
		}
	}
	if t := o.get("tags"); t != nil {
		for name, block := range d.entries(t, "tags") {
			tag := d.object(block.value, "tags."+name, "exclude_by_default")
			if b := tag.boolean("exclude_by_default"); b != nil {
				c.Tags[name] = Tag{ExcludeByDefault: *b}
			} else {
				c.Tags[name] = Tag{}
			}
		}
	}
	if p := o.given("pre_run"); p != nil {
		c.PreRun = d.words(p, "pre_run")
	}
	return c
}

type entry struct {
	name  *value // where the key stands
	value *value
}

// entries are those of a mapping with free keys.
func (d *decoder) entries(v *value, loc string) map[string]entry {
	out := map[string]entry{}
	if v.kind != isMap {
		d.add(v.at, loc, wantMap, "")
		return out
	}
	for _, f := range v.fields {
		if _, ok := f.key.(string); !ok {
			d.add(f.at, loc+"."+f.name, wantString, "quote the key")
			continue
		}
		out[f.name] = entry{&value{at: f.at, scalar: f.name}, f.value}
	}
	return out
}

func (d *decoder) provider(v *value, loc string) Provider {
	o := d.object(v, loc, providerKeys...)
	p := Provider{
		DefaultModel: o.optional("default_model"), JudgeModel: o.optional("judge_model"), ModelAliases: map[string]string{},
		ExtraArgs: o.texts("extra_args"), PermissionMode: o.optional("permission_mode"), BlockedPlugins: o.texts("blocked_plugins"),
		Pure: true, WritableRoots: o.texts("writable_roots"), NetworkAccess: o.boolean("network_access"),
	}
	if v := o.get("model_aliases"); v != nil {
		for name, e := range d.entries(v, o.at("model_aliases")) {
			p.ModelAliases[name], _ = d.text(e.value, o.at("model_aliases")+"."+name)
		}
	}
	if v := o.get("pure"); v != nil {
		switch b := o.boolean("pure"); {
		case b != nil:
			p.Pure = *b
		case v.isNull():
			d.add(v.at, o.at("pure"), wantBool, "")
		}
	}
	return p
}

func (d *decoder) judgeConfig(v *value, def JudgeConfig) JudgeConfig {
	o := d.object(v, "judge", judgeConfigKeys...)
	j := def
	j.Timeout = time.Duration(o.integer("timeout_seconds", 1, int(def.Timeout/time.Second))) * time.Second
	j.AgentTimeout = time.Duration(o.integer("agent_timeout_seconds", 1, int(def.AgentTimeout/time.Second))) * time.Second
	if b := o.boolean("include_trajectory"); b != nil {
		j.IncludeTrajectory = *b
	}
	if verdicts := d.verdicts(o, "pass_on", true); len(verdicts) > 0 {
		j.PassOn = verdicts
	}
	j.Model = o.optional("model")
	if p := o.given("provider"); p != nil {
		j.Provider = d.harnessName(p, "judge.provider")
	}
	if n := o.strictInteger("votes", 1); n != nil {
		j.Votes = *n
		d.odd(o.get("votes"), "judge.votes", *n)
	}
	return j
}

// odd wants a number of votes that has a majority.
func (d *decoder) odd(v *value, loc string, votes int) {
	switch {
	case votes%2 == 0:
		d.add(v.at, loc, "an even number of votes may have no majority", "use an odd number")
	case votes > 99:
		d.add(v.at, loc, "more than 99 votes", "")
	}
}

// harnessName wants the name of a harness.
func (d *decoder) harnessName(v *value, loc string) string {
	s, ok := d.text(v, loc)
	if !ok {
		return s
	}
	for _, h := range harnessNames {
		if s == h {
			return s
		}
	}
	fix := "the harnesses are " + strings.Join(harnessNames[:4], ", ")
	for harness, client := range clients {
		if client == s {
			fix = "it is called " + harness + " here"
		}
	}
	d.add(v.at, loc, "unknown harness name "+quoted(s), fix)
	return s
}

// words is a command: a list of words, or one line for the shell.
func (d *decoder) words(v *value, loc string) []string {
	if v.kind != isList {
		if line := d.filled(v, loc); strings.TrimSpace(line) != "" {
			return []string{"bash", "-c", line}
		}
		return nil
	}
	var out []string
	for i, item := range v.items {
		if s, ok := d.text(item, loc+index(i)); ok {
			out = append(out, s)
		}
	}
	if len(v.items) == 0 || len(out) > 0 && strings.TrimSpace(out[0]) == "" {
		d.add(v.at, loc, "a command has at least a program", "")
	}
	return out
}
