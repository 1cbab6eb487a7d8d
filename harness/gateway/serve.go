package gateway

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
	"time"
)

// The server's own messages tell of hostile or broken connections only, and may quote them.
var discardLog = log.New(io.Discard, "", 0)

// serve answers one request, records it, and then breaks the connection where the answer asks for that.
func (g *Gateway) serve(w http.ResponseWriter, req *http.Request) {
	if !g.begin() {
		panic(http.ErrAbortHandler) // closing: the connection goes away with the rest
	}
	defer g.active.Done()
	began := g.now()
	rec := record{
		Time:      began.UTC().Format(time.RFC3339Nano),
		Method:    g.clip(req.Method, 20),
		Path:      g.clip(req.URL.Path, 200),
		UserAgent: g.clip(req.UserAgent(), 200),
	}
	out := &answer{ResponseWriter: w}
	abort := g.guarded(out, req, &rec)

	rec.Status, rec.ResponseBytes = out.status, out.bytes
	rec.DurationMS = g.now().Sub(began).Milliseconds()
	if rec.Error == "" && out.err != nil {
		rec.Error = "the client went away"
	}
	g.mu.Lock()
	if rec.Refused {
		g.summary.Refused++
	}
	g.mu.Unlock()
	kept, err := g.log.write(rec)
	if err != nil {
		g.broke(err)
	}
	if !kept {
		g.mu.Lock()
		g.summary.Unrecorded++
		g.mu.Unlock()
	}
	if abort {
		panic(http.ErrAbortHandler) // the documented way to cut a response off
	}
}

// guarded is handle, with a bug of ours made a broken runner: the trial must not look as if its client had failed.
func (g *Gateway) guarded(w *answer, req *http.Request, rec *record) (abort bool) {
	defer func() {
		if p := recover(); p != nil {
			g.broke(fmt.Errorf("gateway: panic: %v", p))
			rec.Error = "the gateway broke"
			abort = true
		}
	}()
	return g.handle(w, req, rec)
}

// handle answers and fills rec; abort asks for the connection to be cut.
func (g *Gateway) handle(w *answer, req *http.Request, rec *record) (abort bool) {
	ep, ok := endpoints[req.URL.Path]
	if !ok {
		ep.codec = messagesCodec // the words of a refusal have to be in some dialect
	}
	// A page or a name that resolves to 127.0.0.1 must not reach the gateway under another name.
	if req.Host != g.Addr() {
		return g.refuse(w, rec, ep.codec, http.StatusForbidden, "permission_error", "wrong host: the gateway answers to its own address only")
	}
	if req.URL.Path == "/" && (req.Method == http.MethodGet || req.Method == http.MethodHead) {
		w.Header().Set("Content-Length", "0") // clients look whether the host is there, without their key
		w.WriteHeader(http.StatusOK)
		return false
	}
	if !g.authorized(req) {
		return g.refuse(w, rec, ep.codec, http.StatusUnauthorized, "authentication_error", "wrong or missing API key")
	}
	if req.URL.Path == modelsPath && req.Method == http.MethodGet {
		writeModels(w, g.opts.ModelName)
		return false
	}
	if !ok {
		return g.refuse(w, rec, ep.codec, http.StatusNotFound, "not_found_error", "no such endpoint")
	}
	rec.Dialect = ep.codec.dialect
	if req.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return g.refuse(w, rec, ep.codec, http.StatusMethodNotAllowed, "invalid_request_error", "use POST")
	}
	if enc := req.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return g.refuse(w, rec, ep.codec, http.StatusUnsupportedMediaType, "invalid_request_error", "send the body without Content-Encoding")
	}
	select {
	case g.slots <- struct{}{}:
		defer func() { <-g.slots }()
	case <-req.Context().Done():
		rec.Error = "the client went away before its turn came"
		return true
	}
	raw, status, err := readBody(w, req)
	rec.RequestBytes = int64(len(raw))
	if err != nil {
		return g.refuse(w, rec, ep.codec, status, "invalid_request_error", err.Error())
	}
	sum := sha256.Sum256(raw)
	rec.BodySHA256 = hex.EncodeToString(sum[:])
	r, err := ep.codec.decode(raw)
	if err != nil {
		return g.refuse(w, rec, ep.codec, http.StatusBadRequest, "invalid_request_error", err.Error())
	}
	rec.Model = g.clip(r.Model, 200)
	if ep.count {
		body := encodeJSON(map[string]any{"input_tokens": estimateTokens(raw)})
		w.Header().Set("Content-Type", "application/json")
		w.Write(body) //nolint:errcheck // answer keeps it
		return false
	}
	if r.Model == "" {
		r.Model = g.opts.ModelName
	}
	r.ProjectDir, r.Prompt = g.opts.ProjectDir, g.opts.Prompt
	r.Header = passedOn(req.Header)
	r.Offered = offers(r, g.opts.Prompt)
	rec.SideCall, rec.Stream, rec.Offered = r.SideCall, r.Stream, r.Offered
	return g.turn(req.Context(), w, rec, ep.codec, r)
}

