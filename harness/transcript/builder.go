package transcript

import (
	"encoding/json"
	"math"
)

// Builder fills a [Transcript] within the limits. Adapters use one a session;
// it is not safe for use by several goroutines.
type Builder struct {
	T     *Transcript
	left  int
	calls map[string]callRef // open and closed calls that were kept, by id
	open  map[string]bool    // calls without a result, kept or not
}

// callRef is where a call stands: Turns[turn].ToolCalls[call].
type callRef struct{ turn, call int }

// NewBuilder starts the transcript of a session of the named client.
func NewBuilder(client string) *Builder {
	return &Builder{
		T: &Transcript{
			SchemaVersion: SchemaVersion, Client: client,
			Turns: []Turn{}, SkillLoads: []SkillLoad{}, PermissionDenials: []Denial{}, Retries: []Retry{},
			Unparsed: Unparsed{ByReason: map[string]int64{}, Samples: []Sample{}},
			Ignored:  map[string]int64{}, Repaired: map[string]int64{},
		},
		left:  MaxTotalBytes,
		calls: map[string]callRef{},
		open:  map[string]bool{},
	}
}

// Reject counts a line that was not understood. The reason is one of a few
// fixed words, never text of the trial.
func (b *Builder) Reject(line int64, reason string, raw []byte) {
	b.T.Unparsed.Lines++
	b.T.Unparsed.ByReason[reason]++
	if len(b.T.Unparsed.Samples) < MaxSamples {
		raw = raw[:min(len(raw), MaxSampleBytes)]
		b.T.Unparsed.Samples = append(b.T.Unparsed.Samples, Sample{Line: line, Reason: reason, Text: clip(string(raw), MaxSampleBytes)})
	}
}

// Ignore counts an event that is understood but leaves nothing in the record.
func (b *Builder) Ignore(name string) {
	name = clip(name, 64)
	if _, known := b.T.Ignored[name]; !known && len(b.T.Ignored) >= maxKinds {
		name = "(more)"
	}
	b.T.Ignored[name]++
}

// Turn adds a turn and returns its index, or -1 when the limits are reached.
func (b *Builder) Turn(t Turn) int {
	if b.left < turnOverhead {
		b.T.Dropped.Turns++
		return -1
	}
	b.left -= turnOverhead
	t.ToolCalls = []ToolCall{}
	t.MessageID, t.ParentID = Name(t.MessageID), Name(t.ParentID)
	text, reasoning := t.Text, t.Reasoning
	t.Text, t.Reasoning = "", ""
	b.T.Turns = append(b.T.Turns, t)
	index := len(b.T.Turns) - 1
	b.AddText(index, text)
	b.AddReasoning(index, reasoning)
	return index
}

// AddText appends a text block to a turn; index -1 is counted as dropped.
func (b *Builder) AddText(index int, text string) { b.add(index, text, false) }

// AddReasoning appends a reasoning block to a turn.
func (b *Builder) AddReasoning(index int, text string) { b.add(index, text, true) }

func (b *Builder) add(index int, text string, reasoning bool) {
	if text == "" {
		return
	}
	if index < 0 {
		b.T.Dropped.TextBytes += int64(len(text))
		return
	}
	field := &b.T.Turns[index].Text
	if reasoning {
		field = &b.T.Turns[index].Reasoning
	}
	if *field != "" {
		text = "\n\n" + text
	}
	*field += b.keep(text, MaxTextBytes-len(*field))
}

// keep clips text to max and to what is left, and pays for it.
func (b *Builder) keep(text string, max int) string {
	kept := ""
	if room := min(max, b.left); room > 0 {
		kept = clip(text, room)
	}
	b.T.Dropped.TextBytes += int64(len(text) - min(len(kept), len(text)))
	b.left -= len(kept)
	return kept
}

