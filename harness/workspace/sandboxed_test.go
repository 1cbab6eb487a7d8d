//go:build linux

package workspace_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/sandbox"
	"github.com/proctor-evals/proctor/harness/workspace"
	"github.com/proctor-evals/proctor/internal/realtools"
	"github.com/proctor-evals/proctor/internal/setup"
)

// trial is a batch in a checkout with hidden checks, with one run of each kind, on the real sandbox.
type trial struct {
	rt       sandbox.Runtime
	batch    *workspace.Batch
	baseline *workspace.Run
	treated  *workspace.Run
	root     string
	denied   []string
	readable workspace.Readable
	bin      string
}

func newTrial(t *testing.T) *trial {
	t.Helper()
	tools := realtools.Locate(t, setup.NeedSandbox, setup.NeedRust)
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	tr := &trial{root: root, bin: tools.Toolchain.Bin}
	for rel, content := range map[string]string{
		"repo/.git/HEAD": "canary", "repo/evals/tasks/t/checks/c.rs": "canary", "repo/evals/tasks/t/starter/src/lib.rs": "", "repo/evals/plugins/p/SKILL.md": "canary",
		"developer/cargo-agents": "#!/bin/sh\necho canary\n", "results/r.json": "canary", "common/client": "#!/bin/sh\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, rel)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, rel), []byte(content), 0o755))
	}
	scratch, err := workspace.OpenScratch(filepath.Join(root, "scratch"))
	require.NoError(t, err)
	tr.batch, err = scratch.NewBatch()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, tr.batch.Close()) })
	layout := workspace.Layout{Starter: filepath.Join(root, "repo/evals/tasks/t/starter"), EmptyDirs: []string{".claude/skills"}}
	tr.baseline, err = tr.batch.NewRun(layout)
	require.NoError(t, err)
	layout.Plugins = map[string]string{"p": filepath.Join(root, "repo/evals/plugins/p")}
	tr.treated, err = tr.batch.NewRun(layout)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(tr.batch.Tools(workspace.Symposium), "cargo-agents"), []byte("#!/bin/sh\necho canary\n"), 0o755))
	tr.rt = sandbox.Runtime{
		Node: tools.ByName[setup.Node].Path, SRT: tools.ByName[setup.SRT].Path, Bwrap: tools.ByName[setup.Bubblewrap].Path, PrivateTmp: scratch.PrivateTmp,
	}
	tr.readable = workspace.Readable{Toolchain: tools.Toolchain.Dir, SRTVendor: realtools.SRTVendor(tools)}
	tr.denied = workspace.Denied{
		Scratch: scratch.Dir, Evals: filepath.Join(root, "repo/evals"), Results: filepath.Join(root, "results"),
		Searched: []string{filepath.Join(root, "developer")},
	}.Paths()
	return tr
}

func (tr *trial) launch(r *workspace.Run, script string) sandbox.Launch {
	return sandbox.Launch{
		Argv: []string{"/bin/sh", "-c", script}, Env: r.Env(tr.bin), Dir: r.Path("project"), Home: r.Path("home"),
		Policy: tr.batch.TrialPolicy(r, tr.denied, tr.readable, ""), PolicyFile: r.Path("srt.json"), StartFile: r.Path("bin", "start"),
	}
}

// What a trial reaches of the machine, by configuration. The files are there: the runner reads them.
func TestWhatATrialReaches(t *testing.T) {
	t.Parallel()
	tr := newTrial(t)
	secrets := []string{
		filepath.Join(tr.root, "repo/evals/tasks/t/checks/c.rs"), filepath.Join(tr.root, "repo/evals/plugins/p/SKILL.md"), filepath.Join(tr.root, "repo/.git/HEAD"),
		filepath.Join(tr.root, "developer/cargo-agents"), filepath.Join(tr.root, "results/r.json"),
	}
	symposium := []string{filepath.Join(tr.batch.Tools(workspace.Symposium), "cargo-agents"), tr.treated.Path("registry/p/SKILL.md")}
	for name, tt := range map[string]struct {
		run, other      *workspace.Run
		denied, allowed []string
	}{
		"baseline":       {tr.baseline, tr.treated, append(secrets, symposium...), nil},
		"with symposium": {tr.treated, tr.baseline, secrets, symposium},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, os.WriteFile(tt.other.Path("project", "theirs-"+filepath.Base(tt.run.Dir)), []byte("canary"), 0o644))
			denied := append(tt.denied, tt.other.Path("project", "theirs-"+filepath.Base(tt.run.Dir)))
			var script strings.Builder
			for _, f := range append(denied, tt.allowed...) {
				data, err := os.ReadFile(f)
				require.NoError(t, err)
				require.Contains(t, string(data), "canary", "control: the file is there")
				script.WriteString("grep -q canary " + sandbox.Quote(f) + " 2>/dev/null && echo " + sandbox.Quote("read "+f) + "\n")
			}
			script.WriteString(`command -v cargo-agents && echo found-on-path
cargo --version >/dev/null 2>&1 && echo cargo-runs
echo skill > .claude/skills/written && echo skills-writable
for d in "$HOME" "$TMPDIR" "$CARGO_HOME" "$EVAL_EVIDENCE_DIR"; do echo x > "$d/w" || echo "not writable: $d"; done
echo x > ../bin/w 2>/dev/null && echo bin-writable
ls ..`)
			var out, errs bytes.Buffer
			l := tr.launch(tt.run, script.String())
			l.Stdout, l.Stderr = &out, &errs
			ended, err := tr.rt.Run(t.Context(), l)
			require.NoError(t, err)
			require.True(t, ended.Started, ended.Diagnosis)
			got := out.String()
			for _, f := range denied {
				assert.NotContains(t, got, "read "+f)
			}
			for _, f := range tt.allowed {
				assert.Contains(t, got, "read "+f)
			}
			assert.NotContains(t, got, "found-on-path")
			assert.Contains(t, got, "cargo-runs")
			assert.Contains(t, got, "skills-writable", "a skill can be synced: %s", errs.String())
			assert.NotContains(t, got, "not writable")
			assert.NotContains(t, got, "bin-writable")
			assert.NotContains(t, got, "srt.json", "the run's own folder shows only what was opened")
		})
	}
}

// srt, killed, leaves empty files on the host. They are gone before the submission is taken.
func TestLeftoversOfAKilledSandbox(t *testing.T) {
	t.Parallel()
	tr := newTrial(t)
	before := names(t, tr.baseline.Path("project"))
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	l := tr.launch(tr.baseline, "echo mine > src/own.rs; echo ready; while :; do sleep 60; done")
	l.Stdout = onWrite(func() { cancel(errors.New("killed by the test")) })
	ended, err := tr.rt.Run(ctx, l)
	require.NoError(t, err)
	require.True(t, ended.Started, ended.Diagnosis)
	require.ErrorContains(t, ended.Cause, "killed by the test")
	require.Greater(t, len(names(t, tr.baseline.Path("project"))), len(before)+1, "this release of srt leaves nothing behind: drop the removal")

	tr.baseline.RemoveLeftovers(filepath.Join(tr.root, "repo/evals/tasks/t/starter"))
	assert.ElementsMatch(t, append(before, "src/own.rs"), names(t, tr.baseline.Path("project")))
}

type onWrite func()

func (f onWrite) Write(p []byte) (int, error) { f(); return len(p), nil }

func names(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		out = append(out, filepath.ToSlash(rel))
		return err
	}))
	return out
}
