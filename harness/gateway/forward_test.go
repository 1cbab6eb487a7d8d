package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const realKey = "sk-ant-realkey-0123456789abcdefghij"

// fakeEndpoint stands in for a provider. It keeps what came.
type fakeEndpoint struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
	heads  []http.Header
	paths  []string
	answer func(n int, w http.ResponseWriter, body []byte) // n counts from 0
}

func newFakeEndpoint(t *testing.T, answer func(n int, w http.ResponseWriter, body []byte)) *fakeEndpoint {
	e := &fakeEndpoint{answer: answer}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		e.mu.Lock()
		n := len(e.bodies)
		e.bodies, e.heads, e.paths = append(e.bodies, string(body)), append(e.heads, r.Header), append(e.paths, r.URL.Path)
		e.mu.Unlock()
		e.answer(n, w, body)
	}))
	t.Cleanup(e.Close)
	return e
}

// codecs by dialect, with the path clients post to.
var dialects = []struct {
	codec codec
	path  string
	body  string
}{
	{messagesCodec, "/v1/messages", `{"model":"the-model","stream":%t,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"Bash","input_schema":{}},{"type":"web_search_20250305","name":"web_search"}],"mcp_servers":[{"url":"https://x"}]}`},
	{responsesCodec, "/v1/responses", `{"model":"the-model","stream":%t,"input":[{"type":"message","role":"user","content":"hi"}],"tools":[{"type":"function","name":"exec_command"},{"type":"web_search"}]}`},
	{chatCodec, "/v1/chat/completions", `{"model":"the-model","stream":%t,"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"bash"}},{"type":"mcp"}],"web_search_options":{}}`},
}

func forwarding(t *testing.T, url string, edit ...func(*ForwardOptions)) (*Gateway, *Forward, string) {
	t.Helper()
	o := ForwardOptions{Models: []string{"the-model"}, Clock: &Clock{}, Endpoints: map[string]Endpoint{
		DialectMessages: {url, realKey}, DialectResponses: {url + "/v1", realKey}, DialectChat: {url + "/v1", realKey},
	}}
	for _, e := range edit {
		e(&o)
	}
	f := NewForward(o)
	f.sleep = func(context.Context, time.Duration) error { return nil }
	g, log := opened(t, f)
	return g, f, log
}

func number(n int64) *int64 { return &n }

// TestForward: in each dialect, streamed and whole, the answer's bytes come back as they are, tokens are counted at the
// wire, the key goes to the endpoint and stands nowhere else, and the token goes nowhere.
func TestForward(t *testing.T) {
	turn := &Turn{
		Blocks:     []Block{{Kind: BlockText, Text: "Look."}, {Kind: BlockToolCall, CallID: "call_1", Name: "bash", Input: json.RawMessage(`{"command":"ls"}`)}},
		StopReason: StopToolUse, Usage: Usage{InputTokens: number(11), OutputTokens: number(7), CacheReadTokens: number(5)},
	}
	for _, d := range dialects {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s stream=%t", d.codec.dialect, stream), func(t *testing.T) {
				sent := httptest.NewRecorder()
				d.codec.write(sent, "1", &Request{Model: "the-model", Stream: stream, StreamUsage: true}, turn, false)
				e := newFakeEndpoint(t, func(_ int, w http.ResponseWriter, body []byte) {
					r, err := d.codec.decode(body)
					if assert.NoError(t, err) {
						d.codec.write(w, "1", r, turn, false)
					}
				})
				run := NewSpend(Limits{}, map[string]Price{"the-model": {Input: 1, Output: 2, CacheRead: 3}})
				g, _, log := forwarding(t, e.URL, func(o *ForwardOptions) { o.Run = run })
				resp := post(t, g, d.path, fmt.Appendf(nil, d.body, stream), func(r *http.Request) {
					r.Header.Set("Anthropic-Beta", "a-beta")
					r.Header.Set("Cookie", "tells=all")
				})
				require.Equal(t, 200, resp.StatusCode)
				assert.Equal(t, sent.Body.String(), bodyOf(t, resp))
				require.NoError(t, g.Close())

				require.Len(t, e.bodies, 1)
				all := fmt.Sprint(e.bodies, e.heads)
				assert.Equal(t, 1, strings.Count(all, realKey), "the key arrives, once")
				assert.NotContains(t, all, g.Token())
				assert.NotContains(t, all, "tells=all")
				assert.Contains(t, all, "a-beta")
				assert.Equal(t, d.path, e.paths[0])
				assert.NotContains(t, e.bodies[0], "web_search")
				assert.NotContains(t, e.bodies[0], "mcp")

				s := g.Summary()
				assert.Equal(t, 1, s.Answered)
				assert.Equal(t, 0, s.Failures)
				assert.NotEmpty(t, s.Stripped)
				require.NotNil(t, s.Usage.InputTokens)
				assert.Equal(t, int64(11), *s.Usage.InputTokens)
				assert.Equal(t, int64(7), *s.Usage.OutputTokens)
				assert.Equal(t, int64(5), *s.Usage.CacheReadTokens)
				require.NotNil(t, run.Cost())
				assert.InDelta(t, (11+7*2+5*3)/1e6, *run.Cost(), 1e-12)
				text, err := os.ReadFile(log)
				require.NoError(t, err)
				assert.NotContains(t, string(text), realKey)
				assert.NotContains(t, string(text), g.Token())
				assert.Equal(t, "tool_use", records(t, log)[0].StopReason)
			})
		}
	}
}

