package gateway

import (
	"bytes"
	"encoding/json"
	"strings"
)

// maxMetered is how much of a whole body, or of one line of a stream, is kept to find the usage in.
const maxMetered = 16 << 20 // bytes

// A meter reads an answer as it passes by, for what it says of tokens and of its own end. It changes nothing, and what
// it does not understand it leaves alone: the usage then stays unknown.
type meter struct {
	dialect string
	stream  bool
	buf     []byte // an unfinished line, or the whole body
	over    bool   // buf would have been too large

	usage  Usage
	stop   string // in the words of the Messages dialect, "" while not told
	ended  bool   // the answer's own last word came
	failed bool   // the provider told an error in place of the rest
	bytes  int64
}

func newMeter(dialect, contentType string) *meter {
	return &meter{dialect: dialect, stream: strings.HasPrefix(contentType, "text/event-stream")}
}

// Write takes the next bytes; it never fails.
func (m *meter) Write(p []byte) (int, error) {
	m.bytes += int64(len(p))
	if !m.stream {
		m.keep(p)
		return len(p), nil
	}
	for rest := p; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		m.keep(line)
		if !whole {
			break
		}
		if !m.over {
			m.line(m.buf)
		}
		m.buf, m.over, rest = m.buf[:0], false, after
	}
	return len(p), nil
}

func (m *meter) keep(p []byte) {
	if len(m.buf)+len(p) > maxMetered {
		m.over = true
		m.buf = m.buf[:0]
	}
	if !m.over {
		m.buf = append(m.buf, p...)
	}
}

// end is called behind the last byte.
func (m *meter) end() {
	if m.stream {
		if !m.over {
			m.line(m.buf)
		}
		return
	}
	if m.over || !json.Valid(m.buf) {
		return
	}
	m.ended = true
	m.said(m.buf)
}

func (m *meter) line(line []byte) {
	data, ok := bytes.CutPrefix(bytes.TrimRight(line, "\r"), []byte("data:"))
	if !ok {
		return
	}
	data = bytes.TrimSpace(data)
	if bytes.Equal(data, []byte("[DONE]")) {
		m.ended = true
		return
	}
	m.said(data)
}

