package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/attack"
)

func TestAttackPlan(t *testing.T) {
	const without, with, staged = "without-symposium", "with-symposium", "staged-skills"
	for name, tt := range map[string]struct {
		clients, wanted []string
		cargoAgents     bool
		want            []attackVisit
		notes           int
		err             string
	}{
		"all a client can":            {[]string{"claude"}, nil, true, []attackVisit{{"claude", []string{without, with, staged}}}, 0, ""},
		"without a cargo-agents":      {[]string{"claude"}, nil, false, []attackVisit{{"claude", []string{without, staged}}}, 0, ""},
		"a client without Symposium":  {[]string{"copilot"}, nil, true, []attackVisit{{"copilot", []string{without, staged}}}, 0, ""},
		"several":                     {[]string{"copilot", "codex"}, nil, true, []attackVisit{{"copilot", []string{without, staged}}, {"codex", []string{without, with, staged}}}, 0, ""},
		"asked for what one cannot":   {[]string{"claude", "opencode"}, []string{with}, true, []attackVisit{{"claude", []string{with}}}, 1, ""},
		"asked for what none can":     {[]string{"opencode"}, []string{with}, true, nil, 1, "nothing to attack: none of opencode can run with-symposium"},
		"a client that there is none": {[]string{"nosuch"}, nil, true, nil, 0, "nosuch"},
	} {
		t.Run(name, func(t *testing.T) {
			visits, notes, err := attackPlan(tt.clients, tt.wanted, tt.cargoAgents)
			assert.Len(t, notes, tt.notes)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			assert.ElementsMatch(t, tt.want, visits)
		})
	}
}

func TestPrintAttacks(t *testing.T) {
	result := func(client string, v attack.Verdict) attack.Result {
		return attack.Result{Guarantee: "g", Client: client, Configuration: "c", Verdict: v, Detail: map[attack.Verdict]string{attack.NoTarget: "this machine has none (none)"}[v]}
	}
	for name, tt := range map[string]struct {
		results []attack.Result
		code    int
		lines   string
	}{
		"all held":                {[]attack.Result{result("a", attack.Held)}, exitOK, "held  c  g\n1 held, 0 broken, 0 could not tell, 0 without a target on this machine\n"},
		"what has no target":      {[]attack.Result{result("a", attack.Held), result("a", attack.NoTarget)}, exitOK, "held       c  g\nno target  c  g\n                this machine has none (none)\n1 held, 0 broken, 0 could not tell, 1 without a target on this machine\n"},
		"nothing has one":         {[]attack.Result{result("a", attack.NoTarget)}, exitRunner, ""},
		"nothing at all":          {nil, exitRunner, "0 held, 0 broken, 0 could not tell, 0 without a target on this machine\n"},
		"one broken":              {[]attack.Result{result("a", attack.Held), result("a", attack.Broken)}, exitRunner, ""},
		"one not told":            {[]attack.Result{result("a", attack.Held), result("a", attack.CouldNotTell)}, exitRunner, ""},
		"two clients, each named": {[]attack.Result{result("a", attack.Held), result("b", attack.Held)}, exitOK, "held  a  c  g\nheld  b  c  g\n2 held, 0 broken, 0 could not tell, 0 without a target on this machine\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			assert.Equal(t, tt.code, printAttacks(&out, tt.results))
			if tt.lines != "" {
				assert.Equal(t, tt.lines, out.String())
			}
		})
	}
}
