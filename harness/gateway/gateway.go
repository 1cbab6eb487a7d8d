package gateway

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/proctor-evals/proctor/internal/redact"
)

// Limits on what a trial can make the runner hold.
const (
	maxBody       = 32 << 20 // bytes; the Messages API's own limit
	maxHeader     = 64 << 10 // bytes
	maxConns      = 64       // open connections
	maxInFlight   = 8        // bodies held at once; further requests wait
	maxRecords    = 20_000   // lines of gateway.jsonl
	maxUnion      = 1024     // offers in the summary
	headerTimeout = 10 * time.Second
	bodyTimeout   = 2 * time.Minute
	idleTimeout   = 2 * time.Minute
)

// Options says what to open.
type Options struct {
	Model Model // required

	ModelName  string // the model the client is told to use; answers to requests that name none carry it
	ProjectDir string // the trial's project as the client sees it, absolute; relative script paths mean files below it
	Prompt     string // the trial's prompt, so that text in it is never taken for the client's own; may be empty
	LogPath    string // gateway.jsonl, created and must not exist; empty: no log
	// BeforeTurn, unless nil, is called before the model is asked for a turn of the conversation, side calls apart; the
	// turn waits for it. Until its first call returns, the trial has had no tool call to carry out. Called concurrently.
	BeforeTurn func()
	// OnStop, unless nil, is called once, when the model finds that the trial should end: see Turn.Stop.
	OnStop func(error)
	// Tape, unless nil, says where and how a cassette is recorded.
	Tape *TapeOptions
	// Secrets do not stand in the log and the cassette.
	Secrets *redact.Set
}

// A Gateway is the open endpoint of one trial.
type Gateway struct {
	opts     Options
	token    string
	listener net.Listener
	server   *http.Server
	cancel   context.CancelFunc // ends held answers
	unhook   func() bool        // stops watching Open's context
	slots    chan struct{}
	log      *recorder
	tape     *tape
	now      func() time.Time

	mu      sync.Mutex
	closed  bool
	active  sync.WaitGroup // running requests; added to under mu while not closed
	summary Summary
	offered offerSet

	closeOnce sync.Once
	closeErr  error
}

// A Summary is what the gateway saw, for the trial's result.
type Summary struct {
	Requests  int // everything that came, refused requests too
	Turns     int // requests the model answered as turns of the conversation, failing ones included
	SideCalls int // requests without tools (or that forbid them), which the model answered aside
	Refused   int // wrong host, token, path, method or body
	Failures  int // answers that were errors, cut, held or refusals of the model

	Offered []Offer  // every skill any turn's request offered, once a way, in order of appearance
	Models  []string // every model name the answered requests carried, in order of appearance, at most 16
	Usage   Usage    // summed over turns and side calls

	// PeakContext is the largest request of a turn in tokens, cached ones included; nil while none was counted.
	PeakContext *int64

	Fault    string   // what the provider did wrong at the conversation's last answer; "" when that was a good one
	Stop     error    // the first Turn.Stop
	Stripped []string // what was not sent on of requests, each once, at most 64
	Answered int      // turns of the conversation that were delivered whole and were no errors

	Unrecorded int   // requests past the log's limit, counted but without a line
	Err        error // the first thing that broke in the runner, nil normally
}

