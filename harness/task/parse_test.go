package task

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
	"github.com/stretchr/testify/assert"
)

func TestLocate(t *testing.T) {
	const text = `# kind = "x"
kind = "a" # prompt = ""
prompt = """
editable = [ ""\" """"
editable = [ # comment ]
  "one", 'two' , """
three""",
]
a . "q.\u0062" = { c = [ {d = 1}, 2 ], e = 1979-05-27 07:32:00 }
[deadlines]
setup_secs=1
[expected]
used = []
[[list.x]]
y = 1
`
	l := locate(text)
	for path, want := range map[string]int{
		"kind": 2, "prompt": 3, "editable": 5, itemOf("editable", 0): 6, itemOf("editable", 1): 6, itemOf("editable", 2): 6,
		"a": 9, pathOf("a", "q.b"): 9, pathOf("a", "q.b", "c"): 9, pathOf("a", "q.b", "e"): 9, "deadlines": 10, pathOf("deadlines", "setup_secs"): 11,
		"expected": 12, pathOf("expected", "used"): 13, "list": 14, pathOf("list", "x"): 14, pathOf("list", "x", "y"): 15,
	} {
		s, ok := l.spans[path]
		if assert.True(t, ok, "%q", path) {
			line, _ := l.position(s.key)
			assert.Equal(t, want, line, "%q", path)
		}
	}
	assert.Equal(t, `"a"`, text[l.spans["kind"].value:l.spans["kind"].end])
	assert.Equal(t, "'two'", text[l.spans[itemOf("editable", 1)].value:l.spans[itemOf("editable", 1)].end])
	assert.NotContains(t, l.spans, "# kind")
}

// FuzzParse also holds the locator against the real decoder: every key the
// decoder knows of must have a place.
func FuzzParse(f *testing.F) {
	f.Add([]byte(goodToml))
	for _, s := range []string{"", "a", "a=", "[", "[[", "a=[1,[2,{b=3}]]", "a.b.c=1\n[a.d]\ne=1", "prompt='''\nx''''", `a="\u0041"`, "\"a\\n\"=1", "kind=1\r\n", "\ufeffkind='x'", "\xff", "trials=99999999999999999999", "[[a]]\nb=1\n[[a]]\nc=2", "a={b={c=1}}", "editable=['../x',1,['a']]", "prompt='symposium'", "expected=1", "a=[\n#]\n1]", "'a'.b=1"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, problems := parse("tasks/x/task.toml", data)
		if s == nil {
			t.Fatal("no spec")
		}
		lines := 1 + strings.Count(string(data), "\n")
		for _, p := range problems {
			if p.Line < 1 || p.Line > lines || strings.Contains(p.String(), "\n") || p.Message == "" || p.Fix == "" || !utf8.ValidString(p.String()) {
				t.Errorf("bad problem %+v in %d lines", p, lines)
			}
		}
		if len(problems) == 0 && (s.kind == "" || strings.TrimSpace(s.prompt) == "" || len(s.editable) == 0 || s.trials < 1 || s.deadlines.Agent <= 0) {
			t.Errorf("accepted %+v", s)
		}
		text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n")
		var any map[string]any
		md, err := toml.Decode(text, &any)
		if err != nil || !utf8.Valid(data) {
			return
		}
		at := locate(text)
		for _, key := range md.Keys() {
			if _, ok := at.spans[pathOf(key...)]; !ok && len(key) < maxNesting && !strings.Contains(strings.Join(key, ""), "[") {
				t.Errorf("no place for %q in %q", key, text)
			}
		}
	})
}

func TestParseNotText(t *testing.T) {
	_, problems := parse("f", []byte("kind = \"capability\"\n# caf\xe9\n"))
	assert.EqualError(t, problems, "f:2: the file is not UTF-8 text; save it as UTF-8")
	_, problems = parse("f", []byte("k\x00ind = 1"))
	assert.Len(t, problems, 1)
}
