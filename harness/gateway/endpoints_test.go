package gateway

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// dialectEndpoints is each dialect's path, a recorded request for it and the opening one of a session.
var dialectEndpoints = []struct{ dialect, path, body, opening string }{
	{DialectMessages, "/v1/messages", "messages/staged-2", `{"stream":true,"tools":[{"name":"Read"}],"messages":[{"role":"user","content":"go"}]}`},
	{DialectResponses, "/v1/responses", "responses/codex-staged", `{"stream":true,"tools":[{"type":"function","name":"exec_command"}],"input":"go"}`},
	{DialectChat, "/v1/chat/completions", "chat/opencode-staged", `{"stream":true,"tools":[{"function":{"name":"read"}}],"messages":[{"role":"user","content":"go"}]}`},
}

func bodyFile(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	require.NoError(t, err)
	return raw
}

func TestEveryEndpointNeedsTheToken(t *testing.T) {
	g, log := opened(t, NewScripted(clientsScript(t)))
	wrong := map[string]func(*http.Request){
		"none":   func(r *http.Request) { r.Header.Del("X-Api-Key") },
		"other":  func(r *http.Request) { r.Header.Set("X-Api-Key", "sk-other") },
		"bearer": func(r *http.Request) { r.Header.Del("X-Api-Key"); r.Header.Set("Authorization", "Bearer sk-other") },
	}
	bearer := func(r *http.Request) { r.Header.Del("X-Api-Key"); r.Header.Set("Authorization", "Bearer "+g.Token()) }
	n := 0
	for _, e := range dialectEndpoints {
		for name, edit := range wrong {
			resp := post(t, g, e.path, bodyFile(t, e.body), edit)
			assert.Equal(t, 401, resp.StatusCode, "%s %s", e.path, name)
			assert.NotContains(t, bodyOf(t, resp), g.Token())
			n++
		}
		resp := post(t, g, e.path, bodyFile(t, e.body), bearer)
		assert.Equal(t, 200, resp.StatusCode, e.path)
		bodyOf(t, resp)
	}
	get := func(path string, edit func(*http.Request)) *http.Response {
		req, err := http.NewRequest(http.MethodGet, g.URL()+path, nil)
		require.NoError(t, err)
		edit(req)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		t.Cleanup(func() { resp.Body.Close() })
		return resp
	}
	assert.Equal(t, 401, get(modelsPath, func(*http.Request) {}).StatusCode)
	n++
	models := get(modelsPath, bearer)
	assert.Equal(t, 200, models.StatusCode)
	assert.Contains(t, bodyOf(t, models), `"id":"the-model"`)
	assert.Equal(t, 405, get("/v1/responses", bearer).StatusCode)
	assert.Equal(t, 404, post(t, g, "/v1/embeddings", []byte("{}"), bearer).StatusCode)
	n += 2
	require.NoError(t, g.Close())
	assert.Equal(t, n, g.Summary().Refused)
	for _, r := range records(t, log) {
		if !r.Refused && r.Path != modelsPath {
			assert.NotEmpty(t, r.Dialect)
		}
	}
}

// A failure is told in the words of the dialect it was asked in, and the next answer gets through.
func TestEveryDialectFails(t *testing.T) {
	for _, e := range dialectEndpoints {
		for _, tt := range []struct {
			value    string
			status   int
			openAI   string // type and code
			messages string
		}{
			{"400", 400, "invalid_request_error <nil>", "invalid_request_error"},
			{"401", 401, "invalid_request_error invalid_api_key", "authentication_error"},
			{"429", 429, "requests rate_limit_exceeded", "rate_limit_error"},
			{"500", 500, "server_error <nil>", "api_error"},
			{"529", 529, "server_error server_overloaded", "overloaded_error"},
		} {
			t.Run(e.dialect+" "+tt.value, func(t *testing.T) {
				g, _ := opened(t, NewScripted(script(t, "[[step]]\nfail_with = "+tt.value+"\n[[step]]\nsay = \"ok\"\n")))
				resp := post(t, g, e.path, []byte(e.opening))
				assert.Equal(t, tt.status, resp.StatusCode)
				assert.Equal(t, tt.status == 429, resp.Header.Get("Retry-After") != "")
				var a struct {
					Error struct {
						Type, Message string
						Code          any
					}
				}
				require.NoError(t, json.Unmarshal([]byte(bodyOf(t, resp)), &a))
				assert.NotEmpty(t, a.Error.Message)
				if e.dialect == DialectMessages {
					assert.Equal(t, tt.messages, a.Error.Type)
				} else {
					code, ok := a.Error.Code.(string)
					if !ok {
						code = "<nil>"
					}
					assert.Equal(t, tt.openAI, a.Error.Type+" "+code)
				}
				again := post(t, g, e.path, []byte(e.opening))
				assert.Equal(t, 200, again.StatusCode)
				bodyOf(t, again)
			})
		}
		t.Run(e.dialect+" refusal", func(t *testing.T) {
			g, _ := opened(t, NewScripted(script(t, "[[step]]\nfail_with = \"refusal\"\n")))
			got := bodyOf(t, post(t, g, e.path, []byte(e.opening)))
			assert.Contains(t, got, map[string]string{
				DialectMessages: `"stop_reason":"refusal"`, DialectResponses: `"type":"refusal"`, DialectChat: `"finish_reason":"content_filter"`,
			}[e.dialect])
		})
		t.Run(e.dialect+" truncated", func(t *testing.T) {
			g, log := opened(t, NewScripted(script(t, "[[step]]\nfail_with = \"truncated\"\n")))
			got, err := io.ReadAll(post(t, g, e.path, []byte(e.opening)).Body)
			assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
			assert.Contains(t, string(got), "This answer breaks off")
			assert.False(t, strings.Contains(string(got), "[DONE]") || strings.Contains(string(got), "response.completed") || strings.Contains(string(got), "message_stop"))
			require.NoError(t, g.Close())
			assert.Equal(t, "truncated", records(t, log)[0].Failure)
		})
		t.Run(e.dialect+" slow", func(t *testing.T) {
			g, log := opened(t, NewScripted(script(t, "[[step]]\nfail_with = \"slow\"\n")))
			resp := post(t, g, e.path, []byte(e.opening))
			begun := make([]byte, 10)
			_, err := io.ReadFull(resp.Body, begun)
			require.NoError(t, err, "the answer begins")
			require.NoError(t, g.Close()) // ends what is held
			rest, err := io.ReadAll(resp.Body)
			assert.Error(t, err)
			assert.NotContains(t, string(rest), "completed")
			assert.Equal(t, "slow", records(t, log)[0].Failure)
		})
	}
}
