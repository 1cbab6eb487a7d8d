package client

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/harness/transcript"
)

// final takes a result event. Should there be several, the last one counts.
func (d *claudeDecoder) final(e *claudeEvent) string {
	t := d.T
	t.Completed = true
	answer, _ := text(e.Result)
	d.Final(answer)
	t.NumTurns = transcript.Count(e.NumTurns)
	t.Timing = transcript.Timing{DurationMS: rounded(e.DurationMS), APIMS: rounded(e.APIMS)}
	t.CostUSD = nil
	var cost float64
	if len(e.CostUSD) > 0 && string(e.CostUSD) != "null" && json.Unmarshal(e.CostUSD, &cost) == nil && cost >= 0 {
		t.CostUSD = &cost
	}
	d.total(e)
	var denials []struct {
		Tool string `json:"tool_name"`
		ID   string `json:"tool_use_id"`
	}
	if len(e.Denials) > 0 && json.Unmarshal(e.Denials, &denials) == nil {
		t.PermissionDenials = []transcript.Denial{}
		for _, denial := range denials {
			d.Deny(denial.Tool, denial.ID)
			d.Restate(denial.ID, transcript.StatusError, transcript.StatusDenied)
		}
	}
	t.ClientError = d.cause(e, answer)
	d.ended = true
	return ""
}

// cause is the error a result event reports; nil when the session completed.
// is_error may be true with the subtype "success".
func (d *claudeDecoder) cause(e *claudeEvent, answer string) *transcript.ClientError {
	if e.Subtype == "success" && !e.IsError {
		return nil
	}
	message := answer
	var errors []string
	if message == "" && len(e.Errors) > 0 && json.Unmarshal(e.Errors, &errors) == nil {
		message = strings.Join(errors, "; ")
	}
	if message == "" {
		message = fmt.Sprintf("result %s, %s", e.Subtype, e.Terminal)
	}
	cause := &transcript.ClientError{Kind: transcript.ErrorClient, Status: transcript.Count(e.APIStatus), Message: transcript.Name(message)}
	switch {
	case cause.Status != nil:
		cause.Kind = transcript.ErrorModelEndpoint
	case e.Subtype == "error_max_turns":
		cause.Kind = transcript.ErrorMaxTurns
	}
	return cause
}

// total takes the client's own totals: modelUsage has all models, side calls
// and subagents; usage the main conversation.
func (d *claudeDecoder) total(e *claudeEvent) {
	t := d.T
	t.Usage, t.UsageByModel = transcript.Usage{}, nil
	var models map[string]claudeModelUsage
	if len(e.ModelUsage) > 0 && json.Unmarshal(e.ModelUsage, &models) == nil && len(models) > 0 {
		zero := func() *int64 { return new(int64) }
		sum := transcript.Usage{Input: zero(), Output: zero(), CacheRead: zero(), CacheWrite: zero(), Source: "total"}
		for _, model := range slices.Sorted(maps.Keys(models)) {
			m := models[model]
			u := transcript.Usage{
				Input: transcript.Count(m.Input), Output: transcript.Count(m.Output),
				CacheRead: transcript.Count(m.CacheRead), CacheWrite: transcript.Count(m.CacheWrite), Source: "total",
			}
			d.ModelUsage(model, u)
			sum = plus(sum, u)
		}
		t.Usage = sum
		return
	}
	if u, ok := readUsage(e.Usage); ok {
		u.Source = "conversation"
		t.Usage = u
	}
}

func plus(a, b transcript.Usage) transcript.Usage {
	a.Input, a.Output = transcript.Add(a.Input, b.Input), transcript.Add(a.Output, b.Output)
	a.CacheRead, a.CacheWrite = transcript.Add(a.CacheRead, b.CacheRead), transcript.Add(a.CacheWrite, b.CacheWrite)
	a.Reasoning = transcript.Add(a.Reasoning, b.Reasoning)
	return a
}

// readUsage reads a usage object; ok is false when it holds no count at all.
func readUsage(raw json.RawMessage) (transcript.Usage, bool) {
	var u claudeUsage
	if len(raw) == 0 || json.Unmarshal(raw, &u) != nil {
		return transcript.Usage{}, false
	}
	out := transcript.Usage{
		Input: transcript.Count(u.Input), Output: transcript.Count(u.Output),
		CacheRead: transcript.Count(u.CacheRead), CacheWrite: transcript.Count(u.CacheWrite),
	}
	return out, out.Input != nil || out.Output != nil
}

// countMessage remembers a message's usage, once an id. A message's events
// carry the output count of its start, unless its stop reason is set.
func (d *claudeDecoder) countMessage(id string, raw json.RawMessage, ended bool) {
	id = transcript.Name(id)
	u, ok := readUsage(raw)
	if !ok || id == "" {
		return
	}
	if old, seen := d.usage[id]; seen && old.final {
		u.Output, ended = old.Output, true
	}
	d.remember(id, messageUsage{Usage: u, final: ended})
}

func (d *claudeDecoder) remember(id string, u messageUsage) {
	if _, seen := d.usage[id]; !seen {
		if len(d.usages) >= maxMessages {
			return
		}
		d.usages = append(d.usages, id)
	}
	d.usage[id] = u
}

// finish closes the record: what a missing result event leaves open.
func (d *claudeDecoder) finish() {
	for _, load := range d.skills.unfinished(d.T.SkillsListed) {
		d.Load(load)
	}
	t := d.T
	if d.ended {
		return
	}
	d.sumMessages()
	for i := len(t.Turns) - 1; i >= 0 && t.FinalText == ""; i-- {
		if turn := &t.Turns[i]; turn.Role == transcript.RoleAssistant && turn.ParentID == "" {
			t.FinalText = turn.Text
			break
		}
	}
	t.ClientError = &transcript.ClientError{Kind: transcript.ErrorNoCompletion, Message: "the stream ends without a result event"}
	switch {
	case t.Understood == 0:
		t.ClientError.Kind = transcript.ErrorUnreadable
		t.ClientError.Message = fmt.Sprintf("0 of %d lines understood", t.Lines)
	case d.failed.status != nil || d.failed.words != "":
		t.ClientError.Kind = transcript.ErrorModelEndpoint
		t.ClientError.Status = d.failed.status
		t.ClientError.Message = transcript.Name(fmt.Sprintf("%s; the stream ends after %d retries without a result event", d.failed.words, t.RetryCount))
	}
}

// sumMessages is the usage of a session without a total: each message once.
// The output is unknown when any message's final count is.
func (d *claudeDecoder) sumMessages() {
	if len(d.usages) == 0 || len(d.usages) >= maxMessages {
		return
	}
	zero := func() *int64 { return new(int64) }
	sum := transcript.Usage{Input: zero(), Output: zero(), CacheRead: zero(), CacheWrite: zero(), Source: "messages"}
	for _, id := range d.usages {
		u := d.usage[id]
		if !u.final {
			u.Output = nil
		}
		sum = plus(sum, u.Usage)
	}
	d.T.Usage = sum
}
