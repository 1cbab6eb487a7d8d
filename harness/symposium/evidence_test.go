//go:build unix

package symposium

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const line = `{"event":"SessionStart","agent":"claude","input":{"cwd":"/p"},"output":null}`

func TestReadTrace(t *testing.T) {
	tests := map[string]struct {
		content              string
		records, bad, starts int
	}{
		"empty":                 {"", 0, 0, 0},
		"one":                   {line + "\n", 1, 0, 1},
		"no newline at the end": {line, 1, 0, 1},
		"CRLF and blank lines":  {line + "\r\n\r\n  \n" + line + "\r\n", 2, 0, 2},
		"good, garbage, good":   {line + "\nnot json\n" + line + "\n", 2, 1, 2},
		"torn last line":        {line + "\n" + line[:30], 1, 1, 1},
		"two on one line":       {line + line + "\n", 0, 1, 0},
		"other shapes":          {"null\n[]\n\"x\"\n3\n{}\n{\"event\":3}\n", 0, 6, 0},
		"not UTF-8":             {"{\"event\":\"\xff\",\"agent\":\"claude\"}\n", 1, 0, 0},
		"unknown event and key": {`{"event":"Later","agent":"claude","more":1}` + "\n", 1, 0, 0},
		"another agent's":       {strings.ReplaceAll(line, "claude", "codex") + "\n", 1, 0, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tr := ReadTrace(write(t, t.TempDir(), map[string]string{"hook-trace.jsonl": tt.content}))
			assert.True(t, tr.Present)
			assert.Empty(t, tr.Err)
			assert.Len(t, tr.Records, tt.records)
			assert.Equal(t, tt.bad, tr.Bad)
			assert.Equal(t, tt.starts, tr.Count("claude", "SessionStart"))
			_, found := tr.First("claude", "SessionStart")
			assert.Equal(t, tt.starts > 0, found)
			assert.Equal(t, tt.bad == 0, tr.Whole())
		})
	}
	t.Run("first is the first", func(t *testing.T) {
		tr := decodeTrace([]byte(`{"event":"Stop","agent":"claude","input":1}`+"\n"+`{"event":"Stop","agent":"claude","input":2}`), false)
		r, ok := tr.First("claude", "Stop")
		require.True(t, ok)
		assert.Equal(t, json.RawMessage("1"), r.Input)
	})
	t.Run("missing", func(t *testing.T) {
		tr := ReadTrace(t.TempDir())
		assert.Equal(t, Trace{}, tr)
		assert.True(t, tr.Whole())
	})
	t.Run("too many records", func(t *testing.T) {
		tr := decodeTrace([]byte(strings.Repeat(`{"event":"x"}`+"\n", maxRecords+1)), false)
		assert.Len(t, tr.Records, maxRecords)
		assert.True(t, tr.Cut)
		assert.False(t, tr.Whole())
	})
	for name, make := range hostileFiles {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			make(t, filepath.Join(dir, "hook-trace.jsonl"))
			tr := ReadTrace(dir)
			assert.True(t, tr.Present)
			assert.NotEmpty(t, tr.Err)
			assert.Empty(t, tr.Records)
			assert.False(t, tr.Whole())
		})
	}
}

// hostileFiles are what a trial may put in the place of a file that is read afterwards.
var hostileFiles = map[string]func(t *testing.T, path string){
	"a link": func(t *testing.T, path string) {
		target := filepath.Join(write(t, t.TempDir(), map[string]string{"f": line}), "f")
		require.NoError(t, os.Symlink(target, path))
	},
	"a hard link": func(t *testing.T, path string) {
		target := filepath.Join(write(t, filepath.Dir(path), map[string]string{"other": line}), "other")
		require.NoError(t, os.Link(target, path))
	},
	"a FIFO":   func(t *testing.T, path string) { require.NoError(t, syscall.Mkfifo(path, 0o644)) },
	"a folder": func(t *testing.T, path string) { require.NoError(t, os.Mkdir(path, 0o755)) },
}

