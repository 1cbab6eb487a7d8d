package task

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestScanRust(t *testing.T) {
	tests := []struct {
		name, src             string
		tests, other, ignored []int // lines
	}{
		{name: "plain", src: "#[test]\nfn a() {}", tests: []int{1}},
		{name: "spaced", src: "\n# [ /* x */ test ] fn a() {}", tests: []int{2}},
		{name: "over lines", src: "#\n[\ntest // c ]\n]\nfn a() {}", tests: []int{1}},
		{name: "two", src: "#[test] fn a() {}\n#[test]\nfn b() {}", tests: []int{1, 2}},
		{name: "CRLF and BOM", src: "\ufeffuse x;\r\n#[test]\r\nfn a() {}\r\n", tests: []int{2}},
		{name: "line comment", src: "// #[test]\n/// #[test]\n//! #[test]\n#[test] fn a() {}", tests: []int{4}},
		{name: "nested comment", src: "/* /* */ #[test]\n */ #[test] fn a() {}", tests: []int{2}},
		{name: "open comment", src: "/* #[test]"},
		{name: "string", src: `const A: &str = "#[test] \" #[test]"; #[test] fn a() {}`, tests: []int{1}},
		{name: "string over lines", src: "const A: &str = \"\n#[test]\n\";\n#[test] fn a() {}", tests: []int{4}},
		{name: "raw string", src: "const A: &str = r##\"\"# #[test]\n\"##;\n#[test] fn a() {}", tests: []int{3}},
		{name: "raw string without hashes", src: `const A: &str = r"\"; #[test] fn a() {} const B: &str = "";`, tests: []int{1}},
		{name: "byte and C strings", src: `const A: &[u8] = b"#[test]"; const B: &[u8] = br#"#[test]"#; const C: &CStr = cr"#[test]";`},
		{name: "characters", src: `const A: char = '"'; #[test] fn a() {} const B: char = '\''; const C: u8 = b'"'; #[ignore] const D: char = '\u{22}';`, tests: []int{1}, ignored: []int{1}},
		{name: "lifetimes", src: "fn f<'a>(x: &'a str) {} fn g<'b>() {}\n#[test] fn a() { 'x: loop { break 'x; } }", tests: []int{2}},
		{name: "wide character", src: "const A: char = 'é';\n#[test] fn a() {}", tests: []int{2}},
		{name: "raw identifier", src: "fn r#type() {}\n#[test] fn r#fn() {}", tests: []int{2}},
		{name: "identifier that ends in r", src: "macro_rules! attr { () => {} }\nconst BAR: &str = \"\"; #[test] fn a() {}", tests: []int{2}},
		{name: "other attributes", src: "#![cfg(unix)]\n#![allow(test)]\n#[cfg(test)]\nmod x {}\n#[derive(Debug)]\nstruct T;\n#[should_panic(expected = \"test\")]\n#[test]\nfn a() {}", tests: []int{8}},
		{name: "doc attribute", src: "#[doc = \"#[test]\"]\nfn a() {}"},
		{name: "brackets within", src: "#[foo([1, 2], \"]\")]\n#[test]\nfn a() {}", tests: []int{2}},
		{name: "tokio", src: "#[tokio::test]\nasync fn a() {}\n#[tokio::test(flavor = \"multi_thread\")]\nasync fn b() {}", other: []int{1, 3}},
		{name: "long path", src: "#[core::prelude::v1::test]\nfn a() {}\n#[::std::prelude::v1::test] fn b() {}", other: []int{1, 3}},
		{name: "test macros", src: "#[rstest]\nfn a() {}\n#[test_case(1)]\nfn b() {}\n#[bench]\nfn c() {}", other: []int{1, 3, 5}},
		{name: "conditional", src: "#[cfg_attr(unix, test)]\nfn a() {}\n#[cfg_attr(test, allow(x))]\nfn b() {}\n#[cfg_attr(unix, ignore = \"x\")]\nfn c() {}", other: []int{1, 5}},
		{name: "ignored", src: "#[test]\n#[ignore = \"slow\"]\nfn a() {}", tests: []int{1}, ignored: []int{2}},
		{name: "cut off", src: "#[test"},
		{name: "cut off earlier", src: "#["},
		{name: "just a hash", src: "#"},
		{name: "nothing", src: ""},
	}
	lines := func(as []attribute) []int {
		var out []int
		for _, a := range as {
			out = append(out, a.line)
		}
		return out
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := scanRust(tt.src)
			if strings.HasPrefix(tt.name, "cut off") {
				return // must end, no more
			}
			assert.Equal(t, tt.tests, lines(got.tests), "tests")
			assert.Equal(t, tt.other, lines(got.other), "other")
			assert.Equal(t, tt.ignored, lines(got.ignored), "ignored")
		})
	}
}

func FuzzScanRust(f *testing.F) {
	for _, s := range []string{"#[test]\nfn a() {}", "/* /* */", `"\"`, "r##\"", "'\\", "'", "#[", "# ! [", "#[a(\"]\")]", "b'\\''", "\xff\n#[test]", "r#x", "é'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		got := scanRust(src)
		all := append(append(got.tests, got.other...), got.ignored...)
		lines := 1 + strings.Count(src, "\n")
		for _, a := range all {
			if a.line < 1 || a.line > lines {
				t.Errorf("line %d of %d", a.line, lines)
			}
		}
		// A blank line in front moves everything down by one and changes nothing else.
		moved := scanRust("\n" + src)
		if len(moved.tests) != len(got.tests) || len(moved.other) != len(got.other) {
			t.Errorf("%+v became %+v", got, moved)
		}
		// A source within a comment has no tests, unless it ends the comment.
		if !strings.Contains(src, "*/") && !strings.Contains(src, "/*") {
			if c := scanRust("/*" + src + "\n*/"); len(c.tests)+len(c.other)+len(c.ignored) > 0 && !strings.HasPrefix(src, "/") && !strings.HasSuffix(src, "*") {
				t.Errorf("in a comment: %+v", c)
			}
		}
	})
}
