package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gotest.tools/v3/golden"

	"github.com/proctor-evals/proctor/harness/result"
)

func seconds(s float64) *float64 { return &s }

// madeCI has a case of each state, and gates of both kinds.
func madeCI(text string) CI {
	b := &result.Benchmark{
		Task: "one" + text, Client: "claude", Kind: regression, Model: result.Model{Name: "m" + text, Kind: "forward"}, NotCompared: text,
		Configurations: map[string]result.Counts{"with-symposium": {Eligible: 2, Succeeded: 1, SetupFailures: 1, Causes: result.Causes{SetupFailures: map[string]int{"no disk" + text: 1}}}},
		Comparisons:    []result.Comparison{{Treatment: "with-symposium", Baseline: "without-symposium", Verdict: result.Hurts, Diff: seconds(-0.5), Reason: text}},
	}
	trial := func(round int, e result.Execution, o result.Outcome, cause string, x *result.Exclusion) *result.Trial {
		return &result.Trial{Round: round, Configuration: result.Configuration{Name: "with-symposium"}, Execution: e, Outcome: o, ExecutionCause: cause, Excluded: x,
			Client: result.Client{Name: "claude"}, Model: b.Model, Timings: result.Timings{Agent: seconds(1.5)}}
	}
	return CI{RunID: "20260101-000000-abc", Cause: "interrupted" + text, Groups: []CIGroup{CIBatch(b, []*result.Trial{
		trial(1, result.Completed, result.Succeeded, "", nil),
		trial(2, result.Completed, result.Failed, "why"+text, nil),
		trial(3, result.SetupFailure, "", "no disk"+text, nil),
		trial(4, result.SetupFailure, "", "release: too old", nil),
		trial(5, result.Completed, "", "", &result.Exclusion{Kind: "isolation", Cause: "read it" + text}),
		trial(6, result.Cancelled, "", "lost", nil),
	}, "results/one", "evals/tasks/one/task.toml", 3, []result.Gated{{Infrastructure: true, Text: "1 could not be set up" + text}, {Text: "not all passed"}})}}
}

func TestJUnit(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, JUnit(&out, madeCI("")))
	golden.Assert(t, out.String(), "junit.xml")
}

func TestMarkdown(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, Markdown(&out, madeCI(""), MaxSummary))
	golden.Assert(t, out.String(), "summary.md")
}

func TestAnnotations(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, Annotations(&out, madeCI("")))
	golden.Assert(t, out.String(), "annotations.log")
}

// Whatever a trial wrote, the XML is well formed and holds its counts, no line of a workflow command or of
// Markdown is the trial's.
func TestCIOfHostileText(t *testing.T) {
	texts := append([]string{"\x00\x01\x0b\x1f\ufffe\uffff]]>", "\n::error::x\n::add-mask::y", "%0A::error::x", "| a | b |\n# h\n- x", "</details><script>x</script>", "@everyone #1 ![x](http://x.example/y)", "`code` ```"}, hostile...)
	for i, text := range texts {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			ci := madeCI(text)
			var out bytes.Buffer
			require.NoError(t, JUnit(&out, ci))
			d := xml.NewDecoder(&out)
			found := map[string]int{}
			for {
				token, err := d.Token()
				if err == io.EOF {
					break
				}
				require.NoError(t, err)
				if e, ok := token.(xml.StartElement); ok {
					found[e.Name.Local]++
				}
			}
			assert.Equal(t, []int{2, 9, 2, 4, 2}, []int{found["testsuite"], found["testcase"], found["failure"], found["error"], found["skipped"]})

			var plain, log bytes.Buffer
			require.NoError(t, Annotations(&log, ci))
			require.NoError(t, Annotations(&plain, madeCI("")))
			assert.Equal(t, strings.Count(plain.String(), "\n"), strings.Count(log.String(), "\n"))
			for line := range strings.Lines(log.String()) {
				assert.Regexp(t, `^::(error|warning) file=evals/tasks/one/task\.toml,line=3,title=`, line)
			}

			plain.Reset()
			var page bytes.Buffer
			require.NoError(t, Markdown(&page, ci, MaxSummary))
			require.NoError(t, Markdown(&plain, madeCI("x"), MaxSummary))
			assert.Equal(t, strings.Count(plain.String(), "\n"), strings.Count(page.String(), "\n"))
			requireHarmless(t, strings.ReplaceAll(page.String(), "##", ""))
			for _, bad := range []string{"<script", "![x]", "@everyone", "http://", "`code`"} {
				assert.NotContains(t, page.String(), bad)
			}
		})
	}
}

// A summary is never larger than there is room for, and says what is not in it.
func TestMarkdownFits(t *testing.T) {
	ci := madeCI("")
	for range 3000 {
		ci.Groups = append(ci.Groups, ci.Groups[0])
	}
	for _, room := range []int{0, 10, 1000, 100_000, MaxSummary} {
		var out bytes.Buffer
		require.NoError(t, Markdown(&out, ci, room))
		assert.LessOrEqual(t, out.Len(), room)
		if room >= 1000 {
			assert.Contains(t, out.String(), "are left out here")
		}
	}
}

func TestCISuites(t *testing.T) {
	rep := &result.Report{Attempts: []result.ReportAttempt{
		{Suite: "s", Task: "a", Attempt: 1, Client: "claude", Configuration: "with-skills", Verdict: result.AttemptPass},
		{Suite: "s", Task: "a", Attempt: 2, Client: "claude", Configuration: "with-skills", Verdict: result.AttemptFail},
		{Suite: "s", Task: "a", Attempt: 1, Client: "claude", Configuration: "without-skill", Verdict: result.AttemptFail},
		{Suite: "s", Task: "a", Attempt: 1, Client: "codex", Configuration: "with-skills", Verdict: result.AttemptError, Cause: "no disk"},
	}}
	groups := CISuites(rep, func(a result.ReportAttempt) bool { return a.Verdict.Gates() && a.Configuration == "with-skills" },
		func(string) *result.Attempt { return nil }, func(s string) string { return "suites/" + s })
	require.Len(t, groups, 2)
	assert.Equal(t, []CIState{CIPassed, CIFailure, CIPassed}, []CIState{groups[0].Cases[0].State, groups[0].Cases[1].State, groups[0].Cases[2].State})
	assert.Len(t, groups[0].Gates, 1)
	assert.Equal(t, CIError, groups[1].Cases[0].State)
	assert.Contains(t, groups[1].Cases[0].Message, "no disk")
}
