package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/gateway"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/transcript"
)

func TestModelOfProctorToml(t *testing.T) {
	o, err := merge(t, `model = "big"
models = ["small"]

[limits]
run_max_cost = 5
trial_max_tokens = 1000
wait_secs = 30

[endpoints.anthropic]
url = "https://proxy.example/anthropic"
key_file = "/keys/a"

[endpoints.openai]
key_file = "/keys/o"

[prices."big"]
input = 3.0
output = 15
cache_read = 0.3
cache_write = 3.75

[prices.small]
input = 0
output = 1
cache_read = 0
cache_write = 0
`, Options{})
	require.NoError(t, err)
	assert.Equal(t, Options{
		Model: "big", Models: []string{"small"}, MaxCost: 5, TrialMaxTokens: 1000, MaxWaitSecs: 30,
		Endpoints: map[string]EndpointOptions{client.APIAnthropic: {"https://proxy.example/anthropic", "/keys/a"}, client.APIOpenAI: {"", "/keys/o"}},
		Prices:    map[string]gateway.Price{"big": {Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}, "small": {Output: 1}},
	}, o)
	assert.Equal(t, []string{"/keys/a", "/keys/o"}, o.keyFiles(), "no trial may read them")
	assert.Empty(t, o.checkModel())

	_, err = merge(t, `[limits]
run_max_cost = 0
[endpoints.azure]
url = "x"
[prices.big]
input = -1
colour = 2
`, Options{})
	for _, want := range []string{
		"proctor.toml:2:1: limits.run_max_cost must be a number above 0", `unknown key "endpoints.azure"`, "prices.big.input must be a number of at least 0",
		`unknown key "prices.big.colour"`, `prices."big" has no output; what is not said would cost nothing`, `has no cache_write`,
	} {
		assert.ErrorContains(t, err, want)
	}
}

func TestCheckModel(t *testing.T) {
	price := map[string]gateway.Price{"m": {}}
	for name, tt := range map[string]struct {
		o    Options
		want string
	}{
		"scripted":                  {Options{Model: Scripted, MaxCost: 1}, ""},
		"cost with prices":          {Options{Model: "m", MaxCost: 1, Prices: price}, ""},
		"cost without":              {Options{Model: "m", MaxCost: 1}, `needs the price of each model: add [prices."m"]`},
		"of a second model":         {Options{Model: "m", Models: []string{"n"}, TrialMaxCost: 1, Prices: price}, `[prices."n"]`},
		"direct":                    {Options{Model: "m", Direct: true}, ""},
		"direct with limits":        {Options{Model: "m", Direct: true, MaxTokens: 1}, "nothing is counted at the wire"},
		"direct and scripted":       {Options{Direct: true}, "name one with PROCTOR_MODEL"},
		"record of direct":          {Options{Model: "m", Direct: true, Record: true}, "only what passes the gateway can be recorded"},
		"an address without TLS":    {Options{Model: "m", Endpoints: map[string]EndpointOptions{client.APIOpenAI: {URL: "http://x"}}}, "use https"},
		"a folder without cassette": {Options{Replay: t.TempDir()}, "no cassette.jsonl in"},
	} {
		t.Run(name, func(t *testing.T) {
			err := errors.Join(tt.o.checkModel()...)
			if tt.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, tt.want)
		})
	}
}

