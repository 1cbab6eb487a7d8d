//go:build linux

package grade

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/task"
)

// hostile is a grading with hidden checks of its own and no format check.
func hostile(t *testing.T, changes, checks map[string]string) Input {
	t.Helper()
	in := newInput(t, changes)
	in.Task.FmtCheck, in.Task.Checks = false, nil
	in.Task.Deadlines.Grading = time.Minute
	dir := t.TempDir()
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		file := filepath.Join(dir, name+".rs")
		require.NoError(t, os.WriteFile(file, []byte(checks[name]), 0o644))
		in.Task.Checks = append(in.Task.Checks, task.Check{Name: name, File: file})
	}
	in.Denied = append(in.Denied, dir)
	return in
}

// forged is Rust that prints what the test harness would print of one passed test.
const forged = `{ use std::io::Write; let mut out = std::io::stdout(); let _ = out.write_all(b"\nrunning 1 test\ntest check ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n"); let _ = out.flush(); }`

// Code that ends, replaces, floods or deceives the process its check runs in. Every check fails in
// its last line, so whatever passes was forged.
func TestHostileCodeWhileACheckRuns(t *testing.T) {
	t.Parallel()
	shell := func(script string) string {
		return fmt.Sprintf(`let _ = std::process::Command::new("/bin/sh").args(["-c", %q]).env("CARGO_PID", std::os::unix::process::parent_id().to_string()).status();`, script)
	}
	tests := map[string]struct{ body, reason string }{
		"forge_and_exit":       {forged + `std::process::exit(0)`, "1 test runs in the output|2 test runs"},
		"forge_result_alone":   {`println!(""); { use std::io::Write; let _ = std::io::stdout().write_all(b"\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n"); } std::process::exit(0)`, "not seen to reach its end"},
		"hook_exits":           {`std::panic::set_hook(Box::new(|_| std::process::exit(0)));`, "no test result was printed"},
		"hook_forges":          {`std::panic::set_hook(Box::new(|_| { use std::io::Write; let _ = std::io::stdout().write_all(b"\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n"); std::process::exit(0) }));`, "not seen to reach its end"},
		"lists_instead":        {`{ use std::os::unix::process::CommandExt; let _ = std::process::Command::new(std::env::current_exe().unwrap()).arg("--list").exec(); }`, "no test result was printed"},
		"kills_cargo":          {shell("kill -9 $CARGO_PID; sleep 1"), "exit code"},
		"kills_all":            {shell("kill -9 -1"), "exit code"},
		"prints_later":         {shell("(setsid /bin/sh -c 'sleep 1; echo test result: ok. 1 passed' &) "), "exit code 101"},
		"floods":               {`{ use std::io::Write; let line = [b'x'; 1 << 16]; let mut out = std::io::stdout(); loop { let _ = out.write_all(&line); } }`, "printed more than"},
		"reads_the_check":      {readsToken, "not seen to reach its end"},
		"rewrites_the_copy":    {`let _ = std::fs::write("src/lib.rs", "pub fn floods() {}"); let _ = std::fs::write("tests/floods.rs", "#[test] fn a() {}"); std::process::exit(0)`, "no test result was printed"},
		"leaves_by_unwinding":  {`std::panic::resume_unwind(Box::new(()));`, "exit code 101"},
		"waits_for_a_debugger": {`while !std::fs::read_to_string("/proc/self/status").unwrap().contains("TracerPid:\t9") { std::thread::sleep(std::time::Duration::from_millis(50)); }`, "not finished after"},
	}
	var lib strings.Builder
	// The panic's value is dropped after the check is over.
	lib.WriteString("pub struct Forges;\nimpl Drop for Forges {\n    fn drop(&mut self) {\n        use std::io::Write; let _ = std::io::stdout().write_all(b\"\\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\\n\"); std::process::exit(0)\n    }\n}\n" +
		"pub fn panics_with_a_destructor() {\n    std::panic::panic_any(Forges)\n}\n")
	lib.WriteString(goodLib + "#[macro_export] macro_rules! assert_eq { ($($t:tt)*) => {} }\n")
	// Whoever learns what is expected this way returns it, and the check passes.
	lib.WriteString("pub fn asks_the_check() -> i32 {\n" + asksTheCheck + "\n}\n")
	halves := []map[string]string{{
		// Positive controls: after all that is below, checks that hold pass, each kind of them.
		"zz_good":    "#[test]\nfn check() -> Result<(), String> {\n    (tiny::value() == 2).then_some(()).ok_or_else(|| \"two\".into())\n}\n",
		"zz_equals":  "#[should_panic = \"right (one) = [two]\"]\n#[test]\nfn check() {\n    panic!(\"the {} (one) = [two]\", \"right\")\n}\n",
		"zz_comment": "#[test]\n#[should_panic(\n    expected = r#\"a \"right\" one\"#, // why\n)]\nfn check() {\n    panic!(\"a \\\"right\\\" one\")\n}\n",
		"zz_any":     "#[test]\n#[should_panic]\nfn check() {\n    tiny::panics_with_a_destructor();\n}\n",
		"zz_panics":  "mod inner {\n    #[test]\n    #[should_panic(expected = \"the right one\")]\n    fn check() {\n        panic!(\"the right one\")\n    }\n}\n",
	}, {
		"wrong":   "#[test]\n#[should_panic(expected = \"the right one\")]\nfn check() {\n    panic!(\"another\")\n}\n",
		"payload": "#[test]\n#[should_panic(expected = \"the right one\")]\nfn check() {\n    tiny::panics_with_a_destructor();\n}\n",
		"quiet":   "#[test]\n#[should_panic]\nfn check() {\n    tiny::value();\n}\n",
		"asks":    "#[test]\nfn check() {\n    assert_eq!(tiny::asks_the_check(), 424_242);\n}\n",
		// A check and its library may start other programs; standard input is at its end.
		"zz_starts": "#[test]\nfn check() {\n    let out = std::process::Command::new(\"/bin/sh\").args([\"-c\", \"cat; echo said\"]).stdin(std::process::Stdio::inherit()).output().unwrap();\n    std::assert_eq!(out.stdout, b\"said\\n\");\n    std::assert_eq!(std::io::read_to_string(std::io::stdin()).unwrap(), \"\");\n}\n",
		"err":       "#[test]\nfn check() -> Result<(), String> {\n    Err(\"no\".into())\n}\n",
		"macros":    "use tiny::*;\n#[test]\nfn check() {\n    assert_eq!(value(), 3);\n}\n",
		"zz_good":   "#[test]\nfn check() {\n    assert!(tiny::value() == 2);\n}\n",
	}}
	for i, name := range slices.Sorted(maps.Keys(tests)) {
		fmt.Fprintf(&lib, "#[allow(unreachable_code)]\npub fn %s() {\n%s\n}\n", name, tests[name].body)
		halves[i%2][name] = "#[test]\nfn check() {\n    tiny::" + name + "();\n    panic!(\"the check fails\");\n}\n"
	}
	for i, checks := range halves {
		t.Run(fmt.Sprint("half ", i), func(t *testing.T) {
			t.Parallel()
			in := hostile(t, map[string]string{"src/lib.rs": lib.String()}, checks)
			in.OnStep = func(step string) {
				in.Task.Deadlines.Grading = time.Minute
				if step == "hidden-waits_for_a_debugger" {
					in.Task.Deadlines.Grading = 4 * time.Second
				}
			}
			got := Code(t.Context(), in)
			require.Empty(t, got.InfrastructureError)
			build, err := os.ReadFile(filepath.Join(in.Out, "build.stderr"))
			require.NoError(t, err)
			require.Equal(t, result.Pass, got.Build, "%s", build)
			for name := range checks {
				reason := got.Reasons["hidden-"+name]
				switch {
				case strings.HasPrefix(name, "zz_"):
					assert.Equal(t, result.Pass, got.Hidden[name], "%s: %s", name, reason)
				case name == "waits_for_a_debugger":
					assert.Equal(t, result.Timeout, got.Hidden[name], name)
				default:
					assert.Equal(t, result.Fail, got.Hidden[name], name)
				}
				assert.Regexp(t, tests[name].reason, reason, name)
			}
			suspicious := strings.Join(got.Suspicious, "\n")
			for _, want := range []string{"ends the process", "redirects panics", "looks at the running program", "starts or ends processes", "prints what a test harness prints", "replaces standard macros"} {
				assert.Contains(t, suspicious, want)
			}
		})
	}
}

