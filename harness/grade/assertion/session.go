package assertion

import (
	"github.com/proctor-evals/proctor/harness/suite"
	"github.com/proctor-evals/proctor/harness/transcript"
)

func (g *grading) responseContains(c suite.ResponseContains) finding {
	if g.Transcript.FinalText == "" {
		return g.absent(false, "there is no last answer")
	}
	return search(g.Transcript.FinalText, "the last answer", c.Pattern, c.Regex)
}

// An unknown number never keeps a bound.

func (g *grading) maxCost(c suite.MaxCost) finding {
	cost := g.CostUSD
	if cost == nil {
		cost = g.Transcript.CostUSD
	}
	if cost == nil {
		return found(false, "the cost is not known, and at most $%.4f are allowed", c.USD)
	}
	f := found(*cost <= c.USD, "cost $%.4f (max $%.4f)", *cost, c.USD)
	f.details = map[string]any{"cost_usd": *cost}
	return f
}

// maxTurns counts the answers of the main conversation, as the transcript has them: what clients call
// turns is not comparable.
func (g *grading) maxTurns(c suite.MaxTurns) finding {
	n := 0
	for i := range g.Transcript.Turns {
		if t := &g.Transcript.Turns[i]; t.Role == transcript.RoleAssistant && t.ParentID == "" && !t.Synthetic {
			n++
		}
	}
	f := found(n <= c.Turns, "%d turns (max %d)", n, c.Turns)
	f.details = map[string]any{"turns": n}
	if n > c.Turns {
		return f
	}
	if why := g.gap(); why != "" {
		return broken("cannot tell: %s", why)
	}
	return f
}

func (g *grading) maxSeconds(c suite.MaxSeconds) finding {
	seconds := g.Seconds
	if ms := g.Transcript.Timing.DurationMS; seconds == nil && ms != nil {
		s := float64(*ms) / 1000
		seconds = &s
	}
	if seconds == nil {
		return found(false, "the time is not known, and at most %.1f s are allowed", c.Seconds)
	}
	f := found(*seconds <= c.Seconds, "%.1f s (max %.1f s)", *seconds, c.Seconds)
	f.details = map[string]any{"seconds": *seconds}
	return f
}
