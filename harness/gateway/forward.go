package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Limits of forwarding.
const (
	// DefaultMaxWait is how long a trial waits for a provider that is busy, over all its requests.
	DefaultMaxWait = 10 * time.Minute
	// maxHold is how long one request is held back for that: less than clients wait for an answer.
	maxHold       = 4 * time.Minute
	maxBackoff    = time.Minute // between attempts, where the provider names no time
	maxErrorBody  = 1 << 20     // bytes of an error's body that are kept
	headerPatient = 10 * time.Minute
)

// An Endpoint is a provider's address and the key for it. Only the runner has one.
type Endpoint struct {
	BaseURL string // without a trailing slash; as ANTHROPIC_BASE_URL and OPENAI_BASE_URL have it, the latter with /v1
	Key     Key
}

// A Key is a secret that does not get into a text by accident.
type Key string

// String hides the key.
func (k Key) String() string { return "[key]" }

// GoString hides the key.
func (k Key) GoString() string { return "[key]" }

// MarshalText hides the key.
func (k Key) MarshalText() ([]byte, error) { return []byte("[key]"), nil }

// ForwardOptions say where a trial's requests go and what they may cost.
type ForwardOptions struct {
	Endpoints map[string]Endpoint // by dialect
	Models    []string            // the only models that may be asked
	Trial     *Spend              // may be nil; over its limit the trial ends
	Run       *Spend              // may be nil; only added to
	Clock     *Clock              // required; told of waits
	MaxWait   time.Duration       // over the trial; 0: DefaultMaxWait
}

// Forward is a model that asks a real provider. Make one a trial.
//
// Of a request its body and a few headers go on: not the one-time token, not what runs at the provider. The answer's
// bytes come back as they are. A provider that is busy (429, 529) is waited for, and asked again.
type Forward struct {
	o      ForwardOptions
	client *http.Client
	sleep  func(context.Context, time.Duration) error
}

// NewForward returns the model of one trial.
func NewForward(o ForwardOptions) *Forward {
	if o.MaxWait == 0 {
		o.MaxWait = DefaultMaxWait
	}
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // it is one, see net/http
	transport.ResponseHeaderTimeout = headerPatient
	transport.DisableCompression = true // a stream must come as it is written
	transport.DisableKeepAlives = true  // nothing outlives the trial
	return &Forward{
		o: o,
		client: &http.Client{
			Transport: transport,
			// Another address would get the key.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		sleep: sleep,
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Kind is KindForward.
func (f *Forward) Kind() string { return KindForward }

// Turn sends r on; see [Forward].
func (f *Forward) Turn(ctx context.Context, r *Request) (*Turn, error) {
	to, ok := f.o.Endpoints[r.Dialect]
	if !ok {
		return refusal(http.StatusNotFound, "not_found_error", "no endpoint is configured for this API"), nil
	}
	if !slices.Contains(f.o.Models, r.Model) {
		return refusal(http.StatusBadRequest, "invalid_request_error", "this model is not available"), nil
	}
	if fetches(r.Raw) {
		return refusal(http.StatusBadRequest, "invalid_request_error", "send images and files inline: nothing is fetched by URL or by id"), nil
	}
	if over := f.o.Trial.Over(); over != nil {
		t := refusal(http.StatusBadRequest, "invalid_request_error", "the session's limit is reached")
		t.Refused, t.Stop = false, over
		return t, nil
	}
	body, stripped, err := strip(r.Dialect, r.Model, r.Raw)
	if err != nil {
		return refusal(http.StatusBadRequest, "invalid_request_error", err.Error()), nil
	}
	t, err := f.ask(ctx, r, to, body)
	if t != nil {
		t.Stripped = stripped
	}
	return t, err
}

func refusal(status int, typ, message string) *Turn {
	return &Turn{Refused: true, Failure: &Failure{Kind: FailHTTP, Status: status, Type: typ, Message: message}}
}

// ask sends the body until the provider is not busy, or has been for too long.
func (f *Forward) ask(ctx context.Context, r *Request, to Endpoint, body []byte) (*Turn, error) {
	held := time.Duration(0)
	for attempt := 0; ; attempt++ {
		resp, err := f.send(ctx, r, to, body)
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			// The error's text has the address, never the key: that is in a header.
			return &Turn{
				Failure: &Failure{Kind: FailHTTP, Status: http.StatusBadGateway, Type: "api_error", Message: "the model's host cannot be reached"},
				Fault:   "the endpoint cannot be reached: " + err.Error(),
			}, nil
		}
		if resp.StatusCode < http.StatusMultipleChoices {
			return f.passing(r, body, resp), nil
		}
		said, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		resp.Body.Close()
		if err != nil && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		busy := resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == statusOverloaded
		if !busy || bytes.Contains(said, []byte("insufficient_quota")) {
			return failing(to, resp, said, busy), nil
		}
		delay := retryAfter(resp.Header, attempt)
		waited, _ := f.o.Clock.Waited()
		if waited+delay > f.o.MaxWait {
			return failing(to, resp, said, true), nil
		}
		if held+delay > maxHold {
			return failing(to, resp, said, false), nil // the client may ask again
		}
		end := f.o.Clock.start()
		err = f.sleep(ctx, delay)
		end()
		if err != nil {
			return nil, err
		}
		held += delay
	}
}

// statusOverloaded is Anthropic's own: https://docs.anthropic.com/en/api/errors.
const statusOverloaded = 529

// paths behind the base URL.
var providerPaths = map[string]string{
	DialectMessages: "/v1/messages", DialectResponses: "/responses", DialectChat: "/chat/completions",
}

func (f *Forward) send(ctx context.Context, r *Request, to Endpoint, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.BaseURL+providerPaths[r.Dialect], bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, values := range r.Header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "proctor")
	if r.Dialect == DialectMessages {
		req.Header.Set("X-Api-Key", string(to.Key))
		if req.Header.Get("Anthropic-Version") == "" {
			req.Header.Set("Anthropic-Version", "2023-06-01")
		}
	} else {
		req.Header.Set("Authorization", "Bearer "+string(to.Key))
	}
	return f.client.Do(req)
}

// passing is a good answer on its way.
func (f *Forward) passing(r *Request, body []byte, resp *http.Response) *Turn {
	model, counted := r.Model, Usage{}
	return &Turn{Wire: &Wire{
		Status: resp.StatusCode, ContentType: resp.Header.Get("Content-Type"), Body: resp.Body,
		Told: func(m *meter) {
			charged := m.charged(body)
			f.o.Trial.add(model, counted, charged)
			f.o.Run.add(model, counted, charged)
			counted = charged
		},
	}}
}

// lasting are the statuses that no second attempt mends: the key, the account, the address or the model is wrong.
var lasting = []int{http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusNotFound}

// requestFaults are the statuses that are the request's doing and not the provider's.
var requestFaults = []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity}