// asksTheCheck starts the check's own program again, and reads what it expects out of its failure.
const asksTheCheck = `
if std::env::var_os("ASKED").is_some() { return 0; }
for input in ["".into(), "x".repeat(64)] {
    let mut child = <std::process::Command>::new(std::env::args_os().next().unwrap());
    child.env("ASKED", "1").arg("--nocapture").stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = child.spawn().unwrap();
    { use std::io::Write; let _ = child.stdin.take().unwrap().write_all(input.as_bytes()); }
    let out = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    eprintln!("asked: {said}");
    if let Some(right) = said.split("right: ").nth(1) { return right.lines().next().unwrap().trim().parse().unwrap(); }
}
-1`

// readsToken looks for the witness in the check's source, and forges with what it finds.
const readsToken = `
for entry in std::fs::read_dir("tests").unwrap() {
    let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
    let halves: Vec<Vec<u8>> = text.split("black_box([").skip(1).map(|p| p.split(']').next().unwrap().split(", ").map(|n| n.trim_end_matches("u8").parse().unwrap()).collect()).collect();
    if halves.len() == 2 {
        let token: String = halves[0].iter().zip(&halves[1]).map(|(a, b)| format!("{:02x}", a ^ b)).collect();
        use std::io::Write;
        let _ = writeln!(std::io::stdout(), "\n{token}");
    }
}
{ use std::io::Write; let _ = std::io::stdout().write_all(b"\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n"); }
std::process::exit(0)`

