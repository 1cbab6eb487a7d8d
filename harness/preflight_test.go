//go:build unix

package harness

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/workspace"
	"github.com/proctor-evals/proctor/internal/setup"
)

// unstarted is a trial whose run directory is there and empty, with a toolchain and managed settings
// of its own beside it.
func unstarted(t *testing.T, configuration string) *trial {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{"run/home", "run/project", "run/bin", "run/evidence", "toolchain", "managed"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, d), 0o755))
	}
	confs, err := plan.Lookup(configuration)
	require.NoError(t, err)
	return &trial{
		Batch: &Batch{adapter: client.Claude{}, run: &Run{
			engine: &Engine{},
			tools:  &setup.Tools{Toolchain: &setup.Toolchain{Bin: filepath.Join(dir, "toolchain")}},
		}},
		plan: plan.Trial{Configuration: confs[0]}, space: &workspace.Run{Dir: filepath.Join(dir, "run")},
		spec: client.Spec{SkillDir: ".claude/skills", ManagedSettings: []string{
			filepath.Join(dir, "managed", "settings.json"), filepath.Join(dir, "managed", "settings.d"),
		}},
	}
}

// put writes a file in the run directory (or, with ../, beside it).
func put(t *testing.T, tr *trial, rel, content string) {
	t.Helper()
	path := tr.space.Path(filepath.FromSlash(rel))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o755))
}

func TestPreflight(t *testing.T) {
	const baselineOnly, all = "baseline", "all"
	for name, tt := range map[string]struct {
		prepare func(t *testing.T, tr *trial)
		refused string // in which configurations
		want    string
	}{
		"an empty run": {func(*testing.T, *trial) {}, "", ""},
		"the client's own empty folders": {func(t *testing.T, tr *trial) {
			require.NoError(t, os.MkdirAll(tr.space.Path("project/.claude/skills"), 0o755))
			require.NoError(t, os.MkdirAll(tr.spec.ManagedSettings[1], 0o755))
			put(t, tr, "../managed/settings.json", "")
			put(t, tr, "home/.claude/settings.json", `{"theme":"dark","hooks":{}}`)
			put(t, tr, "home/.claude.json", `{"projects":{"cargo-agents":{}}}`)
		}, "", ""},
		"a hook of the project's own": {func(t *testing.T, tr *trial) {
			put(t, tr, "project/.claude/settings.json", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"cargo fmt"}]}]}}`)
		}, "", ""},
		"a skill in the skill directory": {func(t *testing.T, tr *trial) {
			put(t, tr, "project/.claude/skills/other/SKILL.md", "x")
		}, all, `preflight: skill directory: .*holds "other"`},
		"a file in its place": {func(t *testing.T, tr *trial) {
			put(t, tr, "project/.claude/skills", "x")
		}, all, "preflight: skill directory: .*not empty"},
		"a managed settings file": {func(t *testing.T, tr *trial) {
			put(t, tr, "../managed/settings.json", "{}")
		}, all, "preflight: the client's machine-wide managed settings.*settings.json is not empty"},
		"a managed settings folder": {func(t *testing.T, tr *trial) {
			put(t, tr, "../managed/settings.d/10.json", "{}")
		}, all, `preflight: the client's machine-wide managed settings.*settings.d holds "10.json"`},
		"cargo-agents in bin": {func(t *testing.T, tr *trial) {
			put(t, tr, "bin/cargo-agents", "#!/bin/sh\n")
		}, baselineOnly, "preflight: cargo-agents is on the trial's PATH: .*/bin/cargo-agents"},
		"cargo-agents in the toolchain": {func(t *testing.T, tr *trial) {
			put(t, tr, "../toolchain/cargo-agents", "#!/bin/sh\n")
		}, baselineOnly, "preflight: cargo-agents is on the trial's PATH: .*/toolchain/cargo-agents"},
		"a dangling link of that name": {func(t *testing.T, tr *trial) {
			require.NoError(t, os.Symlink("/nowhere", tr.space.Path("bin/cargo-agents")))
		}, baselineOnly, "preflight: cargo-agents is on the trial's PATH"},
		"~/.symposium": {func(t *testing.T, tr *trial) {
			require.NoError(t, os.Mkdir(tr.space.Path("home/.symposium"), 0o755))
		}, baselineOnly, "preflight: .*/home/.symposium is there"},
		"a hook that names cargo-agents": {func(t *testing.T, tr *trial) {
			put(t, tr, "home/.claude/settings.json", `{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"cargo-agents hook claude session-start"}]}]}}`)
		}, baselineOnly, "preflight: home/.claude/settings.json names cargo-agents"},
		"a hook of the project that calls it as cargo's": {func(t *testing.T, tr *trial) {
			put(t, tr, "project/.claude/settings.local.json", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"cargo agents hook claude stop"}]}]}}`)
		}, baselineOnly, "preflight: project/.claude/settings.local.json names cargo agents"},
		"an MCP server of the user": {func(t *testing.T, tr *trial) {
			put(t, tr, "home/.claude.json", `{"mcpServers":{"Symposium":{"command":"x"}}}`)
		}, baselineOnly, "preflight: home/.claude.json names Symposium"},
		"an MCP server of the project": {func(t *testing.T, tr *trial) {
			put(t, tr, "project/.mcp.json", `{"mcpServers":{"s":{"command":"cargo-agents","args":["mcp"]}}}`)
		}, baselineOnly, "preflight: project/.mcp.json names cargo-agents"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, configuration := range plan.Names() {
				tr := unstarted(t, configuration)
				tt.prepare(t, tr)
				err := tr.preflight()
				if tt.refused == all || tt.refused == baselineOnly && configuration != plan.WithSymposium {
					require.Error(t, err, configuration)
					assert.Regexp(t, tt.want, err.Error(), configuration)
					continue
				}
				assert.NoError(t, err, configuration)
			}
		})
	}
}

// All that is wrong is said at once.
func TestPreflightNamesEveryCheck(t *testing.T) {
	tr := unstarted(t, plan.WithoutSymposium)
	put(t, tr, "project/.claude/skills/other/SKILL.md", "x")
	put(t, tr, "../managed/settings.json", "{}")
	put(t, tr, "bin/cargo-agents", "")
	require.NoError(t, os.Mkdir(tr.space.Path("home/.symposium"), 0o755))
	err := tr.preflight()
	for _, want := range []string{"skill directory", "managed settings", "on the trial's PATH", ".symposium is there"} {
		assert.ErrorContains(t, err, want)
	}
}
