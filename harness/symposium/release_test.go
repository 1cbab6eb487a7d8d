//go:build linux

package symposium_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/sandbox"
	"github.com/proctor-evals/proctor/harness/symposium"
	"github.com/proctor-evals/proctor/harness/workspace"
	"github.com/proctor-evals/proctor/internal/realtools"
	"github.com/proctor-evals/proctor/internal/setup"
)

const evals = "../.." // this repository is an evals root

// release is a run directory with the installed cargo-agents in it, on the real sandbox.
type release struct {
	run   *workspace.Run
	batch *workspace.Batch
	rt    sandbox.Runtime
	tools *setup.Tools
}

func newRelease(t *testing.T) *release {
	t.Helper()
	tools := realtools.Locate(t, setup.NeedSandbox, setup.NeedRust, setup.NeedCargoAgents)
	scratch, err := workspace.OpenScratch(filepath.Join(t.TempDir(), "scratch"))
	require.NoError(t, err)
	batch, err := scratch.NewBatch()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, batch.Close()) })
	tool := tools.ByName[setup.CargoAgents]
	staged, err := batch.Stage(workspace.Symposium, "cargo-agents", tool.Path, tool.SHA256)
	require.NoError(t, err)
	run, err := batch.NewRun(workspace.Layout{
		Starter:   filepath.Join(evals, "tasks/store-durability/starter"),
		Fixtures:  map[string]string{"fixture-store": filepath.Join(evals, "fixtures/fixture-store")},
		Plugins:   map[string]string{"store-guide": filepath.Join(evals, "plugins/store-guide")},
		Links:     map[string]string{"cargo-agents": staged, "sh": "/bin/sh"},
		EmptyDirs: []string{".claude/skills"},
	})
	require.NoError(t, err)
	return &release{run: run, batch: batch, tools: tools, rt: sandbox.Runtime{
		Node: tools.ByName[setup.Node].Path, SRT: tools.ByName[setup.SRT].Path, Bwrap: tools.ByName[setup.Bubblewrap].Path, PrivateTmp: scratch.PrivateTmp,
	}}
}

func (r *release) cargoAgents(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	ended, err := r.rt.Run(t.Context(), sandbox.Launch{
		Argv: append([]string{r.run.Path("bin", "cargo-agents")}, args...), Env: r.run.Env(r.tools.Toolchain.Bin),
		Dir: r.run.Path("project"), Home: r.run.Path("home"),
		Policy: r.batch.TrialPolicy(r.run, []string{filepath.Dir(r.batch.Dir)}, workspace.Readable{
			Toolchain: r.tools.Toolchain.Dir, SRTVendor: realtools.SRTVendor(r.tools),
		}, ""),
		PolicyFile: r.run.Path("srt.json"), StartFile: r.run.Path("bin", "start"),
		Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs,
	})
	require.NoError(t, err)
	require.True(t, ended.Started, ended.Diagnosis)
	return out.String(), errs.String(), ended.ExitCode
}

func (r *release) configure(t *testing.T, d symposium.Dialect) (rewritten []byte) {
	t.Helper()
	config := r.run.Path("home", filepath.FromSlash(symposium.ConfigFile))
	require.NoError(t, os.MkdirAll(filepath.Dir(config), 0o755))
	require.NoError(t, os.WriteFile(config, symposium.Config(d, r.run.Path("registry")), 0o600))
	out, errs, code := r.cargoAgents(t, "", symposium.InitArgs("claude")...)
	require.Zero(t, code, "%s%s", out, errs)
	rewritten, err := os.ReadFile(config)
	require.NoError(t, err)
	return rewritten
}

// The formats this package reads are those the pinned release writes: the configuration survives
// init, and one SessionStart leaves a trace, a sync record, the skill and a log.
func TestPinnedReleaseLeavesWhatIsRead(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	home, project := r.run.Path("home"), r.run.Path("project")
	require.NoError(t, symposium.CheckConfig(r.configure(t, symposium.Registry), r.run.Path("registry")))
	settings, err := os.ReadFile(r.run.Path("home", ".claude", "settings.json"))
	require.NoError(t, err)
	for _, event := range []string{"PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "Stop"} {
		assert.Contains(t, string(settings), `"`+event+`"`)
	}
	assert.Contains(t, string(settings), `"cargo-agents hook claude session-start"`)

	// Init alone installs and records nothing.
	skills, err := symposium.Skills(filepath.Join(evals, "plugins/store-guide"))
	require.NoError(t, err)
	require.Len(t, skills, 1)
	skillDir := r.run.Path("project", ".claude", "skills")
	assert.False(t, symposium.CheckInstalled(skillDir, skills[0]).Present)
	assert.False(t, symposium.ReadSync(home, project).Recorded)
	assert.False(t, symposium.ReadTrace(r.run.Path("evidence")).Present)

	_, errs, code := r.cargoAgents(t, fmt.Sprintf(`{"hook_event_name":"SessionStart","session_id":"t","cwd":%q,"source":"startup"}`, project), "hook", "claude", "session-start")
	require.Zero(t, code, errs)
	trace := symposium.ReadTrace(r.run.Path("evidence"))
	assert.True(t, trace.Whole())
	assert.Equal(t, 1, trace.Count("claude", "SessionStart"))
	assert.Equal(t, symposium.SyncState{Recorded: true}, symposium.ReadSync(home, project))
	assert.Equal(t, symposium.Installed{Present: true, Marker: true, Matches: true}, symposium.CheckInstalled(skillDir, skills[0]))
	assert.Contains(t, string(symposium.Logs(home)), "== \"symposium-")

	// A hook that fails leaves no line: a line is a success.
	_, _, code = r.cargoAgents(t, "not json", "hook", "claude", "stop")
	assert.NotZero(t, code)
	assert.Zero(t, symposium.ReadTrace(r.run.Path("evidence")).Count("claude", "Stop"))
}

// A configuration the release cannot read falls back to its defaults in init, and that is noticed.
func TestPinnedReleaseDropsWhatItDoesNotUnderstand(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	err := symposium.CheckConfig(r.configure(t, "no-such-table"), r.run.Path("registry"))
	assert.ErrorContains(t, err, "lost the registry in init")
}
