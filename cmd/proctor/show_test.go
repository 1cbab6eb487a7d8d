package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/result"
)

// TestRunSpec: K6 of the conformance cases.
func TestRunSpec(t *testing.T) {
	for text, want := range map[string]runSpec{
		"r": {run: "r"}, "r::s": {run: "r", suite: "s"}, "r::s::t": {run: "r", suite: "s", task: "t"}, "r::s::t::attempt-3": {"r", "s", "t", 3},
	} {
		got, err := parseRunSpec(text)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for _, text := range []string{"", "r::", "r::s::t::attempt-abc", "r::s::t::attempt-0", "r::s::t::3", "r::s::t::attempt-1::x"} {
		_, err := parseRunSpec(text)
		assert.Error(t, err, text)
	}
}

func TestRunSpecNarrows(t *testing.T) {
	rep := &result.Report{Attempts: []result.ReportAttempt{
		{Suite: "s", Task: "a", Attempt: 1}, {Suite: "s", Task: "a", Attempt: 2}, {Suite: "s", Task: "b", Attempt: 1}, {Suite: "u", Task: "b", Attempt: 1},
	}}
	for text, want := range map[string]int{"r": 4, "r::s": 3, "r::a": 2, "r::s::b": 1, "r::s::a::attempt-2": 1} {
		spec, err := parseRunSpec(text)
		require.NoError(t, err)
		got, err := spec.narrow(rep)
		require.NoError(t, err, text)
		assert.Len(t, got.Attempts, want, text)
	}
	for text, want := range map[string]string{"r::b": "several suites", "r::x": "nothing of that name", "r::s::a::attempt-3": "nothing of that name"} {
		spec, err := parseRunSpec(text)
		require.NoError(t, err)
		_, err = spec.narrow(rep)
		assert.ErrorContains(t, err, want)
	}
}