// Open listens on a free port of 127.0.0.1 and serves until Close, or until ctx ends.
func Open(ctx context.Context, o Options) (*Gateway, error) {
	if o.Model == nil {
		return nil, errors.New("gateway: Options.Model is nil")
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	log, err := openRecorder(o.LogPath, o.Secrets)
	if err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	tape, err := openTape(o.Tape, o.Secrets)
	if err != nil {
		log.close() //nolint:errcheck // the tape's error is the one to tell
		return nil, fmt.Errorf("gateway: %w", err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		log.close()  //nolint:errcheck // the listener's error is the one to tell
		tape.close() //nolint:errcheck // as above
		return nil, fmt.Errorf("gateway: %w", err)
	}
	secret := make([]byte, 24)
	rand.Read(secret) //nolint:errcheck // never fails, see crypto/rand

	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	g := &Gateway{
		opts:     o,
		token:    "sk-" + hex.EncodeToString(secret), // looks like any key: nothing in it should tell the agent of an exam
		listener: limitConns(l, maxConns),
		cancel:   cancel,
		slots:    make(chan struct{}, maxInFlight),
		log:      log,
		tape:     tape,
		now:      time.Now,
	}
	log.secret = g.token
	g.tape.knows(g.token, g.Addr())
	if replay, ok := o.Model.(*Replay); ok {
		replay.knows(g.token, g.Addr())
	}
	g.server = &http.Server{
		Handler:           http.HandlerFunc(g.serve),
		BaseContext:       func(net.Listener) context.Context { return serving },
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          discardLog,
	}
	go func() {
		if err := g.server.Serve(g.listener); !errors.Is(err, http.ErrServerClosed) {
			g.broke(fmt.Errorf("gateway: %w", err))
		}
	}()
	g.mu.Lock()
	g.unhook = context.AfterFunc(ctx, func() { g.Close() }) //nolint:errcheck // kept for the caller's own Close
	g.mu.Unlock()
	return g, nil
}

// Addr is the host and port, 127.0.0.1:N: the one address the trial's policy has to allow.
func (g *Gateway) Addr() string { return g.listener.Addr().String() }

// URL is the base URL for the client, without a path.
func (g *Gateway) URL() string { return "http://" + g.Addr() }

// Token is what the client must send in place of an API key. It is worth nothing once the gateway is closed.
func (g *Gateway) Token() string { return g.token }

// Close cuts all connections, waits for running requests and closes the log. Its error says the log is incomplete.
// Further calls return the same.
func (g *Gateway) Close() error {
	g.closeOnce.Do(func() {
		g.mu.Lock()
		g.closed = true
		unhook := g.unhook
		g.mu.Unlock()
		if unhook != nil {
			unhook()
		}
		g.cancel()
		g.server.Close() //nolint:errcheck // only tells of the listener's own close
		g.active.Wait()
		g.closeErr = errors.Join(g.log.close(), g.tape.close())
	})
	return g.closeErr
}

// Summary is what was seen so far; it is complete after Close.
func (g *Gateway) Summary() Summary {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.summary
	s.Offered = slices.Clone(g.offered.list)
	s.Models = slices.Clone(s.Models)
	s.Stripped = slices.Clone(s.Stripped)
	return s
}

// begin admits a request unless the gateway is closed; the caller then calls g.active.Done.
func (g *Gateway) begin() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.active.Add(1)
	g.summary.Requests++
	return true
}

// broke keeps the first error of the runner itself.
func (g *Gateway) broke(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.summary.Err == nil {
		g.summary.Err = err
	}
}

// count folds an answered request into the summary.
func (g *Gateway) count(r *Request, t *Turn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &g.summary
	if r.SideCall {
		s.SideCalls++
	} else {
		s.Turns++
		for _, o := range r.Offered {
			if len(g.offered.list) < maxUnion {
				g.offered.add(o)
			}
		}
	}
	if n := t.Usage.context(); n != nil && !r.SideCall && (s.PeakContext == nil || *n > *s.PeakContext) {
		s.PeakContext = n
	}
	if t.failed() {
		s.Failures++
	}
	if !r.SideCall {
		s.Fault = g.clip(t.Fault, 500)
		if !t.failed() {
			s.Answered++
		}
	}
	for _, name := range t.Stripped {
		if len(s.Stripped) < 64 && !slices.Contains(s.Stripped, name) {
			s.Stripped = append(s.Stripped, name)
		}
	}
	if len(s.Models) < 16 && len(r.Model) <= 200 && !slices.Contains(s.Models, r.Model) {
		s.Models = append(s.Models, r.Model)
	}
	s.Usage.add(t.Usage)
}

// stop keeps the first reason to end the trial, and tells it once.
func (g *Gateway) stop(cause error) {
	g.mu.Lock()
	first := g.summary.Stop == nil
	if first {
		g.summary.Stop = cause
	}
	g.mu.Unlock()
	if first && g.opts.OnStop != nil {
		g.opts.OnStop(cause)
	}
}

func (t *Turn) failed() bool { return t.Failure != nil || t.StopReason == StopRefusal }

// limitConns returns l with at most n open connections; further ones wait in the kernel's queue.
func limitConns(l net.Listener, n int) net.Listener {
	return &limitedListener{Listener: l, slots: make(chan struct{}, n), done: make(chan struct{})}
}

type limitedListener struct {
	net.Listener
	slots     chan struct{}
	done      chan struct{}
	closeOnce sync.Once
}

func (l *limitedListener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.done:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &limitedConn{Conn: c, release: sync.OnceFunc(func() { <-l.slots })}, nil
}

func (l *limitedListener) Close() error {
	l.closeOnce.Do(func() { close(l.done) })
	return l.Listener.Close()
}

type limitedConn struct {
	net.Conn
	release func()
}

func (c *limitedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}

// context is the size of the request, cached tokens included; nil when it is not known.
func (u Usage) context() *int64 {
	if u.InputTokens == nil {
		return nil
	}
	n := *u.InputTokens
	for _, cached := range []*int64{u.CacheReadTokens, u.CacheWriteTokens} {
		if cached != nil {
			n += *cached
		}
	}
	return &n
}
