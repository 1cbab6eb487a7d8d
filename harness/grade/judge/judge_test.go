package judge

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fakeModel answers with the given replies, in turn.
type fakeModel struct {
	mu      sync.Mutex
	replies []string
	calls   []Call
}

func (m *fakeModel) ask(_ context.Context, c Call) (Reply, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls = append(m.calls, c)
	text := m.replies[(len(m.calls)-1)%len(m.replies)]
	if rest, ok := strings.CutPrefix(text, "error: "); ok {
		return Reply{}, errors.New(rest)
	}
	cost := 0.25
	return Reply{Text: text, CostUSD: &cost}, nil
}

func TestVotes(t *testing.T) {
	tests := map[string]struct {
		votes   int
		replies []string
		want    Verdict
		asked   int
	}{
		"one":                     {0, []string{"VERDICT: YES"}, Yes, 1},
		"majority":                {3, []string{"VERDICT: NO", "VERDICT: YES", "VERDICT: YES"}, Yes, 3},
		"no more than needed":     {3, []string{"VERDICT: NO", "VERDICT: NO", "VERDICT: YES"}, No, 2},
		"tie":                     {2, []string{"VERDICT: NO", "VERDICT: YES"}, Unclear, 2},
		"no majority":             {3, []string{"VERDICT: NO", "VERDICT: YES", "VERDICT: UNCLEAR"}, Unclear, 3},
		"more than half of votes": {4, []string{"VERDICT: YES", "VERDICT: YES", "what", "VERDICT: NO"}, Unclear, 4},
		"hopeless":                {4, []string{"VERDICT: YES", "VERDICT: NO", "VERDICT: NO", "VERDICT: YES"}, Unclear, 4},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m := &fakeModel{replies: tt.replies}
			r, err := Panel{Ask: m.ask}.Decide(t.Context(), Question{Criterion: "c"}, tt.votes)
			require.NoError(t, err)
			assert.Equal(t, tt.want, r.Verdict)
			assert.Len(t, m.calls, tt.asked)
			assert.Len(t, r.Votes, tt.asked)
			assert.InDelta(t, 0.25*float64(tt.asked), *r.CostUSD, 1e-9)
		})
	}
}

// A judge that fails says nothing, and nothing of it is remembered.
func TestFailuresAreErrors(t *testing.T) {
	m := &fakeModel{replies: []string{"error: HTTP 500", "VERDICT: NO"}}
	p := Panel{Ask: m.ask, Cache: NewCache()}
	_, err := p.Decide(t.Context(), Question{Criterion: "c"}, 1)
	require.ErrorContains(t, err, "vote 1 of 1: HTTP 500")
	r, err := p.Decide(t.Context(), Question{Criterion: "c"}, 1)
	require.NoError(t, err)
	assert.Equal(t, No, r.Verdict)

	_, err = Panel{}.Decide(t.Context(), Question{Criterion: "c"}, 1)
	require.ErrorContains(t, err, "no judge is configured")

	slow := func(ctx context.Context, _ Call) (Reply, error) { <-ctx.Done(); return Reply{}, ctx.Err() }
	_, err = Panel{Ask: slow}.Decide(t.Context(), Question{Criterion: "c", Time: time.Millisecond}, 1)
	require.ErrorContains(t, err, "no answer within 1ms")
}

func TestUnknownCostStaysUnknown(t *testing.T) {
	ask := func(context.Context, Call) (Reply, error) { return Reply{Text: "VERDICT: YES"}, nil }
	r, err := Panel{Ask: ask}.Decide(t.Context(), Question{}, 1)
	require.NoError(t, err)
	assert.Nil(t, r.CostUSD)
}

func TestCache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "judge-cache.json")
	m := &fakeModel{replies: []string{"Well.\nVERDICT: YES"}}
	open := func() Panel {
		c, err := OpenCache(file)
		require.NoError(t, err)
		return Panel{Ask: m.ask, Cache: c}
	}
	q := Question{Criterion: "c", Final: "Done."}
	first, err := open().Decide(t.Context(), q, 1)
	require.NoError(t, err)
	assert.False(t, first.Hit)
	again, err := open().Decide(t.Context(), q, 1)
	require.NoError(t, err)
	assert.True(t, again.Hit)
	assert.Equal(t, "Well.", again.Reasoning)
	assert.Zero(t, *again.CostUSD)
	assert.Len(t, m.calls, 1)

	// What is not a cache is no obstacle.
	require.NoError(t, os.WriteFile(file, []byte(`{"k": {"verdict": "MAYBE"}, `), 0o600))
	r, err := open().Decide(t.Context(), q, 1)
	require.NoError(t, err)
	assert.False(t, r.Hit)
}

// A reply that holds no verdict may be better the next time.
func TestUnparsedIsNotRemembered(t *testing.T) {
	m := &fakeModel{replies: []string{"VERDICT: YES | NO | UNCLEAR", "VERDICT: UNCLEAR"}}
	p := Panel{Ask: m.ask, Cache: NewCache()}
	for want := range 3 {
		r, err := p.Decide(t.Context(), Question{}, 1)
		require.NoError(t, err)
		assert.Equal(t, Unclear, r.Verdict)
		assert.Equal(t, want == 2, r.Hit)
	}
	assert.Len(t, m.calls, 2)
}

// Questions asked side by side are one question.
func TestSameQuestionAtOnce(t *testing.T) {
	m := &fakeModel{replies: []string{"VERDICT: YES"}}
	p := Panel{Ask: m.ask, Cache: NewCache()}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			r, err := p.Decide(t.Context(), Question{Criterion: "c"}, 1)
			assert.NoError(t, err)
			assert.Equal(t, Yes, r.Verdict)
		})
	}
	all.Wait()
	assert.Len(t, m.calls, 1)
}

// Everything that is shown is in the key, and how long it may take is not.
func TestKey(t *testing.T) {
	trajectory, other := "did this", "did that"
	base := Question{Criterion: "c", Final: "f", Trajectory: &trajectory, Model: "m", Agent: true, Cwd: "/a", CwdHash: "h"}
	keys := map[string]string{"base": base.Key(1), "votes": base.Key(3)}
	for name, change := range map[string]func(*Question){
		"criterion": func(q *Question) { q.Criterion = "C" }, "final": func(q *Question) { q.Final = "F" },
		"trajectory": func(q *Question) { q.Trajectory = &other }, "no trajectory": func(q *Question) { q.Trajectory = nil },
		"model": func(q *Question) { q.Model = "M" }, "agent": func(q *Question) { q.Agent = false }, "files": func(q *Question) { q.CwdHash = "H" },
	} {
		q := base
		change(&q)
		keys[name] = q.Key(1)
	}
	seen := map[string]string{}
	for name, key := range keys {
		assert.Empty(t, seen[key], "%s has the key of %s", name, seen[key])
		seen[key] = name
	}
	q := base
	q.Time, q.Cwd = time.Second, "/b"
	assert.Equal(t, base.Key(1), q.Key(1))
}

func TestPasses(t *testing.T) {
	assert.True(t, Passes(Yes, nil))
	assert.False(t, Passes(Unclear, nil))
	assert.True(t, Passes(No, []string{"YES", "no"}))
	assert.False(t, Passes(Yes, []string{"NO"}))
	assert.False(t, Passes(Yes, []string{"YES!"}))
}
