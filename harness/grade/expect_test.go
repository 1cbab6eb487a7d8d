package grade

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/symposium"
	"github.com/proctor-evals/proctor/harness/task"
	"github.com/proctor-evals/proctor/harness/transcript"
)

// good is the evidence of a trial in which everything went well; skill s was loaded.
func good() Evidence {
	return Evidence{
		Agent: "claude", SkillEmpty: true, Dialect: symposium.Registry,
		Trace: symposium.Trace{Present: true, Records: []symposium.HookRecord{
			{Event: "SessionStart", Agent: "claude"}, {Event: "Stop", Agent: "claude"}, {Event: "PreToolUse", Agent: "codex"},
		}},
		Sync:      symposium.SyncState{Recorded: true},
		Installed: map[string]symposium.Installed{"s": {Present: true, Marker: true, Matches: true}, "t": {Detail: "not in the skill folder"}},
		Load: func(skill string) transcript.Load {
			return map[string]transcript.Load{"s": transcript.Loaded, "t": transcript.NotObserved, "a": transcript.Attempted}[skill]
		},
		Registered: []string{"PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "Stop"},
		Tampered:   Tampering{Skill: map[string]string{}},
	}
}

func TestExpectWhenAllIsWell(t *testing.T) {
	got := Expect(task.Expected{Installed: []string{"s"}, NotInstalled: []string{"t"}, Used: []string{"s"}, NotUsed: []string{"t"}, Hooks: []string{"Stop"}}, good())
	pass := result.Pass
	assert.Equal(t, &result.Expectations{
		Skills: map[string]result.SkillExpectation{
			"s": {Installed: &pass, Used: &pass, ObservedLoad: "loaded"}, "t": {NotInstalled: &pass, NotUsed: &pass, ObservedLoad: "not_observed"},
		},
		Hooks:  map[string]result.Verdict{"Stop": pass},
		Sync:   result.SyncExpectation{SkillDirEmptyBefore: pass, SessionStart: pass, SyncRecorded: pass},
		Causes: map[string]string{},
	}, got)
	// Nothing expected leaves what every trial with Symposium requires.
	got = Expect(task.Expected{}, good())
	assert.Empty(t, got.Skills)
	assert.Len(t, got.All(), 3)
}

func TestExpectSyncAndHooks(t *testing.T) {
	const pass, fail, inconclusive = result.Pass, result.Fail, result.Inconclusive
	tests := map[string]struct {
		change                   func(ev *Evidence)
		empty, start, sync, stop result.Verdict
		cause                    map[string]string
	}{
		"the skill folder was not empty": {func(ev *Evidence) { ev.SkillEmpty = false }, fail, pass, pass, pass, map[string]string{"sync.skill_dir_empty_before": "before launch"}},
		"no trace at all":                {func(ev *Evidence) { ev.Trace = symposium.Trace{} }, pass, fail, pass, fail, map[string]string{"sync.session_start": "no SessionStart record"}},
		"only another agent's records":   {func(ev *Evidence) { ev.Agent = "codex" }, pass, fail, pass, fail, nil},
		"SessionStart is missing":        {func(ev *Evidence) { ev.Trace.Records = ev.Trace.Records[1:] }, pass, fail, pass, pass, nil},
		"a bad line, record there":       {func(ev *Evidence) { ev.Trace.Bad = 1 }, pass, pass, pass, pass, nil},
		"a bad line, record missing":     {func(ev *Evidence) { ev.Trace.Bad, ev.Trace.Records = 1, nil }, pass, inconclusive, pass, inconclusive, map[string]string{"hooks.Stop": "1 bad lines"}},
		"trace cut, record missing":      {func(ev *Evidence) { ev.Trace.Cut, ev.Trace.Records = true, nil }, pass, inconclusive, pass, inconclusive, nil},
		"trace unreadable":               {func(ev *Evidence) { ev.Trace = symposium.Trace{Err: "is a FIFO", Present: true} }, pass, inconclusive, pass, inconclusive, map[string]string{"sync.session_start": "is a FIFO"}},
		"no sync record":                 {func(ev *Evidence) { ev.Sync = symposium.SyncState{Detail: "no sync record"} }, pass, pass, fail, pass, map[string]string{"sync.sync_recorded": "no sync record"}},
		"sync record unclear":            {func(ev *Evidence) { ev.Sync = symposium.SyncState{Unclear: true, Detail: "torn"} }, pass, pass, inconclusive, pass, map[string]string{"sync.sync_recorded": "torn"}},
		"release without a sync record":  {func(ev *Evidence) { ev.Dialect, ev.Sync = symposium.PluginSource, symposium.SyncState{} }, pass, pass, inconclusive, pass, map[string]string{"sync.sync_recorded": "release: "}},
		"release that registers no Stop": {func(ev *Evidence) { ev.Registered = []string{"SessionStart"} }, pass, pass, pass, inconclusive, map[string]string{"hooks.Stop": "release: "}},
		"release that registers nothing": {func(ev *Evidence) { ev.Registered = []string{} }, pass, inconclusive, pass, inconclusive, nil},
		"not known what was registered":  {func(ev *Evidence) { ev.Registered = nil }, pass, pass, pass, pass, nil},
		"configuration changed":          {func(ev *Evidence) { ev.Tampered.Config = "config changed" }, pass, inconclusive, inconclusive, inconclusive, map[string]string{"sync.session_start": "config changed", "sync.sync_recorded": "config changed", "hooks.Stop": "config changed"}},
		"evidence written by the agent":  {func(ev *Evidence) { ev.Tampered.Evidence = "evidence written" }, pass, inconclusive, inconclusive, inconclusive, map[string]string{"hooks.Stop": "evidence written"}},
		"changed, and nothing is there": {func(ev *Evidence) {
			ev.Tampered.Config, ev.Trace, ev.Sync = "config changed", symposium.Trace{}, symposium.SyncState{}
		}, pass, inconclusive, inconclusive, inconclusive, nil},
		"changed, and not empty before": {func(ev *Evidence) { ev.Tampered.Config, ev.SkillEmpty = "config changed", false }, fail, inconclusive, inconclusive, inconclusive, nil},
		"a record of another session": {func(ev *Evidence) {
			ev.Session = "mine"
			for i, session := range []string{"other", "mine", "mine"} {
				ev.Trace.Records[i].Input = []byte(`{"session_id":"` + session + `"}`)
			}
		}, pass, inconclusive, pass, pass, map[string]string{"sync.session_start": `session "other"`}},
		"Stop twice, the first of another session": {func(ev *Evidence) {
			ev.Session = "mine"
			stop := symposium.HookRecord{Event: "Stop", Agent: "claude", Input: []byte(`{"session_id":"mine"}`)}
			ev.Trace.Records[1].Input = []byte(`{"session_id":"other"}`)
			ev.Trace.Records = append(ev.Trace.Records, stop)
		}, pass, pass, pass, inconclusive, map[string]string{"hooks.Stop": `session "other"`}},
		"Stop twice, the first of this session": {func(ev *Evidence) {
			ev.Session = "mine"
			ev.Trace.Records[1].Input = []byte(`{"session_id":"mine"}`)
			ev.Trace.Records = append(ev.Trace.Records, symposium.HookRecord{Event: "Stop", Agent: "claude", Input: []byte(`{"session_id":"other"}`)})
		}, pass, pass, pass, pass, nil},
		"records that name no session":    {func(ev *Evidence) { ev.Session = "mine"; ev.Trace.Records[0].Input = []byte(`[1]`) }, pass, pass, pass, pass, nil},
		"an agent's edit of a skill only": {func(ev *Evidence) { ev.Tampered.Skill["s"] = "edited" }, pass, pass, pass, pass, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			ev := good()
			tt.change(&ev)
			got := Expect(task.Expected{Hooks: []string{"Stop"}}, ev)
			assert.Equal(t, result.SyncExpectation{SkillDirEmptyBefore: tt.empty, SessionStart: tt.start, SyncRecorded: tt.sync}, got.Sync)
			assert.Equal(t, map[string]result.Verdict{"Stop": tt.stop}, got.Hooks)
			for key, want := range tt.cause {
				assert.Contains(t, got.Causes[key], want, key)
			}
			for key, v := range map[string]result.Verdict{"sync.skill_dir_empty_before": tt.empty, "sync.session_start": tt.start, "sync.sync_recorded": tt.sync, "hooks.Stop": tt.stop} {
				assert.Equal(t, v != pass, got.Causes[key] != "", "%s: a verdict other than pass says why", key)
			}
		})
	}
}

