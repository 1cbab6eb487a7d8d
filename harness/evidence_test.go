//go:build unix

package harness

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/transcript"
	"github.com/proctor-evals/proctor/harness/workspace"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

func TestCompared(t *testing.T) {
	keys := []string{"hooks", "mcpServers"}
	for name, tt := range map[string]struct {
		data string
		keys []string
		want string
	}{
		"the whole file":                     {"a\nb", nil, "a\nb"},
		"only the keys":                      {`{"theme":"dark","hooks":{"Stop":[1]}}`, keys, `{"hooks":{"Stop":[1]}}`},
		"in one spelling":                    {"{ \"mcpServers\" : {\"b\":1,\"a\":2},\n\"hooks\":{\"Stop\":[1]} }", keys, `{"hooks":{"Stop":[1]},"mcpServers":{"a":2,"b":1}}`},
		"none of them says nothing":          {`{"theme":"dark"}`, keys, ""},
		"empty ones say nothing":             {`{"hooks":{},"mcpServers":null}`, keys, ""},
		"a false one says something":         {`{"hooks":false}`, keys, `{"hooks":false}`},
		"not JSON is kept as it is":          {"{", keys, "not JSON: {"},
		"an array is no settings file":       {"[1]", keys, "not JSON: [1]"},
		"the last of two of one name counts": {`{"hooks":{"Stop":[1]},"hooks":{"Stop":[2]}}`, keys, `{"hooks":{"Stop":[2]}}`},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tt.want, compared([]byte(tt.data), tt.keys)) })
	}
}

// What may become of a client's settings during a trial, and which of it is a change.
func TestSnapshotChanges(t *testing.T) {
	const settings, hooks = "home/.claude/settings.json", `{"theme":"light","hooks":{"Stop":[{"hooks":[{"type":"command","command":"cargo-agents hook claude stop"}]}]}}`
	for name, tt := range map[string]struct {
		during func(t *testing.T, tr *trial)
		want   []string
	}{
		"nothing": {func(*testing.T, *trial) {}, []string{}},
		"the client rewrites its own settings": {func(t *testing.T, tr *trial) {
			put(t, tr, settings, strings.ReplaceAll(strings.ReplaceAll(hooks, "light", "dark"), ":", " : "))
			put(t, tr, "home/.claude.json", `{"numStartups":1,"mcpServers":{},"projects":{"/x":{"allowedTools":[]}}}`)
			put(t, tr, "home/.claude/history.jsonl", "x")
		}, []string{}},
		"a hook's command": {func(t *testing.T, tr *trial) {
			put(t, tr, settings, strings.ReplaceAll(hooks, "claude stop", "claude stop; true"))
		}, []string{"changed " + settings}},
		"a further hook": {func(t *testing.T, tr *trial) {
			put(t, tr, settings, strings.Replace(hooks, `"hooks":{`, `"hooks":{"SessionStart":[],`, 1))
		}, []string{"changed " + settings}},
		"hooks switched off": {func(t *testing.T, tr *trial) {
			put(t, tr, settings, strings.Replace(hooks, "{", `{"disableAllHooks":true,`, 1))
		}, []string{"changed " + settings}},
		"the hooks taken away": {func(t *testing.T, tr *trial) {
			put(t, tr, settings, `{"theme":"light"}`)
		}, []string{"removed " + settings}},
		"the file removed": {func(t *testing.T, tr *trial) {
			require.NoError(t, os.Remove(tr.space.Path(settings)))
		}, []string{"removed " + settings}},
		"no longer JSON": {func(t *testing.T, tr *trial) { put(t, tr, settings, "{") }, []string{"changed " + settings}},
		"a link to the same content": {func(t *testing.T, tr *trial) {
			require.NoError(t, os.Rename(tr.space.Path(settings), tr.space.Path("home/copy")))
			require.NoError(t, os.Symlink("../copy", tr.space.Path(settings)))
		}, []string{"changed " + settings}},
		"a FIFO": {func(t *testing.T, tr *trial) {
			require.NoError(t, os.Remove(tr.space.Path(settings)))
			require.NoError(t, syscall.Mkfifo(tr.space.Path(settings), 0o644))
		}, []string{"changed " + settings}},
		"a folder": {func(t *testing.T, tr *trial) {
			require.NoError(t, os.Remove(tr.space.Path(settings)))
			require.NoError(t, os.Mkdir(tr.space.Path(settings), 0o755))
		}, []string{"changed " + settings}},
		"too large": {func(t *testing.T, tr *trial) {
			require.NoError(t, os.Truncate(tr.space.Path(settings), 1<<40))
		}, []string{"changed " + settings}},
		"the folder above is a link out of the run": {func(t *testing.T, tr *trial) {
			require.NoError(t, os.Rename(tr.space.Path("home/.claude"), tr.space.Path("evidence/kept")))
			require.NoError(t, os.Symlink("../evidence/kept", tr.space.Path("home/.claude")))
		}, []string{"added home/.claude/settings.local.json", "changed " + settings}},
		"Symposium's own configuration": {func(t *testing.T, tr *trial) {
			put(t, tr, "home/.symposium/config.toml", "auto-sync = false\n")
		}, []string{"changed home/.symposium/config.toml"}},
		"settings and servers of the project": {func(t *testing.T, tr *trial) {
			put(t, tr, "project/.mcp.json", `{"mcpServers":{}}`)
			put(t, tr, "project/.claude/settings.json", `{"permissions":{"deny":["Read"]}}`)
		}, []string{"added project/.claude/settings.json", "added project/.mcp.json"}},
	} {
		t.Run(name, func(t *testing.T) {
			tr := unstarted(t, plan.WithSymposium)
			put(t, tr, settings, hooks)
			put(t, tr, "home/.symposium/config.toml", "auto-sync = true\n")
			before := tr.snapshot()
			require.Contains(t, before[settings], "cargo-agents hook")
			tt.during(t, tr)
			assert.Equal(t, tt.want, before.changes(tr.snapshot()))
		})
	}
}

