//go:build linux

package harness_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/workspace"
)

// rehearsed is a prepared batch for visits, in all configurations.
func rehearsed(t *testing.T, opts harness.Options) *harness.Batch {
	t.Helper()
	if testing.Short() {
		t.Skip("trials do not run under -short")
	}
	fake, err := filepath.Abs("../testdata/script/fake-client")
	require.NoError(t, err)
	agents, err := filepath.Abs("testdata/fake-cargo-agents")
	require.NoError(t, err)
	opts.Evals, opts.Scratch, opts.ClientPath, opts.CargoAgents = tiny(t, "x\n"), t.TempDir(), fake, agents
	opts.Configurations = plan.Names()
	e, err := harness.Open(opts)
	require.NoError(t, err)
	run, err := e.Rehearse(t.Context(), e.Tasks())
	require.NoError(t, err, "a missing tool is installed by `proctor setup`")
	t.Cleanup(func() {
		assert.NoError(t, run.Close(nil))
		assert.NoDirExists(t, run.Dir(), "nothing of a rehearsal is kept")
		assert.NoDirExists(t, filepath.Join(opts.Evals, "results"))
		assert.NoDirExists(t, filepath.Join(opts.Evals, "runs"))
	})
	b := run.Batches()[0]
	require.NoError(t, b.Prepare(t.Context()))
	return b
}

// documented are the variables of docs/isolation.md, for the client claude in enforced mode.
var documented = []string{
	"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "CARGO_HOME", "DISABLE_AUTOUPDATER", "DISABLE_ERROR_REPORTING", "DISABLE_TELEMETRY",
	"EVAL_EVIDENCE_DIR", "HOME", "HTTPS_PROXY", "HTTP_PROXY", "IS_SANDBOX", "PATH", "SYMPOSIUM_HOOK_TRACE", "TMPDIR", "http_proxy", "https_proxy",
}

// own takes out of a value what is a trial's alone: its random names, its port, its one-time keys.
var own = regexp.MustCompile(`b-[0-9a-f]{12}/[0-9a-f]{12}|127\.0\.0\.1:\d+|[A-Za-z0-9+/=_%-]{16,}|://[^@/]*@localhost:\d+`)

// TestEnterEnvironment: the environment is the documented list, whatever the runner's holds, and the
// same in all configurations.
func TestEnterEnvironment(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-of-the-developer")
	t.Setenv("PROCTOR_TEST_CANARY", "canary")
	b := rehearsed(t, harness.Options{})
	seen := map[string][]string{}
	for _, configuration := range plan.Names() {
		var out bytes.Buffer
		ended, err := b.Enter(t.Context(), harness.Visit{Configuration: configuration, Argv: []string{"/usr/bin/env", "-0"}, Stdout: &out})
		require.NoError(t, err)
		require.True(t, ended.Started, ended.Diagnosis)
		var names, values []string
		for entry := range strings.SplitSeq(strings.TrimSuffix(out.String(), "\x00"), "\x00") {
			name, value, _ := strings.Cut(entry, "=")
			names = append(names, name)
			values = append(values, name+"="+own.ReplaceAllString(value, "…"))
		}
		slices.Sort(names)
		slices.Sort(values)
		want := slices.Clone(documented)
		if os.Geteuid() != 0 {
			want = slices.DeleteFunc(want, func(n string) bool { return n == "IS_SANDBOX" })
		}
		assert.Equal(t, want, names, configuration)
		assert.NotContains(t, out.String(), "sk-of-the-developer")
		seen[configuration] = values
	}
	assert.Equal(t, seen[plan.WithoutSymposium], seen[plan.WithSymposium])
	assert.Equal(t, seen[plan.WithoutSymposium], seen[plan.StagedSkills])
}

// TestEnterDifference: what a program finds in its run differs between configurations by what the
// configuration is, and by nothing else.
func TestEnterDifference(t *testing.T) {
	t.Parallel()
	b := rehearsed(t, harness.Options{})
	look := `cd .. && find bin project home fixtures registry cargo-home tmp evidence 2>/dev/null | sort; command -v cargo-agents >/dev/null && echo reachable`
	found := map[string][]string{}
	for _, configuration := range plan.Names() {
		var out bytes.Buffer
		_, err := b.Enter(t.Context(), harness.Visit{Configuration: configuration, Argv: []string{"/bin/sh", "-c", look}, Stdout: &out})
		require.NoError(t, err)
		found[configuration] = strings.Split(strings.TrimSpace(out.String()), "\n")
	}
	more := func(configuration string) []string {
		return slices.DeleteFunc(slices.Clone(found[configuration]), func(line string) bool { return slices.Contains(found[plan.Baseline], line) })
	}
	for _, line := range found[plan.Baseline] {
		assert.Contains(t, found[plan.WithSymposium], line)
	}
	assert.Contains(t, found[plan.Baseline], "project/.claude/skills")
	assert.Empty(t, more(plan.StagedSkills), "this task has no skills to stage")
	assert.Equal(t, []string{
		"bin/cargo-agents", "home/.claude", "home/.claude/settings.json", "home/.symposium", "home/.symposium/config.toml", "registry", "reachable",
	}, more(plan.WithSymposium))
}

func TestEnterHooksOfTheCaller(t *testing.T) {
	t.Parallel()
	b := rehearsed(t, harness.Options{})
	var dir string
	ended, err := b.Enter(t.Context(), harness.Visit{
		Configuration: plan.Baseline, Argv: []string{"/bin/sh", "-c", "cat >out; cat given; exit 7"}, Stdin: strings.NewReader("typed"),
		Before: func(r *workspace.Run) error {
			dir = r.Dir
			return os.WriteFile(r.Path("project", "given"), []byte("x"), 0o644)
		},
		After: func(r *workspace.Run) error {
			data, err := os.ReadFile(r.Path("project", "out"))
			assert.Equal(t, "typed", string(data))
			return err
		},
	})
	require.NoError(t, err)
	assert.Equal(t, 7, ended.ExitCode)
	require.NotEmpty(t, dir)
	assert.NoDirExists(t, dir, "the run directory is gone")

	broken := errors.New("broken")
	for name, v := range map[string]harness.Visit{
		"before": {Configuration: plan.Baseline, Argv: []string{"/bin/true"}, Before: func(*workspace.Run) error { return broken }},
		"after":  {Configuration: plan.Baseline, Argv: []string{"/bin/true"}, After: func(*workspace.Run) error { return broken }},
	} {
		_, err := b.Enter(t.Context(), v)
		assert.ErrorIs(t, err, broken, name)
	}
	_, err = b.Enter(t.Context(), harness.Visit{Configuration: "no-such", Argv: []string{"/bin/true"}})
	assert.ErrorContains(t, err, `no configuration "no-such"`)
	left, err := filepath.Glob(filepath.Join(b.Place().Batch, "*"))
	require.NoError(t, err)
	for _, path := range left {
		assert.Regexp(t, `/(tools|visit-\d+|lock|\.lock|[^/]*lock)$`, path, "only run directories are made and removed")
	}
}
