// Package realtools gives tests the real programs Proctor stands on, as
// `proctor setup` installed them. A missing one fails the test and says how to
// get it: the guarantees are about the real parts, so a skipped test would
// prove nothing. Only -short, which asks for unit tests alone, skips. For tests
// only.
package realtools

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/internal/setup"
)

// located remembers what was found, since looking costs a few processes for each need.
var located struct {
	sync.Mutex
	byNeed map[setup.Need]*setup.Tools
}

// Locate returns the tools of the needs or fails the test with the fix.
func Locate(t testing.TB, needs ...setup.Need) *setup.Tools {
	t.Helper()
	if testing.Short() {
		t.Skip("-short keeps to unit tests; this one runs the real tools")
	}
	located.Lock()
	defer located.Unlock()
	all := &setup.Tools{ByName: map[string]setup.Tool{}}
	for _, need := range needs {
		tools := located.byNeed[need]
		if tools == nil {
			var err error
			tools, err = setup.Locate(t.Context(), setup.Options{}, need)
			require.NoError(t, err, "this test runs the real tools")
			if located.byNeed == nil {
				located.byNeed = map[setup.Need]*setup.Tools{}
			}
			located.byNeed[need] = tools
		}
		for name, tool := range tools.ByName {
			all.ByName[name] = tool
		}
		if tools.Toolchain != nil {
			all.Toolchain = tools.Toolchain
		}
	}
	return all
}

// SRTVendor is the folder of srt's own helper, which it runs inside the sandbox.
func SRTVendor(tools *setup.Tools) string {
	return filepath.Join(filepath.Dir(filepath.Dir(tools.ByName[setup.SRT].Path)), "vendor")
}

// ShortDir is a private folder with a short path, gone after the test: a socket's path holds 107
// bytes, and t.TempDir's may be longer.
func ShortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "pt-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
