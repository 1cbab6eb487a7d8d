package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCheckBrokenTasks compares what the file checks say of the broken tasks, all in one go, with
// testdata/broken/expected.txt. PROCTOR_UPDATE=1 rewrites it.
func TestCheckBrokenTasks(t *testing.T) {
	const root = "../../testdata/broken"
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{"check", "-static", "-evals", root}, &stdout, &stderr)
	assert.Equal(t, exitGated, code)
	assert.Empty(t, stderr.String())
	golden := filepath.Join(root, "expected.txt")
	if os.Getenv("PROCTOR_UPDATE") != "" {
		require.NoError(t, os.WriteFile(golden, stdout.Bytes(), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, strings.ReplaceAll(string(want), "\r\n", "\n"), stdout.String())

	// Each task but these has a problem of its own, in its own folder or in what it names.
	inSandbox := []string{"good", "solution-fails", "starter-passes"}
	tasks, err := fs.Glob(os.DirFS(root), "tasks/*")
	require.NoError(t, err)
	assert.Greater(t, len(tasks)-len(inSandbox), 12)
	for _, task := range tasks {
		name := filepath.Base(task)
		line := "problems  " + name
		for _, ok := range inSandbox {
			if name == ok {
				line = "ok        " + name
			}
		}
		assert.Contains(t, stdout.String(), "\n"+line, "task %s", name)
	}
}

// TestCheckOfAllRoots keeps this repository's own tasks and the tests' regression task free of
// problems in their files.
func TestCheckOfAllRoots(t *testing.T) {
	for _, root := range []string{"../..", "../../testdata/regression"} {
		var stdout, stderr bytes.Buffer
		assert.Equal(t, exitOK, run(t.Context(), []string{"check", "-static", "-evals", root}, &stdout, &stderr), "%s", stdout.String()+stderr.String())
	}
}
