package assertion

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/proctor-evals/proctor/harness/grade/judge"
	"github.com/proctor-evals/proctor/harness/suite"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

func (g *grading) judge(ctx context.Context, c suite.Judge) finding {
	q := judge.Question{Criterion: c.Criterion, Final: g.Transcript.FinalText, Model: c.Model, Agent: c.Agent, Time: g.tools.Judging.Timeout}
	if q.Model == "" {
		q.Model = g.tools.Judging.Model
	}
	if c.IncludeTrajectory {
		text := judge.Render(g.Transcript, judge.MaxTrajectory)
		q.Trajectory = &text
	}
	name := "judge"
	if c.Agent {
		name, q.Time, q.Cwd = "judge_agent", g.tools.Judging.AgentTimeout, g.Cwd
		var err error
		if q.CwdHash, err = g.cwdHash(); err != nil {
			return broken("judge_agent: %v", err)
		}
	}
	votes := c.Votes
	if votes == 0 {
		votes = g.tools.Judging.Votes
	}
	passOn := c.PassOn
	if len(passOn) == 0 {
		passOn = g.tools.Judging.PassOn
	}
	ruling, err := g.tools.Judge.Decide(ctx, q, votes)
	if err != nil {
		return broken("%s: %v", name, err)
	}
	f := found(judge.Passes(ruling.Verdict, passOn), "%s said %s", name, ruling.Verdict)
	cache := "miss"
	if ruling.Hit {
		cache = "hit"
	}
	f.details = map[string]any{
		"verdict": ruling.Verdict, "reasoning": ruling.Reasoning, "criterion": c.Criterion, "cache": cache,
		"votes": ruling.Votes, "cost_usd": ruling.CostUSD,
	}
	return f
}

// cwdHash names the content of the working directory, once an attempt.
func (g *grading) cwdHash() (string, error) {
	if g.rootErr != nil {
		return "", g.rootErr
	}
	g.hash.Do(func() { g.hash.sum, g.hash.err = cwdHash(g.Cwd) })
	return g.hash.sum, g.hash.err
}

// cwdHash is the hash of what a copy of the folder would hold, and of what it would leave out.
func cwdHash(dir string) (string, error) {
	left := map[string]treecopy.Kind{}
	ignore := func(rel string) bool { _, ok := left[rel]; return ok }
	opts := treecopy.Options{Untrusted: true, Ignore: ignore}
	for {
		sum, err := treecopy.Hash(dir, opts)
		var odd *treecopy.TreeError
		if errors.As(err, &odd) {
			before := len(left)
			for _, e := range odd.Entries {
				if e.Path == "." {
					return "", err
				}
				left[e.Path] = e.Kind
			}
			if len(left) > before {
				continue // without them
			}
		}
		if err != nil {
			return "", err
		}
		// A map prints sorted by its keys.
		return fmt.Sprintf("%x", sha256.Sum256([]byte(sum+"\x00"+fmt.Sprintf("%q", left)))), nil
	}
}
