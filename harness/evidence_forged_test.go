//go:build linux

package harness_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
)

// asks makes the stand-in client ask the model for a turn, as a real one does: through the sandbox's
// proxy, with its key. The answer must come, or nothing was asked.
const asks = `ask() {
	endpoint=${ANTHROPIC_BASE_URL#http://} auth=${HTTP_PROXY#http://}
	auth=$(echo "${auth%@*}" | sed 's/%3D/=/g')
	body='{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}],"tools":[{"name":"Bash","description":"d","input_schema":{"type":"object"}}]}'
	printf 'POST /v1/messages HTTP/1.1\r\nHost: %s\r\nX-Api-Key: %s\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s' \
		"$endpoint" "$ANTHROPIC_API_KEY" ${#body} "$body" |
		socat -T 5 -,ignoreeof "PROXY:localhost:${endpoint%:*}:${endpoint#*:},proxyport=3128,proxyauth=$auth" | grep -q '"role":"assistant"' || exit 1
}
`

// forges writes all that Symposium leaves, with the true session and paths, and no tool call in the
// transcript says so: what an agent can do whose command does not tell what it does.
const forges = `forge() {
	(cd ../ev* && printf '{"agent":"claude","event":"%s","input":{"session_id":"s"},"output":{}}\n' SessionStart Stop >hook-trace.jsonl)
	root=$(pwd -P)
	state=$HOME/.symposium/cache/workspaces/$(basename "$root")-$(printf %s "$root" | sha256sum | cut -c1-8)
	mkdir -p "$state" .claude/skills/careful
	printf '{"last-sync-lock-mtime":null,"workspace-root":"%s"}' "$root" >"$state/state.json"
	cp ../registry/*/skills/careful/* .claude/skills/careful/
	: >.claude/skills/careful/.symposium
}
`

// TestForgedEvidence: evidence that the agent wrote by hand passes for nothing, since the runner
// looked before the model's first answer. What stood there by then holds, whatever the agent does.
func TestForgedEvidence(t *testing.T) {
	const pass, fail, open = result.Pass, result.Fail, result.Inconclusive
	type want struct{ sessionStart, sync, stop, installed, notInstalled result.Verdict }
	tests := []struct {
		name, script string
		want         want
		finding      bool
	}{
		{"honest", start + "ask\n" + end, want{pass, pass, pass, pass, pass}, false},
		{"all of it forged after the model's answer", "init\nask\nforge\nln -s /etc/passwd src/link\ndone_ok\n", want{open, open, pass, open, pass}, false},
		{"all of it forged between two turns", "init\nask\nforge\nask\nln -s /etc/passwd src/link\ndone_ok\n", want{open, open, open, open, pass}, false},
		{"the trace and the record taken away afterwards", start + "ask\nrm -r ../evidence/* ~/.symposium/cache\nln -s /etc/passwd src/link\ndone_ok\n", want{pass, pass, open, pass, pass}, true},
		{"another session's trace", start + "ask\nsed -i 's/\"s\"/\"other\"/' ../evidence/hook-trace.jsonl\n" + end, want{pass, pass, open, pass, pass}, true},
		{"an installed skill edited", start + "ask\necho more >>.claude/skills/careful/SKILL.md\n" + end, want{pass, pass, pass, open, pass}, false},
		{"an installed skill that is not expected, removed", start + "mkdir .claude/skills/absent; echo x >.claude/skills/absent/SKILL.md\nask\nrm -r .claude/skills/absent\n" + end, want{pass, pass, pass, pass, fail}, false},
		{"no hook, and nothing forged", "init\nask\nln -s /etc/passwd src/link\ndone_ok\n", want{fail, fail, fail, fail, pass}, false},
	}
	t.Parallel()
	s := newScripted(t, harness.Options{Configurations: []string{plan.WithSymposium}}, len(tests))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := s.trial(asks + forges + tt.script)
			require.Equal(t, result.Completed, r.Execution, r.ExecutionCause)
			require.Positive(t, r.Gateway.Turns, "the model was asked")
			x := r.Expectations
			require.NotNil(t, x)
			got := want{x.Sync.SessionStart, x.Sync.SyncRecorded, x.Hooks["Stop"], *x.Skills["careful"].Installed, *x.Skills["absent"].NotInstalled}
			assert.Equal(t, tt.want, got, x.Causes)
			found := false
			for _, f := range r.Findings {
				found = found || f.Kind == "hook_evidence"
			}
			assert.Equal(t, tt.finding, found, "%v", r.Findings)
		})
	}
}
