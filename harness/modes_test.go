package harness_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
)

// keyHunt makes the agent look for keys wherever it can: its environment, that of every process it sees,
// their command lines, and its files. What it finds goes into the submission. The provider is busy at first.
const keyHunt = `version = 1

[[step]]
fail_with = 429
times = 1

[[step]]
run = "(env; cat /proc/*/environ /proc/*/cmdline; grep -raoE 'sk-[0-9a-f]{48}' $HOME $TMPDIR /tmp /run . ) > hunt.txt 2>/dev/null; true"

[[step]]
read = "src/lib.rs"

[[step]]
write = "src/lib.rs"
content = '''
//! A number.

/// Returns the answer.
pub fn answer() -> u32 {
    42
}
'''

[[step]]
say = "It answers."
`

// fakeEndpoint stands in for a provider: it knows one key, takes requests that have it, and answers by a
// script. Its key is what must not be found.
func fakeEndpoint(t *testing.T, script string, beforeTurn func()) *gateway.Gateway {
	t.Helper()
	s, err := gateway.ParseScript("fake-endpoint.toml", []byte(script))
	require.NoError(t, err)
	g, err := gateway.Open(t.Context(), gateway.Options{Model: gateway.NewScripted(s), ModelName: "a-model", BeforeTurn: beforeTurn})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, g.Close()) })
	return g
}

// holding lists the files below dir that hold text, and how many were looked at. A running trial's files
// may go away meanwhile.
func holding(dir, text string) (found []string, files int) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if data, err := os.ReadFile(path); err == nil {
			files++
			if bytes.Contains(data, []byte(text)) {
				found = append(found, path)
			}
		}
		return nil
	})
	return found, files
}

// one runs the single trial of a run.
func one(t *testing.T, o harness.Options) (*result.Trial, string, string) {
	t.Helper()
	o.Configurations, o.Trials = []string{plan.WithoutSymposium}, 1
	e, err := harness.Open(o)
	require.NoError(t, err)
	run, err := e.Start(t.Context(), e.Tasks())
	require.NoError(t, err)
	b := run.Batches()[0]
	require.NoError(t, b.Prepare(t.Context()))
	rec, err := b.RunTrial(t.Context(), b.Plan()[0])
	require.NoError(t, err)
	require.NoError(t, run.Close(nil))
	return rec, filepath.Join(b.Results(), b.Plan()[0].Name()), run.Dir()
}

// TestForwardedTrial: the real client with a real model's key outside the trial: the key reaches the
// endpoint and is found nowhere else, by the agent or by us. What was recorded is then played again
// without endpoint or key, and gives the same session and the same verdict.
func TestForwardedTrial(t *testing.T) {
	if testing.Short() {
		t.Skip("-short keeps to unit tests; this one runs the real tools")
	}
	for name, way := range map[string]struct{ key, url, path string }{
		"claude": {"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", ""},
		"codex":  {"OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1"},
	} {
		t.Run(name, func(t *testing.T) {
			scratch, results := t.TempDir(), t.TempDir()
			var key atomic.Pointer[string]
			var found []string
			looked, turns := 0, 0
			endpoint := fakeEndpoint(t, keyHunt, func() {
				turns++
				for _, dir := range []string{scratch, results} {
					f, n := holding(dir, *key.Load())
					found, looked = append(found, f...), looked+n
				}
			})
			secret := endpoint.Token()
			key.Store(&secret)
			t.Setenv(way.key, secret)
			t.Setenv(way.url, endpoint.URL()+way.path)
			o := harness.Options{
				Evals: tiny(t, "Make the answer right.\n"), Scratch: scratch, Results: results, Clients: []string{name}, Model: "a-model", Record: true,
			}
			rec, dir, run := one(t, o)
			require.Equal(t, result.Completed, rec.Execution, "%s %v", rec.ExecutionCause, rec.Findings)
			assert.Equal(t, result.Succeeded, rec.Outcome)
			assert.Equal(t, gateway.KindForward, rec.Model.Kind)
			assert.Empty(t, rec.Findings)
			assert.Equal(t, 1, rec.Gateway.Waits, "the client never saw that the provider was busy")
			assert.Equal(t, 0, rec.Gateway.Failures)
			assert.Positive(t, rec.Gateway.WaitSecs)
			require.NotNil(t, rec.Gateway.TranscriptTurns)
			assert.Equal(t, rec.Gateway.Answered, *rec.Gateway.TranscriptTurns)
			require.NotNil(t, rec.Gateway.Usage.OutputTokens)
			assert.Positive(t, *rec.Gateway.Usage.OutputTokens)

			seen := endpoint.Summary()
			assert.Equal(t, 5, seen.Turns, "the key arrives")
			assert.Zero(t, seen.Refused)
			assert.Equal(t, 5, turns)
			assert.Greater(t, looked, 20)
			assert.Empty(t, found, "the key, while the trial ran")
			kept, n := holding(results, secret)
			assert.Empty(t, kept)
			assert.Greater(t, n, 8)
			loot, err := os.ReadFile(filepath.Join(dir, "submission", "hunt.txt"))
			require.NoError(t, err)
			assert.Regexp(t, oneTimeToken, string(loot), "the hunt finds the token, which is worth nothing now")
			// The direct trial's loot has this where the key was, in any encoding that is known.
			assert.NotContains(t, string(loot), "[secret removed]")
			assert.NotContains(t, string(loot), secret)
			assert.NotContains(t, string(loot), strings.TrimPrefix(endpoint.URL(), "http://"), "nor where the endpoint is")

			t.Setenv(way.key, "")
			t.Setenv(way.url, "")
			again := o
			again.Record, again.Model, again.Replay, again.Results = false, "", run, t.TempDir()
			rec2, dir2, _ := one(t, again)
			require.Equal(t, result.Completed, rec2.Execution, "%s %v", rec2.ExecutionCause, rec2.Findings)
			assert.Equal(t, gateway.KindReplay, rec2.Model.Kind)
			assert.Equal(t, "a-model", rec2.Model.Name)
			assert.Equal(t, rec.Outcome, rec2.Outcome)
			assert.Equal(t, rec.Code.Overall, rec2.Code.Overall)
			assert.Equal(t, rec.Gateway.Usage, rec2.Gateway.Usage)
			assert.Equal(t, 0, *rec2.Gateway.Unplayed)
			assert.Equal(t, 5, endpoint.Summary().Turns, "nothing was asked of the endpoint")
			assert.Equal(t, session(t, dir, name), session(t, dir2, name))
		})
	}
}

