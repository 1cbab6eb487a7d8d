package docs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/proctor-evals/proctor/harness"
)

// The ready workflow is YAML that names only commands and variables there are.
func TestWorkflow(t *testing.T) {
	text, err := os.ReadFile("ci/github.yml")
	require.NoError(t, err)
	var doc struct {
		Jobs map[string]struct {
			Steps []struct {
				Uses, Run string
				Env       map[string]string
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &doc))
	known := map[string]bool{}
	for _, v := range harness.Variables {
		known[v.Name] = true
	}
	source, err := os.ReadFile("../cmd/proctor/commands.go")
	require.NoError(t, err)
	commands := 0
	for _, step := range doc.Jobs["exams"].Steps {
		assert.True(t, (step.Uses == "") != (step.Run == ""))
		for _, m := range regexp.MustCompile(`(?m)(?:^|\$\()\s*proctor ([a-z-]+)`).FindAllStringSubmatch(step.Run, -1) {
			commands++
			assert.True(t, strings.Contains(string(source), `{name: "`+m[1]+`"`), m[1])
		}
	}
	assert.Greater(t, commands, 4)
	for _, name := range regexp.MustCompile(`PROCTOR_\w+`).FindAllString(string(text), -1) {
		assert.True(t, known[name], name)
	}
	assert.NotContains(t, strings.ToLower(string(text)), "pull_request_target", "a fork's code must not see the key")
}