// What acts before the first line of a check, or while the submission is compiled.
func TestHostileCodeElsewhere(t *testing.T) {
	t.Parallel()
	const pass, fail, skipped = result.Pass, result.Fail, result.Skipped
	const wrong = "pub fn value() -> i32 {\n    3\n}\n\npub fn extra() {}\n"
	const constructor = wrong + `
#[used]
#[link_section = ".init_array"]
static FIRST: extern "C" fn() = first;
extern "C" fn first() ` + "{ " + forged + " std::process::exit(0) }\n"
	check := func(in *Input) string { return in.Task.Checks[0].File }
	tests := map[string]struct {
		lib        string
		with       func(in *Input) string // when given, the library
		files      map[string]string
		build      result.Verdict
		hidden     result.Verdict
		reason     string // of the step that failed first
		suspicious string
		check      string // in place of the usual one
	}{
		"a constructor forges and exits":   {lib: constructor, build: pass, hidden: fail, reason: "not seen to reach its end", suspicious: "section of the program"},
		"the file is conditional on tests": {lib: "#![cfg(test)]\n" + goodLib, build: pass, hidden: fail, reason: "does not compile with the submission", suspicious: "being tested"},
		"right in tests of its own only":   {lib: "pub fn value() -> i32 {\n    if cfg!(test) { 2 } else { 3 }\n}\npub fn extra() {}\n", build: pass, hidden: fail, reason: "exit code 101", suspicious: "being tested"},
		"a hidden check as a module":       {with: func(in *Input) string { return fmt.Sprintf("#[path = %q] mod stolen;\n", check(in)) + goodLib }, build: fail, hidden: skipped, reason: "exit code 101", suspicious: "from elsewhere"},
		"a hidden check as text": {with: func(in *Input) string {
			return fmt.Sprintf("pub const S: &str = include_str!(%q);\n", check(in)) + goodLib
		}, build: fail, hidden: skipped, reason: "exit code 101", suspicious: "from elsewhere"},
		"the check's place as text":           {lib: "pub const S: &str = include_str!(\"../tests/value_is_two.rs\");\n" + goodLib, build: fail, hidden: skipped, reason: "exit code 101", suspicious: "from elsewhere"},
		"a public file as text":               {lib: "pub const S: &str = include_str!(\"/etc/passwd\");\n" + goodLib, build: pass, hidden: pass, suspicious: "from elsewhere"},
		"a procedural macro":                  {lib: "extern crate proc_macro;\n#[proc_macro] pub fn m(t: proc_macro::TokenStream) -> proc_macro::TokenStream { t }\n" + goodLib, build: fail, hidden: skipped, reason: "exit code 101"},
		"no code at all":                      {lib: "-", build: pass, hidden: fail, reason: "does not compile with the submission"},
		"a main in place of the test harness": {lib: wrong + "#[no_mangle]\npub extern \"C\" fn main() -> i32 { 0 }\n", build: pass, hidden: fail, suspicious: "symbol's name"},
		// This one passes: what the check calls is the submission's. It is listed, and the docs say so.
		"comparing memory always says equal": {lib: "pub fn value() -> String { \"wrong\".into() }\npub fn extra() {}\n#[no_mangle] pub extern \"C\" fn bcmp(_: *const u8, _: *const u8, _: usize) -> i32 { 0 }\n#[no_mangle] pub extern \"C\" fn memcmp(_: *const u8, _: *const u8, _: usize) -> i32 { 0 }\n", build: pass, hidden: pass, suspicious: "symbol's name", check: "#[test]\nfn check() {\n    assert_eq!(tiny::value(), \"right\");\n}\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"src/lib.rs": tt.lib}
			maps.Copy(files, tt.files)
			in := hostile(t, files, map[string]string{"value_is_two": cmp.Or(tt.check, valueCheck)})
			if tt.with != nil {
				require.NoError(t, os.WriteFile(filepath.Join(in.Submission.Dir, "src", "lib.rs"), []byte(tt.with(&in)), 0o644))
			}
			got := Code(t.Context(), in)
			require.Empty(t, got.InfrastructureError)
			assert.Equal(t, tt.build, got.Build, got.Reasons)
			compiled, _ := os.ReadFile(filepath.Join(in.Out, "hidden-value_is_two-build.stderr"))
			assert.Equal(t, tt.hidden, got.Hidden["value_is_two"], "%v %s", got.Reasons, compiled)
			if tt.reason != "" {
				assert.Contains(t, fmt.Sprint(got.Reasons), tt.reason)
			}
			assert.Contains(t, strings.Join(got.Suspicious, "\n"), tt.suspicious, "what may pass is listed")
			t.Logf("%s: build %s, hidden %s, %v, %v", name, got.Build, got.Hidden["value_is_two"], got.Reasons, got.Suspicious)
		})
	}
}

// A rustfmt.toml beside the code would have the code pass the format check; only the starter's counts.
func TestFormatConfigIsTheStarters(t *testing.T) {
	t.Parallel()
	const ugly = "pub fn value() -> i32 {  2 }\npub fn extra() {}\n"
	for name, tt := range map[string]struct {
		starter string // the starter's rustfmt.toml
		want    result.Verdict
	}{
		"starter without one": {"", result.Fail},
		"starter with one":    {"disable_all_formatting = true\n", result.Pass},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := newInput(t, map[string]string{"src/lib.rs": ugly, "src/rustfmt.toml": "disable_all_formatting = true\n", "src/.rustfmt.toml": "disable_all_formatting = true\n"})
			if tt.starter != "" {
				write(t, in.Task.Starter, map[string]string{"rustfmt.toml": tt.starter})
			}
			g := &grading{Input: in, code: &result.Code{Reasons: map[string]string{}}}
			require.NoError(t, os.MkdirAll(in.Out, 0o755))
			got, err := g.format(t.Context())
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
			assert.Contains(t, strings.Join(suspicious(in.Submission.Dir, in.Task.Editable), "\n"), `"src/rustfmt.toml" steers`)
		})
	}
}
