package gateway

import (
	"net/http"
	"strings"
)

// The answers of Chat Completions: https://platform.openai.com/docs/api-reference/chat/object and …/chat-streaming.

type chatAnswer struct {
	ID      string       `json:"id"`
	Object  string       `json:"object"`
	Created int64        `json:"created"` // always 0: the same request gets the same bytes
	Model   string       `json:"model"`
	Choices []chatChoice `json:"choices"`
	Usage   *chatUsage   `json:"usage,omitempty"`
}

type chatChoice struct {
	Index        int       `json:"index"`
	Message      *chatSaid `json:"message,omitempty"`
	Delta        *chatSaid `json:"delta,omitempty"`
	FinishReason *string   `json:"finish_reason"`
}

// A chatSaid is a message or a delta of one. The pointers keep an empty string apart from an absent field.
type chatSaid struct {
	Role             string     `json:"role,omitempty"`
	Content          *string    `json:"content,omitempty"`
	Refusal          *string    `json:"refusal,omitempty"`
	ReasoningContent *string    `json:"reasoning_content,omitempty"`
	ToolCalls        []chatCall `json:"tool_calls,omitempty"`
}

type chatUsage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Total      int64 `json:"total_tokens"`
	PromptHas  struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionHas struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func chatUsageOf(u Usage) *chatUsage {
	c := &chatUsage{Prompt: promptTokens(u), Completion: count(u.OutputTokens)}
	c.Total = c.Prompt + c.Completion
	c.PromptHas.Cached = count(u.CacheReadTokens)
	c.CompletionHas.Reasoning = count(u.ReasoningTokens)
	return c
}

var chatFinish = map[string]string{
	StopEndTurn: "stop", StopToolUse: "tool_calls", StopMaxTokens: "length", StopRefusal: "content_filter",
}

func chatFinishOf(t *Turn) string {
	if f, ok := chatFinish[t.StopReason]; ok {
		return f
	}
	return "stop"
}

// chatSays puts a turn into one message; kinds an assistant cannot say are dropped.
func chatSays(t *Turn) chatSaid {
	said := chatSaid{Role: "assistant"}
	var texts, thoughts []string
	for _, b := range t.Blocks {
		switch b.Kind {
		case BlockText:
			texts = append(texts, b.Text)
		case BlockThinking:
			thoughts = append(thoughts, b.Text)
		case BlockToolCall:
			c := chatCall{ID: b.CallID, Type: "function", Function: &chatFunction{b.Name, inputArguments(b.Input)}}
			if text, ok := freeformInput(b.Input); ok {
				c.Type, c.Function, c.Custom = "custom", nil, &chatCustom{b.Name, text}
			}
			said.ToolCalls = append(said.ToolCalls, c)
		}
	}
	if len(texts) > 0 {
		said.Content = new(strings.Join(texts, "\n\n"))
	}
	if len(thoughts) > 0 {
		said.ReasoningContent = new(strings.Join(thoughts, "\n\n"))
	}
	if t.StopReason == StopRefusal {
		said.Refusal = new(refusalText)
	}
	return said
}

// writeChat delivers a turn that is not an HTTP failure. With cut, only the beginning is written.
func writeChat(w http.ResponseWriter, id string, r *Request, t *Turn, cut bool) {
	a := chatAnswer{ID: "chatcmpl-" + id, Object: "chat.completion", Model: r.Model}
	said, finish := chatSays(t), chatFinishOf(t)
	if r.Stream {
		a.Object = "chat.completion.chunk"
		startStream(w)
		streamChat(w, a, said, finish, r.StreamUsage, chatUsageOf(t.Usage), cut)
		return
	}
	a.Choices = []chatChoice{{Message: &said, FinishReason: &finish}}
	a.Usage = chatUsageOf(t.Usage)
	writeWhole(w, encodeJSON(a), cut)
}

// streamChat writes the chunks: the role, then one delta a text and two a call (its head, its arguments), then the
// finish reason, the usage where asked for, and the end mark. With cut it ends after the first delta behind the role.
func streamChat(w http.ResponseWriter, a chatAnswer, said chatSaid, finish string, withUsage bool, usage *chatUsage, cut bool) {
	empty := ""
	deltas := []chatSaid{{Role: said.Role, Content: &empty}}
	if said.ReasoningContent != nil {
		deltas = append(deltas, chatSaid{ReasoningContent: said.ReasoningContent})
	}
	if said.Content != nil {
		deltas = append(deltas, chatSaid{Content: said.Content})
	}
	if said.Refusal != nil {
		deltas = append(deltas, chatSaid{Refusal: said.Refusal})
	}
	for i, c := range said.ToolCalls {
		head, rest := c, chatCall{Index: &i}
		head.Index = &i
		if c.Custom != nil {
			head.Custom, rest.Custom = &chatCustom{Name: c.Custom.Name}, &chatCustom{Input: c.Custom.Input}
		} else {
			head.Function, rest.Function = &chatFunction{Name: c.Function.Name}, &chatFunction{Arguments: c.Function.Arguments}
		}
		deltas = append(deltas, chatSaid{ToolCalls: []chatCall{head}}, chatSaid{ToolCalls: []chatCall{rest}})
	}
	for i, d := range deltas {
		a.Choices = []chatChoice{{Delta: &d}}
		event(w, "", a)
		if cut && i == 1 {
			return
		}
	}
	if cut {
		return
	}
	a.Choices = []chatChoice{{Delta: &chatSaid{}, FinishReason: &finish}}
	event(w, "", a)
	if withUsage {
		a.Choices, a.Usage = []chatChoice{}, usage
		event(w, "", a)
	}
	w.Write([]byte("data: [DONE]\n\n")) //nolint:errcheck // a client that went away is seen by the response writer
	flush(w)
}