// failing is an error the provider answered with. stop says that it will go on.
func failing(to Endpoint, resp *http.Response, said []byte, stop bool) *Turn {
	status := resp.StatusCode
	t := &Turn{Failure: &Failure{Kind: FailHTTP, Status: status}}
	if !slices.Contains(requestFaults, status) {
		t.Fault = fmt.Sprintf("the endpoint answered %d", status)
	}
	if stop || slices.Contains(lasting, status) {
		t.Stop = fmt.Errorf("%w: %s", ErrEndpoint, t.Fault)
	}
	switch {
	case status < http.StatusBadRequest: // a redirect
		t.Failure = &Failure{Kind: FailHTTP, Status: http.StatusBadGateway, Type: "api_error", Message: "the model's host cannot be reached"}
		return t
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		// The provider's words may quote the key, also in part.
		t.Failure.Type, t.Failure.Message = "authentication_error", "the model's host refused the request"
		return t
	}
	if to.Key != "" {
		said = bytes.ReplaceAll(said, []byte(to.Key), []byte("[key]"))
	}
	t.Wire = &Wire{
		Status: status, ContentType: resp.Header.Get("Content-Type"), RetryAfter: resp.Header.Get("Retry-After"),
		Body: io.NopCloser(bytes.NewReader(said)),
	}
	return t
}

// retryAfter is how long to wait: what the provider says (RFC 9110, 10.2.3), else a second that doubles. Never less than
// a second, whatever it says, so that waiting comes to an end.
func retryAfter(h http.Header, attempt int) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if secs, err := strconv.ParseFloat(text, 64); err == nil && secs >= 0 && secs < 1e6 {
		return max(time.Duration(secs*float64(time.Second)), time.Second)
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(time.Until(at), time.Second)
	}
	return min(time.Second<<min(attempt, 10), maxBackoff)
}

// CheckBaseURL says what is wrong with a base URL. Plain HTTP is for this machine alone: the key would be read on the way.
func CheckBaseURL(s string) error {
	u, err := parseBase(s)
	switch {
	case err != nil:
		return err
	case u.User != nil:
		return errors.New("leave user and password out of the address")
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("leave query and fragment out of the address")
	case u.Scheme == "https":
		return nil
	case u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	}
	return fmt.Errorf("%s: use https; plain http is for 127.0.0.1 and localhost alone", u.Redacted())
}
