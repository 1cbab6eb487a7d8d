//go:build linux

package harness_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
)

// scripted is a batch of one task whose agent is a shell script that the test chooses for each trial.
type scripted struct {
	*harness.Batch
	t    *testing.T
	next int
}

// newScripted prepares a batch of n rounds of one configuration. The task expects the skill "careful"
// to be installed and "absent" not to be.
func newScripted(t *testing.T, opts harness.Options, n int) *scripted {
	t.Helper()
	if testing.Short() {
		t.Skip("trials do not run under -short")
	}
	evals := tiny(t, ":\n")
	// The stand-in for cargo-agents installs what is in a plugin's skills/ alone.
	for name, rel := range map[string]string{"careful": "plugins/guide/skills/careful/SKILL.md", "absent": "plugins/guide/other/absent/SKILL.md"} {
		skill := filepath.Join(evals, rel)
		require.NoError(t, os.MkdirAll(filepath.Dir(skill), 0o755))
		require.NoError(t, os.WriteFile(skill, []byte("---\nname: "+name+"\ndescription: Be careful.\n---\nTake care.\n"), 0o644))
	}
	file := filepath.Join(evals, "tasks/tiny/task.toml")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	more := "plugins = [\"guide\"]\n[expected]\ninstalled = [\"careful\"]\nnot_installed = [\"absent\"]\nhooks = [\"Stop\"]\n"
	require.NoError(t, os.WriteFile(file, append(text, more...), 0o644))

	opts.Evals, opts.Trials = evals, n
	if opts.Scratch == "" {
		opts.Scratch = t.TempDir()
	}
	if opts.ClientPath == "" {
		opts.ClientPath, err = filepath.Abs("../testdata/script/fake-client")
		require.NoError(t, err)
	}
	if opts.CargoAgents == "" {
		opts.CargoAgents, err = filepath.Abs("testdata/fake-cargo-agents")
		require.NoError(t, err)
	}
	e, err := harness.Open(opts)
	require.NoError(t, err)
	run, err := e.Start(t.Context(), e.Tasks())
	require.NoError(t, err, "a missing tool is installed by `proctor setup`")
	t.Cleanup(func() { assert.NoError(t, run.Close(nil)) })
	b := run.Batches()[0]
	require.NoError(t, b.Prepare(t.Context()))
	return &scripted{Batch: b, t: t}
}

// hooks is what a client does of Symposium's at the session's start and end.
const (
	start = "init\nhook() { echo '{\"session_id\":\"s\"}' | cargo-agents hook claude $1 >/dev/null; }\nhook session-start\n"
	// A link where code is expected ends the grading at once: these tests are about the evidence.
	end = "ln -s /etc/passwd src/link\nhook stop\ndone_ok\n"
)

// trial runs the next trial with this script.
func (s *scripted) trial(script string) *result.Trial {
	s.t.Helper()
	s.Task.Prompt = script
	p := s.Plan()[s.next]
	s.next++
	rec, err := s.RunTrial(s.t.Context(), p)
	require.NoError(s.t, err)
	onDisk, err := result.ReadTrial(filepath.Join(s.Results(), p.Name()), "")
	require.NoError(s.t, err)
	require.Equal(s.t, rec.Outcome, onDisk.Outcome)
	return onDisk
}

// called is a tool call as it stands in the client's stream, with its answer.
func called(tool, input string, failed bool) string {
	isError := "false"
	if failed {
		isError = "true"
	}
	return `cat <<'STREAM'
{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"call-1","name":"` + tool + `","input":` + input + `}]},"session_id":"s"}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"call-1","is_error":` + isError + `,"content":"some text"}]},"session_id":"s"}
STREAM
`
}

