package gateway

import (
	"errors"
	"fmt"
	"sync"
)

// Causes for which a model asks that the trial be ended; see Turn.Stop. They are the words a result has.
var (
	ErrEndpoint  = errors.New("model_endpoint")  // the provider fails and will go on failing
	ErrMaxTokens = errors.New("max_tokens")      // the trial's limit
	ErrMaxCost   = errors.New("max_cost")        // the trial's limit
	ErrReplay    = errors.New("replay_mismatch") // the client asked what is not on the cassette
)

// A Price is what a model costs, in US dollars for a million tokens.
type Price struct {
	Input, Output, CacheRead, CacheWrite float64
}

// cost is what u costs in US dollars; what is not known costs nothing.
func (p Price) cost(u Usage) float64 {
	const million = 1e6
	return (float64(count(u.InputTokens))*p.Input + float64(count(u.OutputTokens))*p.Output +
		float64(count(u.CacheReadTokens))*p.CacheRead + float64(count(u.CacheWriteTokens))*p.CacheWrite) / million
}

// Limits bound what is spent; 0 is no limit.
type Limits struct {
	Tokens int64   // input, output and both cache counts together
	Cost   float64 // US dollars
}

// Spend adds up what trials cost, by the wire. It is for one trial or one run, and safe for concurrent use.
type Spend struct {
	limits Limits
	prices map[string]Price

	mu     sync.Mutex
	tokens int64
	cost   float64
	priced bool // every answer so far came from a model with a price
	turns  int
}

// NewSpend starts at nothing. Prices are by model.
func NewSpend(l Limits, prices map[string]Price) *Spend {
	return &Spend{limits: l, prices: prices, priced: true}
}

// add counts an answer of a model, of which counted was counted before. charged is its usage with guesses where the
// provider told none: a limit must hold also for an agent that hangs up before the provider says what it took.
func (s *Spend) add(model string, counted, charged Usage) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns++
	s.tokens += promptTokens(charged) + count(charged.OutputTokens) - promptTokens(counted) - count(counted.OutputTokens)
	price, ok := s.prices[model]
	s.priced = s.priced && ok
	s.cost += price.cost(charged) - price.cost(counted)
}

// Before adds what trials of an earlier runner used, in tokens and US dollars; nil where it is not known.
func (s *Spend) Before(tokens *int64, cost *float64) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if tokens != nil && *tokens > 0 {
		s.tokens += *tokens
	}
	if cost != nil && *cost > 0 {
		s.cost += *cost
		s.turns++
	}
}

// Over is nil below the limits, else an error that wraps ErrMaxTokens or ErrMaxCost.
func (s *Spend) Over() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.limits.Tokens > 0 && s.tokens >= s.limits.Tokens:
		return fmt.Errorf("%w: %d tokens are used of %d", ErrMaxTokens, s.tokens, s.limits.Tokens)
	case s.limits.Cost > 0 && s.cost >= s.limits.Cost:
		return fmt.Errorf("%w: $%.4f are spent of $%.4f", ErrMaxCost, s.cost, s.limits.Cost)
	}
	return nil
}

// Tokens are what was used, guesses included.
func (s *Spend) Tokens() int64 {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens
}

// Cost is what was spent in US dollars, guesses included; nil where a model without a price answered.
func (s *Spend) Cost() *float64 {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.priced || s.turns == 0 {
		return nil
	}
	cost := s.cost
	return &cost
}
