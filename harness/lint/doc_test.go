package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestReference holds docs/reference/task.md to the tests: each archive it names exists, and each
// archive that shows a problem is named.
func TestReference(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/task.md")
	require.NoError(t, err)
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`((?:task|lint)/[a-z-]+)`").FindAllStringSubmatch(string(page), -1) {
		named[m[1]] = true
	}
	archives := map[string]bool{}
	for _, pkg := range []string{"task", "lint"} {
		files, err := filepath.Glob("../" + pkg + "/testdata/problems/*.txtar")
		require.NoError(t, err)
		for _, f := range files {
			archives[pkg+"/"+strings.TrimSuffix(filepath.Base(f), ".txtar")] = true
		}
	}
	assert.NotEmpty(t, archives)
	assert.Equal(t, archives, named)
	for _, m := range regexp.MustCompile("`TestCheckBrokenTasks` \\(`([a-z-]+)`\\)").FindAllStringSubmatch(string(page), -1) {
		assert.DirExists(t, filepath.Join("../../testdata/broken/tasks", m[1]))
	}
}
