package gateway

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
)

// A codec speaks one dialect. Models know nothing of it.
type codec struct {
	dialect string
	decode  func(raw []byte) (*Request, error)
	// write delivers a turn that is not an HTTP failure; with cut only its beginning. id is a hash without the dialect's
	// prefix.
	write func(w http.ResponseWriter, id string, r *Request, t *Turn, cut bool)
	fail  func(w http.ResponseWriter, id string, f Failure)
}

var (
	messagesCodec  = codec{DialectMessages, decodeMessages, writeMessages, failMessages}
	responsesCodec = codec{DialectResponses, decodeResponses, writeResponses, failOpenAI}
	chatCodec      = codec{DialectChat, decodeChat, writeChat, failOpenAI}
)

// An endpoint is one path clients post to. Counting endpoints estimate tokens and ask no model.
type endpoint struct {
	codec codec
	count bool
}

var endpoints = map[string]endpoint{
	"/v1/messages":              {codec: messagesCodec},
	"/v1/messages/count_tokens": {codec: messagesCodec, count: true},
	"/v1/responses":             {codec: responsesCodec},
	"/v1/chat/completions":      {codec: chatCodec},
}

// sideCall tells a title or summary request from a turn: it lists no tools, or forbids them as Copilot CLI does when it
// asks for a summary of the conversation.
func sideCall(tools int, choice json.RawMessage) bool {
	var word string
	var object struct {
		Type string `json:"type"` // the Messages dialect's form
	}
	if json.Unmarshal(choice, &word) != nil && json.Unmarshal(choice, &object) == nil {
		word = object.Type
	}
	return tools == 0 || word == "none"
}

// modelsPath lists the models, for clients that look before they ask.
const modelsPath = "/v1/models"

// writeModels answers modelsPath with the one model of the trial, in a form that is right for both hosts' clients:
// https://platform.openai.com/docs/api-reference/models/list and https://docs.anthropic.com/en/api/models-list.
func writeModels(w http.ResponseWriter, model string) {
	writeWhole(w, encodeJSON(map[string]any{
		"object": "list", "has_more": false, "first_id": model, "last_id": model,
		"data": []any{map[string]any{
			"id": model, "object": "model", "type": "model", "display_name": model,
			"created": 0, "created_at": "1970-01-01T00:00:00Z", "owned_by": "system",
		}},
	}), false)
}

// startStream begins a stream of events.
func startStream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
}

// writeWhole answers with a JSON body, or with its first half.
func writeWhole(w http.ResponseWriter, body []byte, cut bool) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if cut {
		body = body[:len(body)/2]
	}
	w.Write(body) //nolint:errcheck // a client that went away is seen by the response writer
	flush(w)
}

// writeError answers with an error status and a JSON body.
func writeError(w http.ResponseWriter, f Failure, body []byte) {
	if f.RetryAfter != nil {
		w.Header().Set("Retry-After", strconv.Itoa(*f.RetryAfter))
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(f.Status)
	w.Write(body) //nolint:errcheck // as above
}

// event writes one server-sent event; without a name it has only data.
func event(w io.Writer, name string, data any) {
	var b bytes.Buffer
	if name != "" {
		b.WriteString("event: " + name + "\n")
	}
	b.WriteString("data: ")
	b.Write(encodeJSON(data))
	b.WriteString("\n\n")
	w.Write(b.Bytes()) //nolint:errcheck // a client that went away is seen by the response writer
	flush(w)
}

// encodeJSON marshals v on one line, with < > & as they are. v holds only what this package built.
func encodeJSON(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		// Only a model that hands out a tool input which is no JSON can get here.
		return encodeJSON(map[string]any{"type": "error", "error": map[string]any{"type": "api_error", "message": err.Error()}})
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

func flush(w any) {
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}
