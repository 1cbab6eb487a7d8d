package grade

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/proctor-evals/proctor/harness/task"
)

func TestSteeringConfiguration(t *testing.T) {
	for text, want := range map[string]string{
		"build.rustflags = [\"-Clinker=./own\"]":                      "build.rustflags",
		"[build]\nrustflags = \"-C linker=./own\"":                    "build.rustflags",
		"build.rustdocflags = [\"-L.\"]":                              "build.rustdocflags",
		"[target.x86_64-unknown-linux-gnu]\nrustflags = [\"-L.\"]":    "target.x86_64-unknown-linux-gnu.rustflags",
		"[target.'cfg(target_os = \"a.b\")']\nrustflags = [\"-L.\"]":  `target.cfg(target_os = \"a.b\").rustflags`,
		"host.rustflags = [\"-L.\"]":                                  "host.rustflags",
		"[host.x86_64-unknown-linux-gnu]\nlinker = \"./own\"":         "host.x86_64-unknown-linux-gnu.linker",
		"[target.x.native]\nrustc-link-arg = [\"-B.\"]":               "target.x.native.rustc-link-arg",
		"[env]\nRUSTFLAGS = \"-Clinker=./own\"":                       "env.RUSTFLAGS",
		"env.RUSTFLAGS = { value = \"./own\", force = true }":         "env.RUSTFLAGS",
		"[env]\nCARGO_ENCODED_RUSTFLAGS = \"\"":                       "env.CARGO_ENCODED_RUSTFLAGS",
		"[env]\nCARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER = \"x\"": "env.CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER",
		"[env]\nPATH = { value = \"bin\", relative = true }":          "env.PATH",
		"[env]\nLD_PRELOAD = \"./own.so\"":                            "env.LD_PRELOAD",
		"[env]\nRUSTC_WRAPPER = \"./own\"":                            "env.RUSTC_WRAPPER",
		"include = \"other.toml\"":                                    "include",
		// What decides nothing.
		"[env]\nRUST_TEST_THREADS = \"1\"\nGREETING = \"PATH\"": "",
		"build.rustflags = [\"-Ctarget-cpu=native\"]":           "",
		"[build]\njobs = 1\nincremental = false":                "",
		"[profile.dev]\nopt-level = 1\n[term]\nquiet = true":    "",
		"[target.x]\nnot-rustflags = []\n[net]\noffline = true": "",
	} {
		for _, file := range []string{".cargo/config.toml", ".cargo/config"} {
			dir := write(t, t.TempDir(), map[string]string{file: text})
			g := &grading{Input: Input{Task: &task.Task{EditableBuild: true}}}
			got := g.steers(dir)
			if want == "" {
				assert.Empty(t, got, text)
			} else {
				assert.Equal(t, "the submission's "+file+` sets "`+want+`", which decides what the grader runs`, got, text)
			}
			g.Task.EditableBuild = false
			assert.Empty(t, g.steers(dir), "not the submission's")
		}
	}
}
