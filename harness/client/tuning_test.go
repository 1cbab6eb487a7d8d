package client

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tuned is the end of a client's command line, and the spec, after tuning.
func tuned(t *testing.T, name string, tuning Tuning) (string, Spec) {
	t.Helper()
	adapter, err := Lookup(name)
	require.NoError(t, err)
	spec := adapter.Command(Request{Binary: name, Model: "m", Prompt: "do it", Token: "t", GatewayURL: "http://127.0.0.1:9", Enforced: true,
		Paths: Paths{Home: "/r/home", Project: "/r/project", Tmp: "/r/tmp"}})
	before := slices.Clone(spec.Argv)
	require.NoError(t, tuning.Apply(name, &spec))
	assert.Equal(t, before, adapter.Command(Request{Binary: name, Model: "m", Prompt: "do it", Token: "t", GatewayURL: "http://127.0.0.1:9", Enforced: true,
		Paths: Paths{Home: "/r/home", Project: "/r/project", Tmp: "/r/tmp"}}).Argv, "the adapter's own is not changed")
	return strings.Join(spec.Argv, " "), spec
}

// What a suite says of a client stands in its command line or its settings.
func TestTuning(t *testing.T) {
	for _, c := range []struct {
		name, client string
		tuning       Tuning
		has, lacks   []string
	}{
		{"J1 no permission mode", "claude", Tuning{}, nil, []string{"--permission-mode", "--allowed-tools"}},
		{"J1 permission mode", "claude", Tuning{PermissionMode: "plan"}, []string{"--permission-mode plan"}, []string{"bypassPermissions"}},
		{"J1 allowed tools and extra arguments", "claude", Tuning{AllowedTools: []string{"Bash(a*)", "Bash(b*)"}, ExtraArgs: []string{"--max-turns", "3"}},
			[]string{"--allowed-tools Bash(a*),Bash(b*),Skill --max-turns 3"}, nil},
		{"J1 the skill tool once", "claude", Tuning{AllowedTools: []string{"Skill", "Read"}}, []string{"--allowed-tools Skill,Read"}, []string{"Read,Skill"}},
		{"J1 an empty list", "claude", Tuning{AllowedTools: []string{}}, nil, []string{"--allowed-tools"}},
		{"J5 codex", "codex", Tuning{ExtraArgs: []string{"-c", "x=1"}}, []string{"exec --json", "--sandbox danger-full-access", "-c x=1 -"}, []string{"do it"}},
		{"copilot, all tools", "copilot", Tuning{}, []string{"--allow-all"}, []string{"--available-tools"}},
		{"copilot, some tools", "copilot", Tuning{AllowedTools: []string{"view"}},
			[]string{"--available-tools view,skill,report_intent --allow-tool view --allow-tool skill --allow-tool report_intent"}, []string{"--allow-all"}},
		{"opencode, no rules", "opencode", Tuning{}, []string{"--auto"}, nil},
		{"opencode, extra arguments", "opencode", Tuning{ExtraArgs: []string{"--agent", "plan"}}, []string{"--agent plan"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			argv, _ := tuned(t, c.client, c.tuning)
			for _, part := range c.has {
				assert.Contains(t, argv, part)
			}
			for _, part := range c.lacks {
				assert.NotContains(t, argv, part)
			}
		})
	}
	argv, spec := tuned(t, "opencode", Tuning{Permission: map[string]map[string]string{"webfetch": {"": "deny"}, "bash": {"*": "ask", "ls": "allow"}}})
	assert.NotContains(t, argv, "--auto")
	assert.JSONEq(t, `{"permission": {"external_directory": "deny", "webfetch": "deny", "bash": {"*": "ask", "ls": "allow"}}}`, spec.Env["OPENCODE_CONFIG_CONTENT"])
	_, spec = tuned(t, "opencode", Tuning{Permission: map[string]map[string]string{"external_directory": {"": "allow"}}})
	assert.JSONEq(t, `{"permission": {"external_directory": "allow"}}`, spec.Env["OPENCODE_CONFIG_CONTENT"])

	assert.ErrorContains(t, Tuning{AllowedTools: []string{"Read"}}.Apply("codex", &Spec{Argv: []string{"codex", "-"}}), "no allowed_tools")
	assert.ErrorContains(t, Tuning{}.Apply("clyde", &Spec{}), "cannot be tuned")
}