func TestEndpoint(t *testing.T) {
	for _, v := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL"} {
		t.Setenv(v, "")
	}
	o := Options{Model: "m"}
	_, err := o.endpoint("claude")
	assert.EqualError(t, err, "model m with claude needs a key: set ANTHROPIC_API_KEY, or name a file that holds it as key_file under [endpoints.anthropic] in proctor.toml")
	t.Setenv("OPENAI_API_KEY", " k1\n")
	e, err := o.endpoint("copilot")
	require.NoError(t, err)
	assert.Equal(t, gateway.Endpoint{BaseURL: "https://api.openai.com/v1", Key: "k1"}, e)

	file := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(file, []byte("k2\n"), 0o600))
	o.Endpoints = map[string]EndpointOptions{client.APIAnthropic: {KeyFile: file, URL: "https://x/"}}
	t.Setenv("ANTHROPIC_BASE_URL", "https://not-this-one")
	e, err = o.endpoint("claude")
	require.NoError(t, err)
	assert.Equal(t, gateway.Endpoint{BaseURL: "https://x", Key: "k2"}, e)
	require.NoError(t, os.WriteFile(file, []byte("k2\nk3\n"), 0o600))
	_, err = o.endpoint("claude")
	assert.ErrorContains(t, err, "line break")
	require.NoError(t, os.Remove(file))
	_, err = o.endpoint("claude")
	assert.ErrorContains(t, err, "key_file")
	t.Setenv("OPENAI_BASE_URL", "http://far.example")
	_, err = o.endpoint("codex")
	assert.ErrorContains(t, err, "OPENAI_BASE_URL: http://far.example: use https")
}

func TestCredential(t *testing.T) {
	for _, v := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN", "CODEX_API_KEY", "COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"} {
		t.Setenv(v, "")
	}
	o := Options{Model: "m", Direct: true}
	_, err := o.credential("claude")
	assert.ErrorContains(t, err, "set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN")
	t.Setenv("CLAUDE_CODE_OAUTH_TOKEN", "sub")
	c, err := o.credential("claude")
	require.NoError(t, err)
	assert.Equal(t, credential{name: "CLAUDE_CODE_OAUTH_TOKEN", value: "sub", hosts: []string{"api.anthropic.com"}}, c)
	t.Setenv("ANTHROPIC_API_KEY", "key")
	c, err = o.credential("claude")
	require.NoError(t, err)
	assert.Equal(t, credential{value: "key", hosts: []string{"api.anthropic.com"}}, c)
	_, err = o.credential("opencode")
	assert.ErrorContains(t, err, `a model like anthropic/NAME, not "m"`)
	o.Model = "anthropic/m"
	c, err = o.credential("opencode")
	require.NoError(t, err)
	assert.Equal(t, []string{"api.anthropic.com"}, c.hosts)
	t.Setenv("OPENAI_BASE_URL", "https://x:8443/v1")
	t.Setenv("OPENAI_API_KEY", "o")
	c, err = o.credential("codex")
	require.NoError(t, err)
	assert.Equal(t, credential{value: "o", baseURL: "https://x:8443", hosts: []string{"x:8443"}}, c)
}

// spend lets a trial of the run ask a provider once, which takes two tokens.
func spend(t *testing.T, run *gateway.Spend) {
	t.Helper()
	fakeEndpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"usage":{"input_tokens":1,"output_tokens":1}}`)
	}))
	defer fakeEndpoint.Close()
	g, err := gateway.Open(t.Context(), gateway.Options{ModelName: "m", Model: gateway.NewForward(gateway.ForwardOptions{
		Models: []string{"m"}, Run: run, Clock: &gateway.Clock{}, Endpoints: map[string]gateway.Endpoint{gateway.DialectMessages: {BaseURL: fakeEndpoint.URL, Key: "k"}},
	})})
	require.NoError(t, err)
	req, err := http.NewRequest(http.MethodPost, g.URL()+"/v1/messages", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`))
	require.NoError(t, err)
	req.Header.Set("X-Api-Key", g.Token())
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	resp.Body.Close()
	require.NoError(t, g.Close())
}

// TestRunLimit: a run over its limit finishes the rounds it began, in every batch, and begins none.
func TestRunLimit(t *testing.T) {
	run := &Run{spend: gateway.NewSpend(gateway.Limits{Tokens: 1}, nil)}
	one, two := &Batch{run: run}, &Batch{run: run}
	assert.NoError(t, run.overLimit(one, plan.Trial{Round: 1}))
	spend(t, run.spend)
	assert.NoError(t, run.overLimit(one, plan.Trial{Round: 1}), "the round's other configuration")
	err := run.overLimit(one, plan.Trial{Round: 2})
	require.ErrorIs(t, err, gateway.ErrMaxTokens)
	assert.EqualError(t, err, "the run's limit: max_tokens: 2 tokens are used of 1")
	assert.Error(t, run.overLimit(one, plan.Trial{Round: 2}), "the whole round")
	assert.Error(t, run.overLimit(two, plan.Trial{Round: 1}))
}