// Call adds a tool call to a turn. It reports false when the id is taken or
// too many calls are open; the call is then not tracked.
func (b *Builder) Call(index int, id, name string, input json.RawMessage) bool {
	key := Name(id)
	if _, taken := b.calls[key]; taken || b.open[key] || len(b.open) >= MaxOpenCalls {
		return false
	}
	b.open[key] = true
	if index < 0 || b.left < turnOverhead {
		b.T.Dropped.ToolCalls++
		return true
	}
	turn := &b.T.Turns[index]
	call := ToolCall{ID: key, Name: Name(name), Status: StatusUnfinished, ParentID: turn.ParentID}
	call.Input, call.InputCut = cutInput(input)
	if len(call.Input) > b.left {
		call.Input, call.InputCut = nil, true
	}
	b.left -= turnOverhead + len(call.Input)
	turn.ToolCalls = append(turn.ToolCalls, call)
	b.calls[key] = callRef{index, len(turn.ToolCalls) - 1}
	return true
}

// CallReused is Call for clients that take ids as the model gives them: some
// models begin anew with each answer. The id of a closed call may be taken.
func (b *Builder) CallReused(index int, id, name string, input json.RawMessage) bool {
	if key := Name(id); !b.open[key] {
		delete(b.calls, key)
	}
	return b.Call(index, id, name, input)
}

// Result closes a call. It reports false when no such call is open.
func (b *Builder) Result(id, output string, status Status) bool {
	key := Name(id)
	if !b.open[key] {
		return false
	}
	delete(b.open, key)
	ref, kept := b.calls[key]
	if !kept {
		b.T.Dropped.TextBytes += int64(len(output))
		return true
	}
	call := &b.T.Turns[ref.turn].ToolCalls[ref.call]
	call.Status = status
	call.OutputBytes = int64(len(output))
	call.Output = b.keep(output, MaxTextBytes)
	return true
}

// IsOpen reports whether a call waits for its result.
func (b *Builder) IsOpen(id string) bool { return b.open[Name(id)] }

// Restate changes the status of a closed call that failed, when the client
// says more of it later.
func (b *Builder) Restate(id string, from, to Status) {
	if ref, ok := b.calls[Name(id)]; ok {
		if call := &b.T.Turns[ref.turn].ToolCalls[ref.call]; call.Status == from {
			call.Status = to
		}
	}
}

// Final sets the client's last answer.
func (b *Builder) Final(text string) { b.T.FinalText = clip(text, MaxTextBytes) }

// Load records a skill load event.
func (b *Builder) Load(l SkillLoad) {
	if len(b.T.SkillLoads) >= MaxLoads {
		b.T.Dropped.Loads++
		return
	}
	l.Skill, l.CallID, l.ParentID = Name(l.Skill), Name(l.CallID), Name(l.ParentID)
	b.T.SkillLoads = append(b.T.SkillLoads, l)
}

// Listed records the client's skill listing.
func (b *Builder) Listed(names []string) {
	kept := make([]string, 0, min(len(names), MaxListed))
	for _, name := range names[:min(len(names), MaxListed)] {
		kept = append(kept, Name(name))
	}
	b.T.SkillsListed = kept
}

// Deny records a denial the client lists.
func (b *Builder) Deny(tool, id string) {
	if len(b.T.PermissionDenials) < MaxDenials {
		b.T.PermissionDenials = append(b.T.PermissionDenials, Denial{Tool: Name(tool), CallID: Name(id)})
	}
}

// Retry records a repeated model request.
func (b *Builder) Retry(r Retry) {
	b.T.RetryCount++
	if len(b.T.Retries) < MaxRetries {
		r.Error = Name(r.Error)
		b.T.Retries = append(b.T.Retries, r)
	}
}

// ModelUsage records the usage of one model.
func (b *Builder) ModelUsage(model string, u Usage) {
	if b.T.UsageByModel == nil {
		b.T.UsageByModel = map[string]Usage{}
	}
	if len(b.T.UsageByModel) < maxKinds {
		b.T.UsageByModel[Name(model)] = u
	}
}

// Count reads a JSON number as a whole, non-negative count; nil when it is
// anything else.
func Count(raw json.RawMessage) *int64 {
	var f float64
	if len(raw) == 0 || string(raw) == "null" || json.Unmarshal(raw, &f) != nil {
		return nil
	}
	if f < 0 || f > 1<<53 || f != math.Trunc(f) {
		return nil
	}
	n := int64(f)
	return &n
}

// Add sums two counts; unknown plus anything is unknown.
func Add(a, b *int64) *int64 {
	if a == nil || b == nil || *a > math.MaxInt64-*b {
		return nil
	}
	sum := *a + *b
	return &sum
}
