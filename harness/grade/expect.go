package grade

import (
	"fmt"
	"slices"

	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/symposium"
	"github.com/proctor-evals/proctor/harness/task"
	"github.com/proctor-evals/proctor/harness/transcript"
)

// Evidence is what a with-symposium trial left to decide its expectations from.
type Evidence struct {
	Agent      string // the client's name in hook records
	SkillEmpty bool   // the skill directory was empty before launch
	Trace      symposium.Trace
	Sync       symposium.SyncState
	// Installed by skill; of a skill without an entry nothing is known.
	Installed map[string]symposium.Installed
	// Load is the transcript's observation of a skill.
	Load func(skill string) transcript.Load
	// Registered are the hook events that init registered with the client; nil when not known.
	Registered []string
	// Dialect is the registry dialect the release understood.
	Dialect symposium.Dialect
	// Session is the transcript's session, "" when it does not tell.
	Session string
	// Called says whether a tool call of that id is in the transcript; nil when that cannot be told.
	Called func(id string) bool
	// Seen is what was seen before the model's first answer; nil when the model was never asked. Then
	// only what the trial left is there to decide from.
	Seen *Seen
	// Tampered says what the trial changed or wrote that Symposium's evidence rests on: the
	// configuration, the evidence folder, an installed skill. Verdicts that rest on it are
	// inconclusive.
	Tampered Tampering
}

// Tampering holds, for each kind of evidence, what was found changed, or "".
type Tampering struct {
	Config   string            // client's hooks or Symposium's configuration
	Evidence string            // the evidence folder or cargo-agents' state
	Skill    map[string]string // by skill
}

// Expect decides the expectations of a with-symposium trial.
func Expect(want task.Expected, ev Evidence) *result.Expectations {
	e := &expecter{ev: ev, out: &result.Expectations{
		Skills: map[string]result.SkillExpectation{}, Hooks: map[string]result.Verdict{}, Causes: map[string]string{},
	}}
	e.sync()
	for _, event := range want.Hooks {
		e.out.Hooks[event] = e.hook("hooks."+event, event)
	}
	for _, skill := range slices.Concat(want.Installed, want.NotInstalled, want.Used, want.NotUsed) {
		if _, done := e.out.Skills[skill]; done {
			continue
		}
		load := ev.Load(skill)
		s := result.SkillExpectation{ObservedLoad: string(load)}
		if slices.Contains(want.Installed, skill) {
			s.Installed = e.installed(skill)
		}
		if slices.Contains(want.NotInstalled, skill) {
			s.NotInstalled = e.notInstalled(skill)
		}
		if slices.Contains(want.Used, skill) {
			s.Used = e.used("skills."+skill+".used", load, result.Pass, result.Fail)
		}
		if slices.Contains(want.NotUsed, skill) {
			s.NotUsed = e.used("skills."+skill+".not_used", load, result.Fail, result.Pass)
		}
		e.out.Skills[skill] = s
	}
	return e.out
}

type expecter struct {
	ev  Evidence
	out *result.Expectations
}

// say records the cause of a verdict that is not pass.
func (e *expecter) say(key string, v result.Verdict, format string, args ...any) result.Verdict {
	e.out.Causes[key] = fmt.Sprintf(format, args...)
	return v
}

func (e *expecter) sync() {
	ev := e.ev
	e.out.Sync.SkillDirEmptyBefore = result.Pass
	if !ev.SkillEmpty {
		e.out.Sync.SkillDirEmptyBefore = e.say("sync.skill_dir_empty_before", result.Fail, "the skill directory held something before launch")
	}
	e.out.Sync.SessionStart = e.hook("sync.session_start", "SessionStart")
	key := "sync.sync_recorded"
	switch {
	case ev.Tampered.Config != "":
		e.out.Sync.SyncRecorded = e.say(key, result.Inconclusive, "%s", ev.Tampered.Config)
	case ev.Seen != nil && ev.Seen.Sync.Recorded:
		e.out.Sync.SyncRecorded = result.Pass
	case ev.Tampered.Evidence != "":
		e.out.Sync.SyncRecorded = e.say(key, result.Inconclusive, "%s", ev.Tampered.Evidence)
	case ev.Dialect != symposium.Registry:
		// Releases that only know [[plugin-source]] keep no record (0.4.0 and before).
		e.out.Sync.SyncRecorded = e.say(key, result.Inconclusive, "release: this cargo-agents keeps no sync record")
	case ev.Sync.Unclear:
		e.out.Sync.SyncRecorded = e.say(key, result.Inconclusive, "%s", ev.Sync.Detail)
	case !ev.Sync.Recorded:
		e.out.Sync.SyncRecorded = e.say(key, result.Fail, "%s", ev.Sync.Detail)
	case ev.Seen != nil:
		e.out.Sync.SyncRecorded = e.say(key, result.Inconclusive, "the sync record came after the model's first answer, when the agent could write it")
	default:
		e.out.Sync.SyncRecorded = result.Pass
	}
}

