package harness

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLimitsOfProctorToml(t *testing.T) {
	for name, tt := range map[string]struct {
		text  string
		given Options
		want  Options
		says  []string
	}{
		"none": {"", Options{}, Options{}, nil},
		"all": {"[limits]\noutput_bytes = 1\ndisk_bytes = 2\nfiles = 9223372036854775807\n", Options{},
			Options{MaxOutput: 1, MaxDisk: 2, MaxFiles: 1<<63 - 1}, nil},
		"the caller's go first": {"[limits]\ndisk_bytes = 2\nfiles = 3\n", Options{MaxDisk: 7}, Options{MaxDisk: 7, MaxFiles: 3}, nil},
		"all that is wrong, at once": {"[limits]\noutput_bytes = 0\ndisk_bytes = -1\nfiles = 0\ndisks = 1\n", Options{}, Options{},
			[]string{"proctor.toml:2:1: limits.output_bytes must be", "proctor.toml:3:1: limits.disk_bytes must be", "proctor.toml:4:1: limits.files must be", `unknown key "limits.disks"`, "limits.disk_bytes, limits.files"}},
		"a text":       {"[limits]\ndisk_bytes = \"20G\"\n", Options{}, Options{}, []string{"proctor.toml", "disk_bytes"}},
		"a fraction":   {"[limits]\nfiles = 1.5\n", Options{}, Options{}, []string{"proctor.toml", "files"}},
		"out of range": {"[limits]\nfiles = 9223372036854775808\n", Options{}, Options{}, []string{"proctor.toml"}},
		"not a table":  {"limits = 1\n", Options{}, Options{}, []string{"proctor.toml", "limits"}},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), ConfigFile)
			require.NoError(t, os.WriteFile(file, []byte(tt.text), 0o644))
			o := tt.given
			err := o.mergeFile(file)
			if tt.says == nil {
				require.NoError(t, err)
				assert.Equal(t, tt.want, o)
				return
			}
			require.Error(t, err)
			for _, want := range tt.says {
				assert.ErrorContains(t, err, want)
			}
		})
	}
}
