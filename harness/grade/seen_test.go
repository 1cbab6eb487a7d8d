package grade

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/symposium"
	"github.com/proctor-evals/proctor/harness/task"
)

// A line of a hook trace, as cargo-agents writes it: event, session, and the tool call if any.
func line(event, session, call string) string {
	input := `{"session_id":"` + session + `"`
	if call != "" {
		input += `,"tool_use_id":"` + call + `"`
	}
	return `{"agent":"claude","event":"` + event + `","input":` + input + `},"output":{}}` + "\n"
}

func traceOf(t *testing.T, lines ...string) symposium.Trace {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "hook-trace.jsonl"), []byte(strings.Join(lines, "")), 0o600))
	return symposium.ReadTrace(dir)
}

// A trace is believed where it fits the transcript and what was seen from outside.
func TestExpectHookTraceAgainstTheTranscript(t *testing.T) {
	const pass, fail, open = result.Pass, result.Fail, result.Inconclusive
	begin, prompt, pre, post, stop := line("SessionStart", "s", ""), line("UserPromptSubmit", "s", ""), line("PreToolUse", "s", "c1"), line("PostToolUse", "s", "c1"), line("Stop", "s", "")
	type lines = []string
	early := lines{begin, prompt}
	size := func(ls ...string) int64 { return int64(len(strings.Join(ls, ""))) }
	tests := map[string]struct {
		seen  lines // nil: nothing was seen
		trace lines
		last  int64 // size at the last turn
		// of SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, Stop
		want  [5]result.Verdict
		cause map[string]string
		doubt string
	}{
		"whole":                         {early, lines{begin, prompt, pre, post, stop}, size(begin, prompt, pre, post), [5]result.Verdict{pass, pass, pass, pass, pass}, nil, ""},
		"whole, nothing seen":           {nil, lines{begin, prompt, pre, post, stop}, 0, [5]result.Verdict{pass, pass, pass, pass, pass}, nil, ""},
		"Stop twice, once in between":   {early, lines{begin, prompt, pre, post, stop, stop}, size(begin, prompt, pre, post, stop), [5]result.Verdict{pass, pass, pass, pass, pass}, nil, ""},
		"Stop too early":                {early, lines{begin, prompt, pre, post, stop}, size(begin, prompt, pre, post, stop), [5]result.Verdict{pass, pass, pass, pass, open}, map[string]string{"hooks.Stop": "before the model was asked for its last turn"}, ""},
		"all of another session":        {lines{}, lines{line("SessionStart", "x", ""), line("Stop", "x", "")}, 0, [5]result.Verdict{open, fail, fail, fail, open}, map[string]string{"sync.session_start": `of the session "x"; the transcript's is "s"`}, "2 of 2 records"},
		"of no session":                 {nil, lines{line("SessionStart", "", ""), line("Stop", "", "")}, 0, [5]result.Verdict{open, fail, fail, fail, open}, map[string]string{"hooks.Stop": "names no session"}, "2 of 2 records"},
		"another session's beside":      {early, lines{begin, prompt, line("SessionStart", "x", ""), pre, post, stop}, 0, [5]result.Verdict{pass, pass, pass, pass, pass}, nil, "1 of 6 records"},
		"written after the answer":      {lines{}, lines{begin, prompt, pre, post, stop}, 0, [5]result.Verdict{open, open, pass, pass, pass}, map[string]string{"sync.session_start": "came after the model's first answer"}, ""},
		"a call that is not there":      {early, lines{begin, prompt, line("PreToolUse", "s", "c9"), line("PostToolUse", "s", "c9"), stop}, 0, [5]result.Verdict{pass, pass, open, open, pass}, map[string]string{"hooks.PreToolUse": `tool call "c9"`}, ""},
		"tool hooks before any answer":  {lines{begin, prompt, pre, post, stop}, lines{begin, prompt, pre, post, stop}, 0, [5]result.Verdict{pass, pass, open, open, open}, map[string]string{"hooks.Stop": "before the model's first answer"}, ""},
		"rewritten since":               {early, lines{prompt, begin, pre, post, stop}, 0, [5]result.Verdict{pass, pass, open, open, open}, map[string]string{"hooks.Stop": "no longer holds"}, "no longer holds"},
		"taken away":                    {early, nil, 0, [5]result.Verdict{pass, pass, open, open, open}, map[string]string{"hooks.Stop": "no longer holds"}, "no longer holds"},
		"never there":                   {lines{}, nil, 0, [5]result.Verdict{fail, fail, fail, fail, fail}, nil, ""},
		"the record missing, not taken": {early, lines{begin, prompt, pre, post}, 0, [5]result.Verdict{pass, pass, pass, pass, fail}, map[string]string{"hooks.Stop": "no Stop record"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			ev := good()
			ev.Session, ev.Called = "s", func(id string) bool { return id == "c1" }
			ev.Trace = traceOf(t, tt.trace...)
			if tt.seen != nil {
				ev.Seen = &Seen{Trace: traceOf(t, tt.seen...), Sync: symposium.SyncState{Recorded: true}, LastTurn: tt.last}
			}
			got := Expect(task.Expected{Hooks: []string{"UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"}}, ev)
			h := got.Hooks
			assert.Equal(t, tt.want, [5]result.Verdict{got.Sync.SessionStart, h["UserPromptSubmit"], h["PreToolUse"], h["PostToolUse"], h["Stop"]}, got.Causes)
			for key, want := range tt.cause {
				assert.Contains(t, got.Causes[key], want)
			}
			assert.Equal(t, tt.doubt != "", len(ev.Doubts()) > 0, ev.Doubts())
			assert.Contains(t, strings.Join(ev.Doubts(), "\n"), tt.doubt)
		})
	}
	t.Run("what the text suggests spoils only what was not seen", func(t *testing.T) {
		ev := good()
		ev.Session, ev.Trace = "s", traceOf(t, begin, prompt, stop)
		ev.Seen = &Seen{Trace: traceOf(t, begin, prompt), Sync: symposium.SyncState{Recorded: true}}
		ev.Tampered.Evidence = "a tool call names it"
		got := Expect(task.Expected{Hooks: []string{"Stop"}}, ev)
		assert.Equal(t, result.SyncExpectation{SkillDirEmptyBefore: pass, SessionStart: pass, SyncRecorded: pass}, got.Sync)
		assert.Equal(t, open, got.Hooks["Stop"])
		assert.Equal(t, []string{"a tool call names it"}, ev.Doubts())
		ev.Tampered.Config = "configuration changed"
		got = Expect(task.Expected{}, ev)
		assert.Equal(t, result.SyncExpectation{SkillDirEmptyBefore: pass, SessionStart: open, SyncRecorded: open}, got.Sync, "a changed configuration spoils all")
	})
	t.Run("a transcript without a session", func(t *testing.T) {
		ev := good()
		ev.Trace = traceOf(t, line("SessionStart", "x", ""))
		assert.Equal(t, pass, Expect(task.Expected{}, ev).Sync.SessionStart)
	})
}