// TestTampering: what the trial does to Symposium's evidence makes just those expectations
// inconclusive that rest on it, and what it does without touching it leaves them as they are.
func TestTampering(t *testing.T) {
	const skill = ".claude/skills/careful"
	type want struct {
		sessionStart, sync, stop, installed, notInstalled result.Verdict
		cause                                             string
	}
	const pass, fail, open = result.Pass, result.Fail, result.Inconclusive
	tests := []struct {
		name, script string
		want         want
	}{
		{"honest", start + end, want{pass, pass, pass, pass, pass, ""}},
		{"no hook ran", "init\nln -s /etc/passwd src/link\ndone_ok\n", want{fail, fail, fail, fail, pass, "no SessionStart record"}},
		{"the client rewrites its own settings",
			start + `printf '{"theme":"dark",%s' "$(cut -c2- ~/.claude/settings.json)" >new && mv new ~/.claude/settings.json` + "\n" + end,
			want{pass, pass, pass, pass, pass, ""}},
		{"hooks changed in the settings", start + "sed -i 's/claude stop/claude stop; true/' ~/.claude/settings.json\n" + end,
			want{open, open, open, pass, pass, "configuration changed during the trial: changed home/.claude/settings.json"}},
		{"a tool call writes the hook trace",
			"init\n" + called("Bash", `{"command":"echo ... >>$SYMPOSIUM_HOOK_TRACE"}`, false) +
				`echo '{"agent":"claude","event":"SessionStart","input":{},"output":{}}' >>"$SYMPOSIUM_HOOK_TRACE"` + "\nhook() { :; }\n" + end,
			want{open, open, open, fail, pass, `the tool call "call-1" (Bash) names "SYMPOSIUM_HOOK_TRACE"`}},
		{"the hook trace replaced by a link, an installed skill edited unseen",
			start + `mv "$SYMPOSIUM_HOOK_TRACE" ~/kept; ln -s ~/kept "$SYMPOSIUM_HOOK_TRACE"` + "\nhook() { :; }\necho more >>" + skill + "/SKILL.md\n" + end,
			want{open, pass, open, fail, pass, `differs from the plugin in ["SKILL.md"]`}},
		{"an installed skill edited by a tool call",
			start + called("Edit", `{"file_path":"`+skill+`/SKILL.md"}`, false) + "echo more >>" + skill + "/SKILL.md\n" + end,
			want{pass, pass, pass, open, pass, `the tool call "call-1" (Edit) names .claude/skills/careful`}},
		{"a link added to an installed skill", start + "ln -s /etc/passwd " + skill + "/more\n" + end,
			want{pass, pass, pass, open, pass, `".claude/skills/careful/more" is a symbolic link`}},
		{"a skill's folder replaced by a link", start + "mv " + skill + " kept; ln -s ../../kept " + skill + "\n" + end,
			want{pass, pass, pass, open, pass, `".claude/skills/careful" is a symbolic link`}},
		{"the skill folder replaced by a link", start + "mv .claude/skills kept; ln -s ../kept .claude/skills\n" + end,
			want{pass, pass, pass, open, open, `".claude/skills" is a symbolic link`}},
		{"a link where no skill is expected, a FIFO in place of a skill's file",
			start + "ln -s careful .claude/skills/absent; rm " + skill + "/SKILL.md; mkfifo " + skill + "/SKILL.md\n" + end,
			want{pass, pass, pass, open, open, "is a FIFO"}},
		{"a skill that is not expected", start + "mkdir .claude/skills/absent; echo x >.claude/skills/absent/SKILL.md\n" + end,
			want{pass, pass, pass, pass, fail, "the skill is in the skill folder"}},
	}
	t.Parallel()
	s := newScripted(t, harness.Options{Configurations: []string{plan.WithSymposium}}, len(tests))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := s.trial(tt.script)
			require.Equal(t, result.Completed, r.Execution, r.ExecutionCause)
			require.NotNil(t, r.Expectations)
			x := r.Expectations
			got := want{x.Sync.SessionStart, x.Sync.SyncRecorded, x.Hooks["Stop"], *x.Skills["careful"].Installed, *x.Skills["absent"].NotInstalled, tt.want.cause}
			assert.Equal(t, tt.want, got, x.Causes)
			assert.Equal(t, pass, x.Sync.SkillDirEmptyBefore)
			var causes []string
			for _, c := range x.Causes {
				causes = append(causes, c)
			}
			assert.Contains(t, strings.Join(causes, "\n"), tt.want.cause)
			assert.Nil(t, r.Excluded)
		})
	}
}

