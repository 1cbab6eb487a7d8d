package assertion

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/proctor-evals/proctor/harness/suite"
	"github.com/proctor-evals/proctor/harness/transcript"
)

// Row F10.
func TestSameSkill(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"x", "x", true}, {"p:x", "x", true}, {"x", "p:x", true}, {"p:q:x", "q:x", true}, {"q:x", "p:q:x", true},
		{"p:x", "q:x", false}, {"p:q:x", "x", false}, {"X", "x", false}, {"", "x", false}, {"x", "x:y", false},
	} {
		assert.Equal(t, tt.want, suite.SameSkill(tt.a, tt.b), "%q and %q", tt.a, tt.b)
	}
}

// Rows F5 to F8, and what cannot be told.
func TestSkills(t *testing.T) {
	loaded, attempted, unclear := transcript.LoadLoaded, transcript.LoadAttempted, transcript.LoadUnclear
	with := func(loads ...transcript.SkillLoad) *transcript.Transcript {
		s := session(says("", call("one", "ok", ""), call("two", "ok", "")), says("one", call("sub", "ok", "")))
		s.SkillLoads = loads
		return s
	}
	tool := func(skill, id string) transcript.SkillLoad { return load(skill, loaded, "skill_tool", id) }
	cut := with(tool("A", "one"))
	cut.Completed = false
	foreign := with()
	foreign.Unparsed.Lines = 1
	byHand := &transcript.Transcript{Turns: []transcript.Turn{says("")}}
	A := []string{"A"}
	tests := []struct {
		name     string
		session  *transcript.Transcript
		check    suite.Check
		excluded []string
		want     string
		reason   string
	}{
		{"F5 first", with(tool("A", "one"), tool("B", "two")), suite.FirstSkill{Skill: "A"}, nil, passes, "A"},
		{"F5 second", with(tool("A", "one"), tool("B", "two")), suite.FirstSkill{Skill: "B"}, nil, fails, `first skill invoked was "A"`},
		{"F6 none", with(), suite.FirstSkill{Skill: "A"}, nil, fails, "no skill was invoked"},
		{"first by the order of calls", with(tool("B", "two"), tool("A", "one")), suite.FirstSkill{Skill: "A"}, nil, passes, ""},
		{"the caller before its subagent", with(tool("B", "sub"), tool("A", "one")), suite.FirstSkill{Skill: "A"}, nil, passes, ""},
		{"the subagent before the next call", with(tool("B", "two"), tool("A", "sub")), suite.FirstSkill{Skill: "A"}, nil, passes, ""},
		{"injected comes first", with(tool("B", "one"), load("A", loaded, "injected", "")), suite.FirstSkill{Skill: "A"}, nil, passes, ""},
		{"first with its plugin", with(tool("p:A", "one")), suite.FirstSkill{Skill: "A"}, nil, passes, ""},
		{"first asked for in vain", with(load("A", attempted, "skill_tool", "one")), suite.FirstSkill{Skill: "A"}, nil, passes, ""},
		{"perhaps another one before", with(load("", unclear, "shell", "one"), tool("A", "two")), suite.FirstSkill{Skill: "A"}, nil, undecided, "cannot tell"},
		{"perhaps the same one before", with(load("A", unclear, "shell", "one"), tool("A", "two")), suite.FirstSkill{Skill: "A"}, nil, passes, ""},
		{"perhaps a third one before", with(load("C", unclear, "shell", "one"), tool("A", "two")), suite.FirstSkill{Skill: "B"}, nil, fails, ""},
		{"perhaps the asked one before", with(load("B", unclear, "shell", "one"), tool("A", "two")), suite.FirstSkill{Skill: "B"}, nil, undecided, ""},
		{"only perhaps", with(load("A", unclear, "shell", "one")), suite.FirstSkill{Skill: "A"}, nil, undecided, ""},
		{"only perhaps another", with(load("B", unclear, "shell", "one")), suite.FirstSkill{Skill: "A"}, nil, fails, ""},

		{"F7 in a subagent", with(tool("A", "sub")), suite.SkillInvoked{Skill: "A"}, nil, passes, ""},
		{"F7 not, in a subagent", with(tool("A", "sub")), suite.SkillNotInvoked{Skill: "A"}, nil, fails, ""},
		{"invoked: not", with(tool("B", "one")), suite.SkillInvoked{Skill: "A"}, nil, fails, "was not invoked"},
		{"not invoked", with(tool("B", "one")), suite.SkillNotInvoked{Skill: "A"}, nil, passes, "was not invoked"},
		{"invoked: perhaps", with(load("A", unclear, "shell", "one")), suite.SkillInvoked{Skill: "A"}, nil, undecided, ""},
		{"not invoked: perhaps any", with(load("", unclear, "shell", "one")), suite.SkillNotInvoked{Skill: "A"}, nil, undecided, ""},
		{"a cut stream shows what is there", cut, suite.SkillInvoked{Skill: "A"}, nil, passes, ""},
		{"a cut stream hides the rest", cut, suite.SkillNotInvoked{Skill: "B"}, nil, undecided, "no completion marker"},
		{"a line that was not understood", foreign, suite.SkillNotInvoked{Skill: "A"}, nil, undecided, "1 of 3 lines not understood"},
		{"written by hand", byHand, suite.SkillNotInvoked{Skill: "A"}, nil, passes, ""},
		{"an empty stream", &transcript.Transcript{}, suite.SkillNotInvoked{Skill: "A"}, nil, undecided, "0 of 0 lines"},

		{"F8 absent", with(tool("B", "one")), suite.SkillInvoked{Skill: "A"}, A, passes, "excluded from bundle"},
		{"F8 present", with(tool("A", "one")), suite.SkillInvoked{Skill: "A"}, A, fails, "excluded from bundle"},
		{"F8 with its plugin", with(tool("p:A", "one")), suite.SkillInvoked{Skill: "p:A"}, A, fails, ""},
		{"excluded, and asked for in vain", with(load("A", attempted, "skill_tool", "one")), suite.SkillInvoked{Skill: "A"}, A, passes, "in vain"},
		{"excluded, and perhaps read", with(load("A", unclear, "shell", "one")), suite.SkillInvoked{Skill: "A"}, A, undecided, ""},
		{"excluded, in a cut stream", &transcript.Transcript{Lines: 1, Understood: 1, Started: true}, suite.SkillInvoked{Skill: "A"}, A, undecided, ""},
		{"another one is excluded", with(), suite.SkillInvoked{Skill: "B"}, A, fails, ""},
		{"first_skill does not flip", with(), suite.FirstSkill{Skill: "A"}, A, fails, ""},
		{"skill_not_invoked does not flip", with(), suite.SkillNotInvoked{Skill: "A"}, A, passes, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := one(t, Attempt{Transcript: tt.session, Excluded: tt.excluded}, tt.check, Tools{})
			assert.Equal(t, tt.want, outcome(r), r.Reason)
			assert.Contains(t, r.Reason, tt.reason)
			if c, ok := tt.check.(suite.SkillInvoked); ok && isExcluded(c.Skill, tt.excluded) {
				assert.Equal(t, true, r.Details["excluded"])
			} else {
				assert.NotContains(t, r.Details, "excluded")
			}
		})
	}
}

