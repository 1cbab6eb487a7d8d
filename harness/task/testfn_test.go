package task

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFindTest(t *testing.T) {
	for name, tt := range map[string]struct {
		src  string
		want string // the function's name
		err  string
	}{
		"plain":                     {"//! Doc {\nuse x::Y;\n#[test]\nfn a() { assert!(true) }", "a", ""},
		"attributes around":         {"#[allow(dead_code)] #[test] #[rustfmt::skip]\nfn a() {}", "a", ""},
		"should_panic":              {"#[test]\n#[should_panic(expected = \"x\")]\nfn a() {}", "a", ""},
		"public":                    {"#[test]\npub(crate) fn a () {}", "a", ""},
		"raw name":                  {"#[test] fn r#match() {}", "r#match", ""},
		"returns a result":          {"#[test]\nfn a() -> Result<(), String> { Ok(()) }", "a", ""},
		"in a test module":          {"#[cfg(test)]\nmod tests {\n use super::*;\n mod more { #[test] fn a() {} }\n}", "a", ""},
		"after functions":           {"fn f(x: &[u8]) -> [u8; 1] { [x[0]] }\nconst A: [i32; 2] = [1, 2];\n#[test] fn a() {}", "a", ""},
		"words that are not a test": {"const A: &str = \"#[test] fn b() {\"; /* #[test] */ #[test] fn a() {}", "a", ""},
		"a conditional helper":      {"#[cfg(unix)]\nfn helper() {}\n#[test] fn a() {}", "a", ""},

		"none":                    {"fn a() {}", "", "no #[test]"},
		"two":                     {"#[test] fn a() {}\n#[test] fn b() {}", "", "line 2: a second"},
		"ignored":                 {"#[test]\n#[ignore]\nfn a() {}", "", "line 2: an ignored"},
		"another attribute":       {"#[tokio::test]\nasync fn a() {}", "", "not the standard"},
		"asynchronous":            {"#[test] async fn a() {}", "", `"async" is not expected`},
		"conditional":             {"#[cfg(feature = \"x\")]\n#[test] fn a() {}", "", "conditional"},
		"conditional after":       {"#[test]\n#[cfg(any())]\nfn a() {}", "", "conditional"},
		"conditional by cfg_attr": {"#[test]\n#[cfg_attr(unix, allow(x))]\nfn a() {}", "", "conditional"},
		"a conditional module":    {"#[cfg(any())]\nmod m { #[test] fn a() {} }", "", "conditional"},
		"a conditional file":      {"#![cfg(windows)]\n#[test] fn a() {}", "", "line 1: #![cfg(windows)]"},
		"in a macro's body":       {"macro_rules! m { () => { #[test] fn a() {} } }", "", "inside a macro"},
		"in a macro's call":       {"m! { #[test] fn a() {} }", "", "inside a macro"},
		"in a function":           {"fn f() { #[test] fn a() {} }", "", "inside a macro or a function"},
		"with an argument":        {"#[test] fn a(x: u8) {}", "", "no plain `fn name()`"},
		"no function":             {"#[test] struct A;", "", `"struct" is not expected`},
		"ends early":              {"#[test]", "", "no plain"},
		"ends in an attribute":    {"#[test] #[", "", "no plain"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := FindTest(tt.src)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, got.Name)
			assert.Equal(t, "#[test]", tt.src[got.Attribute:got.End])
			assert.LessOrEqual(t, got.Item, got.Attribute)
			assert.Equal(t, strings.Contains(tt.src, "should_panic"), strings.HasPrefix(tt.src[got.ShouldPanic[0]:got.ShouldPanic[1]], "#[should_panic"))
		})
	}
}

func FuzzFindTest(f *testing.F) {
	f.Add("#[cfg(test)] mod m { #[should_panic] #[test] pub fn a() {} }")
	f.Add("#![x] fn a() { 'a: loop {} } r#\"\"# #[test] fn r#b ( ) {}")
	f.Fuzz(func(t *testing.T, src string) {
		got, err := FindTest(src)
		if err != nil {
			return
		}
		require.NotEmpty(t, got.Name)
		require.True(t, got.Item <= got.Attribute && got.Attribute < got.End && got.End <= len(src))
		require.True(t, src[got.Attribute] == '#' && src[got.End-1] == ']')
		require.True(t, got.ShouldPanic[0] <= got.ShouldPanic[1] && got.ShouldPanic[1] <= len(src))
	})
}
