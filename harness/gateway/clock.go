package gateway

import (
	"sync"
	"time"
)

// A Clock measures how long a trial had to wait for its provider, so that this time is not the agent's. Waits that
// overlap count once. The zero value is ready.
type Clock struct {
	mu      sync.Mutex
	waiting int
	since   time.Time // of the running wait
	waited  time.Duration
	waits   int
	now     func() time.Time // nil: time.Now
}

func (c *Clock) time() time.Time {
	if c.now != nil {
		return c.now()
	}
	return time.Now()
}

// start begins a wait, and the returned function ends it.
func (c *Clock) start() (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting == 0 {
		c.since = c.time()
	}
	c.waiting++
	c.waits++
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.waiting--; c.waiting == 0 {
			c.waited += c.time().Sub(c.since)
		}
	})
}

// Waited is the time so far, a running wait included, and how many waits there were.
func (c *Clock) Waited() (time.Duration, int) {
	if c == nil {
		return 0, 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting > 0 {
		return c.waited + c.time().Sub(c.since), c.waits
	}
	return c.waited, c.waits
}
