//go:build linux

package harness_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/internal/realtools"
	"github.com/proctor-evals/proctor/internal/setup"
)

// examOf runs all tasks' trials and returns the first batch's benchmark and trials by name.
func examOf(t *testing.T, opts harness.Options) (*result.Benchmark, map[string]*result.Trial, string) {
	t.Helper()
	if testing.Short() {
		t.Skip("trials do not run under -short")
	}
	e, err := harness.Open(opts)
	require.NoError(t, err)
	run, err := e.Start(t.Context(), e.Tasks())
	require.NoError(t, err, "a missing tool is installed by `proctor setup`")
	b := run.Batches()[0]
	require.NoError(t, b.Prepare(t.Context()))
	trials := map[string]*result.Trial{}
	for _, p := range b.Plan() {
		_, err := b.RunTrial(t.Context(), p)
		require.NoError(t, err)
		trials[p.Name()], err = result.ReadTrial(filepath.Join(b.Results(), p.Name()), run.Dir())
		require.NoError(t, err)
	}
	_, err = b.Finish(nil)
	require.NoError(t, err)
	require.NoError(t, run.Close(nil))
	bench, err := result.ReadBenchmark(b.Results())
	require.NoError(t, err)
	return bench, trials, b.Results()
}

// TestExploratoryRealClient: the real client's own sandbox keeps it from what lies in a user's home,
// by its shell and by its file tool, also through a link it makes itself.
func TestExploratoryRealClient(t *testing.T) {
	t.Parallel()
	const canary = "canary-5d02c1"
	// A folder of the user's own, under a region that is denied on every machine.
	private := t.TempDir()
	secret := filepath.Join(private, "notes")
	require.NoError(t, os.WriteFile(secret, []byte(canary+"\n"), 0o644))
	evals := tiny(t, "Make answer() return 42.\n")
	script := `version = 1
[[step]]
run = ` + strconv.Quote("cat "+secret) + `
[[step]]
run = ` + strconv.Quote("cat Cargo.toml; echo $((6*7)) of the shell") + `
[[step]]
run = ` + strconv.Quote("ln -s "+secret+" src/way-out; readlink src/way-out; cat src/way-out") + `
[[step]]
read = "src/way-out"
[[step]]
read = "src/lib.rs"
[[step]]
run = "rm src/way-out"
[[step]]
write = "src/lib.rs"
content = "pub fn answer() -> u32 {\n    42\n}\n"
[[step]]
say = "Done."
`
	require.NoError(t, os.WriteFile(filepath.Join(evals, "tasks/tiny/model.toml"), []byte(script), 0o644))
	bench, trials, dir := examOf(t, harness.Options{
		Evals: evals, Scratch: realtools.ShortDir(t), Configurations: []string{plan.WithoutSymposium}, Exploratory: true, DenyRead: []string{private},
	})
	r := trials["trial-1-without-symposium"]
	require.Equal(t, result.Completed, r.Execution, r.ExecutionCause)
	stream, err := os.ReadFile(filepath.Join(dir, "trial-1-without-symposium", "transcript.jsonl"))
	require.NoError(t, err)
	assert.False(t, strings.Contains(string(stream), canary), "the canary was read: %s", stream)
	assert.True(t, strings.Contains(string(stream), "project/src/way-out\"}"), "the file tool tried: %s", stream)
	assert.True(t, strings.Contains(string(stream), "42 of the shell"), "control: the shell works")
	assert.True(t, strings.Contains(string(stream), "pub fn answer"), "control: the file tool reads")

	assert.Equal(t, "exploratory", r.Isolation.Mode)
	assert.Equal(t, "suspicious", r.Isolation.AuditState)
	assert.Contains(t, strings.Join(r.Isolation.AuditFindings, "\n"), secret)
	assert.Nil(t, r.Excluded, "what was refused takes no trial out of the count")
	assert.Equal(t, result.Succeeded, r.Outcome, "graded under srt as ever: %+v", r.Code)
	assert.Equal(t, "exploratory", bench.Isolation)
}

// TestExploratoryIsNeverCompared: two configurations and no verdict; and batches of one isolation are
// no looks at the other.
func TestExploratoryIsNeverCompared(t *testing.T) {
	t.Parallel()
	fake, err := filepath.Abs("../testdata/script/fake-client")
	require.NoError(t, err)
	opts := harness.Options{
		Evals: tiny(t, "init\nln -s /etc/passwd src/link\ndone_ok\n"), Scratch: realtools.ShortDir(t), Results: t.TempDir(), ClientPath: fake,
		Configurations: []string{plan.WithoutSymposium, plan.StagedSkills}, Exploratory: true,
	}
	bench, trials, dir := examOf(t, opts)
	assert.Equal(t, "exploratory", bench.Isolation)
	assert.Empty(t, bench.Comparisons)
	assert.Nil(t, bench.Delta.SuccessRate)
	assert.Len(t, bench.Configurations, 2)
	assert.Equal(t, 1, bench.Look)
	for name, r := range trials {
		assert.Equal(t, "exploratory", r.Isolation.Mode)
		assert.NoFileExists(t, filepath.Join(dir, name, "srt.json"), "no policy of srt's was in force")
	}
	bench, _, _ = examOf(t, opts)
	assert.Equal(t, 2, bench.Look)

	opts.Exploratory = false
	bench, _, _ = examOf(t, opts)
	assert.Equal(t, "enforced", bench.Isolation)
	assert.Len(t, bench.Comparisons, 1)
	assert.Equal(t, 1, bench.Look, "exploratory batches are no looks at an enforced one")
	bench, _, _ = examOf(t, opts)
	assert.Equal(t, 2, bench.Look)
}

