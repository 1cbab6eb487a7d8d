package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const recordedRun, replayedRun = "/scratch/b-0123456789ab/0123456789ab", "/scratch/b-ba9876543210/ba9876543210"

// pieces writes a streamed answer whose text comes in pieces of a few bytes, as a real provider's does.
func pieces(w http.ResponseWriter, dialect string, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	say := func(s string) {
		switch dialect {
		case DialectMessages:
			event(w, "content_block_delta", map[string]any{"type": "content_block_delta", "index": 0, "delta": map[string]any{"type": "input_json_delta", "partial_json": s}})
			event(w, "ping", map[string]any{"type": "ping"})
		case DialectResponses:
			event(w, "response.function_call_arguments.delta", map[string]any{"type": "response.function_call_arguments.delta", "item_id": "fc", "output_index": 0, "sequence_number": len(s), "delta": s})
		default:
			event(w, "", map[string]any{"id": "1", "choices": []any{map[string]any{"index": 0, "delta": map[string]any{"tool_calls": []any{map[string]any{"index": 0, "function": map[string]any{"arguments": s}}}}}}})
		}
	}
	switch dialect {
	case DialectMessages:
		event(w, "message_start", map[string]any{"type": "message_start", "message": map[string]any{"usage": map[string]any{"input_tokens": 3}}})
	case DialectResponses:
		event(w, "response.created", map[string]any{"type": "response.created"})
	default:
		event(w, "", map[string]any{"id": "1", "choices": []any{map[string]any{"index": 0, "delta": map[string]any{"role": "assistant", "content": ""}}}})
	}
	for len(text) > 0 {
		n := min(7, len(text))
		say(text[:n])
		text = text[n:]
	}
	switch dialect {
	case DialectMessages:
		event(w, "message_delta", map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": "tool_use"}, "usage": map[string]any{"output_tokens": 4}})
		event(w, "message_stop", map[string]any{"type": "message_stop"})
	case DialectResponses:
		event(w, "response.completed", map[string]any{"type": "response.completed", "response": map[string]any{"status": "completed", "usage": map[string]any{"input_tokens": 3, "output_tokens": 4}}})
	default:
		event(w, "", map[string]any{"id": "1", "choices": []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": "tool_calls"}}})
		_, _ = w.Write([]byte("data: [DONE]\n\n"))
	}
}

// TestRecordAndReplay: what was forwarded is played again in another run directory, with the paths of that run, without
// a provider; the cassette holds no key, no token, no path and no address of the recorded run.
func TestRecordAndReplay(t *testing.T) {
	for _, d := range dialects {
		t.Run(d.codec.dialect, func(t *testing.T) {
			e := newFakeEndpoint(t, func(n int, w http.ResponseWriter, body []byte) {
				if n == 1 {
					w.Header().Set("Retry-After", "3")
					d.codec.fail(w, "1", Failure{Status: 500, Type: "api_error", Message: "once"})
					return
				}
				pieces(w, d.codec.dialect, fmt.Sprintf(`{"file_path":"%s/project/src/lib.rs","n":%d}`, recordedRun, n))
			})
			f := NewForward(ForwardOptions{Models: []string{"the-model"}, Clock: &Clock{}, Endpoints: map[string]Endpoint{
				d.codec.dialect: {strings.TrimSuffix(e.URL+d.path, providerPaths[d.codec.dialect]), realKey},
			}})
			path := filepath.Join(t.TempDir(), CassetteFile)
			g, err := Open(t.Context(), Options{Model: f, ModelName: "the-model", Tape: &TapeOptions{
				Path: path, Client: "claude", Model: "the-model", Kind: KindForward, RunDir: recordedRun, BatchDir: filepath.Dir(recordedRun), Secrets: []string{realKey},
			}})
			require.NoError(t, err)
			ask := func(g *Gateway, run, text string) (int, string) {
				body := fmt.Sprintf(d.body, true)
				body = strings.ReplaceAll(body, `"hi"`, string(encodeJSON(strings.ReplaceAll(text, "RUN", run))))
				resp := post(t, g, d.path, []byte(body))
				return resp.StatusCode, bodyOf(t, resp)
			}
			said := []string{
				"in RUN/project, token %s, on 2026-01-02, id 01234567-89ab-cdef-0123-456789abcdef, took 1.25s",
				"again", "again", "AKIAABCDEFGHIJKLMNOP and sk-ant-api03-abcdefghijklmnopqrstuvwx",
			}
			volatile := strings.NewReplacer("2026-01-02", "2027-12-31", "01234567", "ffffffff", "1.25s", "0.75s")
			var first []string
			for i, s := range said {
				if i == 0 {
					s = fmt.Sprintf(s, g.Token())
				}
				status, body := ask(g, recordedRun, s)
				first = append(first, fmt.Sprint(status, body))
			}
			require.NoError(t, g.Close())
			tape, err := os.ReadFile(path)
			require.NoError(t, err)
			for _, secret := range []string{realKey, g.Token(), recordedRun, filepath.Dir(recordedRun), g.Addr(), "AKIAABCDEFGHIJKLMNOP", "abcdefghijklmnopqrstuvwx", e.URL} {
				assert.NotContains(t, string(tape), secret)
			}
			assert.Empty(t, ScanCassette(tape))

			c, err := LoadCassette(path)
			require.NoError(t, err)
			replay := NewReplay(c, ReplayOptions{RunDir: replayedRun, BatchDir: filepath.Dir(replayedRun)})
			g2, log := opened(t, replay)
			for i, s := range said {
				if i == 0 {
					s = volatile.Replace(fmt.Sprintf(s, g2.Token()))
				}
				status, body := ask(g2, replayedRun, s)
				got := strings.ReplaceAll(fmt.Sprint(status, body), replayedRun, recordedRun)
				assert.Equal(t, fmt.Sprint(status, joined(d.codec.dialect, body)), fmt.Sprint(status, body), "already joined")
				assert.Equal(t, joined(d.codec.dialect, first[i]), got, "request %d", i)
				assert.NotContains(t, body, recordedRun)
			}
			require.NoError(t, g2.Close())
			assert.Equal(t, 0, replay.Left())
			a, b := g.Summary(), g2.Summary()
			assert.Equal(t, a.Usage, b.Usage, "the same tokens at the wire")
			assert.Equal(t, []int{3, 1}, []int{b.Answered, b.Failures})
			assert.Equal(t, a.Fault, b.Fault)
			assert.Len(t, records(t, log), len(said))
		})
	}
}

func joined(dialect, body string) string { return coalesce(dialect, body) }

// TestReplayMismatch: a request that was not recorded ends the trial and says what differs.
func TestReplayMismatch(t *testing.T) {
	entry := func(request string) cassetteEntry {
		return cassetteEntry{Dialect: DialectMessages, Request: asJSON(normaliser{}.request([]byte(request))), Status: 200, ContentType: "application/json", Body: "{}"}
	}
	const ask = `{"model":"m","messages":[{"role":"user","content":"line one\nline %s"}],"tools":[{"name":"Bash"}]}`
	c := &Cassette{head: cassetteHead{Version: 1, Model: "m"}, entries: []cassetteEntry{entry(fmt.Sprintf(ask, "two")), entry(fmt.Sprintf(ask, "three"))}}
	decode := func(s string) *Request {
		r, err := decodeMessages([]byte(s))
		require.NoError(t, err)
		return r
	}
	m := NewReplay(c, ReplayOptions{})
	turn, err := m.Turn(context.Background(), decode(fmt.Sprintf(ask, "three"))) // out of order, by content
	require.NoError(t, err)
	assert.NoError(t, turn.Stop)
	turn, err = m.Turn(context.Background(), decode(fmt.Sprintf(ask, "2")))
	require.NoError(t, err)
	require.ErrorIs(t, turn.Stop, ErrReplay)
	assert.Contains(t, turn.Stop.Error(), "\n-line two")
	assert.Contains(t, turn.Stop.Error(), "\n+line 2")
	assert.Contains(t, turn.Stop.Error(), "line one")
	assert.Equal(t, 1, m.Left())
	turn, err = m.Turn(context.Background(), decode(fmt.Sprintf(ask, "two")))
	require.NoError(t, err)
	assert.NoError(t, turn.Stop)
	turn, err = m.Turn(context.Background(), decode(fmt.Sprintf(ask, "two")))
	require.NoError(t, err)
	assert.ErrorContains(t, turn.Stop, "all 2 recorded answers are used up")
	turn, err = m.Turn(context.Background(), decode(strings.Replace(fmt.Sprintf(ask, "two"), `"m"`, `"n"`, 1)))
	require.NoError(t, err)
	assert.True(t, turn.Refused)
}

func TestParseCassette(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "is empty",
		"{}\n":                   "c:1: is no cassette",
		`{"proctor_cassette":9}`: "c:1: is of version 9",
		"{\"proctor_cassette\":1}\n{\"status\":200}\n": "c:2: the entry has no request",
		"{\"proctor_cassette\":1}\nx\n":                "c:2: ",
	} {
		_, err := parseCassette("c", []byte(text))
		assert.ErrorContains(t, err, want)
	}
}

func TestScanCassette(t *testing.T) {
	leaks := ScanCassette([]byte("{}\nx ghp_0123456789012345678901234567890123\n{\"a\":\"-----BEGIN RSA PRIVATE KEY-----\"} sk-short\n"))
	assert.Equal(t, []Leak{{2, 3, "ghp_…"}, {3, 7, "----…"}}, leaks)
}

func FuzzCassette(f *testing.F) {
	f.Add([]byte("{\"proctor_cassette\":1}\n{\"dialect\":\"messages\",\"request\":{\"a\":1},\"status\":200,\"body\":\"x\"}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseCassette("c", data)
		if err != nil {
			return
		}
		m := NewReplay(c, ReplayOptions{RunDir: "/r"})
		for _, d := range []string{DialectMessages, DialectResponses, DialectChat} {
			turn, err := m.Turn(context.Background(), &Request{Dialect: d, Model: c.Model(), Raw: data})
			if err != nil || turn == nil {
				t.Fatal(err)
			}
		}
	})
}

// FuzzWire: nothing a provider or a client sends panics, and joining pieces is done when it is done once.
func FuzzWire(f *testing.F) {
	f.Add([]byte("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n"))
	f.Add([]byte(`{"tools":[{"type":"namespace","tools":[{}]}],"messages":[{"content":[{"source":{"type":"url"}}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, d := range []string{DialectMessages, DialectResponses, DialectChat} {
			for _, typ := range []string{"text/event-stream", "application/json"} {
				m := newMeter(d, typ)
				_, _ = io.Copy(m, strings.NewReader(string(data)))
				m.end()
				m.charged(data)
			}
			if body, _, err := strip(d, "", data); err == nil && !json.Valid(body) {
				t.Fatalf("no JSON: %q", body)
			}
			once := coalesce(d, string(data))
			if twice := coalesce(d, once); twice != once {
				t.Fatalf("%q\n%q", once, twice)
			}
		}
		fetches(data)
		normaliser{runDir: "/r"}.request(data)
	})
}