// A session that the runner ended on purpose has no end of its own to wait for.
func TestStoppedSession(t *testing.T) {
	s := session()
	s.Completed = false
	assert.Equal(t, undecided, outcome(one(t, Attempt{Transcript: s}, suite.SkillNotInvoked{Skill: "A"}, Tools{})))
	assert.Equal(t, passes, outcome(one(t, Attempt{Transcript: s, Stopped: true}, suite.SkillNotInvoked{Skill: "A"}, Tools{})))
	s.Unparsed.Lines = 1
	assert.Equal(t, undecided, outcome(one(t, Attempt{Transcript: s, Stopped: true}, suite.SkillNotInvoked{Skill: "A"}, Tools{})))
}

// A trigger task ends while the command that reads the skill is still running.
func TestStoppedWhileReading(t *testing.T) {
	s := session(says("", call("c", transcript.StatusUnfinished, `{"command":"cat .agents/skills/A/SKILL.md"}`)))
	s.SkillLoads = []transcript.SkillLoad{load("A", transcript.LoadUnclear, "shell", "c")}
	s.Completed = false
	assert.Equal(t, passes, outcome(one(t, Attempt{Transcript: s, Stopped: true}, suite.FirstSkill{Skill: "A"}, Tools{})))
	assert.Equal(t, fails, outcome(one(t, Attempt{Transcript: s, Stopped: true}, suite.SkillNotInvoked{Skill: "A"}, Tools{})))
	assert.Equal(t, undecided, outcome(one(t, Attempt{Transcript: s}, suite.FirstSkill{Skill: "A"}, Tools{})))
	s.Turns[0].ToolCalls[0].Status = transcript.StatusOK
	assert.Equal(t, undecided, outcome(one(t, Attempt{Transcript: s, Stopped: true}, suite.FirstSkill{Skill: "A"}, Tools{})))
}

// Where a model uses an id again, the order of the events counts.
func TestFirstSkillWithIdsUsedAgain(t *testing.T) {
	s := session(says("", call("x", "ok", ""), call("y", "ok", ""), call("x", "ok", "")))
	s.SkillLoads = []transcript.SkillLoad{load("A", transcript.LoadLoaded, "skill_tool", "y"), load("B", transcript.LoadLoaded, "skill_tool", "x")}
	assert.Equal(t, passes, outcome(one(t, Attempt{Transcript: s}, suite.FirstSkill{Skill: "A"}, Tools{})))
}
