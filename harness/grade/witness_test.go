package grade

import (
	"fmt"
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
			require.Len(t, a.stdin, 64)
			assert.NotEqual(t, a.stdin, b.stdin)
			assert.Contains(t, a.source, numbers(a.stdin[:32]), "the pass")
			assert.NotContains(t, a.source, numbers(a.stdin[32:]), "half of the token is not in the program")
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
		"src/lib.rs":         "/*\n// */ pub fn hidden() { std::process::exit(1) }\n#[no_mangle] pub fn f() { std::process::exit(0); std::process::exit(0) }\n",
		"src/odd\x1b[31m.rs": "#[path = \"/etc/x.rs\"] mod m;\n",
		"src/many.md":        strings.Repeat("asm!();\n", 100),
		"src/.cargo/config":  "x",
		"src/data.txt":       "process::abort()",
		"src/raw.bin":        "\x00\xff\x00 memcmp",
		"other/outside.rs":   "process::exit(0)",
	})
	got := suspicious(dir, []string{"src"})
	all := strings.Join(got, "\n")
	assert.Contains(t, all, `"src/lib.rs" line 3 takes a symbol's name: "no_mangle"`)
	assert.Equal(t, 1, strings.Count(all, `"src/lib.rs" line 3 ends the process: "process::exit"`))
	assert.Contains(t, all, `"src/lib.rs" line 2 ends the process`, "a block comment ends in a line that begins as a comment")
	assert.Contains(t, all, `"src/.cargo/config" steers the build`)
	assert.Contains(t, all, `"src/data.txt" line 1 ends the process: "process::abort"`, "any file can be taken in as code")
	assert.NotContains(t, all, "outside.rs")
	assert.NotContains(t, all, "\x1b")
	assert.Len(t, got, mostSuspicious+1, "bounded")
	assert.Regexp(t, `^and \d+ more$`, got[len(got)-1])
	assert.Empty(t, suspicious(write(t, t.TempDir(), map[string]string{"src/lib.rs": "pub fn value() -> i32 { 2 }\n"}), []string{"."}))
	// Data neither uses up the search of code nor goes unmentioned.
	big := map[string]string{"z.rs": "asm!()"}
	for i := range 5 {
		big[fmt.Sprintf("a%d.txt", i)] = strings.Repeat("x", maxSourceLooked)
	}
	assert.Equal(t, []string{`"z.rs" line 1 holds assembly: "asm"`, `"a3.txt" was not searched to its end`, `"a4.txt" was not searched to its end`}, suspicious(write(t, t.TempDir(), big), []string{"."}))
}

// Every spelling is found for what it is, and ordinary code is not.
func TestOddities(t *testing.T) {
	for what, texts := range map[string][]string{
		"takes a symbol's name":              {"#[no_mangle]", "#[unsafe(no_mangle)]", "#[export_name = \"memcmp\"]"},
		"has the name of what a check calls": {"extern \"C\" fn memcmp()", "fn bcmp("},
		"chooses a section of the program":   {"#[link_section = \".x\"]", "#[unsafe(link_section = \".init_array\")]", "#[ctor]", "#[ctor::ctor]"},
		"holds assembly":                     {"asm!(\"\")", "core::arch::global_asm !(\"\")", "use core::arch::asm as a;"},
		"calls what is not Rust":             {"libc::fork()", "extern \"C\" {", "unsafe extern {", "extern r#\"C\"# {", "extern\n\"C\" { fn fork() -> i32; }", "nix::unistd::fork()"},
		"looks at the running program":       {"std::env::args_os()", "env :: args ()", "use std::env::{args as a};", "use std::env::*;", "env/* x */::args", "std::env::current_exe()", "\"/proc/self/exe\"", "Path::new(\"/proc\").join(\"self\")", "root.join(\"proc\")", "\"/dev/fd/0\"", "\"self/mem\""},
		"holds unsafe code":                  {"unsafe { *p }", "unsafe\n{", "unsafe impl Send for X {}", "unsafe fn f()", "#[unsafe(no_mangle)]"},
		"handles all memory of the program":  {"#[global_allocator]", "impl std::alloc::GlobalAlloc for A"},
		"runs while it is compiled":          {"extern crate proc_macro;", "#[proc_macro]", "#[proc_macro_derive(A)]", "use proc_macro2::TokenStream;"},
		"starts or ends processes": {"Command::new(\"x\")", "<Command>::new(\"x\")", "<std::process::Command>::new", "std :: process :: Command", "use std::process as p;", "use std::{env, process};",
			"Command:: // x\nnew", "use std::os::unix::process::CommandExt;", ".exec()", "execve(", "posix_spawn(", "vfork()", "process::\n\nCommand"},
		"takes in code from another file":                {"include!(\"table.txt\");", "include ! [\"t\"]", "use std::include as i;", "core::include!(\"t\")", "#[path = \"part.rs\"] mod part;"},
		"takes in a file from elsewhere":                 {"include_str!(\"/etc/passwd\")", "include_bytes!(concat!(\"/etc\", \"/x\"))", "#[path = \"../x.rs\"]", "include_str!(r\"/etc/passwd\")", "#[path = r#\"/x.rs\"#]"},
		"takes a file for code that is none by its name": {"#[path = \"table.txt\"] mod t;", "#[path = \"x\"] mod t;", "#[cfg_attr(all(), path = \"data.json\")] mod t;", "#[ path\n= r\"a.rss\" ]", "#[path = \"brs\"]"},
		"catches or redirects panics":                    {"std::panic::update_hook(", "panic::catch_unwind("},
	} {
		for _, text := range texts {
			var found []string
			for _, o := range findOddities([]byte("\n" + text)) {
				found = append(found, fmt.Sprint(o.what, " in line ", o.line))
			}
			assert.Subset(t, found, []string{what + " in line 2"}, text)
		}
	}
	for _, text := range []string{
		"include_str!(\"table.txt\")", "let process = commands.execute(args);", "struct Command { args: Vec<String> }",
		"pub(crate) extern crate alloc;", "std::fs::read(path)?; // what to include in it", "fn included(path: &str) -> bool { path == \"x\" }", "let x = a.clone();", "#![forbid(unsafe_code)]", "let process_dir = processor(\"process\");", "// this is unsafe to say", "format!(\"tmp-{}\", std::process::id())",
	} {
		assert.Empty(t, findOddities([]byte(text)), text)
	}
}
