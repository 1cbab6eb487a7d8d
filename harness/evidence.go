package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/grade"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/symposium"
	"github.com/proctor-evals/proctor/harness/transcript"
	"github.com/proctor-evals/proctor/harness/workspace"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// snapshot is what the configuration files said at one time: by name ("home/.claude/settings.json"),
// the compared part in canonical JSON. It is held by the runner, outside the run.
type snapshot map[string]string

// snapshot reads the client's and Symposium's configuration in the run, guarded.
func (t *trial) snapshot() snapshot {
	files := append(t.adapter.ConfigFiles(), client.ConfigFile{Base: "home", Path: symposium.ConfigFile})
	out := snapshot{}
	for _, f := range files {
		if f.Folder {
			if text := folderText(t.space.Path(f.Base), f.Path); text != "" {
				out[path.Join(f.Base, f.Path)] = text
			}
			continue
		}
		data, cut, err := treecopy.ReadFile(t.space.Path(f.Base), f.Path, maxConfig)
		name := path.Join(f.Base, f.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			out[name] = "unreadable: " + err.Error()
		case cut:
			out[name] = "too large"
		default:
			if text := compared(data, f.Keys); text != "" {
				out[name] = text
			}
		}
	}
	return out
}

// folderText is what counts of a folder of hooks or plugins: each file's path and content.
func folderText(base, rel string) string {
	// The folder's own parents are the trial's too, so the walk starts above them.
	entries, err := treecopy.List(base, treecopy.Options{Untrusted: true, Ignore: func(p string) bool {
		return p != rel && !strings.HasPrefix(p, rel+"/") && !strings.HasPrefix(rel, p+"/")
	}, Limits: treecopy.Limits{Entries: 1000}})
	if err != nil {
		return "unreadable: " + err.Error()
	}
	var out strings.Builder
	for _, e := range entries {
		if e.Kind == treecopy.Directory {
			continue
		}
		data, cut, err := treecopy.ReadFile(base, e.Path, maxConfig)
		fmt.Fprintf(&out, "%q %s %t %v\n%s\n", e.Path, e.Kind, cut, err, data)
	}
	return out.String()
}

