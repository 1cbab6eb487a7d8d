package client

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/transcript"
)

// The rules of ATIF v1.7 (Harbor's RFC 0001): names of fields by object, and
// what must hold between them.
var atifFields = map[string][]string{
	"trajectory":  {"schema_version", "session_id", "trajectory_id", "agent", "steps", "notes", "final_metrics", "continued_trajectory_ref", "extra", "subagent_trajectories"},
	"agent":       {"name", "version", "model_name", "tool_definitions", "extra"},
	"step":        {"step_id", "timestamp", "source", "model_name", "reasoning_effort", "message", "reasoning_content", "tool_calls", "observation", "metrics", "is_copied_context", "extra"},
	"call":        {"tool_call_id", "function_name", "arguments", "extra"},
	"observation": {"results"},
	"result":      {"source_call_id", "content", "subagent_trajectory_ref", "extra"},
	"ref":         {"session_id", "trajectory_path", "trajectory_id", "extra"},
	"metrics":     {"total_prompt_tokens", "total_completion_tokens", "total_cached_tokens", "total_cost_usd", "total_steps", "extra"},
}

// atifProblems are the rules an exported trajectory breaks.
func atifProblems(t testing.TB, v any) []string {
	text, err := json.Marshal(v)
	require.NoError(t, err)
	var doc any
	require.NoError(t, json.Unmarshal(text, &doc))
	c := &atifCheck{}
	c.trajectory("", doc, nil)
	return c.problems
}

type atifCheck struct{ problems []string }

func (c *atifCheck) bad(at, format string, args ...any) {
	c.problems = append(c.problems, at+": "+fmt.Sprintf(format, args...))
}

// object checks that v is one with known fields only, and the required ones.
func (c *atifCheck) object(at, kind string, v any, required ...string) map[string]any {
	m, ok := v.(map[string]any)
	if !ok {
		c.bad(at, "not an object")
		return map[string]any{}
	}
	for k := range m {
		if !slices.Contains(atifFields[kind], k) {
			c.bad(at, "unknown field %s", k)
		}
	}
	for _, k := range required {
		if m[k] == nil {
			c.bad(at, "no %s", k)
		}
	}
	if extra, ok := m["extra"]; ok {
		if _, ok := extra.(map[string]any); !ok {
			c.bad(at, "extra is no object")
		}
	}
	return m
}

func list2(v any) []any { l, _ := v.([]any); return l }

func (c *atifCheck) trajectory(at string, v any, ids map[string]bool) {
	m := c.object(at, "trajectory", v, "schema_version", "agent", "steps")
	if m["schema_version"] != "ATIF-v1.7" {
		c.bad(at, "schema_version is %v", m["schema_version"])
	}
	agent := c.object(at+"/agent", "agent", m["agent"], "name", "version")
	for _, k := range []string{"name", "version"} {
		if s, _ := agent[k].(string); s == "" {
			c.bad(at+"/agent", "%s is empty", k)
		}
	}
	if m["final_metrics"] != nil {
		metrics := c.object(at+"/final_metrics", "metrics", m["final_metrics"])
		for k, n := range metrics {
			if f, ok := n.(float64); k != "extra" && (!ok || f < 0) {
				c.bad(at, "%s is %v", k, n)
			}
		}
		prompt, _ := metrics["total_prompt_tokens"].(float64)
		cached, _ := metrics["total_cached_tokens"].(float64)
		if metrics["total_prompt_tokens"] != nil && cached > prompt {
			c.bad(at, "more cached tokens than prompt tokens")
		}
	}
	if ids == nil { // the root: its subagents are what references lead to
		ids = map[string]bool{}
		for i, sub := range list2(m["subagent_trajectories"]) {
			s := c.object(fmt.Sprintf("%s/sub%d", at, i), "trajectory", sub, "trajectory_id")
			id, _ := s["trajectory_id"].(string)
			if ids[id] {
				c.bad(at, "trajectory_id %q twice", id)
			}
			ids[id] = true
		}
	}
	if len(list2(m["steps"])) == 0 {
		c.bad(at, "no steps")
	}
	for i, step := range list2(m["steps"]) {
		c.step(fmt.Sprintf("%s/step%d", at, i+1), i+1, step, ids)
	}
	for i, sub := range list2(m["subagent_trajectories"]) {
		c.trajectory(fmt.Sprintf("%s/sub%d", at, i), sub, ids)
	}
}

