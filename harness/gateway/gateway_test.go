package gateway

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// opened is a gateway over steps and the path of its log.
func opened(t *testing.T, m Model) (*Gateway, string) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "gateway.jsonl")
	g, err := Open(context.Background(), Options{Model: m, ModelName: "the-model", ProjectDir: "/run/project", LogPath: log})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, g.Close()) })
	return g, log
}

func records(t *testing.T, log string) []record {
	t.Helper()
	data, err := os.ReadFile(log)
	require.NoError(t, err)
	var recs []record
	for line := range bytes.Lines(data) {
		var r record
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		require.NoError(t, d.Decode(&r))
		recs = append(recs, r)
	}
	return recs
}

func post(t *testing.T, g *Gateway, path string, body []byte, edit ...func(*http.Request)) *http.Response {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, g.URL()+path, bytes.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("X-Api-Key", g.Token())
	for _, e := range edit {
		e(req)
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func bodyOf(t *testing.T, resp *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(b)
}

func TestGatewayServesRecordedSession(t *testing.T) {
	g, log := opened(t, NewScripted(storeScript(t)))
	var answers []string
	for i := 1; i <= 7; i++ {
		resp := post(t, g, "/v1/messages?beta=true", recordedBody(t, fmt.Sprintf("staged-%d", i)))
		require.Equal(t, 200, resp.StatusCode)
		assert.Equal(t, "text/event-stream; charset=utf-8", resp.Header.Get("Content-Type"))
		answers = append(answers, bodyOf(t, resp))
	}
	assert.Contains(t, answers[0], sideCallText)
	assert.Contains(t, answers[2], `\"skill\":\"fixture-store\"`)
	assert.Contains(t, answers[6], "The settings are stored.")
	again := bodyOf(t, post(t, g, "/v1/messages", recordedBody(t, "staged-3")))
	assert.Equal(t, answers[2], again, "a retry gets the same bytes")
	require.NoError(t, g.Close())

	s := g.Summary()
	assert.Equal(t, 8, s.Requests)
	assert.Equal(t, 7, s.Turns)
	assert.Equal(t, 1, s.SideCalls)
	assert.Zero(t, s.Refused)
	assert.Zero(t, s.Failures)
	assert.NoError(t, s.Err)
	assert.Equal(t, []string{"fake-model"}, s.Models)
	assert.Equal(t, Offer{Skill: "fixture-store", Via: ViaListing}, s.Offered[0])
	assert.Len(t, s.Offered, 1+len(builtin), "the union holds each skill once")

	recs := records(t, log)
	require.Len(t, recs, 8)
	assert.True(t, recs[0].SideCall)
	assert.Nil(t, recs[0].Step)
	assert.Equal(t, 3, *recs[2].Step)
	assert.Equal(t, recs[2].BodySHA256, recs[7].BodySHA256)
	assert.Equal(t, StopEndTurn, recs[6].StopReason)
	var in int64
	for _, r := range recs {
		assert.Equal(t, "/v1/messages", r.Path)
		assert.Equal(t, r.RequestBytes/bytesPerToken, *r.Usage.InputTokens)
		assert.Positive(t, r.ResponseBytes)
		in += *r.Usage.InputTokens
	}
	assert.Equal(t, in, *s.Usage.InputTokens)
	assert.Nil(t, s.Usage.ReasoningTokens)
}

func TestGatewayBaselineTakesTheOtherWay(t *testing.T) {
	g, _ := opened(t, NewScripted(storeScript(t)))
	got := bodyOf(t, post(t, g, "/v1/messages", recordedBody(t, "baseline-4")))
	assert.Contains(t, got, "pub fn naive()")
	for _, o := range g.Summary().Offered {
		assert.NotEqual(t, "fixture-store", o.Skill)
	}
}

func TestGatewayNotStreamed(t *testing.T) {
	g, _ := opened(t, NewScripted(storeScript(t)))
	resp := post(t, g, "/v1/messages", recordedBody(t, "not-streamed"), func(r *http.Request) {
		r.Header.Del("X-Api-Key")
		r.Header.Set("Authorization", "Bearer "+g.Token())
	})
	var a wireAnswer
	require.NoError(t, json.Unmarshal([]byte(bodyOf(t, resp)), &a))
	assert.Equal(t, "fake-model", a.Model)
	assert.Equal(t, StopToolUse, *a.StopReason)
	assert.Len(t, a.Content, 2)
}

func TestGatewayUsesItsOptions(t *testing.T) {
	prompt := reminderOpen + "\n" + listingHead + "\n\n- a: b\n" + reminderClose
	g, err := Open(context.Background(), Options{
		Model: NewScripted(script(t, "[[step]]\nread = \"x\"\n")), ModelName: "the-model", ProjectDir: "/run/project", Prompt: prompt,
	})
	require.NoError(t, err)
	defer g.Close()
	body := encodeJSON(map[string]any{
		"tools": []any{map[string]any{"name": "Read"}},
		"messages": []any{map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "text", "text": prompt}, map[string]any{"type": "text", "text": "behind it"},
		}}},
	})
	got := bodyOf(t, post(t, g, "/v1/messages", body))
	assert.Contains(t, got, `"model":"the-model"`)
	assert.Contains(t, got, `"file_path":"/run/project/x"`)
	assert.Empty(t, g.Summary().Offered)
}

