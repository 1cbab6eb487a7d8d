//go:build linux

package grade

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/internal/realtools"
	"github.com/proctor-evals/proctor/internal/setup"
)

func TestFilledByOthers(t *testing.T) {
	for name, tt := range map[string]struct {
		before, after, own int64
		want               bool
	}{
		"room left":                        {100 << 20, 50 << 20, 1 << 20, false},
		"full, and the step wrote little":  {100 << 20, 0, 5 << 20, true},
		"full, and the step wrote it all":  {100 << 20, 0, 100 << 20, false},
		"full by one file with a hole":     {100 << 20, 0, 1 << 40, false},
		"nearly full, nothing was written": {20 << 20, 512 << 10, 0, true},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tt.want, filledByOthers(tt.before, tt.after, tt.own)) })
	}
}

// smallDisk names, in a test process of its own, the case it runs with its TMPDIR on a small disk.
const smallDisk = "PROCTOR_TEST_SMALL_DISK"

func TestSmallDisk(t *testing.T) {
	tools := realtools.Locate(t, setup.NeedSandbox, setup.NeedRust)
	for name, size := range map[string]string{"no room to begin": "12000000", "the submission fills it": "60000000"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := realtools.ShortDir(t)
			cmd := exec.CommandContext(t.Context(), tools.ByName[setup.Bubblewrap].Path, "--dev-bind", "/", "/", "--size", size, "--tmpfs", dir,
				"--die-with-parent", os.Args[0], "-test.run", "^TestOnASmallDisk$", "-test.v")
			cmd.Env = append(os.Environ(), smallDisk+"="+name, "TMPDIR="+dir)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			assert.Contains(t, string(out), "--- PASS: TestOnASmallDisk")
		})
	}
}

// TestOnASmallDisk is TestSmallDisk's other half.
func TestOnASmallDisk(t *testing.T) {
	name := os.Getenv(smallDisk)
	if name == "" {
		return // nothing of its own
	}
	in := newInput(t, map[string]string{"src/lib.rs": goodLib + `
#[cfg(test)]
mod fills {
    #[test]
    fn fills() {
        std::fs::write("../target/big", vec![1u8; 80 << 20]).unwrap();
    }
}
`})
	in.Task.Checks = in.Task.Checks[:1]
	got := Code(t.Context(), in)
	if name == "no room to begin" {
		assert.Contains(t, got.InfrastructureError, "the disk of the scratch is full")
		assert.Equal(t, result.Inconclusive, got.Overall)
		return
	}
	require.Empty(t, got.InfrastructureError)
	assert.Equal(t, result.Pass, got.Build)
	assert.Equal(t, result.Fail, got.CargoTestLib)
	log, err := os.ReadFile(filepath.Join(in.Out, "test-lib.stdout"))
	require.NoError(t, err)
	assert.Contains(t, string(log), "No space left")
}