// TestStops: what a model's reason to end a trial makes of it.
func TestStops(t *testing.T) {
	tr := &trial{}
	for cause, want := range map[error]struct {
		e    result.Execution
		word string
	}{
		gateway.ErrEndpoint: {result.ClientError, "model_endpoint"}, gateway.ErrMaxCost: {result.ClientError, "max_cost"},
		gateway.ErrMaxTokens: {result.ClientError, "max_tokens"}, gateway.ErrReplay: {result.Cancelled, "replay_mismatch"},
	} {
		e, word, ok := tr.stopExecution(fmt.Errorf("%w: because", cause))
		assert.True(t, ok)
		assert.Equal(t, want.e, e)
		assert.Equal(t, want.word, word)
	}
	_, _, ok := tr.stopExecution(errAgentDeadline)
	assert.False(t, ok)
}

// TestAgentDeadline: it comes, and a stop of the model comes before it.
func TestAgentDeadline(t *testing.T) {
	tr := &trial{}
	tr.stopped, tr.stop = context.WithCancelCause(context.Background())
	ctx, cancel := tr.withDeadline(t.Context(), time.Millisecond, errAgentDeadline)
	defer cancel()
	<-ctx.Done()
	assert.ErrorIs(t, context.Cause(ctx), errAgentDeadline)

	ctx, cancel = tr.withDeadline(t.Context(), time.Hour, errAgentDeadline)
	defer cancel()
	tr.stop(gateway.ErrMaxCost)
	<-ctx.Done()
	assert.ErrorIs(t, context.Cause(ctx), gateway.ErrMaxCost)
}

// TestCassettesIn: a run's, a batch's, a trial's folder; and which cassette is a trial's.
func TestCassettesIn(t *testing.T) {
	root := t.TempDir()
	trial := filepath.Join(root, "results", "one", "claude", "b1", "trial-2-without-symposium")
	require.NoError(t, os.MkdirAll(trial, 0o755))
	head := []byte("{\"proctor_cassette\":1,\"client\":\"claude\",\"model\":\"m\"}\n")
	require.NoError(t, os.WriteFile(filepath.Join(trial, gateway.CassetteFile), head, 0o644))
	run := filepath.Join(root, "runs", "r1")
	require.NoError(t, os.MkdirAll(run, 0o755))
	require.NoError(t, result.Write(run, result.RunFile, result.Run{SchemaVersion: 1, RunID: "r1", State: result.Finished, Batches: []result.Batch{{Results: "results/one/claude/b1"}}}))
	for _, dir := range []string{run, filepath.Join(root, "results"), filepath.Dir(trial), trial} {
		found, err := cassettesIn(dir)
		require.NoError(t, err, dir)
		assert.Len(t, found, 1, dir)
		o := Options{Replay: dir}
		assert.Empty(t, o.checkModel())
		assert.Equal(t, "m", o.Model)
		assert.Equal(t, 2, o.recordedRounds())
	}
	o := Options{Replay: run, Model: "other"}
	assert.ErrorContains(t, errors.Join(o.checkModel()...), "was recorded with the model m, not other")
}

// TestWaitStopsTheClock: while the provider is waited for, the agent's deadline does not come nearer.
func TestWaitStopsTheClock(t *testing.T) {
	t.Parallel()
	asked := 0
	fakeEndpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked == 1 {
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		_, _ = io.WriteString(w, `{}`)
	}))
	defer fakeEndpoint.Close()
	tr := &trial{clock: &gateway.Clock{}}
	tr.stopped, tr.stop = context.WithCancelCause(context.Background())
	f := gateway.NewForward(gateway.ForwardOptions{
		Models: []string{"m"}, Clock: tr.clock, Endpoints: map[string]gateway.Endpoint{gateway.DialectMessages: {BaseURL: fakeEndpoint.URL, Key: "k"}},
	})
	ctx, cancel := tr.withDeadline(t.Context(), 2*time.Second, errAgentDeadline)
	defer cancel()
	turn, err := f.Turn(t.Context(), &gateway.Request{Dialect: gateway.DialectMessages, Model: "m", Raw: []byte(`{}`)})
	require.NoError(t, err)
	require.NoError(t, ctx.Err(), "three seconds of waiting are not the agent's")
	require.NoError(t, turn.Wire.Body.Close())
	<-ctx.Done()
	assert.ErrorIs(t, context.Cause(ctx), errAgentDeadline, "and the rest of its time is over at last")
	_, waits := tr.clock.Waited()
	assert.Equal(t, 1, waits)
}

