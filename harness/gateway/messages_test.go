package gateway

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gotest.tools/v3/golden"
)

func TestDecodeMessages(t *testing.T) {
	r := recorded(t, "staged-4")
	assert.Equal(t, DialectMessages, r.Dialect)
	assert.Equal(t, "fake-model", r.Model)
	assert.True(t, r.Stream)
	assert.False(t, r.SideCall)
	assert.Len(t, r.System, 3)
	assert.Len(t, r.Tools, 25)
	require.Len(t, r.Messages, 6)
	assert.Equal(t, "system", r.Messages[1].Role)
	call := r.Messages[2].Blocks[1]
	assert.Equal(t, BlockToolCall, call.Kind)
	assert.Equal(t, "Read", call.Name)
	assert.JSONEq(t, `{"file_path":"/run/project/Cargo.toml"}`, string(call.Input))
	result := r.Messages[3].Blocks[0]
	assert.Equal(t, BlockToolResult, result.Kind)
	assert.Equal(t, call.CallID, result.CallID)
	assert.Contains(t, result.Text, "fixture-store")

	assert.False(t, recorded(t, "not-streamed").Stream)
	refused := recorded(t, "baseline-skill-refused").Messages[5].Blocks[0]
	assert.True(t, refused.IsError)
}

func TestDecodeMessagesBlocks(t *testing.T) {
	r, err := decodeMessages([]byte(`{"model":"m","system":"be brief","max_tokens":1,"unheard_of":{},
		"tools":[{"name":"mine","type":"custom","input_schema":{}},{"name":"web_search","type":"web_search_20250305"}],
		"messages":[{"role":"user","content":null},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"image","source":1},{"type":"new"}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]},{"type":"tool_result"}]}]}`))
	require.NoError(t, err)
	assert.Equal(t, []string{"be brief"}, r.System)
	assert.Equal(t, "", r.Tools[0].Type)
	assert.Equal(t, "web_search_20250305", r.Tools[1].Type)
	assert.Empty(t, r.Messages[0].Blocks)
	assert.Equal(t, []Block{{Kind: BlockThinking, Text: "t", Signature: "s"}, {Kind: BlockOther}, {Kind: BlockOther}}, r.Messages[1].Blocks)
	assert.Equal(t, "a\n\nb", r.Messages[2].Blocks[0].Text)
}