// compared is the part of a file that counts: the given keys, or all of it. A file in which none of
// them stands says nothing, like one that is not there.
func compared(data []byte, keys []string) string {
	if len(keys) == 0 {
		return string(data)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(withoutComments(data), &all); err != nil {
		return "not JSON: " + string(data)
	}
	part := map[string]any{}
	for _, k := range keys {
		var v any
		if raw, ok := all[k]; ok && json.Unmarshal(raw, &v) == nil && !emptyJSON(v) {
			part[k] = v
		}
	}
	if len(part) == 0 {
		return ""
	}
	b, _ := json.Marshal(part) // of decoded JSON: cannot fail
	return string(b)
}

// withoutComments drops the lines that are a comment as a whole, which Copilot begins its file with.
// JSON has no such line of its own: a string in it cannot run over the end of a line.
func withoutComments(data []byte) []byte {
	var out []byte
	for line := range bytes.Lines(data) {
		if !bytes.HasPrefix(bytes.TrimSpace(line), []byte("//")) {
			out = append(out, line...)
		}
	}
	return out
}

func emptyJSON(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// changes names the files whose compared part differs afterwards.
func (s snapshot) changes(after snapshot) []string {
	out := []string{}
	for name, text := range s {
		switch now, ok := after[name]; {
		case !ok:
			out = append(out, "removed "+name)
		case now != text:
			out = append(out, "changed "+name)
		}
	}
	for name := range after {
		if _, ok := s[name]; !ok {
			out = append(out, "added "+name)
		}
	}
	slices.Sort(out)
	return out
}

// registeredHooks are the events the client's user settings hand to cargo-agents, nil if unknown.
func (s snapshot) registeredHooks() []string {
	var settings struct {
		Hooks map[string]json.RawMessage `json:"hooks"`
	}
	for name, text := range s {
		if !strings.HasPrefix(name, "home/") || json.Unmarshal([]byte(text), &settings) != nil {
			continue
		}
		var out []string
		for event, raw := range settings.Hooks {
			if strings.Contains(string(raw), "cargo-agents hook") {
				out = append(out, event)
			}
		}
		if out != nil {
			return out
		}
	}
	return nil
}

// audit scans the transcript for what the trial should not have named. In enforced mode it is a
// second check: a denied attempt is a finding, not an exclusion.
func (t *trial) audit() {
	own := []string{t.space.Path("project"), t.space.Path("home"), t.space.Path("fixtures"), t.space.Path("bin"), t.space.Path("cargo-home"), t.space.Path("tmp"), t.space.Path("evidence")}
	if t.space.HasRegistry { // then its policy lets it read these two
		own = append(own, t.space.Path("registry"), t.Batch.space.Tools(workspace.Symposium))
	}
	report := transcript.Audit(t.transcript, transcript.AuditInput{
		Cwd: t.space.Path("project"), Home: t.space.Path("home"),
		RunPaths:        own,
		AllowedPrefixes: []string{t.run.tools.Toolchain.Dir, t.Batch.space.Tools("common"), "/usr", "/bin", "/lib", "/lib64", "/dev/null", "/etc/alternatives"},
		Baseline:        t.plan.Configuration.Skills != plan.DeliverSymposium,
	})
	t.rec.Isolation.AuditState = string(report.State)
	for _, f := range report.Findings {
		t.rec.Isolation.AuditFindings = append(t.rec.Isolation.AuditFindings, fmt.Sprintf("%s: %s (%s, %s)", f.Kind, f.Detail, f.Tool, f.Status))
	}
	if t.run.engine.opts.Exploratory {
		t.excludeReached(report)
	}
	if report.More > 0 {
		t.rec.Isolation.AuditFindings = append(t.rec.Isolation.AuditFindings, fmt.Sprintf("and %d more", report.More))
	}
}

// excludeReached takes an exploratory trial out of the count when its transcript shows that it
// reached something outside: a file tool that answered with content. What a shell command names is
// suspicious only, since its text does not tell what it reached.
func (t *trial) excludeReached(report transcript.AuditReport) {
	for _, f := range report.Findings {
		if f.Status == transcript.StatusOK && transcript.FileTool(f.Tool) {
			t.rec.Excluded = &result.Exclusion{Kind: result.ExcludedIsolation, Cause: fmt.Sprintf("%s: %s by %s", f.Kind, f.Detail, f.Tool)}
			return
		}
	}
}

// loads is the observation of every skill the task has to do with.
func (t *trial) loads() map[string]string {
	out := map[string]string{}
	for _, name := range t.skillNames() {
		out[name] = string(t.transcript.LoadOf(name))
	}
	return out
}

func (t *trial) skillNames() []string {
	want := t.Task.Expected
	names := slices.Concat(want.Installed, want.NotInstalled, want.Used, want.NotUsed)
	if skills, err := t.skills(); err == nil {
		for name := range skills {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// evidence gathers what a with-symposium trial left.
func (t *trial) evidence() grade.Evidence {
	ev := grade.Evidence{
		Agent: t.adapter.Name(), SkillEmpty: t.skillsHad,
		Trace: symposium.ReadTrace(t.space.Path("evidence")), Sync: symposium.ReadSync(t.space.Path("home"), t.space.Path("project")),
		Installed: map[string]symposium.Installed{}, Load: t.transcript.LoadOf,
		Registered: t.before.registeredHooks(), Dialect: t.symposium.dialect,
		Tampered: grade.Tampering{Skill: map[string]string{}},
	}
	if len(t.rec.Isolation.ConfigChanges) > 0 {
		ev.Tampered.Config = "configuration changed during the trial: " + strings.Join(t.rec.Isolation.ConfigChanges, ", ")
	}
	ev.Session, ev.Called, ev.Seen = t.transcript.SessionID, t.called(), t.witness.result()
	skillDir := filepath.Join(t.submission.Dir, filepath.FromSlash(t.spec.SkillDir))
	for _, s := range t.wantedSkills() {
		name := s.Name
		ev.Installed[name] = symposium.CheckInstalled(skillDir, s)
		if what := t.notKept(path.Join(t.spec.SkillDir, name)); what != "" {
			ev.Installed[name] = symposium.Installed{Present: true, Unclear: true, Detail: what}
		}
		if who := t.touches(path.Join(t.spec.SkillDir, name)); who != "" {
			ev.Tampered.Skill[name] = who
		}
	}
	ev.Tampered.Evidence = t.touchesEvidence()
	return ev
}

// wantedSkills are the skills the task has to do with, each with its source. A skill that is in no
// plugin has one that nothing equals.
func (t *trial) wantedSkills() []symposium.Skill {
	skills, _ := t.skills()
	var out []symposium.Skill
	for _, name := range t.skillNames() {
		s, ok := skills[name]
		if !ok {
			s = symposium.Skill{Name: name, Dir: filepath.Join(t.run.engine.opts.Evals, "plugins")}
		}
		out = append(out, s)
	}
	return out
}

// notKept says what of a place the capture left out, above it, at it or below it: then the kept
// submission does not tell what was there.
func (t *trial) notKept(place string) string {
	for _, s := range t.submission.Report.Skipped {
		if s.Path == "." || s.Path == place || strings.HasPrefix(place, s.Path+"/") || strings.HasPrefix(s.Path, place+"/") {
			return fmt.Sprintf("%q is %s and was not kept", s.Path, s.Kind.Phrase())
		}
	}
	return ""
}

// touches says which tool call, other than a successful reading one, names one of the given places.
// It is text, so it can miss and it can be wrong; being wrong makes a verdict inconclusive, never
// the opposite.
func (t *trial) touches(places ...string) string {
	for _, turn := range t.transcript.Turns {
		for _, call := range turn.ToolCalls {
			if transcript.FileTool(call.Name) || call.Name == "Skill" || call.Name == "skill" {
				continue
			}
			for _, p := range places {
				if strings.Contains(string(call.Input), p) {
					return fmt.Sprintf("the tool call %q (%s) names %s", call.ID, call.Name, p)
				}
			}
		}
	}
	return ""
}

// reopened are the folders inside denied regions that the trial may read: for a client that keeps
// the policy itself.
func (t *trial) reopened() []string {
	return t.Batch.space.TrialPolicy(t.space, t.denied, t.readable, "").AllowRead
}