func TestGatewayOtherEndpoints(t *testing.T) {
	g, log := opened(t, NewScripted(storeScript(t)))
	for _, method := range []string{http.MethodHead, http.MethodGet} {
		resp := post(t, g, "/", nil, func(r *http.Request) { r.Method = method; r.Header.Del("X-Api-Key") })
		assert.Equal(t, 200, resp.StatusCode)
		assert.Empty(t, bodyOf(t, resp))
	}
	body := recordedBody(t, "staged-2")
	resp := post(t, g, "/v1/messages/count_tokens", body)
	assert.JSONEq(t, fmt.Sprintf(`{"input_tokens":%d}`, len(body)/4), bodyOf(t, resp))
	require.NoError(t, g.Close())
	s := g.Summary()
	assert.Equal(t, 3, s.Requests)
	assert.Zero(t, s.Turns+s.SideCalls+s.Refused)
	assert.Empty(t, s.Offered)
	assert.Len(t, records(t, log), 3)
}

func TestGatewayRefuses(t *testing.T) {
	ok := recordedBody(t, "staged-2")
	for _, tt := range []struct {
		name   string
		path   string
		body   []byte
		edit   func(*http.Request)
		status int
	}{
		{"no token", "/v1/messages", ok, func(r *http.Request) { r.Header.Del("X-Api-Key") }, 401},
		{"wrong token", "/v1/messages", ok, func(r *http.Request) { r.Header.Set("X-Api-Key", "sk-dummy") }, 401},
		{"token in the query", "/v1/messages?key=", ok, func(r *http.Request) { r.URL.RawQuery += r.Header.Get("X-Api-Key"); r.Header.Del("X-Api-Key") }, 401},
		{"wrong token, wrong path", "/x", ok, func(r *http.Request) { r.Header.Del("X-Api-Key") }, 401},
		{"wrong path", "/v1/files", ok, nil, 404},
		{"path with dots", "/v1/../v1/messages", ok, nil, 404},
		{"wrong host", "/v1/messages", ok, func(r *http.Request) { r.Host = "evil.example" }, 403},
		{"name of the host", "/v1/messages", ok, func(r *http.Request) { r.Host = strings.Replace(r.URL.Host, "127.0.0.1", "localhost", 1) }, 403},
		{"wrong host asks for nothing", "/", nil, func(r *http.Request) { r.Method = http.MethodGet; r.Host = "evil.example" }, 403},
		{"wrong method", "/v1/messages", nil, func(r *http.Request) { r.Method = http.MethodGet }, 405},
		{"encoded", "/v1/messages", ok, func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") }, 415},
		{"no JSON", "/v1/messages", []byte("hello"), nil, 400},
		{"no messages", "/v1/messages/count_tokens", []byte("{}"), nil, 400},
		{"announced too large", "/v1/messages", nil, func(r *http.Request) { large(r, maxBody+1); r.ContentLength = maxBody + 1 }, 413},
		{"too large", "/v1/messages", nil, func(r *http.Request) { large(r, maxBody+1) }, 413},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, log := opened(t, NewScripted(storeScript(t)))
			edit := tt.edit
			if edit == nil {
				edit = func(*http.Request) {}
			}
			resp := post(t, g, tt.path, tt.body, edit)
			assert.Equal(t, tt.status, resp.StatusCode)
			answer := bodyOf(t, resp)
			assert.True(t, json.Valid([]byte(answer)), answer)
			require.NoError(t, g.Close())
			s := g.Summary()
			assert.Equal(t, 1, s.Refused)
			assert.Zero(t, s.Turns)
			assert.Empty(t, s.Offered)
			recs := records(t, log)
			require.Len(t, recs, 1)
			assert.True(t, recs[0].Refused)
			assert.Equal(t, tt.status, recs[0].Status)
			assert.NotEmpty(t, recs[0].Error)
		})
	}
}