// TestReconcile: turns at the gateway that the client does not tell of are a finding.
func TestReconcile(t *testing.T) {
	for name, tt := range map[string]struct {
		kind             string
		answered, told   int
		surplus, compare bool
	}{
		"alike":                    {gateway.KindForward, 2, 2, false, true},
		"more at the gateway":      {gateway.KindForward, 3, 2, true, true},
		"more told, as by retries": {gateway.KindReplay, 2, 3, false, true},
		"scripted":                 {gateway.KindScripted, 3, 2, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			tr := &trial{rec: &result.Trial{Model: result.Model{Kind: tt.kind}, Gateway: &result.Gateway{Answered: tt.answered}}, transcript: &transcript.Transcript{}}
			tr.transcript.Turns = append(tr.transcript.Turns, transcript.Turn{Role: transcript.RoleUser}, transcript.Turn{Role: transcript.RoleAssistant, Synthetic: true})
			for range tt.told {
				tr.transcript.Turns = append(tr.transcript.Turns, transcript.Turn{Role: transcript.RoleAssistant})
			}
			tr.reconcile()
			assert.Equal(t, tt.surplus, len(tr.rec.Findings) == 1)
			assert.Equal(t, tt.compare, tr.rec.Gateway.TranscriptTurns != nil)
		})
	}
}

// TestReconcileTokens: what was asked for without tools counts as a side call and shows in the tokens.
func TestReconcileTokens(t *testing.T) {
	n := func(n int64) *int64 { return &n }
	for name, tt := range map[string]struct {
		source    string
		own, wire *int64
		failures  int
		surplus   bool
	}{
		"alike":                            {"total", n(70), n(70), 0, false},
		"more at the wire":                 {"total", n(70), n(71), 0, true},
		"more told":                        {"total", n(70), n(60), 0, false},
		"the client leaves side calls out": {"conversation", n(70), n(90), 0, false},
		"a failure":                        {"total", n(70), n(90), 1, false},
		"unknown":                          {"total", n(70), nil, 0, false},
		"the client does not tell":         {"total", nil, n(70), 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			tr := &trial{rec: &result.Trial{Model: result.Model{Kind: gateway.KindForward}, Gateway: &result.Gateway{Failures: tt.failures}}, transcript: &transcript.Transcript{}}
			tr.rec.Gateway.Usage.OutputTokens = tt.wire
			tr.transcript.Usage.Output, tr.transcript.Usage.Source = tt.own, tt.source
			tr.reconcile()
			assert.Equal(t, tt.surplus, len(tr.rec.Findings) == 1)
		})
	}
}

// TestCheckCassettes: keys in a cassette are found, wherever it lies; what a trial left is not searched.
func TestCheckCassettes(t *testing.T) {
	evals := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(evals, "tasks"), 0o755))
	key := "ghp_" + strings.Repeat("a", 36)
	for dir, text := range map[string]string{
		"cassettes/one": "{}\n  " + key + "\n", "results/one/claude/b/t": key, "cassettes/clean": "{}\n", "results/one/claude/b/t/submission": key,
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(evals, dir), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(evals, dir, gateway.CassetteFile), []byte(text), 0o644))
	}
	problems, err := CheckCassettes(Options{Evals: evals})
	require.NoError(t, err)
	require.Len(t, problems, 2)
	assert.Equal(t, "cassettes/one/cassette.jsonl:2:3: what looks like a key stands in the cassette: ghp_…; revoke the key, and record again", problems[0].String())
	assert.Equal(t, "results/one/claude/b/t/cassette.jsonl", problems[1].File)
}
