package judge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/google/renameio/v2/maybe"
)

// Cache remembers rulings by [Question.Key], in a JSON file. It is safe for use by several
// goroutines; a question that is being asked is not asked again meanwhile.
type Cache struct {
	path string // "" keeps it in memory

	mu      sync.Mutex
	entries map[string]entry
	asking  map[string]*asking
}

// entry is a ruling in the file. The criterion is for readers.
type entry struct {
	Criterion string `json:"criterion"`
	Ruling
}

type asking struct {
	done   chan struct{}
	ruling Ruling
	err    error
}

// NewCache is an empty cache in memory.
func NewCache() *Cache {
	return &Cache{entries: map[string]entry{}, asking: map[string]*asking{}}
}

// OpenCache opens the cache in a file. One that is missing, damaged or of another form is empty: at
// worst a judge is asked again.
func OpenCache(path string) (*Cache, error) {
	c := NewCache()
	c.path = path
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, fmt.Errorf("judge cache: %w", err)
	}
	var entries map[string]entry
	if json.Unmarshal(data, &entries) != nil {
		return c, nil
	}
	for key, e := range entries {
		if e.Verdict == Yes || e.Verdict == No || e.Verdict == Unclear {
			c.entries[key] = e
		}
	}
	return c, nil
}

// do returns what is remembered for a key, or asks and remembers. A nil cache only asks.
func (c *Cache) do(ctx context.Context, key, criterion string, ask func() (Ruling, error)) (Ruling, error) {
	if c == nil {
		return ask()
	}
	for {
		c.mu.Lock()
		if e, ok := c.entries[key]; ok {
			c.mu.Unlock()
			return hit(e.Ruling), nil
		}
		other, busy := c.asking[key]
		if !busy {
			break
		}
		c.mu.Unlock()
		select {
		case <-other.done:
		case <-ctx.Done():
			return Ruling{}, context.Cause(ctx)
		}
		if other.err == nil {
			return hit(other.ruling), nil
		}
		// The other one's failure, perhaps its own deadline, is not ours.
	}
	mine := &asking{done: make(chan struct{})}
	c.asking[key] = mine
	c.mu.Unlock()

	mine.ruling, mine.err = ask()

	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.asking, key)
	close(mine.done)
	if mine.err != nil {
		return mine.ruling, mine.err
	}
	for _, v := range mine.ruling.Votes {
		if !v.Parsed {
			return mine.ruling, nil
		}
	}
	c.entries[key] = entry{Criterion: criterion, Ruling: mine.ruling}
	return mine.ruling, c.save()
}

func hit(r Ruling) Ruling {
	r.Hit, r.CostUSD = true, new(float64)
	return r
}

func (c *Cache) save() error {
	if c.path == "" {
		return nil
	}
	data, err := json.MarshalIndent(c.entries, "", "  ")
	if err != nil {
		return fmt.Errorf("judge cache: %w", err)
	}
	if err := maybe.WriteFile(c.path, append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("judge cache: %w", err)
	}
	return nil
}
