//go:build linux

package grade

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/result"
)

// vandal is a build script that writes wherever it can and leaves a process that replaces programs.
const vandal = `use std::{fs, process::{Command, Stdio}};
fn main() {
    let cargo_home = std::env::var("CARGO_HOME").unwrap();
    let exe = "[target.'cfg(all())']\nrunner = \"/bin/true\"\n";
    let _ = fs::create_dir_all(".cargo");
    let _ = fs::write(".cargo/config.toml", exe);
    let _ = fs::write(format!("{cargo_home}/config.toml"), exe);
    for entry in fs::read_dir("tests").unwrap() {
        let _ = fs::write(entry.unwrap().path(), "#[test] fn check() {}");
    }
    let _ = fs::write("../fixtures/base/src/lib.rs", "pub fn two() -> i32 { 2 }");
    Command::new("setsid").args(["/bin/sh", "-c", "while :; do for f in ../target/debug/deps/*; do [ -x $f ] && cp /bin/true $f; done; sleep 0.3; done", "MARKER"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
}
`

// editor is a build script that takes the assertion out of a check while the check is being compiled.
const editor = `use std::fs;
fn main() {
    for entry in fs::read_dir("tests").unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let _ = fs::write(&path, text.replace("assert_eq!(tiny::value(), 2)", ""));
    }
}
`

// forger is a test program that takes in the check's text as it is compiled, and prints its token.
const forger = `fn main() {
    let halves: Vec<Vec<u8>> = include_str!("../tests/value_is_two.rs").split("black_box([").skip(1).map(|p| p.split(']').next().unwrap().split(", ").map(|n| n.trim_end_matches("u8").parse().unwrap()).collect()).collect();
    let mut given = [0u8; 64];
    std::io::Read::read_exact(&mut std::io::stdin(), &mut given).unwrap();
    let token: String = halves[1].iter().zip(&given[32..]).map(|(a, b)| format!("{:02x}", a ^ b)).collect();
    println!("running 1 test\n{token}\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
}
`

// With editable_build the submission brings what Cargo runs and obeys. What would decide which
// program a check is, or runs in, is refused; the rest is listed, and cannot reach another step.
func TestHostileBuildFiles(t *testing.T) {
	t.Parallel()
	const pass, fail, skipped = result.Pass, result.Fail, result.Skipped
	const wrong = "pub fn value() -> i32 {\n    3\n}\n\npub fn extra() {}\n"
	manifest := starterFiles()["Cargo.toml"]
	tests := map[string]struct {
		files      map[string]string
		build      result.Verdict
		hidden     result.Verdict
		reason     string
		suspicious string
	}{
		"a runner for test programs":     {map[string]string{".cargo/config.toml": "[target.'cfg(unix)']\nrunner = [\"/bin/true\"]\n"}, fail, skipped, "decides what the grader runs", ".cargo/config.toml"},
		"a wrapper of the compiler":      {map[string]string{".cargo/config": "build.rustc-wrapper = \"./wrap\"\n"}, fail, skipped, "build.rustc-wrapper", ".cargo/config"},
		"another compiler":               {map[string]string{".cargo/config.toml": "[build]\nrustc = \"./rustc\"\n"}, fail, skipped, "build.rustc", ".cargo/config.toml"},
		"the check's target redirected":  {map[string]string{"Cargo.toml": manifest + "\n[[test]]\nname = \"value-is_two\"\npath = \"src/forged.rs\"\nharness = false\n", "src/forged.rs": "fn main() {}"}, fail, skipped, "declares the test target", "Cargo.toml"},
		"redirected in one line":         {map[string]string{"Cargo.toml": "test = [{ name = \"value_is_two\", path = \"src/forged.rs\", harness = false }]\n" + manifest, "src/forged.rs": forger}, fail, skipped, "declares the test target", "Cargo.toml"},
		"another package's target":       {map[string]string{"Cargo.toml": manifest + "\n[workspace]\nmembers = [\"own\"]\ndefault-members = [\"own\"]\n", "own/src/lib.rs": "", "own/src/forged.rs": strings.Replace(forger, "../tests", "../../tests", 1), "own/Cargo.toml": "[package]\nname = \"own\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[[test]]\nname = \"value_is_two\"\npath = \"src/forged.rs\"\nharness = false\n"}, fail, skipped, "default-members", "Cargo.toml"},
		"a crate in place of Rust's":     {map[string]string{"src/lib.rs": goodLib, "Cargo.toml": manifest + "own = { path = \"own\" }\n", "own/Cargo.toml": "[package]\nname = \"own\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\nname = \"proc_macro\"\n", "own/src/lib.rs": ""}, pass, fail, "which is Rust's own", "Cargo.toml"},
		"a build script runs each time":  {map[string]string{"src/lib.rs": goodLib, "build.rs": "fn main() { println!(\"cargo:rerun-if-changed=missing\"); }"}, pass, fail, "compiled the check anew", "build.rs"},
		"a runner in a large file":       {map[string]string{".cargo/config.toml": "target.'cfg(unix)'.runner = [\"/bin/true\"]\n#" + strings.Repeat("x", maxBuildFile) + "\n"}, fail, skipped, "cannot tell what", ".cargo/config.toml"},
		"no tests found by themselves":   {map[string]string{"src/lib.rs": goodLib, "Cargo.toml": strings.Replace(manifest, "edition", "autotests = false\nedition", 1)}, pass, fail, "exit code 101", "Cargo.toml"},
		"an environment variable":        {map[string]string{"src/lib.rs": wrong, ".cargo/config.toml": "[env]\nRUST_TEST_THREADS = \"1\"\n"}, pass, fail, "exit code 101", ".cargo/config.toml"},
		"a library for every program":    {map[string]string{".cargo/config.toml": "[env]\nLD_PRELOAD = \"./own.so\"\n"}, fail, skipped, "env.LD_PRELOAD", ".cargo/config.toml"},
		"a linker by flags":              {map[string]string{".cargo/config.toml": "[build]\nrustflags = [\"-Clinker=./own\"]\n"}, fail, skipped, "build.rustflags", ".cargo/config.toml"},
		"a build script edits the check": {map[string]string{"src/lib.rs": wrong, "build.rs": editor}, pass, fail, "exit code 101", "build.rs"},
		"another toolchain":              {map[string]string{"src/lib.rs": goodLib, "rust-toolchain.toml": "[toolchain]\nchannel = \"1.0\"\n"}, pass, pass, "", "rust-toolchain.toml"},
		"a fixture replaced by [patch]":  {map[string]string{"src/lib.rs": goodLib, "Cargo.toml": manifest + "\n[patch.\"../fixtures/base\"]\nbase = { path = \"own\" }\n", "own/src/lib.rs": "pub fn two() -> i32 { 3 }"}, fail, skipped, "exit code 101", "Cargo.toml"},
		"a fixture replaced by another":  {map[string]string{"src/lib.rs": goodLib, "Cargo.toml": strings.Replace(manifest, "../fixtures/base", "own", 1), "own/src/lib.rs": "pub fn two() -> i32 { 2 }", "own/Cargo.toml": "[package]\nname = \"base\"\nversion = \"0.1.0\"\n"}, pass, pass, "", "Cargo.toml"},
		"a build script vandalises":      {map[string]string{"src/lib.rs": wrong, "build.rs": vandal}, pass, fail, "", "build.rs"},
		"a build script reads the check": {map[string]string{"src/lib.rs": wrong, "build.rs": "fn main() { for e in std::fs::read_dir(\"tests\").unwrap() { let p = e.unwrap().path(); if !p.ends_with(\"existing.rs\") { println!(\"cargo::warning=seen {}\", p.display()); } } }"}, pass, fail, "exit code 101", "build.rs"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			marker := fmt.Sprintf("vandal-%d-%d", os.Getpid(), time.Now().UnixNano())
			files := maps.Clone(tt.files)
			if files["build.rs"] != "" {
				files["build.rs"] = strings.ReplaceAll(files["build.rs"], "MARKER", marker)
			}
			in := hostile(t, files, map[string]string{"value_is_two": valueCheck})
			in.Task.Editable, in.Task.EditableBuild = []string{"."}, true
			got := Code(t.Context(), in)
			require.Empty(t, got.InfrastructureError)
			log, _ := os.ReadFile(filepath.Join(in.Out, "build.stderr"))
			assert.Equal(t, tt.build, got.Build, "%v %s", got.Reasons, log)
			log, _ = os.ReadFile(filepath.Join(in.Out, "hidden-value_is_two-build.stderr"))
			assert.Equal(t, tt.hidden, got.Hidden["value_is_two"], "%v %s", got.Reasons, log)
			assert.Contains(t, fmt.Sprint(got.Reasons), tt.reason)
			assert.Contains(t, strings.Join(got.Suspicious, "\n"), tt.suspicious)
			procs, err := filepath.Glob("/proc/[0-9]*/cmdline")
			require.NoError(t, err)
			for _, p := range procs {
				cmdline, _ := os.ReadFile(p)
				assert.NotContains(t, string(cmdline), marker, "nothing of a step outlives it")
			}
		})
	}
}

