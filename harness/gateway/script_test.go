package gateway

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gotest.tools/v3/golden"
)

func TestParseScript(t *testing.T) {
	s, err := LoadScript(filepath.Join("testdata", "scripts", "all.toml"))
	require.NoError(t, err)
	assert.Equal(t, []Step{
		{Line: 4, Action: ActionSay, Arg: "Two lines,\none \"step\".", Times: 1},
		{Line: 9, Action: ActionRead, Arg: "src/lib.rs", Times: 1},
		{Line: 12, Action: ActionLoadSkill, Arg: "plugin:skill", Times: 1, WhenSkillOffered: "plugin:skill"},
		{Line: 16, Action: ActionWrite, Arg: "a/b.txt", Content: "[[step]]\nrun = \"not a step\"\n", Times: 1, Otherwise: true},
		{Line: 24, Action: ActionRun, Arg: "cargo test", Times: 1},
		{Line: 27, Action: ActionFailWith, Arg: "429"},
		{Line: 31, Action: ActionFailWith, Arg: "slow", Times: 1},
	}, s.Steps)
	require.Len(t, s.Judges, 1)
	assert.Equal(t, 34, s.Judges[0].Line)
	assert.True(t, s.Judges[0].Match.MatchString("it SYNCs"))
	assert.Equal(t, "unclear", s.Judges[0].Answer)
	assert.Equal(t, "because", s.Judges[0].Reason)
}

// All problems of a file are told at once, each with its line.
func TestParseScriptProblems(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "scripts", "bad.toml"))
	require.NoError(t, err)
	s, err := ParseScript("bad.toml", data)
	require.Error(t, err)
	assert.Nil(t, s)
	golden.Assert(t, err.Error()+"\n", "scripts/bad.golden")
	var p Problem
	require.True(t, errors.As(err, &p))
	assert.Equal(t, 1, p.Line)
	assert.Equal(t, 1, p.Col)
}

func TestParseScriptProblem(t *testing.T) {
	for _, tt := range []struct{ name, data, want string }{
		{"no version", "[[step]]\nsay = \"x\"\n", "s.toml:1:1: version is missing; write version = 1"},
		{"no step", "version = 1\n", "s.toml:1:1: there is no step; add a [[step]]"},
		{"empty steps", "version = 1\nstep = []\n", "s.toml:1:1: there is no step; add a [[step]]"},
		{"syntax", "version = 1\n\nx = = 1\n[[step]]\n", "s.toml:3:5: is not valid TOML: "},
		{"duplicate key", "version = 1\nversion = 1\n", "s.toml:2:1: is not valid TOML: "},
		{"not UTF-8", "version = 1\n\xff", "s.toml:2:1: is not valid TOML: "},
		{"version of another type", "version = \"1\"\n[[step]]\nsay=\"x\"", "s.toml:1:1: version is 1; this release reads version = 1"},
		{"single bracket", "version = 1\n[step]\nsay = \"x\"\n", "s.toml:2:1: step is not an array of tables; write [[step]] with two brackets"},
		{"step of numbers", "version = 1\nstep = [1]\n", "s.toml:2:1: step holds something that is no table"},
		{"inline steps", "version = 1\nstep = [{say = \"x\", foo = 1}]\n", `s.toml:2:1: a step has no key "foo"`},
		{"line behind escaped quotes", "version = 1\n[[step]]\nrun = \"echo \\\"[\\\"\"\nfoo = 1\n", `s.toml:4:1: a step has no key "foo"`},
		{"blank say", "version = 1\n[[step]]\nsay = \" \"\n", "s.toml:3:1: say is blank; write what to say"},
		{"write without content", "version = 1\n[[step]]\nwrite = \"x\"\n", "s.toml:3:1: write has no content; add content (it may be empty)"},
		{"home path", "version = 1\n[[step]]\nread = \"~/x\"\n", `s.toml:3:1: read = "~/x" is not relative`},
		{"backslash", "version = 1\n[[step]]\nread = 'a\\b'\n", "holds a backslash"},
		{"dot", "version = 1\n[[step]]\nread = '.'\n", "is not clean"},
		{"inner dots", "version = 1\n[[step]]\nread = 'a/../b'\n", "leaves the project"},
		{"times too large", "version = 1\n[[step]]\nfail_with = 500\ntimes = 1001\n", "s.toml:4:1: times is 1001; write a whole number from 0 (for ever) to 1000"},
		{"otherwise first", "version = 1\n[[step]]\notherwise = true\nsay = \"x\"\n", "s.toml:3:1: otherwise has no step with a condition above it"},
		{"too large", strings.Repeat("#", maxScriptBytes+1), "s.toml:1:1: the script is larger than 1048576 bytes"},
		{"indented", "version = 1\n[[step]]\n\t  say = 1\n", "s.toml:3:4: say is not a string; put it in quotes"},
		{"an indented table", "version = 1\n  [[step]]\n", "s.toml:2:3: the step does nothing"},
		{"windows line ends", "version = 1\r\n\r\n[[step]]\r\nsay = 1\r\n", "s.toml:4:1: say is not a string; put it in quotes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseScript("s.toml", []byte(tt.data))
			require.Error(t, err)
			assert.Contains(t, err.Error(), tt.want)
			assert.Len(t, err.(Problems), 1, "%v", err)
		})
	}
}

func FuzzParseScript(f *testing.F) {
	for _, name := range []string{"all", "bad", "store"} {
		data, err := os.ReadFile(filepath.Join("testdata", "scripts", name+".toml"))
		require.NoError(f, err)
		f.Add(data)
	}
	f.Add([]byte("version = 1\nstep = [{say = '''a'''''}, {run = \"\\\\\"}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseScript("f", data)
		lines := 1 + strings.Count(string(data), "\n")
		if err == nil {
			require.NotEmpty(t, s.Steps)
			for _, st := range s.Steps {
				require.NotEmpty(t, st.Action)
				require.True(t, st.Line >= 1 && st.Line <= lines)
			}
			return
		}
		require.Nil(t, s)
		require.NotEmpty(t, err.(Problems))
		for _, p := range err.(Problems) {
			require.True(t, p.Line >= 1 && p.Line <= lines, "%v of %d lines", p, lines)
			require.True(t, p.Col >= 1 && p.Col <= len(data)+1, "%v", p)
		}
	})
}

// The locator must stand anything, valid or not.
func FuzzLocate(f *testing.F) {
	f.Add([]byte("a = \"\\"))
	f.Add([]byte("[[step]]\nx = ['''\n''', {y = 1}]\n# c\nz=\"\"\"\"\"\"\""))
	f.Fuzz(func(t *testing.T, data []byte) {
		lines := 1 + strings.Count(string(data), "\n")
		for place, at := range locate(data) {
			require.True(t, at.line >= 1 && at.line <= lines, "%v is on line %d of %d", place, at.line, lines)
			require.True(t, at.col >= 1 && at.col <= len(data)+1, "%v is in column %d", place, at.col)
		}
	})
}