// TestDeniedAttemptIsAFinding: what was tried stands in the result; it takes no trial out of the count.
func TestDeniedAttemptIsAFinding(t *testing.T) {
	t.Parallel()
	s := newScripted(t, harness.Options{Configurations: []string{plan.WithoutSymposium}}, 2)
	r := s.trial("init\n" + called("Bash", `{"command":"cat /root/.cargo/bin/cargo-agents"}`, true) + "ln -s /etc/passwd src/link\ndone_ok\n")
	assert.Equal(t, "suspicious", r.Isolation.AuditState)
	require.NotEmpty(t, r.Isolation.AuditFindings)
	assert.Contains(t, strings.Join(r.Isolation.AuditFindings, "\n"), "/root/.cargo/bin/cargo-agents")
	assert.Nil(t, r.Excluded)
	assert.Equal(t, result.Failed, r.Outcome)

	r = s.trial("init\n" + called("Bash", `{"command":"cargo test"}`, false) + "ln -s /etc/passwd src/link\ndone_ok\n")
	assert.Equal(t, "clean", r.Isolation.AuditState)
	assert.Empty(t, r.Isolation.AuditFindings)
}

// TestDiskLimits: a trial that fills the disk is a client error with a cause of its own, its code is
// graded all the same, and a grading step that does is a failed verdict with its reason.
func TestDiskLimits(t *testing.T) {
	t.Parallel()
	s := newScripted(t, harness.Options{Configurations: []string{plan.WithoutSymposium}, MaxDisk: 60 << 20, MaxFiles: 4000}, 4)
	// Bounded, so that a limit that is not kept costs the test its patience and not the machine its disk.
	fills := "head -c 200000000 /dev/zero >../home/f; exec sleep 600\n"
	for _, tt := range []struct{ script, cause, says string }{
		{"init\n" + "ln -s /etc/passwd src/link\n" + fills, "disk_limit", "more than 62914560 bytes"},
		{"init\n" + "ln -s /etc/passwd src/link\n" + "for i in $(seq 6000); do : >~/f$i; done; exec sleep 600\n", "file_limit", "more than 4000 files"},
		// Whether the session ends before a look comes or goes on: one outcome.
		{"init\n" + "ln -s /etc/passwd src/link\n(cd src; d=$(printf 'd/%.0s' $(seq 1000)); for i in 1 2 3; do mkdir -p $d && cd -P $d || exit 1; done)\ndone_ok\n", "file_limit", "nested deeper than a path can name"},
	} {
		r := s.trial(tt.script)
		assert.Equal(t, result.ClientError, r.Execution)
		assert.Equal(t, tt.cause, r.ExecutionCause)
		assert.Equal(t, result.Failed, r.Outcome)
		require.NotNil(t, r.Code, "the code is graded all the same")
		require.NotEmpty(t, r.Findings)
		found := false
		for _, f := range r.Findings {
			found = found || strings.Contains(f.Detail, tt.says)
		}
		assert.True(t, found, "%v", r.Findings)
	}

	r := s.trial("init\n" + `cat >src/lib.rs <<'RUST'
pub fn answer() -> u32 {
    42
}

#[test]
fn fills() {
    use std::io::Write;
    let mut file = std::fs::File::create("filler").unwrap();
    for _ in 0..3000 {
        file.write_all(&[0; 65536]).unwrap();
    }
    std::thread::sleep(std::time::Duration::from_secs(600));
}
RUST
done_ok
`)
	assert.Equal(t, result.Completed, r.Execution)
	assert.Equal(t, result.Pass, r.Code.Build, r.Code.Reasons)
	assert.Equal(t, result.Fail, r.Code.CargoTestLib)
	assert.Contains(t, r.Code.Reasons["test-lib"], "disk limit exceeded")
	assert.Empty(t, r.Code.InfrastructureError)
	assert.Equal(t, result.Failed, r.Outcome)
	assert.Nil(t, r.Excluded)
}