// large gives r a body of n bytes of unknown length.
func large(r *http.Request, n int64) {
	r.Body = io.NopCloser(io.LimitReader(zeros{}, n))
	r.ContentLength = -1
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// Whatever a request puts the token into, neither the log nor an answer shows it.
func TestGatewayLogHasNoToken(t *testing.T) {
	g, log := opened(t, NewScripted(storeScript(t)))
	tok := g.Token()
	for _, resp := range []*http.Response{
		post(t, g, "/"+tok, nil),
		post(t, g, "/"+strings.Repeat("x", 170)+tok, nil),
		post(t, g, "/v1/messages?k="+tok, []byte(`{"model":"`+tok+`","messages":[{"role":"user"}]}`), func(r *http.Request) { r.Header.Set("User-Agent", tok) }),
		post(t, g, "/v1/messages", []byte(`{"messages":[{"role":"x`+tok+`"}]}`)),
		post(t, g, "/v1/messages", []byte(`{"messages":[{"role":"system","content":"Stop hook success: /`+tok+`/skills/a/SKILL.md"}]}`)),
	} {
		bodyOf(t, resp)
	}
	require.NoError(t, g.Close())
	data, err := os.ReadFile(log)
	require.NoError(t, err)
	assert.Equal(t, 5, bytes.Count(data, []byte("\n")))
	assert.NotContains(t, string(data), tok[3:23])
	assert.Contains(t, string(data), "[token]")
}

func TestGatewayFailures(t *testing.T) {
	for _, code := range []int{400, 401, 429, 500, 529} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			g, log := opened(t, NewScripted(script(t, fmt.Sprintf("[[step]]\nfail_with = %d\n[[step]]\nsay = \"ok\"\n", code))))
			body := recordedBody(t, "staged-2")
			resp := post(t, g, "/v1/messages", body)
			assert.Equal(t, code, resp.StatusCode)
			assert.Contains(t, bodyOf(t, resp), `"type":"error"`)
			resp = post(t, g, "/v1/messages", body)
			assert.Equal(t, 200, resp.StatusCode)
			bodyOf(t, resp)
			require.NoError(t, g.Close())
			assert.Equal(t, 1, g.Summary().Failures)
			assert.Equal(t, 2, g.Summary().Turns)
			recs := records(t, log)
			require.Len(t, recs, 2)
			assert.Equal(t, "http", recs[0].Failure)
			assert.Equal(t, code, recs[0].Status)
			assert.Equal(t, "", recs[1].Failure)
		})
	}
}

func TestGatewayRefusalOfTheModel(t *testing.T) {
	g, log := opened(t, NewScripted(script(t, "[[step]]\nfail_with = \"refusal\"\n")))
	assert.Contains(t, bodyOf(t, post(t, g, "/v1/messages", recordedBody(t, "staged-2"))), `"stop_reason":"refusal"`)
	require.NoError(t, g.Close())
	assert.Equal(t, 1, g.Summary().Failures)
	assert.Equal(t, "refusal", records(t, log)[0].Failure)
}

func TestGatewayTruncated(t *testing.T) {
	for _, name := range []string{"staged-2", "not-streamed"} {
		t.Run(name, func(t *testing.T) {
			g, log := opened(t, NewScripted(script(t, "[[step]]\nfail_with = \"truncated\"\n")))
			resp := post(t, g, "/v1/messages", recordedBody(t, name))
			assert.Equal(t, 200, resp.StatusCode)
			got, err := io.ReadAll(resp.Body)
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			assert.NotEmpty(t, got)
			assert.NotContains(t, string(got), "message_stop")
			require.NoError(t, g.Close())
			recs := records(t, log)
			require.Len(t, recs, 1)
			assert.Equal(t, "truncated", recs[0].Failure)
			assert.Equal(t, "", recs[0].StopReason)
		})
	}
}

