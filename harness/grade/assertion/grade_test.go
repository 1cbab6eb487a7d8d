package assertion

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/grade/judge"
	"github.com/proctor-evals/proctor/harness/suite"
	"github.com/proctor-evals/proctor/harness/transcript"
)

// answers is a judge's model with one answer.
func answers(text string) judge.Ask {
	return func(context.Context, judge.Call) (judge.Reply, error) { return judge.Reply{Text: text}, nil }
}

// Row F18.
func TestProviders(t *testing.T) {
	x := suite.Assertion{Type: "file_exists", Check: suite.FileExists{Path: "none"}, Providers: []string{"claude_code", "opencode"}}
	at := func(client string) Result {
		return Grade(t.Context(), Attempt{Transcript: session(), Cwd: t.TempDir(), Client: client}, []suite.Assertion{x}, Tools{})[0]
	}
	skipped := at("codex")
	require.NotNil(t, skipped.Skipped)
	assert.Equal(t, "provider-specific: claude_code or opencode only", *skipped.Skipped)
	assert.Equal(t, *skipped.Skipped, skipped.Reason)
	assert.True(t, skipped.Pass)
	assert.Equal(t, Pass, Decide(Ended, []Result{skipped}, false))
	assert.Nil(t, at("claude").Skipped)
	assert.Equal(t, Fail, Decide(Ended, []Result{at("opencode")}, false))
	assert.NotNil(t, at("").Skipped)
}

// The rows of table G.
func TestVerdict(t *testing.T) {
	note := "issue 7"
	ok, no := Result{Pass: true}, Result{}
	knownOK, knownNo := Result{Pass: true, KnownIssue: &note}, Result{KnownIssue: &note}
	broke, knownBroke := Result{Error: "x"}, Result{Error: "x", KnownIssue: &note}
	skipped, knownSkipped := Result{Pass: true, Skipped: &note}, Result{Pass: true, Skipped: &note, KnownIssue: &note}
	tests := []struct {
		name    string
		ending  Ending
		results []Result
		known   bool
		want    Verdict
	}{
		{"known issue fails", Ended, []Result{ok, knownNo}, false, Pass},
		{"known issue passes", Ended, []Result{ok, knownOK}, false, UnexpectedPass},
		{"one known issue of two passes", Ended, []Result{ok, knownOK, knownNo}, false, UnexpectedPass},
		{"known issue passes, another fails", Ended, []Result{no, knownOK}, false, Fail},
		{"one fails", Ended, []Result{ok, no, knownNo}, false, Fail},
		{"known task fails", Ended, []Result{no}, true, KnownIssue},
		{"known task passes", Ended, []Result{ok}, true, UnexpectedPass},
		{"none", Ended, nil, false, Pass},
		{"all skipped", Ended, []Result{skipped, knownSkipped}, false, Pass},
		{"timeout", TimedOut, []Result{ok}, false, Timeout},
		{"timeout of a known task", TimedOut, []Result{no}, true, Timeout},
		{"broken", Broke, []Result{ok}, true, Error},
		{"undecided", Ended, []Result{ok, broke}, false, Error},
		{"undecided, but failed anyway", Ended, []Result{broke, no}, false, Fail},
		{"undecided in a known task", Ended, []Result{broke, ok}, true, Error},
		{"undecided known issue", Ended, []Result{ok, knownBroke}, false, Pass},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, Decide(tt.ending, tt.results, tt.known))
		})
	}
	for v, want := range map[Verdict]bool{Pass: false, Fail: true, Timeout: true, Error: true, KnownIssue: false, UnexpectedPass: false} {
		assert.Equal(t, want, v.Gates(), v)
	}
}

func TestFlips(t *testing.T) {
	x := func(c suite.Check) suite.Assertion { return suite.Assertion{Check: c} }
	assert.True(t, Flips(x(suite.SkillInvoked{Skill: "p:a"}), []string{"b", "a"}))
	assert.False(t, Flips(x(suite.SkillInvoked{Skill: "a"}), nil))
	assert.False(t, Flips(x(suite.FirstSkill{Skill: "a"}), []string{"a"}))
}

// One assertion that cannot be decided takes nothing from the others, and the order stays.
func TestResultsKeepTheirOrder(t *testing.T) {
	dir := folder(t, map[string]string{"f": "x"})
	note := "known"
	list := []suite.Assertion{
		{Type: "judge", Check: suite.Judge{Criterion: "c"}, Raw: "c"},
		{Type: "file_exists", Check: suite.FileExists{Path: "f"}, Raw: map[string]any{"path": "f"}, KnownIssue: &note},
		{Type: "command", Check: suite.Command{Run: []string{"true"}}},
		{Type: "judge", Check: suite.Judge{Criterion: "d"}},
		{Type: "file_exists", Check: suite.FileExists{Path: "g"}},
	}
	fails2 := judge.Panel{Ask: func(context.Context, judge.Call) (judge.Reply, error) { return judge.Reply{}, errors.New("HTTP 529") }}
	results := Grade(t.Context(), Attempt{Transcript: session(), Cwd: dir}, list, Tools{Judge: fails2})
	var got []string
	for i, r := range results {
		assert.Equal(t, list[i].Type, r.Type)
		got = append(got, outcome(r))
	}
	assert.Equal(t, []string{undecided, passes, undecided, undecided, fails}, got)
	assert.Contains(t, results[0].Error, "HTTP 529")
	assert.Equal(t, &note, results[1].KnownIssue)

	// The report's form.
	data, err := json.Marshal(results[1])
	require.NoError(t, err)
	assert.JSONEq(t, `{"type": "file_exists", "config": {"path": "f"}, "pass": true, "reason": "found f", "details": {}, "known_issue": "known", "skipped_reason": null}`, string(data))
}