// TestForwardWaits: a busy provider is waited for, as long as it says; too long ends the trial with the provider's fault.
func TestForwardWaits(t *testing.T) {
	const ask = `{"model":"the-model","messages":[{"role":"user","content":"hi"}],"tools":[{"name":"Bash"}]}`
	busy := func(w http.ResponseWriter, status int, after string) {
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		failMessages(w, "1", Failure{Status: status, Type: "overloaded_error", Message: "busy"})
	}
	good := func(w http.ResponseWriter) { writeMessages(w, "1", &Request{}, textTurn("ok"), false) }
	for name, tt := range map[string]struct {
		answer   func(n int, w http.ResponseWriter, body []byte)
		status   int
		waits    []time.Duration
		stop     error
		fault    bool
		requests int
	}{
		"429 with a time, 529 without, then good": {func(n int, w http.ResponseWriter, _ []byte) {
			switch n {
			case 0:
				busy(w, 429, "7")
			case 1:
				busy(w, 529, "")
			default:
				good(w)
			}
		}, 200, []time.Duration{7 * time.Second, 2 * time.Second}, nil, false, 3},
		"busy for ever, with no time to wait": {func(_ int, w http.ResponseWriter, _ []byte) { busy(w, 429, "0") }, 429, slices.Repeat([]time.Duration{time.Second}, 240), nil, true, 241},
		"longer than the trial may wait":      {func(_ int, w http.ResponseWriter, _ []byte) { busy(w, 429, "90") }, 429, nil, ErrEndpoint, true, 1},
		"no quota will come back": {func(_ int, w http.ResponseWriter, _ []byte) {
			failOpenAI(w, "1", Failure{Status: 429, Type: "insufficient_quota", Message: "pay"})
		}, 429, nil, ErrEndpoint, true, 1},
		"500 is the client's to repeat": {func(_ int, w http.ResponseWriter, _ []byte) { busy(w, 500, "") }, 500, nil, nil, true, 1},
		"400 is the request's fault":    {func(_ int, w http.ResponseWriter, _ []byte) { busy(w, 400, "") }, 400, nil, nil, false, 1},
		"401 will stay": {func(_ int, w http.ResponseWriter, _ []byte) {
			failMessages(w, "1", Failure{Status: 401, Message: "wrong key " + realKey})
		}, 401, nil, ErrEndpoint, true, 1},
		"404 quotes the key": {func(_ int, w http.ResponseWriter, _ []byte) {
			failMessages(w, "1", Failure{Status: 404, Message: "no model for " + realKey})
		}, 404, nil, ErrEndpoint, true, 1},
		"a redirect is not followed": {func(_ int, w http.ResponseWriter, _ []byte) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(307)
		}, 502, nil, nil, true, 1},
		"a stream that breaks off": {func(_ int, w http.ResponseWriter, _ []byte) {
			writeMessages(w, "1", &Request{Stream: true}, textTurn("ok"), true)
		}, 200, nil, nil, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			e := newFakeEndpoint(t, tt.answer)
			var stopped error
			clock := &Clock{}
			f := NewForward(ForwardOptions{
				Models: []string{"the-model"}, Clock: clock, MaxWait: time.Minute, Endpoints: map[string]Endpoint{DialectMessages: {e.URL, realKey}},
			})
			var waits []time.Duration
			f.sleep = func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }
			g, err := Open(t.Context(), Options{Model: f, ModelName: "the-model", OnStop: func(err error) { stopped = err }})
			require.NoError(t, err)
			resp := post(t, g, "/v1/messages", []byte(ask))
			body, _ := io.ReadAll(resp.Body) // one case breaks off
			require.NoError(t, g.Close())
			assert.Equal(t, tt.status, resp.StatusCode)
			assert.NotContains(t, string(body), realKey)
			assert.Equal(t, tt.waits, waits)
			assert.ErrorIs(t, stopped, tt.stop)
			assert.Equal(t, tt.fault, g.Summary().Fault != "", g.Summary().Fault)
			assert.Len(t, e.bodies, tt.requests)
			_, n := clock.Waited()
			assert.Equal(t, len(tt.waits), n)
		})
	}
}

