package assertion

import (
	"fmt"
	"slices"

	"github.com/proctor-evals/proctor/harness/suite"
	"github.com/proctor-evals/proctor/harness/transcript"
)

func isExcluded(skill string, excluded []string) bool {
	return slices.ContainsFunc(excluded, func(x string) bool { return suite.SameSkill(skill, x) })
}

// use is one invocation of a skill: its tool was called, its file read, or the client put it into
// the request. Whether that succeeded does not matter: the agent wanted it.
type use struct {
	skill     string
	delivered bool
	perhaps   bool // nobody can tell whether it is one; skill may then be ""
}

func (u use) may(skill string) bool { return u.skill == "" || suite.SameSkill(u.skill, skill) }

// uses are the invocations, depth first: what a turn invokes comes before what its subagents do.
func (g *grading) uses() []use {
	// Events come in the order of the calls' results. The order of the calls counts; where an id
	// stands for two calls, nothing better than the events' order is known.
	place, unique := map[string]int{}, true
	open := map[string]bool{} // calls without a result
	g.tree.Calls(func(c *transcript.ToolCall, _ int, _ bool) {
		if _, taken := place[c.ID]; taken {
			unique = false
		}
		open[c.ID] = c.Status == transcript.StatusUnfinished || c.Status == transcript.StatusAborted
		place[c.ID] = len(place)
	})
	loads := slices.Clone(g.Transcript.SkillLoads)
	if unique {
		at := func(l transcript.SkillLoad) int {
			if p, ok := place[l.CallID]; ok {
				return p
			}
			if l.How == "injected" {
				return -1 // it stands in the first request
			}
			return len(place)
		}
		slices.SortStableFunc(loads, func(a, b transcript.SkillLoad) int { return at(a) - at(b) })
	}
	out := make([]use, 0, len(loads))
	for _, l := range loads {
		u := use{skill: l.Skill, delivered: l.State == transcript.LoadLoaded}
		// A command that was reading the file when the runner had seen enough can show no content.
		stopped := g.Stopped && open[l.CallID]
		u.perhaps = l.State == transcript.LoadUnclear && l.How != "skill_tool" && !stopped || l.Skill == ""
		out = append(out, u)
	}
	return out
}

func (g *grading) firstSkill(c suite.FirstSkill) finding {
	var before []use // those that perhaps were none
	for _, u := range g.uses() {
		if u.perhaps {
			before = append(before, u)
			continue
		}
		match := suite.SameSkill(u.skill, c.Skill)
		for _, p := range before {
			if match && p.skill != "" && suite.SameSkill(p.skill, c.Skill) || !match && !p.may(c.Skill) {
				continue // it would not change the answer
			}
			return broken("cannot tell: before %q was invoked, a command may have read another skill", u.skill)
		}
		f := found(match, "first skill invoked was %q", u.skill)
		f.details = map[string]any{"first": u.skill, "delivered": u.delivered}
		if !match {
			f.reason += fmt.Sprintf(", expected %q", c.Skill)
		}
		return f
	}
	if slices.ContainsFunc(before, func(u use) bool { return u.may(c.Skill) }) {
		return broken("cannot tell: a command may have read the skill")
	}
	if len(before) > 0 {
		return found(false, "no skill %q was invoked; a command may have read another one", c.Skill)
	}
	return g.absent(false, "no skill was invoked, expected %q", c.Skill)
}

// invoked looks for a skill: used at all, with its content delivered, or perhaps used.
func (g *grading) invoked(skill string) (used, delivered, perhaps bool) {
	for _, u := range g.uses() {
		switch {
		case u.perhaps:
			perhaps = perhaps || u.may(skill)
		case suite.SameSkill(u.skill, skill):
			used, delivered = true, delivered || u.delivered
		}
	}
	return used, delivered, perhaps
}

func (g *grading) skillInvoked(c suite.SkillInvoked) finding {
	used, delivered, perhaps := g.invoked(c.Skill)
	if isExcluded(c.Skill, g.Excluded) {
		f := g.excluded(c.Skill, used, delivered, perhaps)
		f.details = map[string]any{"excluded": true}
		return f
	}
	switch {
	case used:
		f := found(true, "skill %q was invoked", c.Skill)
		f.details = map[string]any{"delivered": delivered}
		return f
	case perhaps:
		return broken("cannot tell: a command may have read skill %q", c.Skill)
	}
	return g.absent(false, "skill %q was not invoked", c.Skill)
}

// excluded is the flip of a reality check: the skill must not have been there. Asking for it in vain
// shows just that.
func (g *grading) excluded(skill string, used, delivered, perhaps bool) finding {
	switch {
	case delivered:
		return found(false, "skill %q is excluded from bundle, and its content was delivered all the same", skill)
	case perhaps:
		return broken("cannot tell: a command may have read skill %q, which is excluded from bundle", skill)
	case used:
		return g.absent(true, "skill %q is excluded from bundle: it was asked for in vain", skill)
	}
	return g.absent(true, "skill %q is excluded from bundle, and was not invoked", skill)
}

func (g *grading) skillNotInvoked(c suite.SkillNotInvoked) finding {
	used, delivered, perhaps := g.invoked(c.Skill)
	switch {
	case used:
		f := found(false, "skill %q was invoked", c.Skill)
		f.details = map[string]any{"delivered": delivered}
		return f
	case perhaps:
		return broken("cannot tell: a command may have read skill %q", c.Skill)
	}
	return g.absent(true, "skill %q was not invoked", c.Skill)
}
