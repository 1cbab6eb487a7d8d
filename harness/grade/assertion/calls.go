package assertion

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/harness/suite"
	"github.com/proctor-evals/proctor/harness/transcript"
)

// placed is a tool call and where it stands.
type placed struct {
	*transcript.ToolCall
	turn int // among the turns beside it
	sub  bool
}

// calls are all tool calls, depth first, subagents' included, whatever their outcome.
func (g *grading) calls() []placed {
	var out []placed
	g.tree.Calls(func(c *transcript.ToolCall, turn int, sub bool) { out = append(out, placed{c, turn, sub}) })
	return out
}

// count is how many calls have the name and an input that matches. unsure is why there may be more.
func (g *grading) count(name string, input map[string]*suite.Regexp) (n int, unsure string) {
	for _, c := range g.calls() {
		if c.Name != name {
			continue
		}
		ok, why := matches(c.ToolCall, input)
		if ok {
			n++
		} else if why != "" {
			unsure = why
		}
	}
	return n, unsure
}

// matches tells whether every key's value matches. When it does not, why says what kept it from
// being looked at whole.
func matches(c *transcript.ToolCall, input map[string]*suite.Regexp) (ok bool, why string) {
	if len(input) == 0 {
		return true, ""
	}
	if c.Input == nil && c.InputCut {
		return false, "an input was too large to be kept"
	}
	ok = true
	for key, re := range input {
		value, there := valueAt(c.Input, key)
		if !there {
			ok = false
			continue
		}
		hit, err := re.Search(value)
		if err != nil {
			why, ok = err.Error(), false
		} else if !hit {
			if c.InputCut {
				why = "an input was too large to be kept whole"
			}
			ok = false
		}
	}
	return ok, why
}

// valueAt is a value of an input as text: a string itself, else its JSON. A key with dots is first
// looked for as it is, then as a path; an array's element is named by its number.
func valueAt(input json.RawMessage, key string) (string, bool) {
	if raw, ok := member(input, key); ok {
		return asText(raw), true
	}
	for {
		first, rest, more := strings.Cut(key, ".")
		raw, ok := member(input, first)
		if !ok {
			return "", false
		}
		if !more {
			return asText(raw), true
		}
		input, key = raw, rest
	}
}

func member(value json.RawMessage, key string) (json.RawMessage, bool) {
	value = bytes.TrimSpace(value)
	if len(value) > 0 && value[0] == '[' {
		var items []json.RawMessage
		if json.Unmarshal(value, &items) != nil {
			return nil, false
		}
		for i, item := range items {
			if fmt.Sprint(i) == key {
				return item, true
			}
		}
		return nil, false
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(value, &fields) != nil {
		return nil, false
	}
	raw, ok := fields[key]
	return raw, ok
}

func asText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil && len(raw) > 0 && raw[0] == '"' {
		return s
	}
	return string(raw)
}

func (g *grading) toolCalled(c suite.ToolCalled) finding {
	n, unsure := g.count(c.Name, c.Input)
	what := c.Name + with(c.Input)
	if n > 0 {
		return found(true, "%s called %d time(s)", what, n)
	}
	if unsure != "" {
		// Nothing shows the call that is asked for; the input that hides it is the agent's.
		return found(false, "%s called 0 time(s), as far as can be told: %s", what, unsure)
	}
	return g.absent(false, "%s called 0 time(s)", what)
}

func (g *grading) toolNotCalled(c suite.ToolNotCalled) finding {
	n, unsure := g.count(c.Name, c.Input)
	what := c.Name + with(c.Input)
	if n > 0 {
		return found(false, "%s called %d time(s)", what, n)
	}
	if unsure != "" {
		return found(false, "%s may have been called: %s", what, unsure)
	}
	return g.absent(true, "%s called 0 time(s)", what)
}

// with names the keys of an input in a sentence.
func with(input map[string]*suite.Regexp) string {
	if len(input) == 0 {
		return ""
	}
	var parts []string
	for key, re := range input {
		parts = append(parts, fmt.Sprintf("%s matching %q", key, re))
	}
	slices.Sort(parts)
	return " with " + strings.Join(parts, " and ")
}

func (g *grading) toolCount(c suite.ToolCount) finding {
	n, _ := g.count(c.Name, nil)
	want := []string{}
	pass := true
	bound := func(name string, limit *int, ok func(limit int) bool) {
		if limit != nil {
			want = append(want, fmt.Sprintf("%s%d", name, *limit))
			pass = pass && ok(*limit)
		}
	}
	text := "%s called %d× (%s)"
	if c.Exactly != nil {
		text = "%s called %d× (expected %s)"
	}
	bound("exactly ", c.Exactly, func(limit int) bool { return n == limit })
	bound("min=", c.Min, func(limit int) bool { return n >= limit })
	bound("max=", c.Max, func(limit int) bool { return n <= limit })
	more := c.Max != nil && n > *c.Max || c.Exactly != nil && n > *c.Exactly
	least := c.Exactly == nil && c.Max == nil && pass
	args := []any{c.Name, n, strings.Join(want, ", ")}
	if more || least {
		return found(pass, text, args...) // further calls would change nothing
	}
	return g.absent(pass, text, args...)
}

func (g *grading) toolOrder(c suite.ToolOrder) finding {
	next := 0
	for _, call := range g.calls() {
		if next < len(c.Names) && call.Name == c.Names[next] {
			next++
		}
	}
	if next == len(c.Names) {
		return found(true, "called in this order: %s", strings.Join(c.Names, ", "))
	}
	after := "from the start"
	if next > 0 {
		after = "after " + strings.Join(c.Names[:next], ", ")
	}
	return g.absent(false, "no call of %s %s", c.Names[next], after)
}

// How much of a denied call a reason shows, in characters. Source: agent-exam 0.2.0.
const (
	shownInput  = 120
	shownResult = 200
)

func (g *grading) noPermissionErrors() finding {
	var offending []map[string]any
	var lines []string
	seen := map[string]bool{}
	for _, c := range g.calls() {
		if c.Status != transcript.StatusDenied {
			continue
		}
		seen[c.ID] = true
		label := fmt.Sprintf("turn %d", c.turn)
		if c.sub {
			label += " (subagent)"
		}
		head := short(c.Output, shownResult)
		lines = append(lines, fmt.Sprintf("  %s  [%s] %s", label, c.Name, short(gist(c.Input), shownInput)), "    "+head)
		offending = append(offending, map[string]any{"turn": c.turn, "name": c.Name, "input": c.Input, "result_head": head})
	}
	for _, d := range g.Transcript.PermissionDenials {
		if seen[d.CallID] {
			continue
		}
		lines = append(lines, fmt.Sprintf("  [%s] as the client says at its end", d.Tool))
		offending = append(offending, map[string]any{"turn": nil, "name": d.Tool, "input": nil, "result_head": ""})
	}
	if len(offending) == 0 {
		return g.absent(true, "no permission errors")
	}
	f := found(false, "%d tool call(s) hit permission-denied:\n%s", len(offending), strings.Join(lines, "\n"))
	f.details = map[string]any{"offending": offending}
	return f
}

// gist is what an input is about: its command, file or pattern, else all of it.
func gist(input json.RawMessage) string {
	for _, key := range []string{"command", "file_path", "pattern"} {
		if raw, ok := member(input, key); ok {
			return asText(raw)
		}
	}
	return string(input)
}

// short is s on one line, cut after max characters.
func short(s string, max int) string {
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > max {
		return string(runes[:max]) + "…"
	}
	return s
}