// A procedural macro of the author's whose code the submission may change runs while a check is compiled.
// It cannot change the check, nor what the next launch obeys; that it is one is listed.
func TestHostileMacro(t *testing.T) {
	t.Parallel()
	in := hostile(t, map[string]string{
		"src/lib.rs": "macros::value!();\n",
		"macros/src/lib.rs": `#[proc_macro]
pub fn value(_: proc_macro::TokenStream) -> proc_macro::TokenStream {
    for entry in std::fs::read_dir("tests").into_iter().flatten() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let _ = std::fs::write(&path, text.replace("assert_eq!(tiny::value(), 2)", ""));
    }
    let _ = std::fs::create_dir(".cargo");
    let _ = std::fs::write(".cargo/config.toml", "[target.'cfg(unix)']\nrunner = \"/bin/true\"\n");
    let _ = std::fs::write("src/seen", "the author's build script may write where it likes but there");
    let wrote = std::path::Path::new("src/seen").exists();
    format!("pub fn value() -> i32 {{ 3 }} pub fn wrote() -> bool {{ {wrote} }}").parse().unwrap()
}
`}, map[string]string{"value_is_two": valueCheck, "zz_wrote": "#[test]\nfn check() {\n    assert!(tiny::wrote());\n}\n"})
	write(t, in.Task.Starter, map[string]string{
		"Cargo.toml":        starterFiles()["Cargo.toml"] + "macros = { path = \"macros\" }\n",
		"macros/Cargo.toml": "[package]\nname = \"macros\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\nproc-macro = true\n",
	})
	in.Task.Editable = []string{"src", "macros/src"}
	got := Code(t.Context(), in)
	require.Empty(t, got.InfrastructureError)
	log, _ := os.ReadFile(filepath.Join(in.Out, "build.stderr"))
	require.Equal(t, result.Pass, got.Build, "%s", log)
	assert.Equal(t, result.Fail, got.Hidden["value_is_two"])
	assert.Contains(t, got.Reasons["hidden-value_is_two"], "exit code 101")
	log, _ = os.ReadFile(filepath.Join(in.Out, "hidden-zz_wrote.stdout"))
	assert.Equal(t, result.Pass, got.Hidden["zz_wrote"], "%v %s", got.Reasons, log)
	assert.Contains(t, strings.Join(got.Suspicious, "\n"), "runs while it is compiled")
}
