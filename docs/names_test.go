// Package docs_test checks that what the documentation names is there.
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

const repository = ".."

var (
	named     = regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z]\\w*)`")
	script    = regexp.MustCompile("`((?:engine|isolation|gotest|cli|docs|suites)_\\w+)`")
	anAttack  = regexp.MustCompile(`[Aa]ttacks? ((?:(?:,? and |, )?"[^"]+")+)`)
	quoted    = regexp.MustCompile(`"([^"]+)"`)
	defined   = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)[A-Z]\w*)\(`)
	guarantee = regexp.MustCompile(`(?i)guarantee: +"([^"]+)"`)
	row       = regexp.MustCompile(`(?m)^\| (\d+) \| ([^|]+) \| (.+) \|$`)
)

// pagesThatName are the pages whose claims rest on tests.
var pagesThatName = []string{"fault-log.md", "isolation.md", "agent-exam.md"}

// tests are all tests in the code.
func tests(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	err := filepath.WalkDir(repository, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(d.Name(), "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range defined.FindAllSubmatch(text, -1) {
			out[string(m[1])] = true
		}
		return err
	})
	require.NoError(t, err)
	return out
}

// guarantees are all lines of `proctor doctor -attack`.
func guarantees(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(repository, "harness", "attack", "*.go"))
	require.NoError(t, err)
	var out []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, m := range guarantee.FindAllSubmatch(text, -1) {
			out = append(out, string(m[1]))
		}
	}
	return out
}

// missing lists what a page names and is not there.
func missing(page string, tests map[string]bool, guarantees []string) []string {
	var out []string
	for _, m := range named.FindAllStringSubmatch(page, -1) {
		if !tests[m[1]] {
			out = append(out, m[1])
		}
	}
	for _, m := range script.FindAllStringSubmatch(page, -1) {
		if _, err := os.Stat(filepath.Join(repository, "testdata", "script", m[1]+".txtar")); err != nil {
			out = append(out, m[1])
		}
	}
	for _, m := range anAttack.FindAllStringSubmatch(page, -1) {
		for _, q := range quoted.FindAllStringSubmatch(m[1], -1) {
			// The last word may stand for several lines: "other trials …".
			begin, open := strings.CutSuffix(q[1], " …")
			found := false
			for _, g := range guarantees {
				found = found || g == q[1] || open && strings.HasPrefix(g, begin)
			}
			if !found {
				out = append(out, q[1])
			}
		}
	}
	return out
}

// TestWhatThePagesNameIsThere: a claim that names a test, a script or an attack names one that exists.
func TestWhatThePagesNameIsThere(t *testing.T) {
	known, attacks := tests(t), guarantees(t)
	require.Contains(t, known, "TestWhatThePagesNameIsThere")
	require.Greater(t, len(attacks), 25)
	for _, name := range pagesThatName {
		page, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Greater(t, len(named.FindAll(page, -1)), 10, name)
		assert.Empty(t, missing(string(page), known, attacks), name)
	}
	assert.Equal(t, []string{"TestNoSuchThing", "isolation_nothing", "no such line"},
		missing("`TestNoSuchThing`, `isolation_nothing`, `TestWhatThePagesNameIsThere`; attack \"no such line\"; attacks \"cargo-agents is not on PATH\" and \"other trials …\"", known, attacks))
}

// TestEveryFaultHasATestOrAReason: each row of the fault log names a test, a script or an attack, or
// says in bold that it is open or cannot arise.
func TestEveryFaultHasATestOrAReason(t *testing.T) {
	page, err := os.ReadFile("fault-log.md")
	require.NoError(t, err)
	rows := row.FindAllStringSubmatch(string(page), -1)
	seen := map[string]bool{}
	for _, r := range rows {
		assert.False(t, seen[r[1]], "row %s twice", r[1])
		seen[r[1]] = true
		names := named.MatchString(r[3]) || script.MatchString(r[3]) || anAttack.MatchString(r[3])
		reason := strings.Contains(r[3], "**Open:**") || strings.Contains(r[3], "**Cannot arise:**")
		assert.True(t, names || reason, "row %s names no test and gives no reason", r[1])
	}
	// The rows of C1, C2, C3 and C10, and of C9 what reports are about.
	for _, n := range strings.Fields("1 3 4 5 6 8 9 10 11 13 14 15 16 17 19 20 21 22 23 25 26 28 29 30 31 32 33 72 77 79 81") {
		assert.True(t, seen[n], "row %s is missing", n)
	}
}
