package assertion

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/suite"
)

// Rows F1 to F3, and paths that leave the working directory.
func TestFiles(t *testing.T) {
	dir := folder(t, map[string]string{
		"a/b.txt": "hello\nworld\n", "crlf": "a\r\nb\r\n", "cr": "a\rb", "latin": "caf\xe9", "empty": "",
		"big": strings.Repeat("x", maxFile) + "end",
	})
	tests := []struct {
		name   string
		check  suite.Check
		want   string
		reason string
	}{
		{"exists", suite.FileExists{Path: "a/b.txt"}, passes, "found a/b.txt"},
		{"exists, not clean", suite.FileExists{Path: "./a/../a//b.txt"}, passes, "found"},
		{"missing", suite.FileExists{Path: "a/c.txt"}, fails, "missing a/c.txt"},
		{"below a file", suite.FileExists{Path: "a/b.txt/c"}, fails, "regular file"},
		{"F1 directory", suite.FileExists{Path: "a"}, fails, "a directory"},
		{"empty path", suite.FileExists{Path: ""}, fails, "the working directory itself"},
		{"F2 above", suite.FileExists{Path: "../../../etc/hostname"}, fails, "leaves the working directory"},
		{"F2 absolute", suite.FileExists{Path: "/etc/hostname"}, fails, "an absolute path"},
		{"contains", suite.FileContains{Path: "a/b.txt", Pattern: "lo\nwo"}, passes, `matched "lo\nwo" in a/b.txt`},
		{"case counts", suite.FileContains{Path: "a/b.txt", Pattern: "Hello"}, fails, `no match for "Hello" in a/b.txt`},
		{"contains in a missing file", suite.FileContains{Path: "x", Pattern: "y"}, fails, "missing x"},
		{"contains above", suite.FileContains{Path: "../x", Pattern: "y"}, fails, "leaves the working directory"},
		{"empty pattern", suite.FileContains{Path: "empty"}, passes, ""},
		{"F3 LF", suite.FileContains{Path: "crlf", Pattern: "a\nb"}, passes, ""},
		{"F3 CRLF", suite.FileContains{Path: "crlf", Pattern: "a\r\nb"}, fails, ""},
		{"F3 CR", suite.FileContains{Path: "cr", Pattern: "a\nb"}, passes, ""},
		{"not UTF-8", suite.FileContains{Path: "latin", Pattern: "caf\uFFFD"}, passes, ""},
		{"regex", suite.FileContains{Path: "a/b.txt", Regex: re(t, `(?m)^wor(?=ld)`)}, passes, ""},
		{"regex at the start only", suite.FileContains{Path: "a/b.txt", Regex: re(t, `^world`)}, fails, "no match"},
		{"in a large file", suite.FileContains{Path: "big", Pattern: "xxx"}, passes, ""},
		{"beyond what is read", suite.FileContains{Path: "big", Pattern: "end"}, fails, "only the first 16 MiB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := one(t, Attempt{Cwd: dir}, tt.check, Tools{})
			assert.Equal(t, tt.want, outcome(r), r.Reason)
			assert.Contains(t, r.Reason, tt.reason)
		})
	}
}

// A search that backtracks without an end is given up, and does not pass.
func TestEndlessSearch(t *testing.T) {
	dir := folder(t, map[string]string{"f": strings.Repeat("a", 40) + "!"})
	r := one(t, Attempt{Cwd: dir}, suite.FileContains{Path: "f", Regex: re(t, `^(a+)+$`)}, Tools{})
	assert.Equal(t, fails, outcome(r))
	assert.Contains(t, r.Reason, "given up")
}

// A working directory that is not there is the runner's fault, and never the agent's.
func TestNoWorkingDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	link := filepath.Join(t.TempDir(), "l")
	require.NoError(t, os.Symlink(t.TempDir(), link))
	for _, cwd := range []string{filepath.Join(t.TempDir(), "none"), file, link} {
		for _, c := range []suite.Check{suite.FileExists{Path: "x"}, suite.FileContains{Path: "x"}, suite.JSONPath{Path: "x", Query: "$"}, suite.Judge{Criterion: "c", Agent: true}} {
			assert.Equal(t, undecided, outcome(one(t, Attempt{Cwd: cwd}, c, Tools{})), "%T in %s", c, cwd)
		}
	}
}

