package gateway

import (
	"fmt"
	"net/http"
	"strings"
)

// The answers of the Responses API: https://platform.openai.com/docs/api-reference/responses/object.

type responsesAnswer struct {
	ID                string           `json:"id"`
	Object            string           `json:"object"`
	CreatedAt         int64            `json:"created_at"` // always 0: the same request gets the same bytes
	Status            string           `json:"status"`     // in_progress, completed, incomplete
	Error             any              `json:"error"`
	IncompleteDetails *responsesReason `json:"incomplete_details"`
	Model             string           `json:"model"`
	Output            []responsesOut   `json:"output"`
	ParallelToolCalls bool             `json:"parallel_tool_calls"`
	Usage             *responsesUsage  `json:"usage"`
}

type responsesReason struct {
	Reason string `json:"reason"`
}

// A responsesOut is an output item. The pointers keep what is empty apart from a field of another kind of item.
type responsesOut struct {
	ID        string           `json:"id"`
	Type      string           `json:"type"`
	Status    string           `json:"status,omitempty"`
	Role      string           `json:"role,omitempty"`
	Content   *[]responsesPart `json:"content,omitempty"`
	Summary   *[]responsesPart `json:"summary,omitempty"`
	Encrypted string           `json:"encrypted_content,omitempty"`
	CallID    string           `json:"call_id,omitempty"`
	Namespace string           `json:"namespace,omitempty"`
	Name      string           `json:"name,omitempty"`
	Arguments *string          `json:"arguments,omitempty"`
	Input     *string          `json:"input,omitempty"`
}

type responsesPart struct {
	Type        string  `json:"type"` // output_text, refusal, summary_text
	Text        *string `json:"text,omitempty"`
	Refusal     *string `json:"refusal,omitempty"`
	Annotations *[]any  `json:"annotations,omitempty"`
}

type responsesUsage struct {
	Input    int64 `json:"input_tokens"`
	InputHas struct {
		Cached     int64 `json:"cached_tokens"`
		CacheWrite int64 `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	Output    int64 `json:"output_tokens"`
	OutputHas struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	Total int64 `json:"total_tokens"`
}

func responsesUsageOf(u Usage) *responsesUsage {
	w := &responsesUsage{Input: promptTokens(u), Output: count(u.OutputTokens)}
	w.Total = w.Input + w.Output
	w.InputHas.Cached, w.InputHas.CacheWrite = count(u.CacheReadTokens), count(u.CacheWriteTokens)
	w.OutputHas.Reasoning = count(u.ReasoningTokens)
	return w
}

func textPart(text string) responsesPart {
	return responsesPart{Type: "output_text", Text: &text, Annotations: new([]any{})}
}

func refusalPart(text string) responsesPart { return responsesPart{Type: "refusal", Refusal: &text} }

func messageOut(id string, p responsesPart) responsesOut {
	return responsesOut{ID: id, Type: "message", Status: "completed", Role: "assistant", Content: &[]responsesPart{p}}
}

// responsesOutput turns a turn into output items; kinds an assistant cannot say are dropped. r tells the namespaces of
// tools.
func responsesOutput(id string, t *Turn, r *Request) []responsesOut {
	items := []responsesOut{} // [] and not null on the wire
	for _, b := range t.Blocks {
		itemID := fmt.Sprintf("%s_%d", id, len(items))
		switch b.Kind {
		case BlockText:
			items = append(items, messageOut("msg_"+itemID, textPart(b.Text)))
		case BlockThinking:
			items = append(items, responsesOut{
				ID: "rs_" + itemID, Type: "reasoning", Summary: &[]responsesPart{{Type: "summary_text", Text: &b.Text}}, Encrypted: b.Signature,
			})
		case BlockToolCall:
			it := responsesOut{ID: "fc_" + itemID, Type: "function_call", Status: "completed", CallID: b.CallID}
			it.Namespace, it.Name = unspaced(r, b.Name)
			if text, ok := freeformInput(b.Input); ok {
				it.ID, it.Type, it.Input = "ctc_"+itemID, "custom_tool_call", &text
			} else {
				it.Arguments = new(inputArguments(b.Input))
			}
			items = append(items, it)
		}
	}
	if t.StopReason == StopRefusal {
		items = append(items, messageOut(fmt.Sprintf("msg_%s_%d", id, len(items)), refusalPart(refusalText)))
	}
	return items
}

// unspaced splits the name of a tool that the request listed in a namespace.
func unspaced(r *Request, name string) (namespace, member string) {
	for _, t := range r.Tools {
		if t.Name == name && t.Namespace != "" {
			return t.Namespace, strings.TrimPrefix(name, t.Namespace+".")
		}
	}
	return "", name
}

// writeResponses delivers a turn that is not an HTTP failure. With cut, only the beginning is written.
func writeResponses(w http.ResponseWriter, id string, r *Request, t *Turn, cut bool) {
	a := responsesAnswer{
		ID: "resp_" + id, Object: "response", Status: "completed", Model: r.Model, ParallelToolCalls: true,
		Output: responsesOutput(id, t, r), Usage: responsesUsageOf(t.Usage),
	}
	if t.StopReason == StopMaxTokens {
		a.Status, a.IncompleteDetails = "incomplete", &responsesReason{"max_output_tokens"}
	}
	if r.Stream {
		startStream(w)
		streamResponses(w, a, cut)
		return
	}
	writeWhole(w, encodeJSON(a), cut)
}
