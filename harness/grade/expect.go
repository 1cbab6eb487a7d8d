package grade

import (
	"encoding/json"
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
	// Session is the transcript's session, "" when it does not tell; a hook record of another one is
	// not this trial's.
	Session string
	// NoToolCalls says that the transcript was fully interpreted and holds no tool call.
	NoToolCalls bool
	// Registered are the hook events that init registered with the client; nil when not known.
	Registered []string
	// Dialect is the registry dialect the release understood.
	Dialect symposium.Dialect
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
	case e.tampered() != "":
		e.out.Sync.SyncRecorded = e.say(key, result.Inconclusive, "%s", e.tampered())
	case ev.Dialect != symposium.Registry:
		// Releases that only know [[plugin-source]] keep no record (0.4.0 and before).
		e.out.Sync.SyncRecorded = e.say(key, result.Inconclusive, "release: this cargo-agents keeps no sync record")
	case ev.Sync.Unclear:
		e.out.Sync.SyncRecorded = e.say(key, result.Inconclusive, "%s", ev.Sync.Detail)
	case !ev.Sync.Recorded:
		e.out.Sync.SyncRecorded = e.say(key, result.Fail, "%s", ev.Sync.Detail)
	default:
		e.out.Sync.SyncRecorded = result.Pass
	}
}

func (e *expecter) tampered() string {
	if e.ev.Tampered.Config != "" {
		return e.ev.Tampered.Config
	}
	return e.ev.Tampered.Evidence
}

// hook decides whether an event left a successful record. The trace has a line only for a hook
// whose work succeeded, so one line is enough; the first is the one that counts.
func (e *expecter) hook(key, event string) result.Verdict {
	ev := e.ev
	if t := e.tampered(); t != "" {
		return e.say(key, result.Inconclusive, "%s", t)
	}
	if ev.Registered != nil && !slices.Contains(ev.Registered, event) {
		return e.say(key, result.Inconclusive, "release: this cargo-agents registers no %s hook with this client", event)
	}
	if r, ok := ev.Trace.First(ev.Agent, event); ok {
		if why := e.contradicts(r); why != "" {
			return e.say(key, result.Inconclusive, "%s", why)
		}
		return result.Pass
	}
	if !ev.Trace.Whole() {
		return e.say(key, result.Inconclusive, "the hook trace cannot be read whole: %d bad lines, cut %t %s", ev.Trace.Bad, ev.Trace.Cut, ev.Trace.Err)
	}
	return e.say(key, result.Fail, "no %s record in the hook trace", event)
}

// contradicts says in what the transcript, which is the runner's own, contradicts a hook record.
func (e *expecter) contradicts(r symposium.HookRecord) string {
	var input struct {
		Session string `json:"session_id"`
	}
	// An input of another shape names no session.
	if json.Unmarshal(r.Input, &input) == nil && input.Session != "" && e.ev.Session != "" && input.Session != e.ev.Session {
		return fmt.Sprintf("the %s record is of session %.80q, the transcript of %.80q", r.Event, input.Session, e.ev.Session)
	}
	if (r.Event == "PreToolUse" || r.Event == "PostToolUse") && e.ev.NoToolCalls {
		return fmt.Sprintf("there is a %s record, and no tool call in the transcript", r.Event)
	}
	return ""
}

func (e *expecter) installed(skill string) *result.Verdict {
	in, known := e.ev.Installed[skill]
	key := "skills." + skill + ".installed"
	v := result.Pass
	switch {
	case !known:
		v = e.say(key, result.Inconclusive, "nothing to compare the skill with")
	case in.Unclear:
		v = e.say(key, result.Inconclusive, "%s", in.Detail)
	case in.Present && in.Marker && in.Matches:
		// What is there equals the plugin's, which the trial cannot read outside its registry copy.
	case e.ev.Tampered.Skill[skill] != "":
		v = e.say(key, result.Inconclusive, "%s; %s", e.ev.Tampered.Skill[skill], in.Detail)
	default:
		v = e.say(key, result.Fail, "%s", in.Detail)
	}
	return &v
}

func (e *expecter) notInstalled(skill string) *result.Verdict {
	in, known := e.ev.Installed[skill]
	key := "skills." + skill + ".not_installed"
	v := result.Pass
	switch {
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