// hook decides whether an event left a successful record. The trace has a line only for a hook
// whose work succeeded, so one line is enough; the first is the one that counts.
func (e *expecter) hook(key, event string) result.Verdict {
	ev := e.ev
	if t := ev.Tampered.Config; t != "" {
		return e.say(key, result.Inconclusive, "%s", t)
	}
	if ev.Registered != nil && !slices.Contains(ev.Registered, event) {
		return e.say(key, result.Inconclusive, "release: this cargo-agents registers no %s hook with this client", event)
	}
	if ev.Seen != nil && slices.Contains(early, event) {
		if _, ok, _ := ev.record(ev.Seen.Trace, event); ok {
			return result.Pass // whatever became of the trace since
		}
	}
	if t := ev.Tampered.Evidence; t != "" {
		return e.say(key, result.Inconclusive, "%s", t)
	}
	r, ok, odd := ev.record(ev.Trace, event)
	switch {
	case ok:
		if why := ev.contradicted(event, r); why != "" {
			return e.say(key, result.Inconclusive, "%s", why)
		}
		return result.Pass
	case odd != "":
		return e.say(key, result.Inconclusive, "%s", odd)
	case !ev.Trace.Whole():
		return e.say(key, result.Inconclusive, "the hook trace cannot be read whole: %d bad lines, cut %t %s", ev.Trace.Bad, ev.Trace.Cut, ev.Trace.Err)
	case ev.Seen != nil && !ev.Trace.Extends(ev.Seen.Trace):
		return e.say(key, result.Inconclusive, "the hook trace no longer holds what it held before the model's first answer")
	}
	return e.say(key, result.Fail, "no %s record in the hook trace", event)
}

func (e *expecter) installed(skill string) *result.Verdict {
	in, known := e.ev.Installed[skill]
	key := "skills." + skill + ".installed"
	v := result.Pass
	before, seen := e.ev.seen(skill)
	switch {
	case !known:
		v = e.say(key, result.Inconclusive, "nothing to compare the skill with")
	case in.Unclear:
		v = e.say(key, result.Inconclusive, "%s", in.Detail)
	case asPlugin(in) && seen && !before.Present:
		v = e.say(key, result.Inconclusive, "the skill came after the model's first answer, when the agent could copy it there")
	case asPlugin(in):
		// What is there equals the plugin's, which the trial cannot read outside its registry copy.
	case e.ev.Tampered.Skill[skill] != "":
		v = e.say(key, result.Inconclusive, "%s; %s", e.ev.Tampered.Skill[skill], in.Detail)
	case seen && asPlugin(before):
		v = e.say(key, result.Inconclusive, "the skill was installed before the model's first answer and was changed since: %s", in.Detail)
	default:
		v = e.say(key, result.Fail, "%s", in.Detail)
	}
	return &v
}

func (e *expecter) notInstalled(skill string) *result.Verdict {
	in, known := e.ev.Installed[skill]
	key := "skills." + skill + ".not_installed"
	v := result.Pass
	before, seen := e.ev.seen(skill)
	switch {
	case seen && before.Present && !before.Unclear:
		v = e.say(key, result.Fail, "the skill was in the skill folder before the model's first answer")
	case !known:
		v = e.say(key, result.Inconclusive, "the skill folder was not looked at")
	case in.Unclear:
		v = e.say(key, result.Inconclusive, "%s", in.Detail)
	case e.ev.Tampered.Skill[skill] != "":
		v = e.say(key, result.Inconclusive, "%s", e.ev.Tampered.Skill[skill])
	case in.Present:
		v = e.say(key, result.Fail, "the skill is in the skill folder")
	}
	return &v
}

func asPlugin(in symposium.Installed) bool {
	return in.Present && in.Marker && in.Matches && !in.Unclear
}

// used maps an observation to a verdict: loaded to one, attempted and not observed to the other,
// since a failed attempt never delivered the content; unknown decides nothing.
func (e *expecter) used(key string, load transcript.Load, loaded, otherwise result.Verdict) *result.Verdict {
	v := otherwise
	switch load {
	case transcript.Loaded:
		v = loaded
	case transcript.Attempted, transcript.NotObserved:
	default:
		v = e.say(key, result.Inconclusive, "the transcript cannot tell")
		return &v
	}
	if v == result.Fail {
		e.say(key, v, "observed load: %s", load)
	}
	return &v
}