func FuzzDecodeTrace(f *testing.F) {
	for _, s := range []string{line, line + "\n" + line, "{}", "null\n", `{"event":"x","input":{"a":[1,2]}}` + "\r\n", "\xff\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tr := decodeTrace(data, false)
		lines := strings.Count(string(data), "\n") + 1
		require.LessOrEqual(t, len(tr.Records)+tr.Bad, lines)
		for _, r := range tr.Records {
			require.NotEmpty(t, r.Event)
			require.GreaterOrEqual(t, tr.Count(r.Agent, r.Event), 1)
		}
	})
}

func TestReadSync(t *testing.T) {
	project, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	key, err := workspaceKey(project)
	require.NoError(t, err)
	rel := ".symposium/cache/workspaces/" + key + "/state.json"
	good := fmt.Sprintf(`{"last-sync-lock-mtime":1,"last-sync-battery-pack-mtime":null,"workspace-root":%q}`, project)
	for name, tt := range map[string]struct {
		content  string
		recorded bool
		unclear  bool
	}{
		"recorded":          {good, true, false},
		"another workspace": {`{"workspace-root":"/else\u001b[31m"}`, false, true},
		"no root":           {`{}`, false, true},
		"null":              {`null`, false, true},
		"root is a number":  {`{"workspace-root":3}`, false, true},
		"empty":             {``, false, true},
		"torn":              {good[:20], false, true},
		"too large":         {good + strings.Repeat(" ", maxRecord), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			got := ReadSync(write(t, t.TempDir(), map[string]string{rel: tt.content}), project)
			assert.Equal(t, tt.recorded, got.Recorded)
			assert.Equal(t, tt.unclear, got.Unclear)
			if !tt.recorded {
				assert.Contains(t, got.Detail, key)
				assert.NotContains(t, got.Detail, "nil")
				assert.NotContains(t, got.Detail, "\x1b")
			}
		})
	}
	t.Run("missing", func(t *testing.T) {
		got := ReadSync(t.TempDir(), project)
		assert.False(t, got.Recorded)
		assert.False(t, got.Unclear, "no record is an answer")
		assert.Contains(t, got.Detail, "no sync record")
	})
	t.Run("by a link", func(t *testing.T) {
		link := filepath.Join(t.TempDir(), "link")
		require.NoError(t, os.Symlink(project, link))
		assert.True(t, ReadSync(write(t, t.TempDir(), map[string]string{rel: good}), link).Recorded)
	})
	t.Run("no project", func(t *testing.T) {
		assert.True(t, ReadSync(t.TempDir(), filepath.Join(project, "none")).Unclear)
	})
	t.Run("the cache is a link", func(t *testing.T) {
		home, elsewhere := t.TempDir(), write(t, t.TempDir(), map[string]string{rel: good})
		require.NoError(t, os.Symlink(filepath.Join(elsewhere, ".symposium"), filepath.Join(home, ".symposium")))
		got := ReadSync(home, project)
		assert.False(t, got.Recorded)
		assert.True(t, got.Unclear)
	})
	for name, make := range hostileFiles {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			path := filepath.Join(home, rel)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			make(t, path)
			assert.True(t, ReadSync(home, project).Unclear)
		})
	}
}

// Source of the key: cargo-agents' workspace_state.rs; sha256 of "/" is 8a5edab2….
func TestWorkspaceKey(t *testing.T) {
	key, err := workspaceKey("/")
	require.NoError(t, err)
	assert.Equal(t, "/-8a5edab2", key)
}

