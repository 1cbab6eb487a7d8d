//go:build unix

package treecopy

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A process of the trial that is still alive swaps a file and a directory for
// links and FIFOs while the tree is copied and read. Whatever is copied must be
// the tree's own content, and nothing may block.
func TestSwapsWhileCopying(t *testing.T) {
	src := tree(t, map[string]string{"f": "mine", "d/f": "mine"})
	outside := tree(t, map[string]string{"f": "secret"})
	aside := t.TempDir()
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		replacements := []func(at, target string) error{
			func(at, target string) error { return os.Symlink(target, at) },
			func(at, _ string) error { return syscall.Mkfifo(at, 0o600) },
		}
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			for name, target := range map[string]string{"f": filepath.Join(outside, "f"), "d": outside} {
				at, kept := filepath.Join(src, name), filepath.Join(aside, name)
				assert.NoError(t, os.Rename(at, kept))
				assert.NoError(t, replacements[i%2](at, target))
				assert.NoError(t, os.Remove(at))
				assert.NoError(t, os.Rename(kept, at))
			}
		}
	})
	copied, refused := 0, 0
	for i := 0; i < 300 || copied == 0 || refused == 0; i++ {
		dst := filepath.Join(t.TempDir(), "dst")
		rep, err := Copy(dst, src, CopyOptions{Options: Options{Untrusted: true}})
		require.NoError(t, err)
		copied += rep.Files
		refused += len(rep.Skipped)
		for name, content := range contents(t, dst) {
			if !strings.HasSuffix(name, "/") {
				require.Equal(t, "mine", content)
			}
		}
		for _, rel := range []string{"f", "d/f"} {
			if data, _, err := ReadFile(src, rel, 100); err == nil {
				require.Equal(t, "mine", string(data))
			}
		}
		require.NoError(t, os.RemoveAll(dst))
	}
	close(stop)
	swapper.Wait()
}
