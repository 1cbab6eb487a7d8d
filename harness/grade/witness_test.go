package grade

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/task"
)

// A check that is not exactly one test is its author's fault: nothing runs, and the error is none of
// the submission's.
func TestCheckAtFault(t *testing.T) {
	for name, tt := range map[string]struct{ src, want string }{
		"ignored":           {"#[test]\n#[ignore]\nfn check() {}\n", "an ignored test"},
		"two tests":         {"#[test]\nfn a() {}\n#[test]\nfn b() {}\n", "a second #[test]"},
		"two by a macro":    {"macro_rules! more { () => { #[test] fn b() {} } }\nmore!();\n#[test]\nfn a() {}\n", "a second #[test]"},
		"none":              {"fn check() {}\n", "no #[test]"},
		"left out":          {"#[cfg(any())]\n#[test]\nfn check() {}\n", "conditional"},
		"the file left out": {"#![cfg(any())]\n#[test]\nfn check() {}\n", "conditional"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "check.rs")
			require.NoError(t, os.WriteFile(file, []byte(tt.src), 0o644))
			g := &grading{Input: Input{OnStep: func(step string) { assert.Fail(t, "nothing may run", step) }}}
			_, err := g.hidden(t.Context(), task.Check{Name: "check", File: file})
			require.ErrorContains(t, err, "hidden check check: the check is at fault")
			assert.ErrorContains(t, err, tt.want)
		})
	}
}

func TestWitness(t *testing.T) {
	for name, src := range map[string]string{
		"plain":        "//! Doc\nuse a::b;\n\n#[test]\nfn check() {\n}\n",
		"should panic": "mod m {\n  #[should_panic(expected = \"x\")] // why\n  #[test]\n  fn check() {\n  }\n}\n",
		"one line":     "#[test] fn r#check() -> Result<(), String> { Ok(()) }",
		"CRLF":         "#[test]\r\nfn check() {\r\n}\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			a, err := witness(src)
			require.NoError(t, err)
			b, err := witness(src)
			require.NoError(t, err)
			assert.Regexp(t, "^[0-9a-f]{64}$", a.token)
			assert.NotEqual(t, a.token, b.token)
			assert.NotContains(t, a.source, a.token)
			assert.Equal(t, strings.Count(src, "\n"), strings.Count(a.source, "\n"), "lines keep their numbers")
			found, err := task.FindTest(a.source)
			require.NoError(t, err)
			assert.True(t, strings.HasPrefix(found.Name, "proctor_"), "the one test is the runner's")
		})
	}
}

func TestSuspicious(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"src/lib.rs":         "// std::process::exit(1) in a comment\npub fn ok() {}\n#[no_mangle] pub fn f() { std::process::exit(0) }\n",
		"src/odd\x1b[31m.rs": "#[path = \"/etc/x.rs\"] mod m;\n",
		"src/many.rs":        strings.Repeat("asm!();\n", 100),
		"src/.cargo/config":  "x",
		"src/data.txt":       "process::exit(0)",
		"other/outside.rs":   "process::exit(0)",
	})
	got := suspicious(dir, []string{"src"})
	all := strings.Join(got, "\n")
	assert.Contains(t, all, `"src/lib.rs" line 3 takes a symbol's name: "no_mangle"`)
	assert.Contains(t, all, `"src/lib.rs" line 3 ends the process: "process::exit"`)
	assert.NotContains(t, all, `lib.rs" line 1 ends`)
	assert.Contains(t, all, `"src/.cargo/config" steers the build`)
	assert.Contains(t, all, `"src/data.txt" line 1 ends the process`, "include! takes in any file")
	assert.NotContains(t, all, "outside.rs")
	assert.NotContains(t, all, "\x1b")
	assert.Len(t, got, mostSuspicious+1, "bounded")
	assert.Regexp(t, `^and \d+ more$`, got[len(got)-1])
	assert.Empty(t, suspicious(write(t, t.TempDir(), map[string]string{"src/lib.rs": "pub fn value() -> i32 { 2 }\n"}), []string{"."}))
}
