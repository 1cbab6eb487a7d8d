package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/proctor-evals/proctor/internal/redact"
)

// CassetteFile is a cassette's name in a trial's result directory.
const CassetteFile = "cassette.jsonl"

const (
	cassetteVersion = 1
	maxCassette     = 1 << 30  // bytes of one cassette
	maxTaped        = 64 << 20 // bytes of one answer
)

// A cassetteHead is the first line of a cassette.
type cassetteHead struct {
	Version int      `json:"proctor_cassette"`
	Client  string   `json:"client"`
	Model   string   `json:"model"`
	Models  []string `json:"models"` // all that could be asked
	Kind    string   `json:"kind"`   // of the model that was recorded
}

// A cassetteEntry is one request and its answer, both without what was the trial's own.
type cassetteEntry struct {
	Dialect     string          `json:"dialect"`
	SideCall    bool            `json:"side_call"`
	Headers     http.Header     `json:"headers,omitempty"` // see passedOn
	Request     json.RawMessage `json:"request"`           // normalised
	Status      int             `json:"status"`
	ContentType string          `json:"content_type"`
	RetryAfter  string          `json:"retry_after,omitempty"`
	Body        string          `json:"body"`
	Cut         bool            `json:"cut,omitempty"` // the connection was cut behind the body
	Fault       string          `json:"fault,omitempty"`
	Stop        string          `json:"stop,omitempty"`
}

// TapeOptions say how a trial is recorded.
type TapeOptions struct {
	Path             string // created, and must not exist
	Client, Model    string
	Models           []string
	Kind             string   // of the model that is recorded
	RunDir, BatchDir string   // the trial's own paths, as the client sees them
	Secrets          []string // what must not stand in it, wherever it comes from
}

// A tape writes a cassette. A nil one does nothing.
type tape struct {
	norm  normaliser
	limit int

	mu   sync.Mutex
	file *os.File
	size int64
	err  error

	secrets *redact.Set
}

func openTape(o *TapeOptions, secrets *redact.Set) (*tape, error) {
	if o == nil {
		return nil, nil
	}
	f, err := os.OpenFile(o.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cassette: %w", err)
	}
	t := &tape{file: f, secrets: secrets, limit: maxTaped, norm: normaliser{runDir: o.RunDir, batchDir: o.BatchDir, secrets: o.Secrets}}
	t.line(cassetteHead{Version: cassetteVersion, Client: o.Client, Model: o.Model, Models: o.Models, Kind: o.Kind})
	return t, nil
}

// knows tells what else is the trial's own. It is called before the first request.
func (t *tape) knows(token, addr string) {
	if t != nil {
		t.norm.token, t.norm.addr = token, addr
	}
}

func (t *tape) line(v any) {
	line := append(t.secrets.Clean(encodeJSON(v)), '\n')
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return
	}
	if t.size += int64(len(line)); t.size > maxCassette {
		t.err = fmt.Errorf("gateway: cassette: larger than %d bytes", maxCassette)
		return
	}
	if _, err := t.file.Write(line); err != nil {
		t.err = fmt.Errorf("gateway: cassette: %w", err)
	}
}

// close tells whether the cassette is whole.
func (t *tape) close() error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file == nil {
		return t.err
	}
	if err := t.file.Close(); err != nil && t.err == nil {
		t.err = fmt.Errorf("gateway: cassette: %w", err)
	}
	t.file = nil
	return t.err
}

// record keeps an answer that has gone out.
func (g *Gateway) record(r *Request, t *Turn, w *answer, cut bool) {
	n := g.tape.norm
	e := cassetteEntry{
		Dialect: r.Dialect, SideCall: r.SideCall, Headers: r.Header, Request: asJSON(n.request(r.Raw)),
		Status: w.status, ContentType: w.Header().Get("Content-Type"), RetryAfter: w.Header().Get("Retry-After"), Cut: cut, Fault: t.Fault,
	}
	body := w.kept.String()
	if strings.HasPrefix(e.ContentType, "text/event-stream") {
		body = coalesce(r.Dialect, body)
	}
	e.Body = n.neutral(body)
	if t.Stop != nil {
		e.Stop = t.Stop.Error()
	}
	if w.lost {
		g.broke(fmt.Errorf("gateway: cassette: an answer is larger than %d bytes", g.tape.limit))
	}
	g.tape.line(e)
}

// asJSON is a normalised request in a form that stays the same when it is written and read.
func asJSON(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return encodeJSON(text)
}

// A Cassette is a recorded trial.
type Cassette struct {
	path    string
	head    cassetteHead
	entries []cassetteEntry
}

// Model is the name of the model the recorded client was told to use.
func (c *Cassette) Model() string { return c.head.Model }

// Client is the recorded client.
func (c *Cassette) Client() string { return c.head.Client }

// LoadCassette reads a cassette. Its error says which line is wrong.
func LoadCassette(path string) (*Cassette, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cassette: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxCassette+1))
	if err != nil {
		return nil, fmt.Errorf("cassette: %w", err)
	}
	if len(data) > maxCassette {
		return nil, fmt.Errorf("cassette %s: larger than %d bytes", path, maxCassette)
	}
	return parseCassette(path, data)
}

func parseCassette(path string, data []byte) (*Cassette, error) {
	c := &Cassette{path: path}
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if number == 1 {
			if err := json.Unmarshal(line, &c.head); err != nil || c.head.Version == 0 {
				return nil, fmt.Errorf("%s:1: is no cassette: its first line says nothing of one", path)
			}
			if c.head.Version > cassetteVersion {
				return nil, fmt.Errorf("%s:1: is of version %d; this proctor reads up to %d", path, c.head.Version, cassetteVersion)
			}
			continue
		}
		var e cassetteEntry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		if e.Status < 100 || e.Status > 999 || len(e.Request) == 0 {
			return nil, fmt.Errorf("%s:%d: the entry has no request or no status", path, number)
		}
		e.Request = json.RawMessage(ordered(string(e.Request))) // one recorded before lines were ordered plays too
		c.entries = append(c.entries, e)
	}
	if c.head.Version == 0 {
		return nil, fmt.Errorf("%s: is empty", path)
	}
	return c, nil
}

// A Leak is a place in a cassette that looks like a secret. It does not quote it.
type Leak struct {
	Line, Column int // 1-based; column in bytes
	Text         string
}

// ScanCassette finds what looks like a secret. It reads any text, a cassette of another version too.
func ScanCassette(data []byte) []Leak {
	var leaks []Leak
	number := 0
	for line := range bytes.Lines(data) {
		number++
		for _, at := range secretShape.FindAllSubmatchIndex(line, -1) {
			start := max(at[0], at[3]) // behind an escape
			// The first four bytes tell the kind of key and nothing of it.
			leaks = append(leaks, Leak{number, start + 1, string(line[start:start+4]) + "…"})
		}
	}
	return leaks
}

// stopOf turns a recorded reason back into the error it was.
func stopOf(text string) error {
	for _, cause := range []error{ErrEndpoint, ErrMaxTokens, ErrMaxCost} {
		if rest, ok := strings.CutPrefix(text, cause.Error()); ok {
			return fmt.Errorf("%w%s", cause, rest)
		}
	}
	return nil
}

func (c *Cassette) models() []string {
	if len(c.head.Models) > 0 {
		return slices.Clone(c.head.Models)
	}
	return []string{c.head.Model}
}
