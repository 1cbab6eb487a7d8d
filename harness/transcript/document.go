package transcript

import _ "embed"

// Schema is the JSON Schema (draft 2020-12) of a [Document].
//
//go:embed schema.json
var Schema []byte

// Document is the JSON form of a transcript that other tools read: the
// transcript, and what it amounts to.
type Document struct {
	Execution Execution `json:"execution"` // as far as the stream alone can tell
	// Skills is the observation of each skill by name: of those the client
	// lists, those a load event names, and those asked for.
	Skills map[string]Load `json:"skills"`
	// Interpretable tells whether absence can be concluded; Why is the reason
	// when not, else "".
	Interpretable bool   `json:"interpretable"`
	Why           string `json:"not_interpretable_because"`
	*Transcript
}

// Document joins a transcript with what it amounts to. asked are skills to
// tell of whether or not the session names them.
func (t *Transcript) Document(asked ...string) Document {
	d := Document{Skills: map[string]Load{}, Transcript: t}
	d.Execution, _ = t.Execution()
	d.Interpretable, d.Why = t.Interpretable()
	// One pass over the events, so that many skills and many events do not
	// multiply: what LoadOf would say of each.
	seen := map[string]map[LoadState]bool{}
	for _, l := range t.SkillLoads {
		if seen[l.Skill] == nil {
			seen[l.Skill] = map[LoadState]bool{}
		}
		seen[l.Skill][l.State] = true
	}
	tell := func(skill string) {
		if skill != "" {
			d.Skills[skill] = observe(seen[skill], seen[""], d.Interpretable)
		}
	}
	for _, skill := range t.SkillsListed {
		tell(skill)
	}
	for skill := range seen {
		tell(skill)
	}
	for _, skill := range asked {
		tell(skill)
	}
	return d
}

// observe is the observation of a skill by the states of its events, and of
// those that may concern any skill.
func observe(events, any map[LoadState]bool, interpretable bool) Load {
	switch {
	case events[LoadLoaded]:
		return Loaded
	case !interpretable || events[LoadUnclear] || any[LoadUnclear]:
		return Unknown
	case events[LoadAttempted]:
		return Attempted
	}
	return NotObserved
}
