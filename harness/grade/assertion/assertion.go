// Package assertion grades one attempt of a suite's task: each assertion by
// what the transcript and the archived working directory show, and the
// attempt by its assertions.
//
// Nothing an attempt did is a Go error, and neither is what cannot be told: an
// assertion then has an Error, which is neither a pass nor a fail. The working
// directory was written by the agent; it is read without following links, from
// regular files only, and bounded.
package assertion

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/proctor-evals/proctor/harness/grade/judge"
	"github.com/proctor-evals/proctor/harness/suite"
	"github.com/proctor-evals/proctor/harness/transcript"
)

// Attempt is what is graded.
type Attempt struct {
	Transcript *transcript.Transcript
	Cwd        string // absolute folder with the archived working directory
	Client     string // the client's name, such as "claude"; "" when unknown
	// Excluded are the skills a reality check left out; nil in an ordinary run.
	Excluded []string
	// Stopped says that the runner ended the session on purpose, as a trigger task does. A missing end
	// of the stream then hides nothing.
	Stopped bool
	CostUSD *float64 // nil: what the transcript says
	Seconds *float64 // the agent's time by the runner's clock; nil: what the transcript says
}

// Tools are what assertions need beside the attempt.
type Tools struct {
	Judge judge.Panel
	// NoJudges leaves out judge and judge_agent.
	NoJudges bool
	Judging  suite.JudgeConfig
	// Command runs a program in a sandbox; nil: there is none, which is an error when one is needed.
	Command CommandRunner
}

// Result is one assertion's, in the form of the report.
type Result struct {
	Type    string         `json:"type"`
	Config  any            `json:"config"` // as in the task file
	Pass    bool           `json:"pass"`   // false when Error is set
	Reason  string         `json:"reason"`
	Details map[string]any `json:"details"`
	// Error is why it could not be decided, "" when it was.
	Error      string  `json:"error,omitempty"`
	KnownIssue *string `json:"known_issue"`
	Skipped    *string `json:"skipped_reason"` // it was not evaluated, and does not count
}

// Grade evaluates assertions, and returns their results in the same order. Judges are asked side by
// side, after all else.
func Grade(ctx context.Context, a Attempt, list []suite.Assertion, tools Tools) []Result {
	g := &grading{Attempt: a, tools: tools, tree: transcript.NewTree(a.Transcript)}
	if info, err := os.Lstat(a.Cwd); err != nil {
		g.rootErr = fmt.Errorf("the working directory was not kept: %w", err)
	} else if !info.IsDir() {
		g.rootErr = fmt.Errorf("the working directory %s is not a folder", a.Cwd)
	} else if g.root, g.rootErr = os.OpenRoot(a.Cwd); g.rootErr == nil {
		defer g.root.Close()
	}
	results := make([]Result, len(list))
	var judges sync.WaitGroup
	atOnce := make(chan struct{}, maxJudges)
	for i, x := range list {
		results[i] = Result{Type: x.Type, Config: x.Raw, KnownIssue: x.KnownIssue, Details: map[string]any{}}
		if why := g.skips(x); why != "" {
			results[i].Pass, results[i].Reason, results[i].Skipped = true, why, &why
			continue
		}
		if _, ok := x.Check.(suite.Judge); !ok {
			g.check(ctx, x.Check).into(&results[i])
		}
	}
	for i, x := range list {
		q, ok := x.Check.(suite.Judge)
		if !ok || results[i].Skipped != nil {
			continue
		}
		atOnce <- struct{}{}
		judges.Go(func() {
			defer func() { <-atOnce }()
			g.judge(ctx, q).into(&results[i])
		})
	}
	judges.Wait()
	return results
}

// maxJudges is how many judges one attempt asks at once.
const maxJudges = 4

type grading struct {
	Attempt
	tools   Tools
	tree    *transcript.Tree
	root    *os.Root // the working directory
	rootErr error    // why there is none
	hash    struct { // of the working directory, when a judge needs it
		sync.Once
		sum string
		err error
	}
}

// skips is why an assertion is not evaluated, or "".
func (g *grading) skips(x suite.Assertion) string {
	harness := suite.HarnessName(g.Client)
	if x.Providers != nil && !slices.Contains(x.Providers, harness) {
		why := "provider-specific: " + strings.Join(x.Providers, " or ") + " only"
		if harness == "" {
			why += "; name the client to have it checked"
		}
		return why
	}
	if _, ok := x.Check.(suite.Judge); ok && g.tools.NoJudges {
		return "judges were left out"
	}
	return ""
}

// finding is an assertion's outcome before it goes into the report.
type finding struct {
	pass    bool
	reason  string
	details map[string]any
	err     string
}

func (f finding) into(r *Result) {
	r.Pass, r.Reason, r.Error = f.pass && f.err == "", f.reason, f.err
	if f.err != "" && f.reason == "" {
		r.Reason = f.err
	}
	for k, v := range f.details {
		r.Details[k] = v
	}
}

func found(pass bool, format string, args ...any) finding {
	return finding{pass: pass, reason: fmt.Sprintf(format, args...)}
}

// broken is for what could not be decided.
func broken(format string, args ...any) finding { return finding{err: fmt.Sprintf(format, args...)} }

func (g *grading) check(ctx context.Context, check suite.Check) finding {
	switch c := check.(type) {
	case suite.FileExists:
		return g.fileExists(c)
	case suite.FileContains:
		return g.fileContains(c)
	case suite.JSONPath:
		return g.jsonPath(c)
	case suite.ToolCalled:
		return g.toolCalled(c)
	case suite.ToolNotCalled:
		return g.toolNotCalled(c)
	case suite.ToolCount:
		return g.toolCount(c)
	case suite.ToolOrder:
		return g.toolOrder(c)
	case suite.NoPermissionErrors:
		return g.noPermissionErrors()
	case suite.FirstSkill:
		return g.firstSkill(c)
	case suite.SkillInvoked:
		return g.skillInvoked(c)
	case suite.SkillNotInvoked:
		return g.skillNotInvoked(c)
	case suite.ResponseContains:
		return g.responseContains(c)
	case suite.MaxCost:
		return g.maxCost(c)
	case suite.MaxTurns:
		return g.maxTurns(c)
	case suite.MaxSeconds:
		return g.maxSeconds(c)
	case suite.Command:
		return g.command(ctx, c)
	}
	return broken("assertions of type %T cannot be evaluated", check)
}

// gap is why absence cannot be concluded from the transcript, or "".
func (g *grading) gap() string {
	t := *g.Transcript
	if t.Lines == 0 && t.Understood == 0 && t.Unparsed.Lines == 0 && len(t.Turns) > 0 {
		return "" // written by hand or by another tool: there is no stream to compare it with
	}
	if g.Stopped {
		t.Completed = true
	}
	if _, why := t.Interpretable(); why != "" {
		return why
	}
	if t.Dropped.ToolCalls > 0 || t.Dropped.Turns > 0 {
		return "the session is too long to be kept whole"
	}
	return ""
}

// absent is a finding that rests on something not being there.
func (g *grading) absent(pass bool, format string, args ...any) finding {
	if why := g.gap(); why != "" {
		return broken("cannot tell: %s", why)
	}
	return found(pass, format, args...)
}