func TestGatewaySlow(t *testing.T) {
	for name, end := range map[string]func(g *Gateway, cancel func()){
		"the client gives up": func(_ *Gateway, cancel func()) { cancel() },
		"the gateway closes":  func(g *Gateway, _ func()) { g.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			g, log := opened(t, NewScripted(script(t, "[[step]]\nfail_with = \"slow\"\n")))
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			resp := post(t, g, "/v1/messages", recordedBody(t, "staged-2"), func(r *http.Request) { *r = *r.WithContext(ctx) })
			lines := bufio.NewReader(resp.Body)
			line, err := lines.ReadString('\n')
			require.NoError(t, err)
			assert.Equal(t, "event: message_start\n", line)
			end(g, cancel)
			_, err = io.ReadAll(lines)
			require.Error(t, err, "the answer never ends by itself")
			require.NoError(t, g.Close())
			recs := records(t, log)
			require.Len(t, recs, 1)
			assert.Equal(t, "slow", recs[0].Failure)
		})
	}
}

func TestGatewayEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	g, err := Open(ctx, Options{Model: NewScripted(storeScript(t))})
	require.NoError(t, err)
	cancel()
	assert.Eventually(t, func() bool {
		c, err := net.Dial("tcp", g.Addr())
		if err == nil {
			c.Close()
		}
		return err != nil
	}, 10*time.Second, time.Millisecond)
	assert.NoError(t, g.Close())
	_, err = Open(ctx, Options{Model: NewScripted(storeScript(t))})
	assert.ErrorIs(t, err, context.Canceled)
}

func TestGatewayConcurrent(t *testing.T) {
	g, log := opened(t, NewScripted(storeScript(t)))
	bodies := [][]byte{recordedBody(t, "staged-2"), recordedBody(t, "baseline-3"), recordedBody(t, "staged-1"), []byte("x")}
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			req, err := http.NewRequest(http.MethodPost, g.URL()+"/v1/messages", bytes.NewReader(bodies[i%4]))
			if !assert.NoError(t, err) {
				return
			}
			req.Header.Set("X-Api-Key", g.Token())
			resp, err := http.DefaultClient.Do(req)
			if assert.NoError(t, err) {
				_, err = io.Copy(io.Discard, resp.Body)
				assert.NoError(t, err)
				resp.Body.Close()
			}
			g.Summary()
		})
	}
	wg.Wait()
	require.NoError(t, g.Close())
	s := g.Summary()
	assert.Equal(t, []int{40, 20, 10, 10}, []int{s.Requests, s.Turns, s.SideCalls, s.Refused})
	assert.Len(t, records(t, log), 40)
}

type brokenModel struct{ panics bool }

func (brokenModel) Kind() string { return KindReplay }
func (m brokenModel) Turn(context.Context, *Request) (*Turn, error) {
	if m.panics {
		panic("boom")
	}
	return nil, errors.New("cassette gone")
}

// A broken runner must not look like a failing client.
func TestGatewayModelBreaks(t *testing.T) {
	g, log := opened(t, brokenModel{})
	resp := post(t, g, "/v1/messages", recordedBody(t, "staged-2"))
	assert.Equal(t, 500, resp.StatusCode)
	assert.NotContains(t, bodyOf(t, resp), "cassette")
	require.NoError(t, g.Close())
	assert.EqualError(t, g.Summary().Err, "gateway: replay model: cassette gone")
	assert.Contains(t, records(t, log)[0].Error, "cassette gone")

	g, log = opened(t, brokenModel{panics: true})
	req, err := http.NewRequest(http.MethodPost, g.URL()+"/v1/messages", bytes.NewReader(recordedBody(t, "staged-2")))
	require.NoError(t, err)
	req.Header.Set("X-Api-Key", g.Token())
	_, err = http.DefaultClient.Do(req)
	require.Error(t, err)
	require.NoError(t, g.Close())
	assert.ErrorContains(t, g.Summary().Err, "boom")
	assert.Len(t, records(t, log), 1)
}

