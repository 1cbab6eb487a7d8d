package gateway

import "io"

// The events of a streamed response: https://platform.openai.com/docs/api-reference/responses-streaming.

// A responsesStream numbers the events it writes. With cut it falls silent behind the first delta.
type responsesStream struct {
	w    io.Writer
	next int
	cut  bool
	done bool
}

// send writes one event; fields are those beside its type and number.
func (s *responsesStream) send(typ string, fields map[string]any) {
	if s.done {
		return
	}
	fields["type"], fields["sequence_number"] = typ, s.next
	s.next++
	event(s.w, typ, fields)
}

// delta sends a delta, behind which a cut stream ends.
func (s *responsesStream) delta(typ string, fields map[string]any) {
	s.send(typ, fields)
	s.done = s.done || s.cut
}

// streamResponses writes a's events: created, in_progress, those of each item, and completed or incomplete. With cut it
// ends behind the first delta, or before the last event when there is none.
func streamResponses(w io.Writer, a responsesAnswer, cut bool) {
	s := &responsesStream{w: w, cut: cut}
	opening := a
	opening.Status, opening.IncompleteDetails, opening.Output, opening.Usage = "in_progress", nil, []responsesOut{}, nil
	s.send("response.created", map[string]any{"response": opening})
	s.send("response.in_progress", map[string]any{"response": opening})
	for i, it := range a.Output {
		s.item(i, it)
	}
	s.done = s.done || cut
	s.send("response."+a.Status, map[string]any{"response": a})
}

func (s *responsesStream) item(i int, it responsesOut) {
	at := func(more map[string]any) map[string]any { // the fields that say which item
		more["item_id"], more["output_index"] = it.ID, i
		return more
	}
	start, empty := it, ""
	if it.Status != "" {
		start.Status = "in_progress"
	}
	switch {
	case it.Content != nil:
		start.Content = &[]responsesPart{}
	case it.Summary != nil:
		start.Summary, start.Encrypted = &[]responsesPart{}, ""
	case it.Input != nil:
		start.Input = &empty
	case it.Arguments != nil:
		start.Arguments = &empty
	}
	s.send("response.output_item.added", map[string]any{"output_index": i, "item": start})
	switch {
	case it.Content != nil:
		for k, p := range *it.Content {
			s.part(k, p, at)
		}
	case it.Summary != nil:
		for k, p := range *it.Summary {
			s.summary(k, p, at)
		}
	case it.Input != nil:
		s.delta("response.custom_tool_call_input.delta", at(map[string]any{"delta": *it.Input}))
		s.send("response.custom_tool_call_input.done", at(map[string]any{"input": *it.Input}))
	case it.Arguments != nil:
		s.delta("response.function_call_arguments.delta", at(map[string]any{"delta": *it.Arguments}))
		s.send("response.function_call_arguments.done", at(map[string]any{"arguments": *it.Arguments, "name": it.Name}))
	}
	s.send("response.output_item.done", map[string]any{"output_index": i, "item": it})
}

// part writes the events of one part of a message.
func (s *responsesStream) part(k int, p responsesPart, at func(map[string]any) map[string]any) {
	in := func(more map[string]any) map[string]any {
		more["content_index"] = k
		return at(more)
	}
	start, empty := p, ""
	if p.Refusal != nil {
		start.Refusal = &empty
	} else {
		start.Text = &empty
	}
	s.send("response.content_part.added", in(map[string]any{"part": start}))
	if p.Refusal != nil {
		s.delta("response.refusal.delta", in(map[string]any{"delta": *p.Refusal}))
		s.send("response.refusal.done", in(map[string]any{"refusal": *p.Refusal}))
	} else {
		s.delta("response.output_text.delta", in(map[string]any{"delta": *p.Text, "logprobs": []any{}}))
		s.send("response.output_text.done", in(map[string]any{"text": *p.Text, "logprobs": []any{}}))
	}
	s.send("response.content_part.done", in(map[string]any{"part": p}))
}

// summary writes the events of one part of a reasoning item's summary.
func (s *responsesStream) summary(k int, p responsesPart, at func(map[string]any) map[string]any) {
	in := func(more map[string]any) map[string]any {
		more["summary_index"] = k
		return at(more)
	}
	s.send("response.reasoning_summary_part.added", in(map[string]any{"part": responsesPart{Type: p.Type, Text: new("")}}))
	s.delta("response.reasoning_summary_text.delta", in(map[string]any{"delta": *p.Text}))
	s.send("response.reasoning_summary_text.done", in(map[string]any{"text": *p.Text}))
	s.send("response.reasoning_summary_part.done", in(map[string]any{"part": p}))
}
