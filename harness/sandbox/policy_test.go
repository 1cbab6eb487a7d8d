package sandbox_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/sandbox"
)

func TestPolicyJSON(t *testing.T) {
	p := sandbox.Policy{
		DenyRead:  []string{"/root", "/home", "/root", `/with "quotes" & <tags>`},
		AllowRead: []string{"/home/run/project"}, AllowWrite: []string{"/home/run/tmp", "/home/run/project"},
		AllowedDomains: []string{"127.0.0.1:4711"},
	}
	got, err := p.JSON()
	require.NoError(t, err)
	want, err := os.ReadFile("testdata/policy.json")
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got))
	assert.Equal(t, "/root", p.DenyRead[0], "the caller's slices are left alone")

	// Equal policies are equal bytes; nothing is null, which srt would refuse.
	p.DenyRead = []string{`/with "quotes" & <tags>`, "/home", "/root"}
	again, err := p.JSON()
	require.NoError(t, err)
	assert.Equal(t, string(got), string(again))
	empty, err := sandbox.Policy{}.JSON()
	require.NoError(t, err)
	assert.NotContains(t, string(empty), "null")
}