func TestOpenErrors(t *testing.T) {
	_, err := Open(context.Background(), Options{})
	assert.ErrorContains(t, err, "Options.Model is nil")
	taken := filepath.Join(t.TempDir(), "gateway.jsonl")
	require.NoError(t, os.WriteFile(taken, []byte("kept\n"), 0o644))
	_, err = Open(context.Background(), Options{Model: NewScripted(storeScript(t)), LogPath: taken})
	assert.ErrorIs(t, err, os.ErrExist)
}

func TestTokensDiffer(t *testing.T) {
	a, _ := opened(t, NewScripted(storeScript(t)))
	b, _ := opened(t, NewScripted(storeScript(t)))
	assert.NotEqual(t, a.Token(), b.Token())
	assert.NotEqual(t, a.Addr(), b.Addr())
	assert.Len(t, a.Token(), 3+48)
	assert.True(t, strings.HasPrefix(a.Addr(), "127.0.0.1:"))
}

func TestRecorderIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l, err := openRecorder(path, nil)
	require.NoError(t, err)
	l.lines = maxRecords - 1
	kept, err := l.write(record{})
	assert.True(t, kept)
	require.NoError(t, err)
	kept, err = l.write(record{})
	assert.False(t, kept)
	require.NoError(t, err)
	require.NoError(t, l.close())
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, 1, bytes.Count(data, []byte("\n")))
}

func TestRecorderTellsFailedWrites(t *testing.T) {
	l, err := openRecorder(filepath.Join(t.TempDir(), "log"), nil)
	require.NoError(t, err)
	l.file.Close()
	_, err = l.write(record{})
	require.ErrorIs(t, err, os.ErrClosed)
	assert.ErrorIs(t, l.close(), os.ErrClosed)
}

func TestLimitConns(t *testing.T) {
	inner, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	l := limitConns(inner, 1).(*limitedListener)
	for range 2 {
		c, err := net.Dial("tcp", l.Addr().String())
		require.NoError(t, err)
		defer c.Close()
	}
	first, err := l.Accept()
	require.NoError(t, err)
	assert.Len(t, l.slots, 1)
	require.NoError(t, first.Close())
	first.Close() // twice: must not free a second place
	assert.Empty(t, l.slots)
	second, err := l.Accept()
	require.NoError(t, err)
	defer second.Close()
	require.NoError(t, l.Close())
	_, err = l.Accept() // all places taken: must end with the listener, not wait for ever
	assert.ErrorIs(t, err, net.ErrClosed)
}

// The model is asked for a turn only when BeforeTurn has returned; side calls and refusals do not wait.
func TestBeforeTurn(t *testing.T) {
	turn := []byte(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}],"tools":[{"name":"Bash","description":"d","input_schema":{"type":"object"}}]}`)
	side := []byte(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}]}`)
	var mu sync.Mutex
	calls, waits := 0, make(chan struct{})
	script, err := ParseScript("s", []byte("version = 1\n[[step]]\nsay = \"hello\"\n"))
	require.NoError(t, err)
	g, err := Open(t.Context(), Options{Model: NewScripted(script), ModelName: "m", BeforeTurn: func() {
		mu.Lock()
		calls++
		mu.Unlock()
		<-waits
	}})
	require.NoError(t, err)
	defer g.Close() //nolint:errcheck // closed below too
	assert.Equal(t, http.StatusOK, post(t, g, "/v1/messages", side).StatusCode)
	assert.Equal(t, http.StatusBadRequest, post(t, g, "/v1/messages", []byte("{")).StatusCode)
	assert.Equal(t, http.StatusUnauthorized, post(t, g, "/v1/messages", turn, func(r *http.Request) { r.Header.Set("X-Api-Key", "x") }).StatusCode)
	mu.Lock()
	assert.Zero(t, calls)
	mu.Unlock()
	done := make(chan *http.Response)
	go func() { done <- post(t, g, "/v1/messages", turn) }()
	select {
	case <-done:
		assert.Fail(t, "answered before BeforeTurn returned")
	case waits <- struct{}{}:
	}
	assert.Equal(t, http.StatusOK, (<-done).StatusCode)
	assert.Equal(t, 1, calls)
	require.NoError(t, g.Close()) // the turn is counted when its answer is out
	assert.Equal(t, 1, g.Summary().Turns)
}
