// Package judge asks a model whether an attempt meets a criterion in words.
//
// It makes the prompt, reads the verdict out of the reply, counts votes and
// remembers rulings. It reaches no model itself: whoever uses it gives an [Ask].
//
// Everything the agent wrote is hostile here: it stands in the prompt between
// marks that it cannot know, and none of its lines can be read as a verdict,
// not even when the judge repeats it.
//
// A judge that fails or does not answer in time is an error, never a "no".
package judge

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Verdict is what a judge says.
type Verdict string

// The verdicts.
const (
	Yes     Verdict = "YES"
	No      Verdict = "NO"
	Unclear Verdict = "UNCLEAR"
)

// DefaultVotes is how often a judge is asked when nobody says otherwise.
const DefaultVotes = 1

// Call is one question as it goes to a model.
type Call struct {
	Prompt string
	Model  string // "" for the one the caller has
	// Agent asks for a client with read-only tools that can read Cwd; else it is one plain request.
	Agent bool
	Cwd   string        // a folder to copy for the agent judge; only with Agent
	Time  time.Duration // 0: no deadline of its own
}

// Reply is a model's answer.
type Reply struct {
	Text    string
	CostUSD *float64 // nil when unknown
}

// Ask puts one call to a model. Its error means that no answer was got.
type Ask func(context.Context, Call) (Reply, error)

// Panel decides questions.
type Panel struct {
	Ask   Ask    // nil: no judge is configured, which is an error when one is needed
	Cache *Cache // nil: nothing is remembered
}

// Vote is one reply, read.
type Vote struct {
	Verdict   Verdict `json:"verdict"`
	Reasoning string  `json:"reasoning"`
	// Parsed is false when the reply held no verdict; it then counts as UNCLEAR.
	Parsed bool `json:"parsed"`
}

// Ruling is the panel's decision.
type Ruling struct {
	Verdict   Verdict `json:"verdict"`
	Reasoning string  `json:"reasoning"` // of the first vote for the verdict
	Votes     []Vote  `json:"votes"`
	// CostUSD is what this decision cost now: 0 from the cache, nil when a reply's cost is unknown.
	CostUSD *float64 `json:"cost_usd"`
	Hit     bool     `json:"-"` // it came from the cache
}

// Decide asks up to votes times (at least once) and takes the majority; without one the verdict is
// UNCLEAR. It stops asking once the rest could not change the decision. Rulings with a reply that
// held no verdict are not remembered, so that asking again is possible.
func (p Panel) Decide(ctx context.Context, q Question, votes int) (Ruling, error) {
	if votes < 1 {
		votes = DefaultVotes
	}
	key := q.Key(votes)
	return p.Cache.do(ctx, key, q.Criterion, func() (Ruling, error) {
		if p.Ask == nil {
			return Ruling{}, errors.New("no judge is configured: give a model for judges")
		}
		return p.ask(ctx, q, votes)
	})
}

func (p Panel) ask(ctx context.Context, q Question, votes int) (Ruling, error) {
	nonce, err := newNonce()
	if err != nil {
		return Ruling{}, err
	}
	call := Call{Prompt: q.Prompt(nonce), Model: q.Model, Agent: q.Agent, Time: q.Time}
	if q.Agent {
		call.Cwd = q.Cwd
	}
	cost := new(float64)
	var cast []Vote
	counts := map[Verdict]int{}
	for i := range votes {
		reply, err := p.one(ctx, call)
		if err != nil {
			return Ruling{}, fmt.Errorf("judge, vote %d of %d: %w", i+1, votes, err)
		}
		if reply.CostUSD == nil {
			cost = nil
		} else if cost != nil {
			*cost += *reply.CostUSD
		}
		v := Parse(reply.Text)
		cast = append(cast, v)
		counts[v.Verdict]++
		if decided(counts, votes, votes-len(cast)) {
			break
		}
	}
	r := Ruling{Verdict: majority(counts, votes), Votes: cast, CostUSD: cost}
	if i := slices.IndexFunc(cast, func(v Vote) bool { return v.Verdict == r.Verdict }); i >= 0 {
		r.Reasoning = cast[i].Reasoning
	} else {
		r.Reasoning = "no verdict has a majority"
	}
	return r, nil
}

// one asks once, under the question's deadline.
func (p Panel) one(ctx context.Context, call Call) (Reply, error) {
	if call.Time > 0 {
		late := fmt.Errorf("no answer within %s", call.Time)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, call.Time, late)
		defer cancel()
	}
	reply, err := p.Ask(ctx, call)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return reply, err
}

// decided tells whether the votes that are left could still change the decision.
func decided(counts map[Verdict]int, votes, left int) bool {
	open := false
	for _, v := range []Verdict{Yes, No, Unclear} {
		if 2*counts[v] > votes {
			return true
		}
		open = open || 2*(counts[v]+left) > votes
	}
	return !open
}

func majority(counts map[Verdict]int, votes int) Verdict {
	for _, v := range []Verdict{Yes, No} {
		if 2*counts[v] > votes {
			return v
		}
	}
	return Unclear
}

// Passes tells whether a verdict is among those that pass; nil means YES alone. Case does not matter.
func Passes(v Verdict, passOn []string) bool {
	if len(passOn) == 0 {
		return v == Yes
	}
	return slices.ContainsFunc(passOn, func(s string) bool { return strings.EqualFold(strings.TrimSpace(s), string(v)) })
}

func newNonce() (string, error) {
	var b [12]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("judge: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}
