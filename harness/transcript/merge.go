package transcript

// mergeWindow is how far apart two records may have the same call.
const mergeWindow = 64

// Merge adds the turns of people and the tool calls that stand in s only, each
// behind what stands before it in s, and completes calls without a result
// here. same tells whether two calls are one. Merge returns the ids of s's
// calls as they stand here. It ends the building: no call can be added or
// closed afterwards.
func (b *Builder) Merge(s *Transcript, same func(here, there *ToolCall) bool) map[string]string {
	var mine []callRef
	for i := range b.T.Turns {
		for j := range b.T.Turns[i].ToolCalls {
			mine = append(mine, callRef{i, j})
		}
	}
	used := make([]bool, len(mine))
	ids := map[string]string{"": ""}
	added := map[int][]Turn{} // new turns, by the turn here they stand behind
	first, after := 0, -1
	spoken := map[string]bool{}
	for _, turn := range b.T.Turns {
		if turn.Role == RoleUser {
			spoken[turn.Text] = true
		}
	}
	for _, turn := range s.Turns {
		if turn.Role == RoleUser && !spoken[clip(turn.Text, MaxTextBytes)] && b.pay(turnOverhead+len(turn.Text)) {
			turn.Source = SourceSession
			added[after] = append(added[after], turn)
		}
		missing := Turn{Role: turn.Role, ParentID: turn.ParentID, Time: turn.Time, Source: SourceSession}
		for i := range turn.ToolCalls {
			call := turn.ToolCalls[i]
			for first < len(used) && used[first] {
				first++
			}
			at := -1
			for k := first; k < min(first+mergeWindow, len(mine)); k++ {
				if !used[k] && same(b.at(mine[k]), &call) {
					at = k
					break
				}
			}
			if at >= 0 {
				used[at] = true
				after = max(after, mine[at].turn)
				ids[call.ID] = b.at(mine[at]).ID
				b.complete(b.at(mine[at]), &call)
				continue
			}
			ids[call.ID] = call.ID
			if !b.pay(turnOverhead + len(call.Input) + len(call.Output)) {
				b.T.Dropped.ToolCalls++
				continue
			}
			call.Source = SourceSession
			missing.ToolCalls = append(missing.ToolCalls, call)
		}
		if len(missing.ToolCalls) > 0 {
			added[after] = append(added[after], missing)
		}
	}
	if len(added) > 0 {
		turns := append([]Turn{}, added[-1]...)
		for i, turn := range b.T.Turns {
			turns = append(append(turns, turn), added[i]...)
		}
		for i := range turns {
			if turns[i].ToolCalls == nil {
				turns[i].ToolCalls = []ToolCall{}
			}
		}
		b.T.Turns = turns
	}
	clear(b.calls)
	clear(b.open)
	return ids
}

func (b *Builder) at(r callRef) *ToolCall { return &b.T.Turns[r.turn].ToolCalls[r.call] }

// pay takes n bytes off what may still be kept; false when it is too much.
func (b *Builder) pay(n int) bool {
	if n > b.left {
		return false
	}
	b.left -= n
	return true
}

// complete gives a call without a result the one another record has.
func (b *Builder) complete(here, there *ToolCall) {
	if here.Name != there.Name && b.pay(len(there.Input)) {
		here.Session = there.Input
	}
	if here.Status != StatusUnfinished || there.Status == StatusUnfinished || !b.pay(len(there.Output)) {
		return
	}
	here.Output, here.OutputBytes, here.Status, here.Source = there.Output, there.OutputBytes, there.Status, SourceSession
}

// MergeLoad adds a skill load of another record, unless what stands here says
// as much of the same call and skill. It replaces an unclear or attempted one:
// the other record knows more of the call.
func (b *Builder) MergeLoad(l SkillLoad) {
	for i := range b.T.SkillLoads {
		if o := &b.T.SkillLoads[i]; o.CallID == l.CallID && o.Skill == l.Skill {
			if o.State != LoadLoaded && o.State != l.State {
				*o = l
			}
			return
		}
	}
	b.Load(l)
}
