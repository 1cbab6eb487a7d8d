//go:build linux

package harness_test

import (
	"encoding/json"
	"fmt"
	"maps"
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
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// dumps is the agent of TestArmsAreAlike: it keeps as evidence how it was started and what it found.
const dumps = `
printf '%s\n' "$0" "$@" >"$EVAL_EVIDENCE_DIR/argv"
env >"$EVAL_EVIDENCE_DIR/environ"
pwd >"$EVAL_EVIDENCE_DIR/cwd"
(cd .. && ls -A && find project home fixtures bin cargo-home tmp -printf '%y %m %p %l\n') >"$TMPDIR/listing"
(cd .. && for d in registry; do [ -d $d ] && find $d -printf '%y %m %p %l\n'; done) >>"$TMPDIR/listing"
grep -v ' tmp/listing ' "$TMPDIR/listing" >"$EVAL_EVIDENCE_DIR/listing"
init
solve
done_ok
`

// random is what is a trial's or its batch's own, and what stands for it here.
var random = []struct {
	find *regexp.Regexp
	here string
}{
	{regexp.MustCompile(`srt\.[A-Za-z0-9%+/=]+:[0-9a-f]+@`), "srt.COMMAND:KEY@"},
	{regexp.MustCompile(`/b-[0-9a-f]{12}/[0-9a-f]{12}/`), "/BATCH/RUN/"},
	{regexp.MustCompile(`/b-[0-9a-f]{12}/`), "/BATCH/"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "127.0.0.1:PORT"},
	{regexp.MustCompile(`sk-[0-9a-f]{16,}`), "TOKEN"},
}

func alike(s string) string {
	for _, r := range random {
		s = r.find.ReplaceAllString(s, r.here)
	}
	return s
}

// arm is how one configuration's client was started, a set of lines a subject.
type arm map[string][]string

func readArm(t *testing.T, dir string) arm {
	t.Helper()
	out := arm{}
	for _, name := range []string{"argv", "environ", "cwd", "listing"} {
		data, err := os.ReadFile(filepath.Join(dir, "evidence", name))
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSuffix(alike(string(data)), "\n"), "\n")
		if name != "argv" {
			slices.Sort(lines)
		}
		out[name] = lines
	}
	data, err := os.ReadFile(filepath.Join(dir, "srt.json"))
	require.NoError(t, err)
	var policy map[string]any
	require.NoError(t, json.Unmarshal(data, &policy))
	flatten(out, "policy", policy)
	return out
}

// flatten gives each field of the policy a subject of its own.
func flatten(out arm, name string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, field := range v {
			flatten(out, name+"."+key, field)
		}
	case []any:
		out[name] = []string{}
		for _, item := range v {
			out[name] = append(out[name], alike(fmt.Sprint(item)))
		}
	default:
		out[name] = []string{alike(fmt.Sprint(v))}
	}
}

// minus are the lines of a that b has not.
func minus(a, b []string) []string {
	var out []string
	for _, line := range a {
		if !slices.Contains(b, line) {
			out = append(out, line)
		}
	}
	return out
}

// TestArmsAreAlike runs a trial of each configuration and compares argv, environment, policy and the
// files the client finds. Exactly the documented differences are allowed.
func TestArmsAreAlike(t *testing.T) {
	if testing.Short() {
		t.Skip("trials do not run under -short")
	}
	fake, err := filepath.Abs("../testdata/script/fake-client")
	require.NoError(t, err)
	agents, err := filepath.Abs("testdata/fake-cargo-agents")
	require.NoError(t, err)
	evals := tiny(t, dumps)
	for part, from := range map[string]string{"fixtures/fixture-store": "../fixtures/fixture-store", "plugins/store-guide": "../plugins/store-guide"} {
		dst := filepath.Join(evals, filepath.FromSlash(part))
		require.NoError(t, os.MkdirAll(filepath.Dir(dst), 0o755))
		_, err := treecopy.Copy(dst, from, treecopy.CopyOptions{})
		require.NoError(t, err)
	}
	file := filepath.Join(evals, "tasks/tiny/task.toml")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, append(text, "fixtures = [\"fixture-store\"]\nplugins = [\"store-guide\"]\n"...), 0o644))
	e, err := harness.Open(harness.Options{
		Evals: evals, Scratch: t.TempDir(), ClientPath: fake, CargoAgents: agents, Configurations: plan.Names(), Trials: 1,
	})
	require.NoError(t, err)
	run, err := e.Start(t.Context(), e.Tasks())
	require.NoError(t, err)
	b := run.Batches()[0]
	require.NoError(t, b.Prepare(t.Context()))
	arms := map[string]arm{}
	for _, p := range b.Plan() {
		rec, err := b.RunTrial(t.Context(), p)
		require.NoError(t, err)
		require.Equal(t, result.Completed, rec.Execution, "%s: %s", p.Name(), rec.ExecutionCause)
		arms[p.Configuration.Name] = readArm(t, filepath.Join(b.Results(), p.Name()))
	}
	require.NoError(t, run.Close(nil))

	base := arms[plan.Baseline]
	for _, subject := range []string{"argv", "environ", "cwd", "listing", "policy.filesystem.denyRead", "policy.filesystem.allowRead", "policy.network.allowedDomains"} {
		require.NotEmpty(t, base[subject], "the control: there is something to compare")
	}
	for name, allowed := range map[string]map[string]func(string) bool{
		plan.StagedSkills: {"listing": under("project/.claude/skills/fixture-store")},
		plan.WithSymposium: {
			"policy.filesystem.allowRead": func(line string) bool {
				return strings.HasSuffix(line, "/BATCH/RUN/registry") || strings.HasSuffix(line, "/BATCH/tools/symposium")
			},
			"listing": func(line string) bool {
				return line == "registry" || under("registry")(line) || strings.Contains(line, " bin/cargo-agents ") ||
					under("home/.symposium")(line) || under("home/.claude")(line)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			other := arms[name]
			assert.ElementsMatch(t, slices.Collect(maps.Keys(base)), slices.Collect(maps.Keys(other)))
			for subject, lines := range base {
				assert.Empty(t, minus(lines, other[subject]), "%s: only the baseline has", subject)
				more := minus(other[subject], lines)
				if ok := allowed[subject]; ok != nil {
					assert.NotEmpty(t, more, "%s: the documented difference is there", subject)
					more = slices.DeleteFunc(more, ok)
				}
				assert.Empty(t, more, "%s: only %s has", subject, name)
				if allowed[subject] == nil {
					assert.Equal(t, lines, other[subject], "%s: in another order, or twice", subject)
				}
			}
		})
	}
	with := minus(arms[plan.WithSymposium]["policy.filesystem.allowRead"], base["policy.filesystem.allowRead"])
	assert.Len(t, with, 2, "the registry and Symposium's tools, each once")
	for subject, lines := range base {
		if subject == "policy.filesystem.denyRead" {
			continue // it names every cargo-agents found on the machine, to deny it
		}
		for _, line := range lines {
			assert.NotContains(t, line, "cargo-agents", "a baseline's paths name no cargo-agents")
		}
	}
	assert.NotEqual(t, alike("ANTHROPIC_API_KEY=developers-own"), alike("ANTHROPIC_API_KEY=sk-0123456789abcdef0"), "what is not random is compared as it is")
}

// under tells whether a line of a listing is about a path.
func under(path string) func(string) bool {
	return func(line string) bool { return strings.Contains(line, " "+path) }
}