// session is what a transcript says, less what is a run's own.
func session(t *testing.T, dir, client string) (said []string) {
	t.Helper()
	tr, err := harness.Transcript(dir, client)
	require.NoError(t, err)
	for _, turn := range tr.Turns {
		said = append(said, string(turn.Role)+": "+turn.Text)
		for _, c := range turn.ToolCalls {
			said = append(said, c.ID+" "+c.Name+" "+string(c.Status))
		}
	}
	return append(said, tr.FinalText)
}

// TestStoppedTrial: a provider that refuses the key, and a trial over its limit, end the real client's
// session at once, and the result says why.
func TestStoppedTrial(t *testing.T) {
	if testing.Short() {
		t.Skip("-short keeps to unit tests; this one runs the real tools")
	}
	for name, tt := range map[string]struct {
		key   string // "": the right one
		limit int64
		cause string
		asked bool // the endpoint answered something
	}{
		"wrong key": {"sk-wrong", 0, "model_endpoint", false},
		"limit":     {"", 1, "max_tokens", true},
	} {
		t.Run(name, func(t *testing.T) {
			endpoint := fakeEndpoint(t, "version = 1\n[[step]]\nrun = \"true\"\n[[step]]\nsay = \"Done.\"\n", nil)
			if tt.key == "" {
				tt.key = endpoint.Token()
			}
			t.Setenv("ANTHROPIC_API_KEY", tt.key)
			t.Setenv("ANTHROPIC_BASE_URL", endpoint.URL())
			rec, _, _ := one(t, harness.Options{
				Evals: tiny(t, "Make the answer right.\n"), Scratch: t.TempDir(), Results: t.TempDir(), Model: "a-model", TrialMaxTokens: tt.limit,
			})
			assert.Equal(t, result.ClientError, rec.Execution)
			assert.Equal(t, tt.cause, rec.ExecutionCause)
			assert.Equal(t, result.Failed, rec.Outcome)
			seen := endpoint.Summary()
			assert.Equal(t, tt.asked, seen.Turns+seen.SideCalls > 0)
			require.NotEmpty(t, rec.Findings)
			assert.Equal(t, tt.cause, rec.Findings[0].Kind)
			assert.NotContains(t, rec.Findings[0].Detail, tt.key)
		})
	}
}

// TestDirectTrial: the client reaches its provider itself, with the real key, and nothing else.
func TestDirectTrial(t *testing.T) {
	if testing.Short() {
		t.Skip("-short keeps to unit tests; this one runs the real tools")
	}
	endpoint := fakeEndpoint(t, keyHunt, nil)
	t.Setenv("ANTHROPIC_API_KEY", endpoint.Token())
	t.Setenv("ANTHROPIC_BASE_URL", endpoint.URL())
	rec, dir, _ := one(t, harness.Options{Evals: tiny(t, "Make the answer right.\n"), Scratch: t.TempDir(), Results: t.TempDir(), Model: "a-model", Direct: true})
	require.Equal(t, result.Completed, rec.Execution, "%s %v", rec.ExecutionCause, rec.Findings)
	assert.Equal(t, result.Succeeded, rec.Outcome)
	assert.Equal(t, gateway.KindDirect, rec.Model.Kind)
	assert.Nil(t, rec.Gateway)
	loot, err := os.ReadFile(filepath.Join(dir, "submission", "hunt.txt"))
	require.NoError(t, err)
	assert.Contains(t, string(loot), "ANTHROPIC_API_KEY=[secret removed]", "the agent can read it: that is what doctor says; what is kept does not hold it")
	assert.NotContains(t, string(loot), endpoint.Token())
	policy, err := os.ReadFile(filepath.Join(dir, "srt.json"))
	require.NoError(t, err)
	assert.Contains(t, string(policy), `"`+strings.TrimPrefix(endpoint.URL(), "http://")+`"`)
}
