package harness

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/internal/redact"
)

func TestSecretsOfTheRunner(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(file, []byte("from-a-file-1\n"), 0o600))
	o := Options{Endpoints: map[string]EndpointOptions{client.APIOpenAI: {KeyFile: file}, client.APIAnthropic: {KeyFile: file + "-gone"}}}
	s := o.secrets([]string{
		"ANTHROPIC_API_KEY=value-number-1", "AWS_SECRET_ACCESS_KEY=value-number-2", "github_token=value-number-3", "NPM_AUTH=value-number-4",
		"PGPASSWORD_X=kept-number-1", "SSH_AUTH_SOCK=/run/agent-1", "EDITOR=kept-number-2", "MAX_TOKEN=12345678", "DB_PASSWORD=succeeded",
		"PROCTOR_KEY=kept-number-3", "SHORT_KEY=abc-1", "KEYBOARD=kept-number-4", "broken",
	})
	for text, removed := range map[string]bool{
		"value-number-1": true, "value-number-2": true, "value-number-3": true, "value-number-4": true, "from-a-file-1": true,
		"kept-number-1": false, "kept-number-2": false, "kept-number-3": false, "kept-number-4": false,
		"/run/agent-1": false, "12345678": false, "succeeded": false, "abc-1": false,
	} {
		if removed {
			assert.Equal(t, redact.Removed, s.Text(text))
		} else {
			assert.Equal(t, text, s.Text(text))
		}
	}
}