func TestJSONPath(t *testing.T) {
	dir := folder(t, map[string]string{
		"p.json": `{"name": "demo", "n": 3, "ok": true, "none": null, "deps": [{"id": "a", "v": 1}, {"id": "b", "v": 2}]}`,
		"bom":    "\uFEFF{\"a\": 1}", "bad": `{"a": `, "two": `{} {}`,
	})
	answer := session()
	answer.FinalText = "```json\n{\"status\": \"done\"}\n```\n"
	tests := []struct {
		name   string
		check  suite.JSONPath
		want   string
		reason string
	}{
		{"there", suite.JSONPath{Path: "p.json", Query: "$.name"}, passes, `$.name in p.json is "demo"`},
		{"null is there", suite.JSONPath{Path: "p.json", Query: "$.none"}, passes, "is null"},
		{"not there", suite.JSONPath{Path: "p.json", Query: "$.nope"}, fails, "selects nothing"},
		{"equal", suite.JSONPath{Path: "p.json", Query: "$.n", Equals: 3, HasEqual: true}, passes, ""},
		{"equal as a float", suite.JSONPath{Path: "p.json", Query: "$.n", Equals: 3.0, HasEqual: true}, passes, ""},
		{"a number is no string", suite.JSONPath{Path: "p.json", Query: "$.n", Equals: "3", HasEqual: true}, fails, "is 3"},
		{"equal to null", suite.JSONPath{Path: "p.json", Query: "$.none", HasEqual: true}, passes, ""},
		{"not equal to null", suite.JSONPath{Path: "p.json", Query: "$.name", HasEqual: true}, fails, ""},
		{"equal object", suite.JSONPath{Path: "p.json", Query: "$.deps[0]", Equals: map[string]any{"v": 1, "id": "a"}, HasEqual: true}, passes, ""},
		{"one of several", suite.JSONPath{Path: "p.json", Query: "$.deps[*].id", Equals: "b", HasEqual: true}, passes, `is "b"`},
		{"none of several", suite.JSONPath{Path: "p.json", Query: "$.deps[*].id", Equals: "c", HasEqual: true}, fails, "and 1 more"},
		{"filter", suite.JSONPath{Path: "p.json", Query: "$.deps[?@.v > 1].id", Equals: "b", HasEqual: true}, passes, ""},
		{"matches", suite.JSONPath{Path: "p.json", Query: "$.name", Matches: re(t, "^de")}, passes, ""},
		{"matches a number", suite.JSONPath{Path: "p.json", Query: "$.n", Matches: re(t, `^\d$`)}, passes, ""},
		{"matches no object", suite.JSONPath{Path: "p.json", Query: "$.deps", Matches: re(t, `a`)}, fails, ""},
		{"byte order mark", suite.JSONPath{Path: "bom", Query: "$.a"}, passes, ""},
		{"not JSON", suite.JSONPath{Path: "bad", Query: "$"}, fails, "bad is not JSON"},
		{"more than one value", suite.JSONPath{Path: "two", Query: "$"}, fails, "two is not JSON"},
		{"no file", suite.JSONPath{Path: "x.json", Query: "$"}, fails, "missing x.json"},
		{"bad query", suite.JSONPath{Path: "p.json", Query: "$["}, undecided, "the query"},
		{"the answer", suite.JSONPath{Query: "$.status", Equals: "done", HasEqual: true}, passes, "the last answer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := one(t, Attempt{Cwd: dir, Transcript: answer}, tt.check, Tools{})
			assert.Equal(t, tt.want, outcome(r), r.Reason)
			assert.Contains(t, r.Reason, tt.reason)
		})
	}
	r := one(t, Attempt{Cwd: dir}, suite.JSONPath{Query: "$"}, Tools{})
	assert.Equal(t, fails, outcome(r), "there is no answer")
}
