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

func TestDecodeChatBlocks(t *testing.T) {
	r, err := decodeChat([]byte(`{"model":"m","stream":true,"stream_options":{"include_usage":true},"unheard_of":{},
		"tools":[{"type":"function","function":{"name":"mine","description":"d","parameters":{"type":"object"}}},{"type":"custom","custom":{"name":"free"}},{"type":"web_search"}],
		"messages":[{"role":"developer","content":"be brief"},{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{}}]},
		{"role":"assistant","content":null,"reasoning_content":"hm","refusal":"no","tool_calls":[{"id":"1","type":"function","function":{"name":"mine","arguments":"{\"a\":1}"}},
			{"id":"2","function":{"name":"mine","arguments":"{broken"}},{"id":"3","function":{"name":"mine","arguments":""}},{"id":"4","custom":{"name":"free","input":"text"}},{"id":"5"}]},
		{"role":"tool","tool_call_id":"1","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}]}`))
	require.NoError(t, err)
	assert.True(t, r.Stream)
	assert.True(t, r.StreamUsage)
	assert.False(t, r.SideCall)
	assert.Equal(t, []Tool{
		{Name: "mine", Description: "d", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "free", Freeform: true}, {Name: "web_search", Type: "web_search"},
	}, r.Tools)
	assert.Equal(t, text("system", "be brief"), r.Messages[0])
	assert.Equal(t, []Block{{Kind: BlockText, Text: "a"}, {Kind: BlockOther}}, r.Messages[1].Blocks)
	assert.Equal(t, []Block{
		{Kind: BlockThinking, Text: "hm"}, {Kind: BlockText, Text: "no"},
		{Kind: BlockToolCall, CallID: "1", Name: "mine", Input: json.RawMessage(`{"a":1}`)},
		{Kind: BlockToolCall, CallID: "2", Name: "mine", Input: json.RawMessage(`"{broken"`)},
		{Kind: BlockToolCall, CallID: "3", Name: "mine", Input: json.RawMessage(`{}`)},
		{Kind: BlockToolCall, CallID: "4", Name: "free", Input: json.RawMessage(`"text"`)},
		{Kind: BlockOther},
	}, r.Messages[2].Blocks)
	assert.Equal(t, Message{Role: "user", Blocks: []Block{{Kind: BlockToolResult, CallID: "1", Text: "x\ny"}}}, r.Messages[3])
}

func TestDecodeResponsesItems(t *testing.T) {
	r, err := decodeResponses([]byte(`{"model":"m","instructions":"be brief","unheard_of":{},
		"tools":[{"type":"function","name":"mine"},{"type":"custom","name":"apply_patch"},{"type":"namespace","name":"ns","tools":[{"type":"function","name":"in"}]},
			{"type":"local_shell"},{"type":"web_search"},{"type":"mcp","name":"m"}],
		"input":[{"role":"user","content":"go"},{"type":"message","role":"developer","content":[{"type":"input_text","text":"a"}]},
		{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"enc"},
		{"type":"function_call","call_id":"1","namespace":"ns","name":"in","arguments":"{}"},{"type":"custom_tool_call","call_id":"2","name":"apply_patch","input":"*** Begin"},
		{"type":"local_shell_call","call_id":"3","action":{"command":["ls"]}},
		{"type":"function_call_output","call_id":"1","output":"out"},{"type":"custom_tool_call_output","call_id":"2","output":[{"type":"input_text","text":"done"}]},
		{"type":"web_search_call"},{"type":"new"}]}`))
	require.NoError(t, err)
	assert.Equal(t, []string{"be brief"}, r.System)
	assert.Equal(t, []Tool{
		{Name: "mine"}, {Name: "apply_patch", Freeform: true}, {Name: "ns.in", Namespace: "ns"}, {Name: "local_shell"},
		{Name: "web_search", Type: "web_search"}, {Name: "m", Type: "mcp"},
	}, r.Tools)
	var blocks []Block
	var roles []string
	for _, m := range r.Messages {
		blocks, roles = append(blocks, m.Blocks...), append(roles, m.Role)
	}
	assert.Equal(t, "user system assistant assistant assistant assistant user user assistant assistant", strings.Join(roles, " "))
	assert.Equal(t, []Block{
		{Kind: BlockText, Text: "go"}, {Kind: BlockText, Text: "a"}, {Kind: BlockThinking, Text: "hm", Signature: "enc"},
		{Kind: BlockToolCall, CallID: "1", Name: "ns.in", Input: json.RawMessage(`{}`)},
		{Kind: BlockToolCall, CallID: "2", Name: "apply_patch", Input: json.RawMessage(`"*** Begin"`)},
		{Kind: BlockToolCall, CallID: "3", Name: "local_shell", Input: json.RawMessage(`{"command":["ls"]}`)},
		{Kind: BlockToolResult, CallID: "1", Text: "out"}, {Kind: BlockToolResult, CallID: "2", Text: "done"},
		{Kind: BlockOther}, {Kind: BlockOther},
	}, blocks)

	r, err = decodeResponses([]byte(`{"input":"hi"}`))
	require.NoError(t, err)
	assert.Equal(t, []Message{text("user", "hi")}, r.Messages)
	assert.True(t, r.SideCall)
}

