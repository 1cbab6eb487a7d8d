//go:build unix

package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The arms' policies differ by the registry and Symposium's tools and by nothing else.
func TestTrialPolicyIsAlikeInAllConfigurations(t *testing.T) {
	b := &Batch{Dir: "/s/b"}
	denied := []string{"/home", "/s"}
	readable := Readable{Toolchain: "/tc-of-test", SRTVendor: "/vendor-of-test"}
	for name, with := range map[string]bool{"without-symposium": false, "staged-skills": false, "with-symposium": true} {
		t.Run(name, func(t *testing.T) {
			r := &Run{Dir: "/s/b/r", HasRegistry: with}
			p := b.TrialPolicy(r, denied, readable, "127.0.0.1:9")
			writable := []string{"/s/b/r/cargo-home", "/s/b/r/evidence", "/s/b/r/home", "/s/b/r/project", "/s/b/r/tmp"}
			want := append(slices.Clone(writable), "/s/b/r/bin", "/s/b/r/fixtures", "/s/b/tools/common", "/tc-of-test", "/vendor-of-test")
			if with {
				want = append(want, "/s/b/r/registry", "/s/b/tools/symposium")
			}
			assert.ElementsMatch(t, want, p.AllowRead)
			assert.ElementsMatch(t, writable, p.AllowWrite)
			assert.Equal(t, denied, p.DenyRead)
			assert.Empty(t, p.DenyWrite)
			assert.Equal(t, []string{"127.0.0.1:9"}, p.AllowedDomains)
			assert.Empty(t, b.TrialPolicy(r, denied, readable, "").AllowedDomains)
		})
	}
}

func TestDeniedPaths(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	at := func(rel string) string { return filepath.Join(base, rel) }
	write(t, base, map[string]string{
		"repo/.git/HEAD": "ref", "repo/sub/evals/tasks/t/task.toml": "", "plain/evals/f": "", "scratch/f": "", "results/f": "", "cache/f": "", "extra/f": "",
		"bin1/cargo-agents": "", "bin2/other": "", "real/cargo-agents": "", "main/.git/HEAD": "", "main/.git/worktrees/wt/commondir": "../..\n",
		"wt/.git": "gitdir: " + at("main/.git/worktrees/wt") + "\n", "wt/evals/f": "", "super/.git/modules/m/HEAD": "", "super/m/.git": "gitdir: ../.git/modules/m\n", "odd/.git": "what?",
	})
	require.NoError(t, os.MkdirAll(at("bin3"), 0o755))
	require.NoError(t, os.Symlink(at("real/cargo-agents"), at("bin3/cargo-agents")))
	require.NoError(t, os.Symlink(at("extra"), at("extra-link")))
	paths := Denied{
		Scratch: at("scratch"), Evals: at("repo/sub/evals"), Results: at("results"), Cache: at("cache"),
		Extra:    []string{at("extra"), at("extra-link"), at("missing")},
		Searched: []string{at("bin1"), at("bin2"), at("bin3"), at("bin1"), ""},
	}.Paths()
	for _, want := range []string{"repo", "repo/sub/evals", "scratch", "results", "cache", "extra", "bin1/cargo-agents", "real/cargo-agents"} {
		assert.Contains(t, paths, at(want))
	}
	for _, not := range []string{"missing", "extra-link", "bin2/cargo-agents", "bin3/cargo-agents", "bin1", ""} {
		assert.NotContains(t, paths, at(not))
	}
	assert.NotContains(t, paths, "/")
	assert.Contains(t, paths, "/tmp")
	for _, p := range paths {
		assert.True(t, filepath.IsAbs(p), p)
	}
	sorted := slices.Sorted(slices.Values(paths))
	assert.Len(t, slices.Compact(sorted), len(paths), "each region once")

	for name, tt := range map[string]struct {
		evals string
		want  []string
	}{
		"a repository":        {"repo/sub/evals", []string{"repo"}},
		"no repository":       {"plain/evals", nil},
		"a linked worktree":   {"wt/evals", []string{"wt", "main/.git/worktrees/wt", "main/.git", "main"}},
		"a submodule":         {"super/m", []string{"super/m", "super/.git/modules/m"}},
		"something else .git": {"odd", []string{"odd"}},
	} {
		t.Run(name, func(t *testing.T) {
			var want []string
			for _, w := range tt.want {
				want = append(want, at(w))
			}
			got := checkouts(at(tt.evals))
			if want == nil {
				for _, g := range got { // the temporary folder may lie in a repository
					assert.NotContains(t, g, base)
				}
				return
			}
			assert.Equal(t, want, got)
		})
	}
	assert.Empty(t, checkouts(""))
}

// An empty entry of PATH is the current folder.
func TestDeniedPathsOfARelativeSearchPath(t *testing.T) {
	dir, err := filepath.EvalSymlinks(write(t, t.TempDir(), map[string]string{"cargo-agents": ""}))
	require.NoError(t, err)
	t.Chdir(dir)
	assert.Contains(t, Denied{Searched: []string{""}}.Paths(), filepath.Join(dir, "cargo-agents"))
}
