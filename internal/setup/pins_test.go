package setup

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPins holds versions.go, the manifests and the lock files together.
func TestPins(t *testing.T) {
	for name, want := range map[string]map[string]string{
		SRT:    {"@anthropic-ai/sandbox-runtime": SRTVersion},
		Claude: {"@anthropic-ai/claude-code": ClaudeVersion},
	} {
		var manifest struct {
			Dependencies map[string]string `json:"dependencies"`
			Scripts      map[string]string `json:"scripts"`
		}
		require.NoError(t, json.Unmarshal(npmFile(name, "package.json"), &manifest))
		assert.Equal(t, want, manifest.Dependencies, "exact versions, in %s", name)
		assert.Empty(t, manifest.Scripts)

		lock := npmFile(name, "package-lock.json")
		assert.NotContains(t, string(lock), "resolved", "no address in %s's lock file", name)
		assert.NotContains(t, string(lock), "registry", "no address in %s's lock file", name)
		var parsed struct {
			LockfileVersion int `json:"lockfileVersion"`
			Packages        map[string]struct {
				Version   string `json:"version"`
				Integrity string `json:"integrity"`
			} `json:"packages"`
		}
		require.NoError(t, json.Unmarshal(lock, &parsed))
		assert.Equal(t, 3, parsed.LockfileVersion)
		for path, p := range parsed.Packages {
			if path != "" {
				assert.True(t, strings.HasPrefix(p.Integrity, "sha512-"), "%s in %s has no integrity", path, name)
			}
		}
		for dep, version := range want {
			assert.Equal(t, version, parsed.Packages["node_modules/"+dep].Version)
		}
	}
}

// TestClaudeIsLockedForEveryPlatform: the entry a recipe runs must be in a
// package the lock file knows.
func TestClaudeIsLockedForEveryPlatform(t *testing.T) {
	lock := string(npmFile(Claude, "package-lock.json"))
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			in := &installation{host: &host{goos: goos, goarch: arch, root: t.TempDir()}}
			r := in.recipes(NeedClaude)[0]
			pkg := r.entry[:strings.LastIndex(r.entry, "/")]
			assert.Contains(t, lock, `"`+pkg+`": {`)
		}
	}
}

func TestCargoProgress(t *testing.T) {
	p := &cargoProgress{}
	for _, step := range []struct{ line, want string }{
		{"", "starting"},
		{"    Updating crates index", "updating"},
		{" Downloading crates ...", "downloading"},
		{"   Compiling libc v0.2.180", "compiling: libc"},
		{"    Building [====>      ] 123/319: serde, syn(build)", "compiling, 123 of 319: libc"},
		{"   Compiling syn v2.0.1", "compiling, 123 of 319: syn"},
		{"warning: unused variable \x1b[31m", "compiling, 123 of 319: syn"},
		{"    Building [=====>     ] 124/319: syn", "compiling, 124 of 319: syn"},
		{"    Finished `release` profile [optimized] target(s) in 2m", "compiling, 124 of 319: syn"},
		{"  Installing somewhere/bin/cargo-agents", "installing"},
	} {
		p.line(step.line)
		assert.Equal(t, step.want, p.status(), "after %q", step.line)
	}
}

func FuzzCargoProgress(f *testing.F) {
	f.Add("    Building [====>      ] 123/319: serde, syn(build)", "   Compiling syn v2.0.1")
	f.Add("   Compiling \x1b[31m v1", "Building [ ] 999999/1: x")
	f.Fuzz(func(t *testing.T, a, b string) {
		p := &cargoProgress{}
		for _, line := range []string{a, b, a} {
			p.line(line)
			s := p.status()
			if len(s) > 120 || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Fatalf("%q gives the status %q", line, s)
			}
		}
	})
}
