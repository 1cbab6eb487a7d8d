// Package docs_test holds the reference pages against the code.
package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	namedTest   = regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w*)(?:/([^`]+))?`")
	namedScript = regexp.MustCompile("`((?:cli|docs|engine|gotest|isolation|suites)_\\w+)`")
	testFunc    = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

// Every test that a reference page names is there, and so are the named rows of its table. A page
// that names none would not be held to anything.
func TestNamedTestsExist(t *testing.T) {
	sources := map[string]string{} // test function -> the text of its files
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && (name == "results" || name == "runs" || strings.HasPrefix(name, ".") && name != "..") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range testFunc.FindAllStringSubmatch(string(data), -1) {
			sources[m[1]] += string(data)
		}
		return nil
	})
	require.NoError(t, err)
	for _, page := range []string{"reference/outcomes.md", "reference/hostile-submissions.md", "agent-exam.md"} {
		t.Run(page, func(t *testing.T) {
			data, err := os.ReadFile(filepath.FromSlash(page))
			require.NoError(t, err)
			named := namedTest.FindAllStringSubmatch(string(data), -1)
			assert.Greater(t, len(named), 10)
			for _, m := range named {
				if assert.Contains(t, sources, m[1]) && m[2] != "" {
					assert.Contains(t, sources[m[1]], `"`+m[2]+`"`, "a row of %s", m[1])
				}
			}
			for _, m := range namedScript.FindAllStringSubmatch(string(data), -1) {
				assert.FileExists(t, filepath.Join("..", "testdata", "script", m[1]+".txtar"))
			}
		})
	}
}

// Each table of the hostile submissions has its rows on the page, so that none is left out.
func TestHostileSubmissionsAreDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("reference", "hostile-submissions.md"))
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^\t\t"([^"]+)":\s+\{`)
	for file, tests := range map[string][]string{
		"hostile_test.go": {"TestHostileCodeWhileACheckRuns", "TestHostileCodeElsewhere", "TestHostileBuildFiles"},
		"copy_test.go":    {"TestInvalidSubmission"},
	} {
		data, err := os.ReadFile(filepath.Join("..", "harness", "grade", file))
		require.NoError(t, err)
		for _, test := range tests {
			_, body, ok := strings.Cut(string(data), "func "+test+"(")
			require.True(t, ok, test)
			body, _, _ = strings.Cut(body, "\n}\n")
			found := rows.FindAllStringSubmatch(body, -1)
			require.Greater(t, len(found), 5, test)
			for _, m := range found {
				assert.Contains(t, string(page), "`"+test+"/"+m[1]+"`")
			}
		}
	}
}