// TestSnapshotFolders: a folder of hooks counts with all its files, and with what is no file.
func TestSnapshotFolders(t *testing.T) {
	tr := unstarted(t, plan.WithoutSymposium)
	tr.adapter = client.Copilot{}
	before := tr.snapshot()
	assert.Empty(t, before)
	put(t, tr, "home/.copilot/config.json", "// Managed automatically.\n{\n  \"firstLaunchAt\": \"now\"\n}\n")
	put(t, tr, "home/.copilot/logs/x.log", "no hook")
	assert.Empty(t, before.changes(tr.snapshot()), "what the client keeps for itself")

	put(t, tr, "home/.copilot/hooks/a/deep.json", "{}")
	put(t, tr, "project/.github/hooks/x.json", `{"version":1}`)
	put(t, tr, "home/.copilot/config.json", "// Managed automatically.\n{\"hooks\": {\"stop\": [1]}}\n")
	now := tr.snapshot()
	assert.Equal(t, []string{"added home/.copilot/config.json", "added home/.copilot/hooks", "added project/.github/hooks"}, before.changes(now))
	put(t, tr, "home/.copilot/hooks/a/deep.json", "{ }")
	require.NoError(t, os.Symlink("/etc", tr.space.Path("project/.github/hooks/link")))
	after := tr.snapshot()
	assert.Equal(t, []string{"changed home/.copilot/hooks", "changed project/.github/hooks"}, now.changes(after))
	assert.NotContains(t, after["project/.github/hooks"], "passwd", "links are not followed")

	require.NoError(t, os.RemoveAll(tr.space.Path("project/.github")))
	require.NoError(t, os.Symlink("/etc", tr.space.Path("project/.github")))
	assert.Contains(t, now.changes(tr.snapshot()), "changed project/.github/hooks", "a link in its place is no folder without files")
}

func TestRegisteredHooks(t *testing.T) {
	for name, tt := range map[string]struct {
		in   snapshot
		want []string
	}{
		"none at all":                       {snapshot{}, nil},
		"some":                              {snapshot{"home/.claude/settings.json": `{"hooks":{"Stop":[{"hooks":[{"command":"cargo-agents hook claude stop"}]}],"SessionStart":[{"hooks":[{"command":"cargo-agents hook claude session-start"}]}]}}`}, []string{"SessionStart", "Stop"}},
		"others' hooks are not Symposium's": {snapshot{"home/.claude/settings.json": `{"hooks":{"Stop":[{"hooks":[{"command":"cargo fmt"}]}]}}`}, nil},
		"the project's are not init's":      {snapshot{"project/.claude/settings.json": `{"hooks":{"Stop":"cargo-agents hook"}}`}, nil},
		"not to be read":                    {snapshot{"home/.claude/settings.json": "unreadable: x", "home/.symposium/config.toml": "auto-sync = true"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := tt.in.registeredHooks()
			slices.Sort(got)
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestTouches(t *testing.T) {
	call := func(name, input string) *trial {
		return &trial{transcript: &transcript.Transcript{Turns: []transcript.Turn{{ToolCalls: []transcript.ToolCall{
			{ID: "1", Name: "Bash", Input: []byte(`{"command":"cargo test"}`)}, {ID: "2", Name: name, Input: []byte(input)},
		}}}}}
	}
	for name, tt := range map[string]struct {
		tool, input string
		want        string
	}{
		"a command that writes":  {"Bash", `{"command":"echo x >>$SYMPOSIUM_HOOK_TRACE"}`, `the tool call "2" (Bash) names $SYMPOSIUM_HOOK_TRACE`},
		"an edit":                {"Edit", `{"file_path":"/r/evidence/hook-trace.jsonl"}`, `the tool call "2" (Edit) names evidence/`},
		"reading is no change":   {"Read", `{"file_path":"/r/evidence/hook-trace.jsonl"}`, ""},
		"neither is listing":     {"Glob", `{"path":"/r/evidence/"}`, ""},
		"nothing to do with it":  {"Write", `{"file_path":"src/lib.rs"}`, ""},
		"a tool no one knows of": {"NewTool", `{"x":"evidence/"}`, `the tool call "2" (NewTool) names evidence/`},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tt.want, call(tt.tool, tt.input).touches("evidence/", "$SYMPOSIUM_HOOK_TRACE"))
		})
	}
}

func TestNotKept(t *testing.T) {
	for path, concerned := range map[string]bool{
		".": true, ".claude": true, ".claude/skills": true, ".claude/skills/s": true, ".claude/skills/s/more": true,
		".claude/skills/s2": false, ".claude/skills/other": false, "src/link": false, ".clau": false,
	} {
		tr := &trial{submission: &workspace.Submission{Report: treecopy.Report{Skipped: []treecopy.Entry{{Path: path, Kind: treecopy.Symlink}}}}}
		assert.Equal(t, concerned, tr.notKept(".claude/skills/s") != "", path)
	}
}
