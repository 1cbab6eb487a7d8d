package harness_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/internal/setup"
)

var (
	sha256hex = regexp.MustCompile(`^[0-9a-f]{64}$`)
	// oneTimeToken is what the client has in place of a key; see gateway.Open.
	oneTimeToken = regexp.MustCompile(`sk-[0-9a-f]{48}`)
)

// recorded asserts that a trial's result names what ran, by version and content, and that nothing it
// keeps holds the key the client was given. It is part of what every healthy trial must show.
func recorded(t *testing.T, r *result.Trial, dir string) {
	t.Helper()
	assert.Equal(t, setup.SRTVersion, r.Isolation.SRTVersion, "the pinned sandbox")
	assert.Equal(t, "enforced", r.Isolation.Mode)
	assert.Regexp(t, sha256hex, r.Client.SHA256)
	assert.NotEmpty(t, r.Client.Version)
	assert.NotEmpty(t, r.Toolchain)
	for _, name := range []string{setup.Node, setup.SRT, setup.Bubblewrap, setup.Socat, setup.Ripgrep, setup.Cargo, setup.Rustc} {
		assert.Regexp(t, sha256hex, r.Tools[name].SHA256, name)
		assert.NotEmpty(t, r.Tools[name].Version, name)
	}
	if r.Configuration.Name == plan.WithSymposium {
		require.NotNil(t, r.Symposium)
		assert.Regexp(t, sha256hex, r.Symposium.SHA256)
		for _, f := range r.Findings {
			assert.NotEqual(t, "hook_evidence", f.Kind, f.Detail)
		}
	} else {
		assert.Nil(t, r.Symposium)
	}
	require.True(t, oneTimeToken.MatchString("sk-0123456789abcdef0123456789abcdef0123456789abcdef"))
	kept := 0
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		assert.False(t, oneTimeToken.Match(data), "%s holds the key", path)
		kept++
		return err
	}))
	assert.Greater(t, kept, 6)
}