func TestDecodeOpenAIErrors(t *testing.T) {
	for _, tt := range []struct{ dialect, name, body, want string }{
		{DialectChat, "empty", ``, "the body is no Chat Completions request"},
		{DialectChat, "array", `[]`, "the body is no Chat Completions request"},
		{DialectChat, "null", `null`, "messages: at least one message is required"},
		{DialectChat, "role", `{"messages":[{"role":"root"}]}`, "messages[0].role: is none of"},
		{DialectChat, "content", `{"messages":[{"role":"user","content":7}]}`, "messages[0].content: is neither a string nor an array of parts"},
		{DialectChat, "tool content", `{"messages":[{"role":"user"},{"role":"tool","content":{}}]}`, "messages[1].content: is neither"},
		{DialectChat, "assistant content", `{"messages":[{"role":"assistant","content":[7]}]}`, "messages[0].content: is neither"},
		{DialectChat, "tool", `{"messages":[{"role":"user"}],"tools":[{}]}`, "tools[0]: has no name"},
		{DialectChat, "deep", `{"messages":` + strings.Repeat("[", 1<<20), "the body is no Chat Completions request"},
		{DialectResponses, "empty", ``, "the body is no Responses request"},
		{DialectResponses, "null", `null`, "input: at least one item is required"},
		{DialectResponses, "no items", `{"input":[]}`, "input: at least one item is required"},
		{DialectResponses, "number", `{"input":7}`, "input: is neither a string nor an array of items"},
		{DialectResponses, "role", `{"input":[{"role":"root"}]}`, "input[0].role: is none of"},
		{DialectResponses, "content", `{"input":[{"role":"user","content":{}}]}`, "input[0].content: is neither"},
		{DialectResponses, "output", `{"input":[{"type":"function_call_output","output":7}]}`, "input[0].output: is neither"},
		{DialectResponses, "summary", `{"input":[{"type":"reasoning","summary":7}]}`, "input[0].summary: is neither"},
		{DialectResponses, "tool without type", `{"input":"x","tools":[{"name":"a"}]}`, "tools[0]: type: is empty"},
		{DialectResponses, "tool without name", `{"input":"x","tools":[{"type":"function"}]}`, "tools[0]: name: is empty"},
		{DialectResponses, "namespace without name", `{"input":"x","tools":[{"type":"namespace"}]}`, "tools[0]: name: is empty"},
		{DialectResponses, "nested", `{"input":"x","tools":[{"type":"namespace","name":"a","tools":[{"type":"namespace","name":"b"}]}]}`, "tools[0]: tools[0]: is a namespace in a namespace"},
		{DialectResponses, "member", `{"input":"x","tools":[{"type":"namespace","name":"a","tools":[{}]}]}`, "tools[0]: tools[0]: type: is empty"},
	} {
		t.Run(tt.dialect+" "+tt.name, func(t *testing.T) {
			r, err := decoders[tt.dialect]([]byte(tt.body))
			assert.Nil(t, r)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestSideCall(t *testing.T) {
	for _, tt := range []struct {
		tools  int
		choice string
		want   bool
	}{
		{0, ``, true}, {0, `"auto"`, true}, {1, ``, false}, {1, `"auto"`, false}, {1, `"none"`, true}, {1, `{"type":"none"}`, true},
		{1, `{"type":"function","name":"none"}`, false}, {1, `null`, false}, {1, `[]`, false},
	} {
		assert.Equal(t, tt.want, sideCall(tt.tools, json.RawMessage(tt.choice)), "%d %s", tt.tools, tt.choice)
	}
}

// A turn with a call of a freeform tool and one in a namespace, besides what everyBlock has.
func openAITurn() (*Request, *Turn) {
	turn := *everyBlock
	turn.Blocks = append(append([]Block{}, everyBlock.Blocks...),
		Block{Kind: BlockToolCall, CallID: "call_3", Name: "apply_patch", Input: json.RawMessage(`"*** Begin Patch\n"`)},
		Block{Kind: BlockToolCall, CallID: "call_4", Name: "ns.in", Input: json.RawMessage(`{"a":1}`)})
	turn.Usage.ReasoningTokens = new(int64(2))
	return &Request{Model: "m", Tools: []Tool{{Name: "ns.in", Namespace: "ns"}, {Name: "apply_patch", Freeform: true}}}, &turn
}

func TestWriteOpenAI(t *testing.T) {
	r, every := openAITurn()
	refusal, tooLong := &Turn{StopReason: StopRefusal}, &Turn{Blocks: []Block{{Kind: BlockText, Text: "abc"}}, StopReason: StopMaxTokens}
	for _, c := range []codec{chatCodec, responsesCodec} {
		for _, tt := range []struct {
			name        string
			turn        *Turn
			stream, cut bool
		}{
			{"stream", every, true, false},
			{"stream-cut", every, true, true},
			{"stream-empty-cut", &Turn{StopReason: StopEndTurn}, true, true},
			{"stream-refusal", refusal, true, false},
			{"stream-max-tokens", tooLong, true, false},
			{"whole", every, false, false},
			{"whole-refusal", refusal, false, false},
			{"whole-max-tokens", tooLong, false, false},
			{"whole-cut", every, false, true},
		} {
			t.Run(c.dialect+"-"+tt.name, func(t *testing.T) {
				w := httptest.NewRecorder()
				asked := *r
				asked.Stream, asked.StreamUsage = tt.stream, true
				c.write(w, "1", &asked, tt.turn, tt.cut)
				assert.Equal(t, 200, w.Code)
				golden.AssertBytes(t, w.Body.Bytes(), filepath.Join("answers", c.dialect+"-"+tt.name+".golden"))
			})
		}
	}
}

// What the assistant said comes back in the next request as it was.
func TestOpenAIAnswersCanBeAskedAgain(t *testing.T) {
	r, every := openAITurn()
	var want []Block
	for _, b := range every.Blocks {
		if b.Kind != BlockToolResult {
			if b.Kind == BlockToolCall && b.Input == nil {
				b.Input = json.RawMessage(`{}`)
			}
			want = append(want, b)
		}
	}
	t.Run("responses", func(t *testing.T) {
		w := httptest.NewRecorder()
		writeResponses(w, "1", r, every, false)
		var a struct{ Output json.RawMessage }
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &a))
		again, err := decodeResponses([]byte(`{"input":` + string(a.Output) + `}`))
		require.NoError(t, err)
		var got []Block
		for _, m := range again.Messages {
			assert.Equal(t, "assistant", m.Role)
			got = append(got, m.Blocks...)
		}
		assert.Equal(t, want, got)
	})
	t.Run("chat", func(t *testing.T) {
		w := httptest.NewRecorder()
		writeChat(w, "1", r, every, false)
		var a struct {
			Choices []struct{ Message json.RawMessage }
		}
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &a))
		again, err := decodeChat([]byte(`{"messages":[` + string(a.Choices[0].Message) + `]}`))
		require.NoError(t, err)
		want[0].Signature = "" // the dialect has no place for it
		assert.Equal(t, want, again.Messages[0].Blocks)
	})
}