func TestCheckInstalled(t *testing.T) {
	source := map[string]string{"SKILL.md": skillMD("s"), "ref/notes.md": "n", "ref/.gitignore": "x"}
	with := func(changes map[string]string) map[string]string {
		out := map[string]string{".symposium": "", ".gitignore": "*\n"}
		for k, v := range source {
			out[k] = v
		}
		for k, v := range changes {
			if v == "-" {
				delete(out, k)
			} else {
				out[k] = v
			}
		}
		return out
	}
	tests := map[string]struct {
		installed                         map[string]string // nil: nothing
		special                           func(t *testing.T, dir string)
		present, marker, matches, unclear bool
		detail                            string
	}{
		"as the plugin has it":     {installed: with(nil), present: true, marker: true, matches: true},
		"missing":                  {detail: "not in the skill folder"},
		"no marker":                {installed: with(map[string]string{".symposium": "-"}), present: true, matches: true, detail: "marker"},
		"changed":                  {installed: with(map[string]string{"SKILL.md": "other"}), present: true, marker: true, detail: "SKILL.md"},
		"changed, no marker":       {installed: with(map[string]string{"SKILL.md": "other", ".symposium": "-"}), present: true, detail: "marker; differs"},
		"a file more":              {installed: with(map[string]string{"ref/more.md": "m"}), present: true, marker: true, detail: "ref/more.md"},
		"a file less":              {installed: with(map[string]string{"ref/notes.md": "-"}), present: true, marker: true, detail: "ref/notes.md"},
		"a nested .gitignore less": {installed: with(map[string]string{"ref/.gitignore": "-"}), present: true, marker: true, detail: "ref/.gitignore"},
		"a nested marker more":     {installed: with(map[string]string{"ref/.symposium": ""}), present: true, marker: true, detail: "ref/.symposium"},
		"a root .gitignore less":   {installed: with(map[string]string{".gitignore": "-"}), present: true, marker: true, matches: true},
		"many files more":          {installed: with(many(500)), present: true, marker: true, detail: "and 490 more"},
		"a file of the name":       {special: func(t *testing.T, dir string) { write(t, filepath.Dir(dir), map[string]string{"s": "x"}) }, present: true, unclear: true, detail: "not a folder"},
		"a link of the name":       {special: func(t *testing.T, dir string) { require.NoError(t, os.Symlink(t.TempDir(), dir)) }, present: true, unclear: true, detail: "not a folder"},
		"a link in it": {installed: with(map[string]string{"SKILL.md": "-"}), special: func(t *testing.T, dir string) {
			require.NoError(t, os.Symlink(write(t, t.TempDir(), source)+"/SKILL.md", filepath.Join(dir, "SKILL.md")))
		}, present: true, marker: true, detail: "SKILL.md"},
		"the marker is a link": {installed: with(map[string]string{".symposium": "-"}), special: func(t *testing.T, dir string) {
			require.NoError(t, os.Symlink("SKILL.md", filepath.Join(dir, ".symposium")))
		}, present: true, matches: true, detail: "marker"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			skill := Skill{Name: "s", Dir: write(t, t.TempDir(), source)}
			dir := t.TempDir()
			if tt.installed != nil {
				write(t, filepath.Join(dir, "s"), tt.installed)
			}
			if tt.special != nil {
				tt.special(t, filepath.Join(dir, "s"))
			}
			got := CheckInstalled(dir, skill)
			assert.Equal(t, []bool{tt.present, tt.marker, tt.matches, tt.unclear}, []bool{got.Present, got.Marker, got.Matches, got.Unclear}, "present, marker, matches, unclear: %s", got.Detail)
			assert.Contains(t, got.Detail, tt.detail)
			assert.Less(t, len(got.Detail), 1000)
		})
	}
}

func many(n int) map[string]string {
	out := map[string]string{}
	for i := range n {
		out[fmt.Sprintf("more/%03d", i)] = "m"
	}
	return out
}

