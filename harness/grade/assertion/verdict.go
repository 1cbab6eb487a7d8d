package assertion

import (
	"slices"

	"github.com/proctor-evals/proctor/harness/suite"
)

// Verdict is how an attempt ended.
type Verdict string

// The verdicts.
const (
	Pass           Verdict = "pass"
	Fail           Verdict = "fail"
	Timeout        Verdict = "timeout"
	Error          Verdict = "error"
	KnownIssue     Verdict = "known_issue"
	UnexpectedPass Verdict = "unexpected_pass"
)

// Gates tells whether a verdict makes an ordinary run fail.
func (v Verdict) Gates() bool { return v == Fail || v == Timeout || v == Error }

// Ending is how the attempt's session ended.
type Ending int

// The endings.
const (
	Ended    Ending = iota // by itself, or the runner had seen enough
	TimedOut               // its time was over; what it had not done by then is not a "no"
	Broke                  // the client failed, or the runner could not do its part
)

// Decide is the verdict of an attempt.
//
// An assertion gates when it has no known issue of its own and was not skipped. A gating assertion
// that failed decides, whatever the others would have said; after that, one that could not be
// decided makes the attempt an error. When all gating ones pass, the attempt passes, or passes
// unexpectedly: because the task has a known issue, or because an assertion with one passes.
func Decide(ending Ending, results []Result, taskKnownIssue bool) Verdict {
	switch ending {
	case TimedOut:
		return Timeout
	case Broke:
		return Error
	}
	gates := func(r Result) bool { return r.KnownIssue == nil && r.Skipped == nil }
	failed := slices.ContainsFunc(results, func(r Result) bool { return gates(r) && r.Error == "" && !r.Pass })
	undecided := slices.ContainsFunc(results, func(r Result) bool { return gates(r) && r.Error != "" })
	better := slices.ContainsFunc(results, func(r Result) bool { return r.KnownIssue != nil && r.Skipped == nil && r.Pass })
	switch {
	case failed && taskKnownIssue:
		return KnownIssue
	case failed:
		return Fail
	case undecided:
		return Error
	case taskKnownIssue || better:
		return UnexpectedPass
	}
	return Pass
}

// Flips tells whether a reality check without some skills turns an assertion round, so that it
// cannot be compared with the ordinary run's.
func Flips(x suite.Assertion, excluded []string) bool {
	c, ok := x.Check.(suite.SkillInvoked)
	return ok && isExcluded(c.Skill, excluded)
}