func TestDecodeMessagesErrors(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{"empty", ``, "the body is no Messages request"},
		{"no JSON", `{`, "the body is no Messages request"},
		{"array", `[]`, "the body is no Messages request"},
		{"null", `null`, "messages: at least one message is required"},
		{"no messages", `{}`, "messages: at least one message is required"},
		{"messages of another type", `{"messages":"x"}`, "the body is no Messages request"},
		{"unknown role", `{"messages":[{"role":"root"}]}`, `messages[0].role: is none of user, assistant, system`},
		{"content a number", `{"messages":[{"role":"user","content":7}]}`, "messages[0].content: is neither a string nor an array of blocks"},
		{"block a string", `{"messages":[{"role":"user","content":["x"]}]}`, "messages[0].content: is neither"},
		{"text a number", `{"messages":[{"role":"user","content":[{"type":"text","text":1}]}]}`, "messages[0].content: is neither"},
		{"result an object", `{"messages":[{"role":"user","content":[{"type":"tool_result","content":{}}]}]}`, "messages[0].content: [0]: content: is neither"},
		{"system a number", `{"system":1,"messages":[{"role":"user"}]}`, "system: is neither"},
		{"tool without a name", `{"messages":[{"role":"user"}],"tools":[{}]}`, "tools[0].name: is empty"},
		{"deep", `{"messages":` + strings.Repeat("[", 1<<20), "the body is no Messages request"},
		{"deep content", `{"messages":[{"role":"user","content":` + strings.Repeat(`[`, 9000) + strings.Repeat(`]`, 9000) + `}]}`, "messages[0].content"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := decodeMessages([]byte(tt.body))
			assert.Nil(t, r)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

var everyBlock = &Turn{
	Blocks: []Block{
		{Kind: BlockThinking, Text: "hm", Signature: "sig"},
		{Kind: BlockText, Text: "a < b & \"c\"\n"},
		{Kind: BlockToolCall, CallID: "toolu_step_1_0123456789abcdef", Name: "Write", Input: json.RawMessage(`{"file_path":"/p/a","content":"<x>\n"}`)},
		{Kind: BlockToolCall, CallID: "toolu_2", Name: "List"},
		{Kind: BlockToolResult, Text: "an assistant cannot say this"},
	},
	StopReason: StopToolUse,
	Usage:      Usage{InputTokens: new(int64(12)), OutputTokens: new(int64(7)), CacheReadTokens: new(int64(3))},
}

func TestWriteMessages(t *testing.T) {
	refusal := &Turn{StopReason: StopRefusal}
	for _, tt := range []struct {
		name   string
		turn   *Turn
		stream bool
		cut    bool
	}{
		{"stream", everyBlock, true, false},
		{"stream-cut", everyBlock, true, true},
		{"stream-empty-cut", refusal, true, true},
		{"stream-refusal", refusal, true, false},
		{"whole", everyBlock, false, false},
		{"whole-cut", everyBlock, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			writeMessages(w, "1", &Request{Model: "m", Stream: tt.stream}, tt.turn, tt.cut)
			assert.Equal(t, 200, w.Code)
			golden.AssertBytes(t, w.Body.Bytes(), filepath.Join("answers", tt.name+".golden"))
		})
	}
}

func TestFailMessages(t *testing.T) {
	w := httptest.NewRecorder()
	failMessages(w, "1", Failure{Status: 429, Type: "rate_limit_error", Message: "later", RetryAfter: new(3)})
	assert.Equal(t, 429, w.Code)
	assert.Equal(t, "3", w.Header().Get("Retry-After"))
	assert.JSONEq(t, `{"type":"error","error":{"type":"rate_limit_error","message":"later"},"request_id":"req_1"}`, w.Body.String())
}

func TestWriteMessagesWithBrokenInput(t *testing.T) {
	w := httptest.NewRecorder()
	writeMessages(w, "1", &Request{}, &Turn{Blocks: []Block{{Kind: BlockToolCall, Input: json.RawMessage(`{`)}}}, false)
	assert.True(t, json.Valid(w.Body.Bytes()))
	assert.Contains(t, w.Body.String(), "api_error")
}

func FuzzDecodeMessages(f *testing.F) {
	names, err := filepath.Glob(filepath.Join("testdata", "messages", "*.json"))
	require.NoError(f, err)
	require.NotEmpty(f, names)
	for _, name := range names {
		data, err := os.ReadFile(name)
		require.NoError(f, err)
		var small bytes.Buffer
		require.NoError(f, json.Compact(&small, data))
		f.Add(small.Bytes())
	}
	f.Add([]byte(`{"messages":[{"role":"system","content":"The following skills are available for use with the Skill tool:\n\n- a: b"}]}`))
	s, err := LoadScript(filepath.Join("testdata", "scripts", "store.toml"))
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decodeMessages(data)
		if err != nil {
			require.Nil(t, r)
			return
		}
		r.Offered = offers(r, "")
		require.LessOrEqual(t, len(r.Offered), maxOffers)
		for _, o := range r.Offered {
			require.NotEmpty(t, o.Skill)
			require.True(t, o.Via == ViaListing || o.Path != "")
		}
		m := NewScripted(s)
		first, second := turn(t, m, r), turn(t, m, r)
		require.Equal(t, first, second, "the same request gets the same answer")
		for _, stream := range []bool{true, false} {
			r.Stream = stream
			w := httptest.NewRecorder()
			writeMessages(w, "1", r, first, false)
			require.True(t, stream || json.Valid(w.Body.Bytes()))
		}
	})
}