func TestLogs(t *testing.T) {
	home := write(t, t.TempDir(), map[string]string{
		".symposium/logs/b.log": "second\n", ".symposium/logs/a.log": "first\n", ".symposium/logs/other.txt": "no\n",
	})
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(home, ".symposium/logs/c\n.log")))
	got := string(Logs(home))
	assert.True(t, strings.HasPrefix(got, "== \"a.log\"\nfirst\n== \"b.log\"\nsecond\n== \"c\\n.log\": "), got)
	assert.Contains(t, got, "symbolic link")
	assert.NotContains(t, got, "root:")
	assert.Empty(t, Logs(t.TempDir()))
	assert.Empty(t, Logs(filepath.Join(home, "none")))

	t.Run("too much", func(t *testing.T) {
		home := write(t, t.TempDir(), map[string]string{".symposium/logs/a.log": strings.Repeat("x", maxLog+5), ".symposium/logs/b.log": "second"})
		got := Logs(home)
		assert.Less(t, len(got), maxLog+200)
		assert.True(t, strings.HasSuffix(string(got), "== cut here\n"))
	})
	t.Run("exactly full", func(t *testing.T) {
		head := len("== \"a.log\"\n")
		home := write(t, t.TempDir(), map[string]string{".symposium/logs/a.log": strings.Repeat("x", maxLog-head), ".symposium/logs/b.log": "second"})
		assert.NotContains(t, string(Logs(home)), "negative")
	})
	for name, make := range map[string]func(t *testing.T, path string){
		"a FIFO": hostileFiles["a FIFO"], "a file": func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, nil, 0o644)) },
		"a link": func(t *testing.T, path string) {
			require.NoError(t, os.Symlink(write(t, t.TempDir(), map[string]string{"x.log": "s3cret"}), path))
		},
		"unreadable": func(t *testing.T, path string) { require.NoError(t, os.Mkdir(path, fs.FileMode(0))) },
	} {
		t.Run("the folder is "+name, func(t *testing.T) {
			home := t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(home, ".symposium"), 0o755))
			make(t, filepath.Join(home, ".symposium", "logs"))
			assert.Empty(t, Logs(home))
		})
	}
}

func TestHookRecordNames(t *testing.T) {
	for input, want := range map[string][2]string{
		`{"session_id":"a","tool_use_id":"t1"}`:  {"a", "t1"},
		`{"sessionId":"b"}`:                      {"b", ""},
		`{"session_id":"a","sessionId":"b"}`:     {"a", ""},
		`{"session_id":7}`:                       {"", ""},
		`null`:                                   {"", ""},
		`"x"`:                                    {"", ""},
		`{"session_id":"","tool_use_id":["t1"]}`: {"", ""},
		``:                                       {"", ""},
	} {
		r := HookRecord{Input: []byte(input)}
		assert.Equal(t, want, [2]string{r.Session(), r.CallID()}, input)
	}
}

// A later reading of a trace tells what came since, and whether what was there still is.
func TestTraceExtends(t *testing.T) {
	const one, two = `{"event":"SessionStart","agent":"claude"}` + "\n", `{"event":"Stop","agent":"claude"}` + "\n"
	read := func(text string) Trace {
		dir := write(t, t.TempDir(), map[string]string{"hook-trace.jsonl": text})
		trace := ReadTrace(dir)
		assert.Equal(t, int64(len(text)), trace.Size())
		assert.Equal(t, int64(len(text)), TraceSize(dir))
		return trace
	}
	earlier := read(one)
	later := read(one + "\n" + two)
	assert.True(t, later.Extends(earlier))
	assert.True(t, later.Extends(Trace{}), "nothing was there")
	assert.True(t, earlier.Extends(earlier))
	assert.False(t, earlier.Extends(later), "cut short")
	assert.False(t, read(two+one).Extends(earlier), "put in front")
	assert.False(t, Trace{}.Extends(earlier), "taken away")
	assert.Equal(t, []int64{0, int64(len(one) + 1)}, []int64{later.Records[0].Offset, later.Records[1].Offset})
	assert.Zero(t, TraceSize(t.TempDir()))
	for name, make := range hostileFiles {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			make(t, filepath.Join(dir, "hook-trace.jsonl"))
			assert.NotPanics(t, func() { TraceSize(dir) })
		})
	}
	link := t.TempDir()
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(link, "hook-trace.jsonl")))
	assert.Zero(t, TraceSize(link), "no link is followed")
}