// TestForwardUnreachable: no provider at all is its fault, and says so without the key.
func TestForwardUnreachable(t *testing.T) {
	e := newFakeEndpoint(t, nil)
	e.Close()
	g, _, _ := forwarding(t, e.URL)
	resp := post(t, g, "/v1/messages", []byte(`{"model":"the-model","messages":[{"role":"user","content":"hi"}],"tools":[{"name":"Bash"}]}`))
	assert.Equal(t, 502, resp.StatusCode)
	assert.Contains(t, g.Summary().Fault, "cannot be reached")
	assert.NotContains(t, g.Summary().Fault, realKey)
}

// TestForwardRefuses: what a trial may not ask never reaches the endpoint; the same request without it does.
func TestForwardRefuses(t *testing.T) {
	const ask = `{"model":%q,"messages":[{"role":"user","content":[%s]}],"tools":[{"name":"Bash"}]}`
	for name, tt := range map[string]struct {
		model, part string
		refused     bool
	}{
		"control":            {"the-model", `{"type":"image","source":{"type":"base64","data":""}}`, false},
		"another model":      {"an-expensive-model", `{"type":"text","text":"hi"}`, true},
		"image by URL":       {"the-model", `{"type":"image","source":{"type":"url","url":"https://x/?leak"}}`, true},
		"in a tool's result": {"the-model", `{"type":"tool_result","tool_use_id":"1","content":[{"type":"image","source":{"type":"url","url":"https://x"}}]}`, true},
		"key of other case":  {"the-model", `{"type":"image","source":{"type":"url","url":"https://x"},"Source":{"type":"base64"}}`, true},
		"in a document":      {"the-model", `{"type":"document","source":{"type":"content","content":[{"type":"image","source":{"type":"url","url":"https://x"}}]}}`, true},
		"very deep":          {"the-model", strings.Repeat(`{"content":[`, 20) + `{"type":"image","source":{"type":"url","url":"https://x"}}` + strings.Repeat(`]}`, 20), true},
		"text in a result":   {"the-model", `{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"hi"}]}`, false},
		"stored file":        {"the-model", `{"type":"document","source":{"type":"file","file_id":"f"}}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			e := newFakeEndpoint(t, func(_ int, w http.ResponseWriter, _ []byte) { writeMessages(w, "1", &Request{}, textTurn("ok"), false) })
			g, _, _ := forwarding(t, e.URL)
			resp := post(t, g, "/v1/messages", fmt.Appendf(nil, ask, tt.model, tt.part))
			if !tt.refused {
				assert.Equal(t, 200, resp.StatusCode)
				assert.Len(t, e.bodies, 1)
				return
			}
			assert.Equal(t, 400, resp.StatusCode)
			assert.Empty(t, e.bodies)
			require.NoError(t, g.Close())
			assert.Equal(t, 1, g.Summary().Refused)
		})
	}
	// The checked model is the one the endpoint is asked for, however the body spells it.
	for name, body := range map[string]string{
		"a model in two cases":  `{"model":"an-expensive-model","Model":"the-model","messages":[{"role":"user","content":"hi"}]}`,
		"a model in none":       `{"model":"an-expensive-model","MODEL":"","messages":[{"role":"user","content":"hi"}]}`,
		"no model":              `{"messages":[{"role":"user","content":"hi"}]}`,
		"models to fall back":   `{"model":"the-model","models":["an-expensive-model"],"fallbacks":["an-expensive-model"],"messages":[{"role":"user","content":"hi"}]}`,
		"tools in another case": `{"model":"the-model","Tools":[{"type":"web_search_20250305","name":"w"}],"tool\u017f":[{"type":"web_search_20250305","name":"w"}],"messages":[{"role":"user","content":"hi"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			e := newFakeEndpoint(t, func(_ int, w http.ResponseWriter, _ []byte) { writeMessages(w, "1", &Request{}, textTurn("ok"), false) })
			g, _, _ := forwarding(t, e.URL)
			assert.Equal(t, 200, post(t, g, "/v1/messages", []byte(body)).StatusCode)
			require.Len(t, e.bodies, 1)
			assert.JSONEq(t, `{"model":"the-model","messages":[{"role":"user","content":"hi"}]}`, e.bodies[0])
		})
	}
	t.Run("a picture of a screen", func(t *testing.T) {
		assert.True(t, fetches([]byte(`{"input":[{"type":"computer_call_output","output":{"type":"computer_screenshot","image_url":"https://x"}}]}`)))
		assert.False(t, fetches([]byte(`{"input":[{"type":"computer_call_output","output":{"type":"computer_screenshot","image_url":"data:,"}}]}`)))
	})
	t.Run("image_url", func(t *testing.T) {
		for url, want := range map[string]bool{`"data:image/png;base64,AA"`: false, `"https://x"`: true, `{"url":"https://x"}`: true, `{"url":"data:,"}`: false} {
			body := fmt.Sprintf(`{"input":[{"type":"message","content":[{"type":"input_image","image_url":%s}]}]}`, url)
			assert.Equal(t, want, fetches([]byte(body)), url)
		}
	})
}

// TestForwardLimits: a trial over its limit is told nothing more, and ends; an answer the agent hung up on counts too.
func TestForwardLimits(t *testing.T) {
	turn := textTurn("ok")
	turn.Usage = Usage{InputTokens: number(90), OutputTokens: number(20)}
	for name, tt := range map[string]struct {
		limits Limits
		want   error
	}{"tokens": {Limits{Tokens: 100}, ErrMaxTokens}, "cost": {Limits{Cost: 0.0001}, ErrMaxCost}} {
		t.Run(name, func(t *testing.T) {
			e := newFakeEndpoint(t, func(_ int, w http.ResponseWriter, _ []byte) { writeMessages(w, "1", &Request{}, turn, false) })
			spend := NewSpend(tt.limits, map[string]Price{"the-model": {Input: 1, Output: 1}})
			f := NewForward(ForwardOptions{Models: []string{"the-model"}, Clock: &Clock{}, Trial: spend, Endpoints: map[string]Endpoint{DialectMessages: {e.URL, realKey}}})
			var stopped error
			g, err := Open(t.Context(), Options{Model: f, ModelName: "the-model", OnStop: func(err error) { stopped = err }})
			require.NoError(t, err)
			body := []byte(`{"model":"the-model","messages":[{"role":"user","content":"hi"}],"tools":[{"name":"Bash"}]}`)
			assert.Equal(t, 200, post(t, g, "/v1/messages", body).StatusCode)
			assert.Equal(t, 400, post(t, g, "/v1/messages", body).StatusCode)
			require.NoError(t, g.Close())
			assert.Len(t, e.bodies, 1)
			require.ErrorIs(t, stopped, tt.want)
			assert.Empty(t, g.Summary().Fault, "not the provider's")
		})
	}
	m := newMeter(DialectMessages, "text/event-stream")
	m.Write([]byte("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}\n\n"))
	charged := m.charged(make([]byte, 4000))
	assert.Equal(t, int64(9), *charged.InputTokens)
	assert.Greater(t, *charged.OutputTokens, int64(1))
	charged = newMeter(DialectMessages, "text/event-stream").charged(make([]byte, 4000))
	assert.Equal(t, int64(1000), *charged.InputTokens)
}

func TestStrip(t *testing.T) {
	for name, tt := range map[string]struct{ dialect, in, want, gone string }{
		"client's own": {DialectMessages, `{"tools":[{"name":"a"},{"type":"custom","name":"b"},{"type":"bash_20250124","name":"bash"}]}`, `{"tools":[{"name":"a"},{"name":"b","type":"custom"},{"name":"bash","type":"bash_20250124"}]}`, ""},
		"provider's": {DialectMessages, `{"tool_choice":{"type":"tool","name":"web_search"},"container":"c","tools":[{"name":"a"},{"type":"web_search_20250305","name":"web_search"},{"type":"code_execution_20250522","name":"x"},{"type":"computer_20250124","name":"c"},{"type":"mcp_toolset"}]}`,
			`{"tools":[{"name":"a"}]}`, "container web_search_20250305 code_execution_20250522 computer_20250124 mcp_toolset"},
		"nothing left":       {DialectResponses, `{"tools":[{"type":"web_search"}],"tool_choice":"auto"}`, `{}`, "web_search"},
		"a choice in words":  {DialectResponses, `{"tools":[{"type":"function","name":"f"},{"type":"mcp"}],"tool_choice":"auto"}`, `{"tool_choice":"auto","tools":[{"name":"f","type":"function"}]}`, "mcp"},
		"namespace":          {DialectResponses, `{"tools":[{"type":"namespace","name":"n","tools":[{"type":"function","name":"f"},{"type":"computer_use_preview"}]}]}`, `{"tools":[{"name":"n","tools":[{"name":"f","type":"function"}],"type":"namespace"}]}`, "computer_use_preview"},
		"hosted shell":       {DialectResponses, `{"tools":[{"type":"shell","environment":{"type":"container_auto"}},{"type":"shell","environment":{"type":"local"}}]}`, `{"tools":[{"environment":{"type":"local"},"type":"shell"}]}`, "shell"},
		"types of two cases": {DialectResponses, `{"tools":[{"type":"web_search","Type":"function"}]}`, `{}`, "web_search"},
		"usage asked for":    {DialectChat, `{"stream":true,"plugins":[1]}`, `{"stream":true,"stream_options":{"include_usage":true}}`, "plugins"},
	} {
		t.Run(name, func(t *testing.T) {
			got, gone, err := strip(tt.dialect, "", []byte(tt.in))
			require.NoError(t, err)
			assert.JSONEq(t, tt.want, string(got))
			assert.Equal(t, tt.gone, strings.Join(gone, " "))
		})
	}
	_, _, err := strip(DialectMessages, "", []byte(`{"tools":{}}`))
	assert.Error(t, err)
}

func TestCheckBaseURL(t *testing.T) {
	for _, good := range []string{"https://api.anthropic.com", "http://127.0.0.1:80", "http://localhost:1/v1", "http://[::1]:1"} {
		assert.NoError(t, CheckBaseURL(good), good)
	}
	for _, bad := range []string{"", "api.openai.com", "http://api.openai.com", "https://u:secret@x", "https://x?y", "ftp://x", "://"} {
		if err := CheckBaseURL(bad); assert.Error(t, err, bad) {
			assert.NotContains(t, err.Error(), "secret")
		}
	}
}

func TestClock(t *testing.T) {
	now := time.Unix(0, 0)
	c := &Clock{now: func() time.Time { return now }}
	one := c.start()
	now = now.Add(2 * time.Second)
	two := c.start() // overlaps
	now = now.Add(time.Second)
	one()
	one()
	waited, n := c.Waited()
	assert.Equal(t, 3*time.Second, waited)
	assert.Equal(t, 2, n)
	now = now.Add(time.Second)
	two()
	now = now.Add(time.Hour)
	waited, n = c.Waited()
	assert.Equal(t, 4*time.Second, waited)
	assert.Equal(t, 2, n)
}

func TestKeyHides(t *testing.T) {
	k := Endpoint{"https://x", realKey}
	j, err := json.Marshal(k)
	require.NoError(t, err)
	assert.NotContains(t, fmt.Sprintf("%v %+v %#v %s", k, k, k, j), "realkey")
}

// TestStripKeepsKnownFields: what is not known to stay at the model is not sent on, in no spelling, and what the provider
// kept of other requests is not asked for.
func TestStripKeepsKnownFields(t *testing.T) {
	for dialect, kept := range map[string]string{
		DialectMessages:  `"max_tokens":9,"thinking":{"type":"enabled"},"temperature":1`,
		DialectResponses: `"max_output_tokens":9,"reasoning":{"effort":"low"},"include":["reasoning.encrypted_content"],"store":false`,
		DialectChat:      `"max_completion_tokens":9,"reasoning_effort":"low","temperature":1`,
	} {
		raw := `{"model":"m",` + kept + `,"service_tier":"priority","background":true,"speed":"fast","mcp_servers":[],"container":"c","prompt":{"id":"p"},"Model":"x","fallbacks":["y"],"later":1,"inference_geo":null}`
		body, stripped, err := strip(dialect, "m", []byte(raw))
		require.NoError(t, err)
		assert.JSONEq(t, `{"model":"m",`+kept+`}`, string(body), dialect)
		assert.ElementsMatch(t, []string{"service_tier", "background", "speed", "mcp_servers", "container", "prompt", "Model", "fallbacks", "later"}, stripped)
	}
	for body, want := range map[string]bool{
		`{"previous_response_id":"r"}`: true, `{"conversation":{"id":"c"}}`: true, `{"input":[{"type":"item_reference","id":"i"}]}`: true,
		`{"previous_response_id":null,"input":[{"type":"message","content":[]}]}`: false,
	} {
		assert.Equal(t, want, fetches([]byte(body)), body)
	}
}