func (c *atifCheck) step(at string, number int, v any, ids map[string]bool) {
	m := c.object(at, "step", v, "step_id", "source")
	if m["step_id"] != float64(number) {
		c.bad(at, "step_id is %v", m["step_id"])
	}
	if _, ok := m["message"].(string); !ok {
		c.bad(at, "no message")
	}
	source, _ := m["source"].(string)
	if !slices.Contains([]string{"system", "user", "agent"}, source) {
		c.bad(at, "source is %q", source)
	}
	if at2, ok := m["timestamp"]; ok {
		s, _ := at2.(string)
		if _, err := time.Parse(time.RFC3339, s); err != nil {
			c.bad(at, "timestamp is %v", at2)
		}
	}
	if source != "agent" {
		for _, k := range []string{"model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics"} {
			if m[k] != nil {
				c.bad(at, "%s on a step of the %s", k, source)
			}
		}
	}
	calls := map[string]bool{}
	for _, call := range list2(m["tool_calls"]) {
		o := c.object(at+"/call", "call", call, "tool_call_id", "function_name", "arguments")
		if _, ok := o["arguments"].(map[string]any); !ok {
			c.bad(at, "arguments are no object")
		}
		id, _ := o["tool_call_id"].(string)
		calls[id] = true
	}
	if m["observation"] == nil {
		return
	}
	for _, r := range list2(c.object(at+"/observation", "observation", m["observation"], "results")["results"]) {
		o := c.object(at+"/result", "result", r)
		if id, ok := o["source_call_id"].(string); ok && !calls[id] {
			c.bad(at, "result of %q, which is no call of the step", id)
		}
		for _, ref := range list2(o["subagent_trajectory_ref"]) {
			s := c.object(at+"/ref", "ref", ref)
			if s["trajectory_id"] == nil && s["trajectory_path"] == nil {
				c.bad(at, "a reference that leads nowhere")
			}
			if id, ok := s["trajectory_id"].(string); ok && !ids[id] {
				c.bad(at, "a reference to %q, which is not embedded", id)
			}
		}
	}
}

// TestATIF exports every capture and checks the result against the rules.
func TestATIF(t *testing.T) {
	exported := 0
	for _, d := range Decoders() {
		for _, capture := range captured(t, d.Name()) {
			tr := decodeCapture(t, d, capture)
			trajectory, err := tr.ATIF()
			if len(tr.Turns) == 0 {
				assert.ErrorIs(t, err, transcript.ErrNoTurns)
				continue
			}
			require.NoError(t, err, capture)
			assert.Empty(t, atifProblems(t, trajectory), capture)
			steps := len(trajectory.Steps)
			for _, sub := range trajectory.Subagents {
				steps += len(sub.Steps)
			}
			assert.Equal(t, len(tr.Turns), steps, "every turn is a step")
			exported++
		}
	}
	assert.GreaterOrEqual(t, exported, 60)

	sub, err := decodeCapture(t, Claude{}, "subagent").ATIF()
	require.NoError(t, err)
	require.Len(t, sub.Subagents, 1)
	assert.Equal(t, sub.Subagents[0].TrajectoryID, sub.Steps[0].Observation.Results[0].Subagents[0].TrajectoryID)
	assert.EqualValues(t, 735, *sub.FinalMetrics.Prompt, "with what came from and went into the cache")

	unknown, err := decodeCapture(t, Copilot{}, "srt_proxy").ATIF()
	require.NoError(t, err)
	assert.Nil(t, unknown.FinalMetrics.Prompt, "unknown tokens are left out, not 0")

	// Arguments that are no object, and a subagent whose call nobody saw.
	odd := decode(t, stream(initLine, use("1", "X", `[1]`), `{"type":"assistant","parent_tool_use_id":"gone","message":{"id":"s","content":"inner"}}`, resultLine))
	trajectory, err := odd.ATIF()
	require.NoError(t, err)
	assert.Empty(t, atifProblems(t, trajectory))
	assert.JSONEq(t, `{"input":[1]}`, string(trajectory.Steps[0].ToolCalls[0].Arguments))
}

// The checker itself refuses what breaks a rule.
func TestATIFChecker(t *testing.T) {
	fresh := func() map[string]any {
		trajectory, err := decodeCapture(t, Claude{}, "subagent").ATIF()
		require.NoError(t, err)
		text, err := json.Marshal(trajectory)
		require.NoError(t, err)
		var m map[string]any
		require.NoError(t, json.Unmarshal(text, &m))
		return m
	}
	require.Empty(t, atifProblems(t, fresh()))
	step := func(m map[string]any, i int) map[string]any { return m["steps"].([]any)[i].(map[string]any) }
	result := func(m map[string]any) map[string]any {
		return step(m, 0)["observation"].(map[string]any)["results"].([]any)[0].(map[string]any)
	}
	for name, spoil := range map[string]func(map[string]any){
		"version":               func(m map[string]any) { m["schema_version"] = "ATIF-v1.6" },
		"unknown field":         func(m map[string]any) { m["zzz"] = 1 },
		"no steps":              func(m map[string]any) { m["steps"] = []any{} },
		"gap in the ids":        func(m map[string]any) { step(m, 1)["step_id"] = 3 },
		"source":                func(m map[string]any) { step(m, 1)["source"] = "tool" },
		"reasoning of a user":   func(m map[string]any) { step(m, 1)["source"] = "user"; step(m, 1)["reasoning_content"] = "x" },
		"result without a call": func(m map[string]any) { result(m)["source_call_id"] = "nope" },
		"reference by session": func(m map[string]any) {
			result(m)["subagent_trajectory_ref"] = []any{map[string]any{"session_id": "s"}}
		},
		"dangling reference": func(m map[string]any) {
			result(m)["subagent_trajectory_ref"] = []any{map[string]any{"trajectory_id": "s"}}
		},
		"timestamp":        func(m map[string]any) { step(m, 1)["timestamp"] = "12:00" },
		"no agent version": func(m map[string]any) { delete(m["agent"].(map[string]any), "version") },
	} {
		m := fresh()
		spoil(m)
		assert.NotEmpty(t, atifProblems(t, m), name)
	}
}