func TestChatStreamWithoutUsage(t *testing.T) {
	w := httptest.NewRecorder()
	writeChat(w, "1", &Request{Model: "m", Stream: true}, textTurn("hi"), false)
	assert.NotContains(t, w.Body.String(), "usage")
	assert.True(t, strings.HasSuffix(w.Body.String(), "data: [DONE]\n\n"))
}

func TestFailOpenAI(t *testing.T) {
	w := httptest.NewRecorder()
	failOpenAI(w, "1", Failure{Status: 429, Type: "rate_limit_error", Message: "later", RetryAfter: new(3)})
	assert.Equal(t, 429, w.Code)
	assert.Equal(t, "3", w.Header().Get("Retry-After"))
	assert.JSONEq(t, `{"error":{"message":"later","type":"requests","param":null,"code":"rate_limit_exceeded"}}`, w.Body.String())
	w = httptest.NewRecorder()
	failOpenAI(w, "1", Failure{Status: 400, Type: "of_its_own", Message: "m"})
	assert.JSONEq(t, `{"error":{"message":"m","type":"of_its_own","param":null,"code":null}}`, w.Body.String())
}

func FuzzDecodeChat(f *testing.F)      { fuzzDecode(f, chatCodec) }
func FuzzDecodeResponses(f *testing.F) { fuzzDecode(f, responsesCodec) }

func fuzzDecode(f *testing.F, c codec) {
	names, err := filepath.Glob(filepath.Join("testdata", c.dialect, "*.json"))
	require.NoError(f, err)
	require.NotEmpty(f, names)
	for _, name := range names {
		data, err := os.ReadFile(name)
		require.NoError(f, err)
		var small bytes.Buffer
		require.NoError(f, json.Compact(&small, data))
		f.Add(small.Bytes())
	}
	s, err := LoadScript(filepath.Join("testdata", "scripts", "clients.toml"))
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := c.decode(data)
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
			c.write(w, "1", r, first, false)
			require.True(t, stream || json.Valid(w.Body.Bytes()))
		}
	})
}
