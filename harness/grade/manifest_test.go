package grade

import (
	"strings"
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

// What the grader cannot read is refused, since Cargo may read it; what is not there decides nothing.
func TestUnreadableBuildFiles(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"none":                           {nil, ""},
		"plain":                          {map[string]string{"Cargo.toml": "[package]\nname = \"x\"\n", ".cargo/config.toml": ""}, ""},
		"configuration too large":        {map[string]string{".cargo/config": "#" + strings.Repeat("x", maxBuildFile)}, "cannot tell what the submission's .cargo/config decides: \"it holds more than"},
		"configuration that is no TOML":  {map[string]string{".cargo/config.toml": "a = 1\rb = 2"}, "cannot tell what the submission's .cargo/config.toml decides"},
		"configuration that is a folder": {map[string]string{".cargo/config.toml/x": ""}, "cannot tell what the submission's .cargo/config.toml decides"},
		"manifest too large":             {map[string]string{"Cargo.toml": "#" + strings.Repeat("x", maxBuildFile)}, "cannot tell what the submission's Cargo.toml decides"},
		"manifest that is no TOML":       {map[string]string{"Cargo.toml": "a ="}, "cannot tell what the submission's Cargo.toml decides"},
		"tests in line":                  {map[string]string{"Cargo.toml": "test = [{ name = \"a\" }, { name = \"my-check\" }]\n[package]\nname = \"x\""}, `declares the test target "my-check"`},
		"another test in line":           {map[string]string{"Cargo.toml": "test = [{ name = \"a\" }]\n[package]\nname = \"x\""}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := &grading{Input: Input{Task: &task.Task{EditableBuild: true, Starter: t.TempDir(), Checks: []task.Check{{Name: "my_check"}}}}}
			got := g.steers(write(t, t.TempDir(), tt.files))
			if tt.want == "" {
				assert.Empty(t, got)
			} else {
				assert.Contains(t, got, tt.want)
			}
		})
	}
}

// The workspace's default packages stay the starter's: among them Cargo looks for the check.
func TestDefaultMembers(t *testing.T) {
	const plain, workspace, chosen, virtual = "[package]\nname = \"x\"\n", "[package]\nname = \"x\"\n[workspace]\nmembers = [\"a\"]\n", "[package]\nname = \"x\"\n[workspace]\ndefault-members = [\"a\"]\n", "[workspace]\nmembers = [\"a\"]\n"
	for _, tt := range []struct {
		starter, submission string
		refused             bool
	}{
		{plain, plain, false}, {plain, workspace, false}, {workspace, plain, false}, {chosen, chosen, false},
		{plain, chosen, true}, {workspace, chosen, true}, {chosen, workspace, true}, {plain, virtual, true},
	} {
		g := &grading{Input: Input{Task: &task.Task{EditableBuild: true, Starter: write(t, t.TempDir(), map[string]string{"Cargo.toml": tt.starter})}}}
		got := g.steers(write(t, t.TempDir(), map[string]string{"Cargo.toml": tt.submission}))
		assert.Equal(t, tt.refused, strings.Contains(got, "default-members"), "%q then %q: %s", tt.starter, tt.submission, got)
	}
}
