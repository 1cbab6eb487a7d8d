package setup

import (
	"encoding/json"
	"os"
	"path/filepath"
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
		Codex:  {"@openai/codex": CodexVersion}, Copilot: {"@github/copilot": CopilotVersion},
		OpenCode: {"opencode-linux-x64": OpenCodeVersion},
	} {
		var manifest struct {
			Dependencies map[string]string `json:"dependencies"`
			Optional     map[string]string `json:"optionalDependencies"`
			Scripts      map[string]string `json:"scripts"`
		}
		require.NoError(t, json.Unmarshal(npmFile(name, "package.json"), &manifest))
		if manifest.Dependencies == nil {
			manifest.Dependencies = manifest.Optional
		}
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

// TestClientsAreLocked: the entry a recipe runs must be in a package the lock file knows, or the
// recipe says that the platform has none.
func TestClientsAreLocked(t *testing.T) {
	for _, need := range clientNeeds {
		lock := string(npmFile(string(need), "package-lock.json"))
		for _, goos := range []string{"linux", "darwin", "windows"} {
			for _, arch := range []string{"amd64", "arm64"} {
				for _, musl := range []bool{false, true} {
					root := t.TempDir()
					if musl {
						require.NoError(t, os.MkdirAll(filepath.Join(root, "lib"), 0o755))
						require.NoError(t, os.WriteFile(filepath.Join(root, "lib/ld-musl-x.so.1"), nil, 0o644))
					}
					in := &installation{host: &host{goos: goos, goarch: arch, root: root}, hashes: &hashes{}}
					r := in.recipes(need)[0]
					parts := strings.Split(r.entry, "/")
					pkg := strings.Join(parts[:2], "/")
					if strings.HasPrefix(parts[1], "@") {
						pkg = strings.Join(parts[:3], "/")
					}
					if need == NeedOpenCode && (goos != "linux" || arch != "amd64" || musl) {
						problems := r.tools(t.Context(), in, need)
						require.Len(t, problems, 1)
						assert.Contains(t, problems[0].What, "no package of opencode "+OpenCodeVersion)
						assert.Contains(t, problems[0].Fix, "PROCTOR_CLIENT_PATH")
						continue
					}
					assert.Contains(t, lock, `"`+pkg+`": {`)
				}
			}
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