// turn asks the model and delivers its turn.
func (g *Gateway) turn(ctx context.Context, w *answer, rec *record, c codec, r *Request) (abort bool) {
	id := rec.BodySHA256[:24] // the same body gets the same answer, with the same ids
	if g.opts.BeforeTurn != nil && !r.SideCall {
		g.opts.BeforeTurn()
	}
	t, err := g.opts.Model.Turn(ctx, r)
	if err != nil && ctx.Err() != nil {
		rec.Error = "the client went away while the model answered"
		return true
	}
	if err != nil {
		g.broke(fmt.Errorf("gateway: %s model: %w", g.opts.Model.Kind(), err))
		rec.Error = "the model broke: " + err.Error()
		c.fail(w, id, Failure{Status: http.StatusInternalServerError, Type: "api_error", Message: "the evaluation's model broke"})
		return false
	}
	if t.Stop != nil {
		defer g.stop(t.Stop) // behind the answer
	}
	rec.Step, rec.Usage, rec.Note, rec.Stripped, rec.Fault = t.Step, &t.Usage, t.Note, t.Stripped, g.clip(t.Fault, 500)
	if t.Refused {
		return g.refuse(w, rec, c, t.Failure.Status, t.Failure.Type, t.Failure.Message)
	}
	if g.tape != nil {
		w.tape(g.tape.limit)
		defer func() { g.record(r, t, w, abort) }()
	}
	defer func() { g.count(r, t) }() // what a passed answer told is known at its end
	w.Header().Set("Request-Id", "req_"+id)
	if t.Wire != nil {
		return g.pass(ctx, w, rec, c.dialect, t)
	}
	switch f := t.Failure; {
	case f == nil:
		rec.StopReason = t.StopReason
		if t.failed() {
			rec.Failure = t.StopReason
		}
		c.write(w, id, r, t, false)
	case f.Kind == FailHTTP:
		rec.Failure = string(f.Kind)
		c.fail(w, id, *f)
	case f.Kind == FailTruncated:
		rec.Failure = string(f.Kind)
		c.write(w, id, r, t, true)
		return true
	default: // FailSlow
		rec.Failure = string(f.Kind)
		c.write(w, id, r, t, true)
		<-ctx.Done() // the client gives up, or the gateway closes
		return true
	}
	return false
}

// refuse answers a request that never reaches the model. The message is ours, never the client's words.
func (g *Gateway) refuse(w *answer, rec *record, c codec, status int, typ, message string) bool {
	rec.Refused = true
	rec.Error = g.clip(message, 500)
	w.Header().Set("Connection", "close") // also spares reading the rest of a body that is too large
	c.fail(w, "refused", Failure{Status: status, Type: typ, Message: message})
	return false
}

// authorized compares the token in constant time, as an API key or as a bearer token: clients send either.
func (g *Gateway) authorized(req *http.Request) bool {
	given := req.Header.Get("X-Api-Key")
	if given == "" {
		given, _ = strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
	}
	return subtle.ConstantTimeCompare([]byte(given), []byte(g.token)) == 1
}

// readBody reads at most maxBody bytes within bodyTimeout.
func readBody(w *answer, req *http.Request) (raw []byte, status int, err error) {
	if req.ContentLength > maxBody {
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("the body is larger than %d bytes", maxBody)
	}
	rc := http.NewResponseController(w)
	rc.SetReadDeadline(time.Now().Add(bodyTimeout)) //nolint:errcheck // a connection without deadlines is not one of ours
	defer rc.SetReadDeadline(time.Time{})           //nolint:errcheck // as above
	raw, err = io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("the body is larger than %d bytes", maxBody)
	}
	if err != nil {
		return nil, http.StatusBadRequest, errors.New("the body ended early")
	}
	return raw, 0, nil
}

// An answer is a response writer that knows what went out.
type answer struct {
	http.ResponseWriter
	status int
	bytes  int64
	err    error         // the first failed write
	kept   *bytes.Buffer // what went out, for a cassette; nil: not kept
	limit  int           // of kept, in bytes
	lost   bool          // more went out than is kept
}

// tape makes the writer keep up to n bytes of what goes out.
func (a *answer) tape(n int) { a.kept, a.limit = new(bytes.Buffer), n }

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(b []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	n, err := a.ResponseWriter.Write(b)
	a.bytes += int64(n)
	if a.kept != nil {
		if a.lost = a.lost || a.kept.Len()+len(b) > a.limit; !a.lost {
			a.kept.Write(b)
		}
	}
	if err != nil && a.err == nil {
		a.err = err
	}
	return n, err
}

func (a *answer) Flush() {
	if err := http.NewResponseController(a.ResponseWriter).Flush(); err != nil && a.err == nil {
		a.err = err
	}
}

func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// clip cuts s to n bytes, makes it valid UTF-8, and takes the token out before a cut could leave part of it.
func (g *Gateway) clip(s string, n int) string {
	s = strings.ReplaceAll(s, g.token, "[token]")
	if len(s) > n {
		s = s[:n]
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