func TestExpectInstalled(t *testing.T) {
	const pass, fail, inconclusive = result.Pass, result.Fail, result.Inconclusive
	type installed = symposium.Installed
	tests := map[string]struct {
		in           *installed
		tampered     string
		installed    result.Verdict
		notInstalled result.Verdict
	}{
		"as the plugin has it":            {&installed{Present: true, Marker: true, Matches: true}, "", pass, fail},
		"absent":                          {&installed{Detail: "not there"}, "", fail, pass},
		"no marker":                       {&installed{Present: true, Matches: true, Detail: "no marker"}, "", fail, fail},
		"differs":                         {&installed{Present: true, Marker: true, Detail: "differs"}, "", fail, fail},
		"unclear":                         {&installed{Present: true, Unclear: true, Detail: "a link"}, "", inconclusive, inconclusive},
		"touched, and still the plugin's": {&installed{Present: true, Marker: true, Matches: true}, "touched", pass, inconclusive},
		"touched, and differs":            {&installed{Present: true, Marker: true, Detail: "differs"}, "touched", inconclusive, inconclusive},
		"touched, and absent":             {&installed{Detail: "not there"}, "touched", inconclusive, inconclusive},
		"touched, and unclear":            {&installed{Unclear: true, Detail: "a link"}, "touched", inconclusive, inconclusive},
		"nothing known":                   {nil, "", inconclusive, inconclusive},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			ev := good()
			delete(ev.Installed, "s")
			if tt.in != nil {
				ev.Installed["s"] = *tt.in
			}
			if tt.tampered != "" {
				ev.Tampered.Skill["s"] = tt.tampered
			}
			got := Expect(task.Expected{Installed: []string{"s"}}, ev)
			require.NotNil(t, got.Skills["s"].Installed)
			assert.Equal(t, tt.installed, *got.Skills["s"].Installed)
			assert.Equal(t, tt.installed != pass, got.Causes["skills.s.installed"] != "")
			assert.Nil(t, got.Skills["s"].NotInstalled)

			got = Expect(task.Expected{NotInstalled: []string{"s"}}, ev)
			require.NotNil(t, got.Skills["s"].NotInstalled)
			assert.Equal(t, tt.notInstalled, *got.Skills["s"].NotInstalled)
			assert.Equal(t, tt.notInstalled != pass, got.Causes["skills.s.not_installed"] != "")
		})
	}
}