func TestJudge(t *testing.T) {
	s := session(transcript.Turn{Role: transcript.RoleAssistant, Text: "unique trajectory"})
	s.FinalText = "final words"
	dir := folder(t, map[string]string{"f": "x"})
	var calls []judge.Call
	ask := func(_ context.Context, c judge.Call) (judge.Reply, error) {
		calls = append(calls, c)
		return judge.Reply{Text: "Because.\nVERDICT: NO"}, nil
	}
	tools := Tools{
		Judge:   judge.Panel{Ask: ask, Cache: judge.NewCache()},
		Judging: suite.JudgeConfig{Model: "m", PassOn: []string{"NO"}, Timeout: time.Minute, AgentTimeout: time.Hour, Votes: 1},
	}
	a := Attempt{Transcript: s, Cwd: dir}

	r := one(t, a, suite.Judge{Criterion: "is it?", IncludeTrajectory: true}, tools)
	assert.Equal(t, passes, outcome(r), "the configured verdicts pass")
	assert.Equal(t, "judge said NO", r.Reason)
	assert.Equal(t, "Because.", r.Details["reasoning"])
	assert.Equal(t, "miss", r.Details["cache"])
	require.Len(t, calls, 1)
	assert.Contains(t, calls[0].Prompt, "unique trajectory")
	assert.Contains(t, calls[0].Prompt, "final words")
	assert.Equal(t, []any{"m", time.Minute, "", false}, []any{calls[0].Model, calls[0].Time, calls[0].Cwd, calls[0].Agent})

	// H8: the same question again.
	r = one(t, a, suite.Judge{Criterion: "is it?", IncludeTrajectory: true}, tools)
	assert.Equal(t, "hit", r.Details["cache"])
	assert.Len(t, calls, 1)

	// H12, the assertion's own verdicts and model.
	r = one(t, a, suite.Judge{Criterion: "is it?", PassOn: []string{"YES"}, Model: "other"}, tools)
	assert.Equal(t, fails, outcome(r))
	require.Len(t, calls, 2)
	assert.NotContains(t, calls[1].Prompt, "AGENT'S TRAJECTORY:")
	assert.Equal(t, "other", calls[1].Model)

	// H11, as far as it is decided here.
	r = one(t, a, suite.Judge{Criterion: "is it?", Agent: true, Votes: 3}, tools)
	assert.Equal(t, "judge_agent said NO", r.Reason)
	require.Len(t, calls, 4, "two of three votes decide")
	assert.Equal(t, []any{"m", time.Hour, dir, true}, []any{calls[3].Model, calls[3].Time, calls[3].Cwd, calls[3].Agent})

	// H10: no judge is no verdict.
	r = one(t, a, suite.Judge{Criterion: "is it?"}, Tools{})
	assert.Equal(t, undecided, outcome(r))
	assert.Contains(t, r.Error, "no judge is configured")
	r = one(t, a, suite.Judge{Criterion: "is it?"}, Tools{NoJudges: true})
	assert.NotNil(t, r.Skipped)
}

// A judge of other files is another question.
func TestJudgeAgentSeesOtherFiles(t *testing.T) {
	n := 0
	ask := func(context.Context, judge.Call) (judge.Reply, error) {
		n++
		return judge.Reply{Text: "VERDICT: YES"}, nil
	}
	tools := Tools{Judge: judge.Panel{Ask: ask, Cache: judge.NewCache()}}
	for _, text := range []string{"x", "x", "y"} {
		r := one(t, Attempt{Cwd: folder(t, map[string]string{"f": text})}, suite.Judge{Criterion: "c", Agent: true}, tools)
		assert.Equal(t, passes, outcome(r), r.Reason)
	}
	assert.Equal(t, 2, n)
}

func TestCommand(t *testing.T) {
	tests := []struct {
		name   string
		end    CommandEnd
		err    error
		check  suite.Command
		want   string
		reason string
	}{
		{"exit code", CommandEnd{}, nil, suite.Command{}, passes, "exit code 0"},
		{"other exit code", CommandEnd{ExitCode: 2}, nil, suite.Command{}, fails, "exit code 2 (expected 0)"},
		{"asked exit code", CommandEnd{ExitCode: 2}, nil, suite.Command{ExitCode: 2}, passes, ""},
		{"output", CommandEnd{Output: "3 passed"}, nil, suite.Command{Output: re(t, `\d passed`)}, passes, ""},
		{"other output", CommandEnd{Output: "failed"}, nil, suite.Command{Output: re(t, `\d passed`)}, fails, "no match"},
		{"cut output", CommandEnd{Output: "x", Cut: true}, nil, suite.Command{Output: re(t, `y`)}, fails, "which was cut"},
		{"output and exit code", CommandEnd{ExitCode: 1, Output: "3 passed"}, nil, suite.Command{Output: re(t, `\d passed`)}, fails, "exit code 1"},
		{"late", CommandEnd{Late: true}, nil, suite.Command{}, fails, "not finished after 1m0s"},
		{"limit", CommandEnd{Limit: "memory"}, nil, suite.Command{}, fails, "memory"},
		{"no sandbox", CommandEnd{}, errors.New("srt is missing"), suite.Command{}, undecided, "srt is missing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			run := func(_ context.Context, c CommandRun) (CommandEnd, error) {
				assert.Equal(t, CommandRun{Argv: []string{"prog", "arg"}, Cwd: dir, Time: time.Minute}, c)
				return tt.end, tt.err
			}
			tt.check.Run = []string{"prog", "arg"}
			r := one(t, Attempt{Cwd: dir}, tt.check, Tools{Command: run})
			assert.Equal(t, tt.want, outcome(r), r.Reason)
			assert.Contains(t, r.Reason, tt.reason)
		})
	}
}
