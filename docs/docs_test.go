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
		"hostile_test.go":       {"TestHostileCodeWhileACheckRuns", "TestHostileCodeElsewhere"},
		"hostile_build_test.go": {"TestHostileBuildFiles"},
		"copy_test.go":          {"TestInvalidSubmission"},
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

// Every row of the tables that compare with agent-exam names what holds it, or says that it is different or ours: a
// claim that nothing holds is none. The cases that the comparison is about have a row each.
func TestEveryRowIsHeld(t *testing.T) {
	data, err := os.ReadFile("agent-exam.md")
	require.NoError(t, err)
	rows := 0
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| case |") || strings.HasPrefix(line, "| row |") || strings.HasPrefix(line, "| attempt |") {
			continue
		}
		rows++
		held := namedTest.MatchString(line) || namedScript.MatchString(line) || strings.Contains(line, "different")
		assert.True(t, held, "nothing holds this row: %s", line)
	}
	assert.Greater(t, rows, 80)
	for _, group := range []string{"J1", "J2", "J3", "J5", "J6", "J7", "J8", "J9", "J11", "J13", "J14", "J15", "J17", "J19", "J20", "J21", "J23",
		"I1", "I2", "I4", "I6", "I8", "I9", "I10", "I11", "I12", "I13", "I14", "I15", "I18", "I19", "I21", "K1", "K2", "K4", "K6", "K7", "K10",
		"F1", "F2", "F3", "F5", "F6", "F7", "F8", "F10", "F11", "F12", "F13", "F14", "F16", "F17", "F18", "H1", "H2", "H3", "H6", "H8", "H10", "H11", "H12", "H13"} {
		assert.Regexp(t, `(?m)^\| ([A-Z]\d+ )*`+group+`\b`, string(data), "no row for %s", group)
	}
	for _, page := range []string{"B1", "B2", "B3", "B4", "B5", "B6", "B7", "B8", "B9", "B11", "B13", "B14", "B15", "B16", "B17", "B18", "B19", "B20", "B22", "B23", "B24",
		"C1", "C3", "C4", "C6", "C7", "C8", "C9", "C10", "C12", "C13", "C14", "C16", "C17", "D1", "D2", "D3", "D5", "D7"} {
		assert.Regexp(t, "[/, ]"+page+"[ ,]", string(data), "no row for %s", page)
	}
}