// wireTold is usage in any dialect's words.
type wireTold struct {
	Input      *int64 `json:"input_tokens"`
	Output     *int64 `json:"output_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
	CacheRead  *int64 `json:"cache_read_input_tokens"`
	Prompt     *int64 `json:"prompt_tokens"`
	Completion *int64 `json:"completion_tokens"`
	InputHas   told   `json:"input_tokens_details"`
	OutputHas  told   `json:"output_tokens_details"`
	PromptHas  told   `json:"prompt_tokens_details"`
	ComplHas   told   `json:"completion_tokens_details"`
}

type told struct {
	Cached     *int64 `json:"cached_tokens"`
	CacheWrite *int64 `json:"cache_write_tokens"`
	Reasoning  *int64 `json:"reasoning_tokens"`
}

// wireResponse is the part of a Responses answer that is read.
type wireResponse struct {
	Status     string    `json:"status"`
	Usage      *wireTold `json:"usage"`
	Incomplete *struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Output []struct {
		Type string `json:"type"`
	} `json:"output"`
}

// said reads one event of a stream, or a whole body.
func (m *meter) said(data []byte) {
	switch m.dialect {
	case DialectMessages:
		m.saidMessages(data)
	case DialectResponses:
		m.saidResponses(data)
	default:
		m.saidChat(data)
	}
}

func (m *meter) saidMessages(data []byte) {
	var e struct {
		Type    string `json:"type"`
		Message struct {
			Usage *wireTold `json:"usage"`
		} `json:"message"`
		Delta struct {
			StopReason *string `json:"stop_reason"`
		} `json:"delta"`
		StopReason *string   `json:"stop_reason"`
		Usage      *wireTold `json:"usage"`
	}
	if json.Unmarshal(data, &e) != nil {
		return
	}
	for _, u := range []*wireTold{e.Message.Usage, e.Usage} {
		if u == nil {
			continue
		}
		// Counts of message_delta are totals so far, and tell only what changed.
		set(&m.usage.InputTokens, u.Input)
		set(&m.usage.OutputTokens, u.Output)
		set(&m.usage.CacheReadTokens, u.CacheRead)
		set(&m.usage.CacheWriteTokens, u.CacheWrite)
	}
	for _, s := range []*string{e.Delta.StopReason, e.StopReason} {
		if s != nil {
			m.stop = *s
		}
	}
	m.ended = m.ended || e.Type == "message_stop"
	m.failed = m.failed || e.Type == "error"
}

func (m *meter) saidResponses(data []byte) {
	var e struct {
		Type     string        `json:"type"`
		Response *wireResponse `json:"response"`
		wireResponse
	}
	if json.Unmarshal(data, &e) != nil {
		return
	}
	r := &e.wireResponse
	if m.stream {
		m.failed = m.failed || e.Type == "error"
		if r = e.Response; r == nil {
			return
		}
	}
	m.failed = m.failed || r.Status == "failed"
	m.ended = m.ended || r.Status == "completed" || r.Status == "incomplete" || r.Status == "failed"
	if u := r.Usage; u != nil {
		m.openAI(u.Input, u.Output, u.InputHas, u.OutputHas)
	}
	switch {
	case r.Status == "incomplete" && r.Incomplete != nil && r.Incomplete.Reason == "max_output_tokens":
		m.stop = StopMaxTokens
	case r.Status == "incomplete":
		m.stop = StopRefusal
	case r.Status == "completed":
		m.stop = StopEndTurn
		for _, o := range r.Output {
			if strings.HasSuffix(o.Type, "_call") {
				m.stop = StopToolUse
			}
		}
	}
}

func (m *meter) saidChat(data []byte) {
	var e struct {
		Choices []struct {
			FinishReason *string `json:"finish_reason"`
		} `json:"choices"`
		Usage *wireTold       `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(data, &e) != nil {
		return
	}
	m.failed = m.failed || len(e.Error) > 0 && string(e.Error) != "null"
	if u := e.Usage; u != nil {
		m.openAI(u.Prompt, u.Completion, u.PromptHas, u.ComplHas)
	}
	for _, c := range e.Choices {
		if c.FinishReason == nil {
			continue
		}
		m.ended = true
		for ours, theirs := range chatFinish {
			if theirs == *c.FinishReason {
				m.stop = ours
			}
		}
	}
}

// openAI takes counts in which what came from and went to a cache is part of the input.
func (m *meter) openAI(input, output *int64, inputHas, outputHas told) {
	if input != nil {
		n := max(*input-count(inputHas.Cached)-count(inputHas.CacheWrite), 0)
		m.usage.InputTokens = &n
	}
	set(&m.usage.OutputTokens, output)
	set(&m.usage.CacheReadTokens, inputHas.Cached)
	set(&m.usage.CacheWriteTokens, inputHas.CacheWrite)
	set(&m.usage.ReasoningTokens, outputHas.Reasoning)
}

// set takes a count that is told and is one.
func set(to **int64, n *int64) {
	if n != nil && *n >= 0 {
		v := *n
		*to = &v
	}
}

// charged is the usage with a guess for what was not told: the request's and the answer's bytes.
func (m *meter) charged(request []byte) Usage {
	if !m.stream && !m.ended && !m.over && json.Valid(m.buf) {
		m.end() // a whole body has come
	}
	u := m.usage
	if u.InputTokens == nil {
		n := estimateTokens(request)
		u.InputTokens = &n
	}
	if u.OutputTokens == nil || !m.ended {
		n := max(m.bytes/(bytesPerToken*4), count(u.OutputTokens)) // a stream's frames are most of its bytes
		u.OutputTokens = &n
	}
	return u
}
