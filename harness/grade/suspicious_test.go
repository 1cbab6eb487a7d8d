package grade

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What could lead a grader astray is listed in the spellings it usually has, in any file that source
// can be taken in from, and behind a comment that ends.
func TestSuspiciousSpellings(t *testing.T) {
	for name, tt := range map[string]struct{ file, text, want string }{
		"own program":            {"src/lib.rs", "let me = std::env::args_os().next();", "running program"},
		"a command by its type":  {"src/lib.rs", "<std::process::Command>::new(me)", "starts or ends"},
		"a command by a list":    {"src/lib.rs", "use std::process::{Command as C};", "starts or ends"},
		"fork":                   {"src/lib.rs", "unsafe { libc::fork() }", "starts or ends"},
		"exec":                   {"src/lib.rs", "execve(p, a, e)", "starts or ends"},
		"source in another file": {"src/lib.rs", `include!("table.txt");`, "code from another file"},
		"in that file":           {"src/table.txt", "#[no_mangle] extern fn x() {}", "symbol's name"},
		"a module by its path":   {"src/lib.rs", `#[path = "table.txt"] mod t;`, "code from another file"},
		"behind a comment":       {"src/lib.rs", "/*\n// */ #[unsafe(no_mangle)] extern \"C\" fn memcmp() {}", "symbol's name"},
		"what a check calls":     {"src/lib.rs", "fn memcmp() {}", "what a check calls"},
		"ordinary code":          {"src/lib.rs", "use std::collections::HashMap;\n// nothing of a process here\npub fn value() -> i32 { 2 }\n", ""},
		"beside what is graded":  {"other/x.rs", "fn memcmp() {}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, t.TempDir(), map[string]string{tt.file: tt.text})
			got := strings.Join(suspicious(dir, []string{"src"}), "\n")
			if tt.want == "" {
				assert.Empty(t, got)
				return
			}
			assert.Contains(t, got, tt.want)
		})
	}
}

func TestDecides(t *testing.T) {
	for key, tt := range map[string]struct {
		value any
		want  bool
	}{
		"build.rustc-wrapper": {"x", true}, "target.x.linker": {"x", true}, "build.target-dir": {"x", false}, "include": {"x", true},
		"build.rustflags":        {[]any{"-Clinker=src/ld"}, true},
		"target.x.rustflags":     {"-C linker=src/ld", true},
		"target.cfg.rustflags":   {[]any{"-C", "target-cpu=native"}, false},
		"profile.x.rustflags":    {[]any{"-Clinker=x"}, true},
		"a.rustflags":            {"-C opt-level=3 -Dwarnings --cfg fast", false},
		"host.rustflags":         {"-Clink-arg=src/x.o", true},
		"target.y.rustflags":     {"-L native=src", true},
		"target.z.rustflags":     {"-C", true},
		"build.rustdocflags":     {[]any{"-Zx", 1}, true},
		"env.LD_PRELOAD":         {"x", true},
		"env.DATABASE_URL":       {"x", false},
		"build.incremental":      {true, false},
		"target.x.rustflags.odd": {nil, false},
	} {
		assert.Equal(t, tt.want, decides(key, tt.value), key)
	}
}
