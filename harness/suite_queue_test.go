package harness

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// gauge counts what runs at once, in all and by group.
type gauge struct {
	mu            sync.Mutex
	now, most     map[string]int
	order, ended  []string
	meet, release chan struct{}
}

func newGauge() *gauge {
	return &gauge{now: map[string]int{}, most: map[string]int{}, meet: make(chan struct{}), release: make(chan struct{})}
}

func (g *gauge) job(name, group string, body func(context.Context)) job {
	return job{group: group, run: func(ctx context.Context) {
		g.change(name, group, 1)
		body(ctx)
		g.change(name, group, -1)
	}}
}

func (g *gauge) change(name, group string, by int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, key := range []string{"", "group " + group} {
		g.now[key] += by
		g.most[key] = max(g.most[key], g.now[key])
	}
	if by > 0 {
		g.order = append(g.order, name)
	} else {
		g.ended = append(g.ended, name)
	}
}

func TestJobsKeepTheirLimits(t *testing.T) {
	g := newGauge()
	var jobs []job
	for range 40 {
		jobs = append(jobs, g.job("a", "one", func(context.Context) {}), g.job("b", "two", func(context.Context) {}), g.job("c", "", func(context.Context) {}))
	}
	runJobs(t.Context(), jobs, 5, map[string]int{"one": 1, "two": 2})
	assert.Len(t, g.ended, 120)
	assert.LessOrEqual(t, g.most[""], 5)
	assert.Equal(t, 1, g.most["group one"])
	assert.LessOrEqual(t, g.most["group two"], 2)
}

// A job whose group is full holds up neither those behind it nor a place: with two places, the third
// job meets the first while the second waits for it.
func TestFullGroupHoldsUpNobody(t *testing.T) {
	g := newGauge()
	met := false
	runJobs(t.Context(), []job{
		g.job("first", "g", func(context.Context) { <-g.meet }),
		g.job("second", "g", func(context.Context) { assert.True(t, met) }),
		g.job("third", "", func(context.Context) { met = true; g.meet <- struct{}{} }),
	}, 2, map[string]int{"g": 1})
	require.Len(t, g.order, 3)
	assert.Equal(t, "second", g.order[2])
}

// After the end of the context nothing more is started, and what runs is waited for.
func TestJobsEndWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	g := newGauge()
	runJobs(ctx, []job{
		g.job("first", "", func(ctx context.Context) { cancel(); <-ctx.Done() }),
		g.job("second", "", func(context.Context) {}),
	}, 1, nil)
	assert.Equal(t, []string{"first"}, g.ended)
}