// What the skill folder and the sync record held before the model's first answer, against what they
// hold at the end.
func TestExpectWhatWasSeenBeforeTheFirstAnswer(t *testing.T) {
	const pass, fail, open = result.Pass, result.Fail, result.Inconclusive
	plugin, absent := symposium.Installed{Present: true, Marker: true, Matches: true}, symposium.Installed{Detail: "not in the skill folder"}
	edited, link := symposium.Installed{Present: true, Marker: true, Detail: "differs"}, symposium.Installed{Present: true, Unclear: true, Detail: "a link"}
	for name, tt := range map[string]struct {
		before, after           symposium.Installed
		installed, notInstalled result.Verdict
	}{
		"there all along":         {plugin, plugin, pass, fail},
		"there, then edited":      {plugin, edited, open, fail},
		"there, then removed":     {plugin, absent, open, fail},
		"there, then a link":      {plugin, link, open, fail},
		"came later":              {absent, plugin, open, fail},
		"came later, and differs": {absent, edited, fail, fail},
		"never there":             {absent, absent, fail, pass},
		"differs from the start":  {edited, edited, fail, fail},
		"repaired by a sync":      {edited, plugin, pass, fail},
		"unclear at first":        {link, absent, fail, pass},
	} {
		t.Run(name, func(t *testing.T) {
			ev := good()
			ev.Installed["s"] = tt.after
			ev.Seen = &Seen{Installed: map[string]symposium.Installed{"s": tt.before}}
			got := Expect(task.Expected{Installed: []string{"s"}}, ev)
			assert.Equal(t, tt.installed, *got.Skills["s"].Installed, got.Causes)
			got = Expect(task.Expected{NotInstalled: []string{"s"}}, ev)
			assert.Equal(t, tt.notInstalled, *got.Skills["s"].NotInstalled, got.Causes)
		})
	}
	recorded, none, torn := symposium.SyncState{Recorded: true}, symposium.SyncState{Detail: "no sync record"}, symposium.SyncState{Unclear: true, Detail: "torn"}
	for name, tt := range map[string]struct {
		before, after symposium.SyncState
		want          result.Verdict
	}{
		"recorded": {recorded, recorded, pass}, "taken away": {recorded, none, pass}, "came later": {none, recorded, open},
		"never": {none, none, fail}, "unclear": {none, torn, open}, "unclear at first": {torn, recorded, open},
	} {
		t.Run("sync "+name, func(t *testing.T) {
			ev := good()
			ev.Sync, ev.Seen = tt.after, &Seen{Sync: tt.before}
			assert.Equal(t, tt.want, Expect(task.Expected{}, ev).Sync.SyncRecorded)
			assert.Equal(t, tt.before.Recorded && !tt.after.Recorded, len(ev.Doubts()) > 0)
		})
	}
}
