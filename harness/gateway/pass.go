package gateway

import (
	"context"
	"io"
	"net/http"
)

// maxWhole is how much of an answer that is no stream is taken, in bytes.
const maxWhole = 64 << 20

// passed are the request headers that say what a request means. All others, the key first, are the client's affair with
// this gateway.
var passed = []string{"Anthropic-Version", "Anthropic-Beta", "Openai-Beta", "Accept"}

func passedOn(h http.Header) http.Header {
	out := http.Header{}
	for _, name := range passed {
		if v := h.Values(name); len(v) > 0 {
			out[name] = v
		}
	}
	return out
}

// pass delivers an answer that is bytes already, and reads off it what it tells. abort asks for the connection to be cut.
func (g *Gateway) pass(ctx context.Context, w *answer, rec *record, dialect string, t *Turn) (abort bool) {
	wire := t.Wire
	defer wire.Body.Close()
	w.Header().Set("Content-Type", wire.ContentType)
	if wire.RetryAfter != "" {
		w.Header().Set("Retry-After", wire.RetryAfter)
	}
	w.WriteHeader(wire.Status)
	m := newMeter(dialect, wire.ContentType)
	told := func() {
		if wire.Told != nil {
			wire.Told(m)
		}
	}
	err := relay(w, wire.Body, m, told)
	if err == nil && !wire.Cut {
		m.end()
	}
	told()
	if wire.Status < http.StatusBadRequest {
		t.Usage, t.StopReason = m.usage, m.stop
		broken := err != nil || wire.Cut || !m.ended
		switch {
		case w.err != nil || ctx.Err() != nil:
			rec.Error = "the client went away while the model answered"
			t.Failure, abort = &Failure{Kind: FailTruncated}, true
		case m.failed:
			t.Failure = &Failure{Kind: FailHTTP, Status: wire.Status}
			t.Fault = "the provider broke off its answer with an error"
		case broken:
			t.Failure, abort = &Failure{Kind: FailTruncated}, true
			t.Fault = "the provider's answer broke off"
		}
	}
	if t.Failure != nil {
		rec.Failure = string(t.Failure.Kind)
	} else if t.failed() {
		rec.Failure = t.StopReason
	}
	if !abort {
		rec.StopReason = t.StopReason
	}
	rec.Fault = g.clip(t.Fault, 500)
	return abort
}

// relay copies from the provider to the client: of a stream each piece as soon as it is there. told is called before the
// client sees what m has read, so that its next request finds this one counted. The error is the reader's, or the writer's.
func relay(w *answer, from io.Reader, m *meter, told func()) error {
	if !m.stream {
		body, err := io.ReadAll(io.LimitReader(from, maxWhole))
		m.Write(body) //nolint:errcheck // never fails
		told()
		if _, werr := w.Write(body); werr != nil {
			return werr
		}
		w.Flush()
		return err
	}
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			m.Write(buf[:n]) //nolint:errcheck // never fails
			told()
			if _, err := w.Write(buf[:n]); err != nil {
				return err
			}
			w.Flush()
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