// TestExploratoryReached: a file tool's answer from outside takes the trial out of the count; a
// refused one, and one from inside, do not. In enforced mode srt is the boundary, and the same
// stream is a finding alone.
func TestExploratoryReached(t *testing.T) {
	t.Parallel()
	outside := called("Read", `{"file_path":"/home/someone/notes"}`, false)
	end := "ln -s /etc/passwd src/link\ndone_ok\n"
	for name, exploratory := range map[string]bool{"exploratory": true, "enforced": false} {
		t.Run(name, func(t *testing.T) {
			s := newScripted(t, harness.Options{Configurations: []string{plan.WithoutSymposium}, Exploratory: exploratory, Scratch: realtools.ShortDir(t)}, 3)
			r := s.trial("init\n" + outside + end)
			assert.Equal(t, "suspicious", r.Isolation.AuditState)
			if exploratory {
				require.NotNil(t, r.Excluded)
				assert.Equal(t, result.ExcludedIsolation, r.Excluded.Kind)
				assert.Contains(t, r.Excluded.Cause, "/home/someone/notes by Read")
				assert.Empty(t, r.Outcome)
			} else {
				assert.Nil(t, r.Excluded)
				assert.Equal(t, result.Failed, r.Outcome)
			}
			r = s.trial("init\n" + strings.ReplaceAll(outside, `"is_error":false`, `"is_error":true`) + end)
			assert.Equal(t, "suspicious", r.Isolation.AuditState)
			assert.Nil(t, r.Excluded)
			r = s.trial("init\n" + called("Read", `{"file_path":"src/lib.rs"}`, false) + end)
			assert.Equal(t, "clean", r.Isolation.AuditState, r.Isolation.AuditFindings)
			assert.Nil(t, r.Excluded)
			bench, err := s.Finish(nil)
			require.NoError(t, err)
			counts := bench.Configurations[plan.WithoutSymposium]
			assert.Equal(t, map[bool]int{true: 2, false: 3}[exploratory], counts.Eligible)
		})
	}
}

// TestExploratoryWithoutSRT: the agent runs, the kept submission waits for a machine with srt, and
// the result says so. An enforced run does not start.
func TestExploratoryWithoutSRT(t *testing.T) {
	t.Parallel()
	fake, err := filepath.Abs("../testdata/script/fake-client")
	require.NoError(t, err)
	opts := harness.Options{
		Evals: tiny(t, "init\nsolve\ndone_ok\n"), Scratch: realtools.ShortDir(t), Results: t.TempDir(), ClientPath: fake,
		Configurations: []string{plan.WithoutSymposium}, Exploratory: true, Cache: t.TempDir(),
	}
	bench, trials, dir := examOf(t, opts)
	r := trials["trial-1-without-symposium"]
	assert.Equal(t, result.Completed, r.Execution, r.ExecutionCause)
	require.NotNil(t, r.Excluded)
	assert.Equal(t, result.ExcludedGrading, r.Excluded.Kind)
	assert.Contains(t, r.Excluded.Cause, "srt is not installed")
	assert.Contains(t, r.Excluded.Cause, "proctor setup sandbox")
	assert.Equal(t, result.Skipped, r.Code.Build)
	assert.Empty(t, r.Isolation.SRTVersion)
	assert.FileExists(t, filepath.Join(dir, "trial-1-without-symposium", "submission/src/lib.rs"))
	assert.Equal(t, 0, bench.Configurations[plan.WithoutSymposium].Eligible)

	opts.Exploratory = false
	e, err := harness.Open(opts)
	require.NoError(t, err)
	_, err = e.Start(t.Context(), e.Tasks())
	var missing *setup.MissingError
	require.True(t, errors.As(err, &missing), "%v", err)
	assert.ErrorContains(t, err, "srt")
}

// A long scratch would cost the client's own sandbox its sockets, and the agent every command.
func TestExploratoryScratchIsShort(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 60))
	e, err := harness.Open(harness.Options{
		Evals: tiny(t, "x\n"), Scratch: long, Results: t.TempDir(), Configurations: []string{plan.WithoutSymposium}, Exploratory: true,
	})
	require.NoError(t, err)
	_, err = e.Start(t.Context(), e.Tasks())
	assert.ErrorContains(t, err, "too long for an exploratory run")
	assert.ErrorContains(t, err, "PROCTOR_SCRATCH")
}
