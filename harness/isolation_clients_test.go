//go:build linux

package harness

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// started is how one configuration's client would be started, a set of lines a subject.
func started(t *testing.T, b *Batch, c plan.Configuration) map[string][]string {
	t.Helper()
	dir := t.TempDir()
	tr := &trial{Batch: b, plan: plan.Trial{Round: 1, Order: 1, Sequence: 1, Configuration: c}, dir: dir}
	tr.newRecord()
	defer func() {
		tr.closeGateway()
		assert.NoError(t, tr.space.Remove())
	}()
	require.NoError(t, tr.setup(t.Context()))
	l := tr.launch(tr.spec.Argv)
	var ownWays []string
	for _, own := range [][2]string{{tr.space.Dir, "RUN"}, {b.space.Dir, "BATCH"}, {strings.TrimPrefix(tr.gw.URL(), "http://"), "ENDPOINT"}, {tr.gw.Token(), "TOKEN"}} {
		ownWays = append(ownWays, own[0], own[1])
	}
	alike := strings.NewReplacer(ownWays...)
	out := map[string][]string{"denied": l.Policy.DenyRead, "argv": l.Argv, "stdin": {tr.spec.Stdin}, "dir": {l.Dir, l.Home}, "domains": l.Policy.AllowedDomains,
		"readable": l.Policy.AllowRead, "writable": l.Policy.AllowWrite, "limits": {fmt.Sprint(l.MaxOutput, l.Quota)}}
	for _, name := range slices.Sorted(maps.Keys(l.Env)) {
		out["environment"] = append(out["environment"], name+"="+l.Env[name])
	}
	require.NoError(t, filepath.WalkDir(tr.space.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(tr.space.Dir, path)
		if err != nil {
			return err
		}
		content := ""
		switch {
		case d.Type() == fs.ModeSymlink:
			content, err = os.Readlink(path)
		case d.Type().IsRegular():
			var data []byte
			data, err = os.ReadFile(path)
			content = string(data)
		}
		out["files"] = append(out["files"], fmt.Sprintf("%s %s %q", rel, info.Mode(), content))
		return err
	}))
	for _, lines := range out {
		for i := range lines {
			lines[i] = serial.ReplaceAllString(alike.Replace(lines[i]), "$1")
		}
	}
	return out
}

// serial is a number that a client is given anew each time.
var serial = regexp.MustCompile(`(session[-_]id[=" :]+)[0-9a-f-]{36}`)

// TestArmsOfEachClient: command line, standard input, environment, policy and all files around every
// client are alike in its configurations, but for what a configuration is. No client is run.
func TestArmsOfEachClient(t *testing.T) {
	if testing.Short() {
		t.Skip("trials do not run under -short")
	}
	fake, err := filepath.Abs("../testdata/script/fake-client")
	require.NoError(t, err)
	agents, err := filepath.Abs("testdata/fake-cargo-agents")
	require.NoError(t, err)
	evals := t.TempDir()
	for dst, src := range map[string]string{"tasks/tiny": "../testdata/script/tiny", "plugins/store-guide": "../plugins/store-guide", "fixtures/fixture-store": "../fixtures/fixture-store"} {
		dst = filepath.Join(evals, filepath.FromSlash(dst))
		require.NoError(t, os.MkdirAll(filepath.Dir(dst), 0o755))
		_, err := treecopy.Copy(dst, src, treecopy.CopyOptions{})
		require.NoError(t, err)
	}
	require.NoError(t, os.WriteFile(filepath.Join(evals, "tasks/tiny/task.toml"), []byte(`kind = "capability"
editable = ["src"]
model_script = "model.toml"
prompt = "Answer."
plugins = ["store-guide"]
fixtures = ["fixture-store"]
`), 0o644))
	scratch := t.TempDir()
	for _, name := range client.Names() {
		t.Run(name, func(t *testing.T) {
			adapter, err := client.Lookup(name)
			require.NoError(t, err)
			configurations := []string{plan.WithoutSymposium, plan.StagedSkills}
			if adapter.SupportsSymposium() {
				configurations = append(configurations, plan.WithSymposium)
			}
			e, err := Open(Options{Evals: evals, Scratch: scratch, Clients: []string{name}, ClientPath: fake, CargoAgents: agents, Configurations: configurations})
			require.NoError(t, err)
			run, err := e.Rehearse(t.Context(), e.Tasks())
			require.NoError(t, err, "a missing tool is installed by `proctor setup`")
			defer func() { assert.NoError(t, run.Close(nil)) }()
			b := run.Batches()[0]
			require.NoError(t, b.Prepare(t.Context()))
			arms := map[string]map[string][]string{}
			for _, c := range e.confs {
				arms[c.Name] = started(t, b, c)
			}
			base := arms[plan.Baseline]
			for _, subject := range []string{"argv", "environment", "files", "denied", "readable", "writable", "domains"} {
				require.NotEmpty(t, base[subject], "the control: there is something to compare")
			}
			skillDir := adapter.Command(client.Request{}).SkillDir
			allowed := map[string]map[string]*regexp.Regexp{
				plan.StagedSkills: {"files": regexp.MustCompile(`^project/` + regexp.QuoteMeta(skillDir) + `/fixture-store[/ ]`)},
				plan.WithSymposium: {
					// The last ones each launch writes, and init was one.
					"files":    regexp.MustCompile(`^(registry[/ ]|bin/cargo-agents |home/\.symposium[/ ]|home/\.claude[/ ]|init\.json |bin/start|quiet-bwrap )`),
					"readable": regexp.MustCompile(`^(RUN/registry|BATCH/tools/symposium)$`),
				},
			}
			for _, c := range configurations[1:] {
				for subject, lines := range base {
					other := arms[c][subject]
					for _, line := range lines {
						assert.Contains(t, other, line, "%s: %s: only the baseline has", c, subject)
					}
					more := slices.DeleteFunc(slices.Clone(other), func(line string) bool { return slices.Contains(lines, line) })
					ok := allowed[c][subject]
					if ok == nil {
						assert.Equal(t, lines, other, "%s: %s", c, subject)
						continue
					}
					assert.NotEmpty(t, more, "%s: %s: the documented difference is there", c, subject)
					for _, line := range more {
						assert.Regexp(t, ok, line, "%s: %s", c, subject)
					}
				}
			}
		})
	}
}