func TestExpectUsed(t *testing.T) {
	const pass, fail, inconclusive = result.Pass, result.Fail, result.Inconclusive
	for load, want := range map[transcript.Load][2]result.Verdict{
		transcript.Loaded: {pass, fail}, transcript.Attempted: {fail, pass}, transcript.NotObserved: {fail, pass}, transcript.Unknown: {inconclusive, inconclusive},
		"": {inconclusive, inconclusive},
	} {
		t.Run(string(load), func(t *testing.T) {
			ev := good()
			ev.Load = func(string) transcript.Load { return load }
			used := Expect(task.Expected{Used: []string{"s"}}, ev)
			notUsed := Expect(task.Expected{NotUsed: []string{"s"}}, ev)
			assert.Equal(t, want[0], *used.Skills["s"].Used)
			assert.Equal(t, want[1], *notUsed.Skills["s"].NotUsed)
			assert.Equal(t, string(load), used.Skills["s"].ObservedLoad)
			assert.Equal(t, want[0] != pass, used.Causes["skills.s.used"] != "")
			assert.Equal(t, want[1] != pass, notUsed.Causes["skills.s.not_used"] != "")
			// The transcript is no file in the trial: a changed configuration does not touch it.
			ev.Tampered.Config = "config changed"
			assert.Equal(t, want[0], *Expect(task.Expected{Used: []string{"s"}}, ev).Skills["s"].Used)
		})
	}
}

// Hooks of tools and a transcript, wholly read, without tool calls contradict each other.
func TestExpectToolHooks(t *testing.T) {
	for name, tt := range map[string]struct {
		event       string
		records     []string
		noToolCalls bool
		want        result.Verdict
	}{
		"before a tool, and tools ran":      {"PreToolUse", []string{"PreToolUse"}, false, result.Pass},
		"before a tool, and none ran":       {"PreToolUse", []string{"PreToolUse"}, true, result.Inconclusive},
		"after a tool, and none ran":        {"PostToolUse", []string{"PostToolUse"}, true, result.Inconclusive},
		"no record, and none ran":           {"PostToolUse", nil, true, result.Fail},
		"a prompt needs no tool":            {"UserPromptSubmit", []string{"UserPromptSubmit"}, true, result.Pass},
		"another event's record is nothing": {"PostToolUse", []string{"PreToolUse"}, false, result.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			ev := good()
			ev.NoToolCalls = tt.noToolCalls
			for _, event := range tt.records {
				ev.Trace.Records = append(ev.Trace.Records, symposium.HookRecord{Event: event, Agent: "claude"})
			}
			got := Expect(task.Expected{Hooks: []string{tt.event}}, ev)
			assert.Equal(t, tt.want, got.Hooks[tt.event])
			assert.Equal(t, tt.want != result.Pass, got.Causes["hooks."+tt.event] != "")
		})
	}
}
