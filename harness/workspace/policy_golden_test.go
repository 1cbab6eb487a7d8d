//go:build unix

package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// machine is a system as far as a policy looks at it.
type machine struct {
	there []string
	links map[string]string
}

// resolve follows links in any part of a path, as the real one does.
func (m machine) resolve(path string) (string, bool) {
	if !filepath.IsAbs(path) {
		path = filepath.Join("/there", path)
	}
	for link, target := range m.links {
		if path == link || strings.HasPrefix(path, link+"/") {
			path = target + path[len(link):]
			break
		}
	}
	for _, p := range m.there {
		if p == path || strings.HasPrefix(p, path+"/") {
			return path, true
		}
	}
	return path, false
}

// The whole policy of a trial on each system, as srt reads it. The one for macOS was never run: it
// shows what would be.
func TestPolicyOfEachSystem(t *testing.T) {
	for _, tt := range []struct {
		goos, home, batch, toolchain string
		denied                       Denied
		checkouts                    []string
		machine                      machine
	}{
		{
			goos: "linux", home: "/home/dev", batch: "/var/tmp/proctor-1000/b-0", toolchain: "/home/dev/.rustup/toolchains/stable",
			denied: Denied{
				Scratch: "/var/tmp/proctor-1000", Evals: "/srv/repo/evals", Results: "/srv/repo/evals/results", Cache: "/home/dev/.cache/proctor",
				Extra: []string{"/data/answers", "/gone"}, Searched: []string{"/home/dev/.cargo/bin", "", "/usr/bin", "/tools"},
			},
			checkouts: []string{"/srv/repo"},
			machine: machine{there: []string{
				"/home/dev/.cargo/bin/cargo-agents", "/home/dev/.cache/proctor/npm", "/root", "/tmp", "/var/tmp/proctor-1000", "/run/user", "/media", "/usr/local/bin/cargo-agents",
				"/srv/repo/evals/results", "/data/answers", "/opt/symposium/cargo-agents",
			}, links: map[string]string{"/tools": "/opt/symposium"}},
		},
		{
			goos: "darwin", home: "/Users/dev", batch: "/private/var/tmp/proctor-501/b-0", toolchain: "/Users/dev/.rustup/toolchains/stable",
			denied: Denied{
				Scratch: "/var/tmp/proctor-501", Evals: "/Users/dev/src/repo/evals", Results: "/Users/dev/src/repo/evals/results", Cache: "/Users/dev/Library/Caches/proctor",
				Extra: []string{"/opt/answers"}, Searched: []string{"/opt/homebrew/bin", "/usr/bin"},
			},
			checkouts: []string{"/Users/dev/src/repo"},
			machine: machine{there: []string{
				"/Users/dev/src/repo/evals/results", "/Users/dev/Library/Caches/proctor", "/Volumes/Macintosh HD", "/private/tmp", "/private/var/tmp/proctor-501", "/private/var/folders/zz",
				"/private/var/root", "/opt/answers", "/opt/homebrew/bin/cargo-agents", "/home",
			}, links: map[string]string{"/tmp": "/private/tmp", "/var": "/private/var"}},
		},
	} {
		denied := tt.denied.paths(tt.goos, tt.home, tt.checkouts, tt.machine.resolve)
		b := &Batch{Dir: tt.batch}
		for name, with := range map[string]bool{"without": false, "with": true} {
			t.Run(tt.goos+" "+name, func(t *testing.T) {
				r := &Run{Dir: tt.batch + "/r", HasRegistry: with}
				got, err := b.TrialPolicy(r, denied, Readable{Toolchain: tt.toolchain, SRTVendor: filepath.Dir(tt.batch) + "/store/srt/vendor"}, "127.0.0.1:4711").JSON()
				require.NoError(t, err)
				golden := filepath.Join("testdata", "policy_"+tt.goos+"_"+name+".json")
				if os.Getenv("PROCTOR_UPDATE") != "" {
					require.NoError(t, os.MkdirAll("testdata", 0o755))
					require.NoError(t, os.WriteFile(golden, got, 0o644))
				}
				want, err := os.ReadFile(golden)
				require.NoError(t, err)
				assert.Equal(t, string(want), string(got))
			})
		}
	}
}
