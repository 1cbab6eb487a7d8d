package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ATIFVersion is the version of the Agent Trajectory Interchange Format (of
// the Harbor project, its RFC 0001) that [Transcript.ATIF] gives.
const ATIFVersion = "ATIF-v1.7"

// ErrNoTurns is the error for a session in which nobody said anything.
var ErrNoTurns = errors.New("the session has no turns, and an ATIF trajectory needs one step at least")

// Trajectory is a session in ATIF. Its fields are those of the format; what it
// has no field for stands in Extra.
type Trajectory struct {
	SchemaVersion string       `json:"schema_version"`
	SessionID     string       `json:"session_id,omitempty"`
	TrajectoryID  string       `json:"trajectory_id,omitempty"`
	Agent         ATIFAgent    `json:"agent"`
	Steps         []ATIFStep   `json:"steps"`
	Notes         string       `json:"notes,omitempty"`
	FinalMetrics  *ATIFMetrics `json:"final_metrics,omitempty"`
	Extra         any          `json:"extra,omitempty"`
	Subagents     []Trajectory `json:"subagent_trajectories,omitempty"`
}

// ATIFAgent is the client.
type ATIFAgent struct {
	Name      string `json:"name"`
	Version   string `json:"version"`
	ModelName string `json:"model_name,omitempty"`
}

// ATIFStep is one message, with the calls of its tools and their results.
type ATIFStep struct {
	StepID      int              `json:"step_id"` // 1, 2, 3 …
	Timestamp   string           `json:"timestamp,omitempty"`
	Source      string           `json:"source"` // user or agent
	Message     string           `json:"message"`
	Reasoning   string           `json:"reasoning_content,omitempty"`
	ToolCalls   []ATIFCall       `json:"tool_calls,omitempty"`
	Observation *ATIFObservation `json:"observation,omitempty"`
	Extra       any              `json:"extra,omitempty"`
}

// ATIFCall is one tool call.
type ATIFCall struct {
	ID        string          `json:"tool_call_id"`
	Name      string          `json:"function_name"`
	Arguments json.RawMessage `json:"arguments"` // an object
	Extra     any             `json:"extra,omitempty"`
}

// ATIFObservation holds the results of a step's calls.
type ATIFObservation struct {
	Results []ATIFResult `json:"results"`
}

// ATIFResult is one call's result.
type ATIFResult struct {
	CallID    string    `json:"source_call_id"`
	Content   string    `json:"content"`
	Subagents []ATIFRef `json:"subagent_trajectory_ref,omitempty"`
}

// ATIFRef points to an entry of Subagents.
type ATIFRef struct {
	TrajectoryID string `json:"trajectory_id"`
}

// ATIFMetrics are a session's totals. Prompt tokens include the cached ones.
type ATIFMetrics struct {
	Prompt     *int64   `json:"total_prompt_tokens,omitempty"`
	Completion *int64   `json:"total_completion_tokens,omitempty"`
	Cached     *int64   `json:"total_cached_tokens,omitempty"`
	CostUSD    *float64 `json:"total_cost_usd,omitempty"`
	Steps      int      `json:"total_steps"`
	Extra      any      `json:"extra,omitempty"`
}

// ATIF exports a transcript. A number that is not known is left out. Turns of
// a subagent become a trajectory of their own, which the result of the call
// that ran it refers to.
func (t *Transcript) ATIF() (*Trajectory, error) {
	if len(t.Turns) == 0 {
		return nil, ErrNoTurns
	}
	version := t.ClientVersion
	if version == "" {
		version = "unknown"
	}
	agent := ATIFAgent{Name: t.Client, Version: version, ModelName: t.Model}
	var parents []string
	byParent := map[string][]*Turn{}
	for i := range t.Turns {
		turn := &t.Turns[i]
		if _, ok := byParent[turn.ParentID]; !ok && turn.ParentID != "" {
			parents = append(parents, turn.ParentID)
		}
		byParent[turn.ParentID] = append(byParent[turn.ParentID], turn)
	}
	root := &Trajectory{
		SchemaVersion: ATIFVersion, SessionID: t.SessionID, TrajectoryID: "main", Agent: agent,
		Steps: atifSteps(byParent[""], byParent), FinalMetrics: t.atifMetrics(), Extra: t.atifExtra(),
	}
	if len(root.Steps) == 0 {
		// Only subagents are left of the session.
		root.Steps = []ATIFStep{{StepID: 1, Source: "system", Message: "The recording holds no turn of the main conversation."}}
	}
	root.FinalMetrics.Steps = len(root.Steps)
	for _, parent := range parents {
		steps := atifSteps(byParent[parent], byParent)
		root.Subagents = append(root.Subagents, Trajectory{
			SchemaVersion: ATIFVersion, TrajectoryID: atifSub(parent), Agent: agent, Steps: steps,
			FinalMetrics: &ATIFMetrics{Steps: len(steps)},
		})
	}
	return root, nil
}

// atifSub is the trajectory id of the subagent a call runs.
func atifSub(call string) string { return "subagent:" + call }

func atifSteps(turns []*Turn, byParent map[string][]*Turn) []ATIFStep {
	steps := make([]ATIFStep, 0, len(turns))
	for i, turn := range turns {
		step := ATIFStep{StepID: i + 1, Timestamp: turn.Time, Source: "agent", Message: turn.Text, Reasoning: turn.Reasoning}
		extra := map[string]any{}
		if turn.MessageID != "" {
			extra["message_id"] = turn.MessageID
		}
		if turn.Source != "" {
			extra["proctor_source"] = turn.Source
		}
		if turn.Role == RoleUser {
			step.Source = "user"
			step.Reasoning = ""
			if turn.Synthetic {
				extra["synthetic"] = true
			}
		}
		if len(extra) > 0 {
			step.Extra = extra
		}
		var results []ATIFResult
		for j := range turn.ToolCalls {
			call := &turn.ToolCalls[j]
			step.ToolCalls = append(step.ToolCalls, atifCall(call))
			_, sub := byParent[call.ID]
			sub = sub && call.ID != ""
			if call.Status == StatusUnfinished && !sub {
				continue
			}
			result := ATIFResult{CallID: call.ID, Content: call.Output}
			if sub {
				result.Subagents = []ATIFRef{{TrajectoryID: atifSub(call.ID)}}
			}
			results = append(results, result)
		}
		if len(results) > 0 {
			step.Observation = &ATIFObservation{Results: results}
		}
		steps = append(steps, step)
	}
	return steps
}

func atifCall(call *ToolCall) ATIFCall {
	extra := map[string]any{"status": call.Status, "output_bytes": call.OutputBytes}
	if call.InputCut {
		extra["input_cut"] = true
	}
	if call.Source != "" {
		extra["proctor_source"] = call.Source
	}
	out := ATIFCall{ID: call.ID, Name: call.Name, Arguments: call.Input, Extra: extra}
	switch {
	case len(call.Input) == 0 || string(call.Input) == "null":
		out.Arguments = json.RawMessage("{}")
	case call.Input[0] != '{':
		// The model gave something else; the format has objects only.
		out.Arguments = json.RawMessage(fmt.Sprintf(`{"input":%s}`, call.Input))
	}
	return out
}

func (t *Transcript) atifMetrics() *ATIFMetrics {
	u := t.Usage
	m := &ATIFMetrics{Completion: u.Output, Cached: u.CacheRead, CostUSD: t.CostUSD}
	m.Prompt = Add(Add(u.Input, u.CacheRead), u.CacheWrite)
	extra := map[string]any{}
	if u.Source != "" {
		extra["source"] = u.Source
	}
	for name, n := range map[string]*int64{"reasoning_tokens": u.Reasoning, "cache_write_tokens": u.CacheWrite, "duration_ms": t.Timing.DurationMS} {
		if n != nil {
			extra[name] = *n
		}
	}
	if len(extra) > 0 {
		m.Extra = extra
	}
	return m
}

// atifExtra is what the format has no place for.
func (t *Transcript) atifExtra() any {
	execution, cause := t.Execution()
	return map[string]any{
		"proctor_schema_version": t.SchemaVersion, "execution": execution, "client_error": cause,
		"skill_loads": t.SkillLoads, "lines": t.Lines, "unparsed": t.Unparsed, "dropped": t.Dropped,
	}
}
