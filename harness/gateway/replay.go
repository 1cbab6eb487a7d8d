package gateway

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/diff"
)

// maxDiff is how much of a difference a mismatch tells, in bytes.
const maxDiff = 4096

// ReplayOptions are the trial's own, as in TapeOptions. The gateway's address and token are told by Open.
type ReplayOptions struct {
	RunDir, BatchDir string
}

// Replay is a model that answers from a cassette. Make one a trial.
//
// A request gets the answer of the first entry, in the order recorded, that no request had yet and that asked the same
// once what is volatile is taken out. A request that stands nowhere is a mismatch: it says what differs from the next
// entry, and ends the trial.
type Replay struct {
	cassette *Cassette
	norm     normaliser

	mu   sync.Mutex
	used []bool
}

// NewReplay returns the model of one trial that plays c.
func NewReplay(c *Cassette, o ReplayOptions) *Replay {
	return &Replay{
		cassette: c, used: make([]bool, len(c.entries)),
		norm: normaliser{runDir: o.RunDir, batchDir: o.BatchDir},
	}
}

// Kind is KindReplay.
func (m *Replay) Kind() string { return KindReplay }

// knows tells the address and token of the gateway that is opened with m.
func (m *Replay) knows(token, addr string) { m.norm.token, m.norm.addr = token, addr }

// Left is how many recorded answers were not asked for.
func (m *Replay) Left() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	left := 0
	for _, used := range m.used {
		if !used {
			left++
		}
	}
	return left
}

// Turn answers r; see [Replay]. It returns no error.
func (m *Replay) Turn(_ context.Context, r *Request) (*Turn, error) {
	if !slices.Contains(m.cassette.models(), r.Model) {
		return refusal(http.StatusBadRequest, "invalid_request_error", "this model is not available"), nil
	}
	asked := m.norm.request(r.Raw)
	m.mu.Lock()
	defer m.mu.Unlock()
	want := string(asJSON(asked))
	for i, e := range m.cassette.entries {
		if !m.used[i] && e.Dialect == r.Dialect && string(e.Request) == want {
			m.used[i] = true
			return m.answer(e), nil
		}
	}
	t := refusal(http.StatusBadRequest, "invalid_request_error", "the recording has no answer to this request")
	t.Refused, t.Stop = false, fmt.Errorf("%w: %s", ErrReplay, m.difference(r, asked))
	return t, nil
}

// answer is a recorded answer with the trial's own put in.
func (m *Replay) answer(e cassetteEntry) *Turn {
	t := &Turn{
		Fault: e.Fault, Stop: stopOf(e.Stop),
		Wire: &Wire{
			Status: e.Status, ContentType: e.ContentType, RetryAfter: e.RetryAfter, Cut: e.Cut,
			Body: io.NopCloser(strings.NewReader(m.norm.restore(e.Body))),
		},
	}
	if e.Status >= http.StatusBadRequest {
		t.Failure = &Failure{Kind: FailHTTP, Status: e.Status}
	}
	return t
}

// difference compares a request with the next entry of its kind.
func (m *Replay) difference(r *Request, asked string) string {
	for i, e := range m.cassette.entries {
		if m.used[i] || e.Dialect != r.Dialect || e.SideCall != r.SideCall {
			continue
		}
		recorded := fmt.Sprintf("%s entry %d", CassetteFile, i+1)
		text := string(diff.Diff(recorded, []byte(readable(string(e.Request))), "this request", []byte(readable(asked))))
		if len(text) > maxDiff {
			text = strings.ToValidUTF8(text[:maxDiff], "") + "\n(cut)"
		}
		return "the request differs from the next one recorded\n" + text
	}
	return fmt.Sprintf("all %d recorded answers are used up, or are of another kind", len(m.cassette.entries))
}
