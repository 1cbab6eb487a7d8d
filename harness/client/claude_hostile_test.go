package client

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/transcript"
)

func TestClaudeHostileLines(t *testing.T) {
	for _, c := range []struct {
		name, stream string
		reasons      map[string]int64
		understood   int64
		repaired     map[string]int64
	}{
		{"good, garbage, good", stream(initLine, "garbage", resultLine), map[string]int64{"not JSON": 1}, 2, nil},
		{"CRLF and BOM", "\xef\xbb\xbf" + initLine + "\r\n\r\n" + resultLine + "\r\n", nil, 2, map[string]int64{"byte order mark": 1}},
		{"invalid UTF-8", stream(initLine, strings.Replace(resultLine, "fin", "f\xffn", 1)), nil, 2, map[string]int64{"invalid UTF-8": 1}},
		{"lone surrogate", stream(initLine, strings.Replace(resultLine, "fin", `f\ud800n`, 1)), nil, 2, nil},
		{"NUL", stream(initLine, "\x00\x00\x00", resultLine), map[string]int64{"NUL byte": 1}, 2, nil},
		{"truncated tail", initLine + "\n" + resultLine[:40], map[string]int64{"truncated": 1}, 1, nil},
		{"unterminated but whole", initLine + "\n" + resultLine, nil, 2, nil},
		{"not objects", stream("null", "[]", "3", `"x"`), map[string]int64{"not an object": 4}, 0, nil},
		{"wrong types", stream(`{"type":3}`, `{"type":"assistant","message":[]}`, `{"type":"user","message":{"content":{}}}`), map[string]int64{"unexpected shape": 3}, 0, nil},
		{"unknown event", stream(`{"type":"nova"}`, `{}`), map[string]int64{"unknown event": 2}, 0, nil},
		{"unknown block", stream(initLine, `{"type":"assistant","message":{"id":"a","content":[{"type":"hologram"}]}}`), map[string]int64{"unknown content block": 1}, 1, nil},
		{"result without a call", stream(initLine, answer("9", "x", false)), map[string]int64{"result without a call": 1}, 1, nil},
		{"same call twice", stream(initLine, bash("1", "ls"), bash("1", "ls")), map[string]int64{"tool call id taken": 1}, 2, nil},
		{"long line", stream(initLine, `{"type":"`+strings.Repeat("x", 20_000)+`"}`, resultLine), map[string]int64{"line too long": 1}, 2, nil},
		{"deep nesting", stream(initLine, strings.Repeat("[", 9_000)), map[string]int64{"not JSON": 1}, 1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr, err := decodeClaude(strings.NewReader(c.stream), 10_000)
			require.NoError(t, err)
			if c.reasons == nil {
				c.reasons = map[string]int64{}
			}
			if c.repaired == nil {
				c.repaired = map[string]int64{}
			}
			assert.Equal(t, c.reasons, tr.Unparsed.ByReason)
			assert.Equal(t, c.understood, tr.Understood)
			assert.Equal(t, c.repaired, tr.Repaired)
			assert.Equal(t, tr.Lines, tr.Understood+tr.Unparsed.Lines)
			if tr.Understood == 0 {
				_, cause := tr.Execution()
				require.NotNil(t, cause)
				assert.Equal(t, transcript.ErrorUnreadable, cause.Kind)
			}
		})
	}
}

func TestClaudeReadError(t *testing.T) {
	broken := errors.New("disk gone")
	tr, err := Claude{}.Decode(Recording{Stream: io.MultiReader(strings.NewReader(initLine+"\n{\"ty"), iotest.ErrReader(broken))})
	require.ErrorIs(t, err, broken)
	assert.True(t, tr.Started)
	assert.Equal(t, map[string]int64{"read error": 1}, tr.Unparsed.ByReason)
	assert.Equal(t, transcript.Unknown, tr.LoadOf("alpha"))
}

// A 20 MB line is a real one: a tool printed a lot.
func TestClaudeLargeOutput(t *testing.T) {
	big := strings.Repeat("0123456789", 2<<20)
	tr := decode(t, stream(initLine, bash("1", "cat big"), answer("1", big, false), resultLine))
	call := tr.Turns[0].ToolCalls[0]
	assert.Equal(t, transcript.StatusOK, call.Status)
	assert.EqualValues(t, len(big), call.OutputBytes)
	assert.Len(t, call.Output, transcript.MaxTextBytes)
	assert.EqualValues(t, len(big)-transcript.MaxTextBytes, tr.Dropped.TextBytes)
	assert.Equal(t, transcript.NotObserved, tr.LoadOf("alpha"))
}

// What is kept of a session is bounded, and what matters is still found.
func TestClaudeBounded(t *testing.T) {
	pad := strings.Repeat("x", 240<<10)
	lines := []string{initLine}
	for i := range 180 {
		id := "c" + strings.Repeat("i", i)
		lines = append(lines, bash(id, "echo "+pad), answer(id, pad, false))
	}
	lines = append(lines, use("last", "Skill", `{"skill":"alpha"}`), answer("last", "Launching", false), resultLine)
	tr := decode(t, stream(lines...))
	kept := 0
	for _, turn := range tr.Turns {
		kept += len(turn.Text)
		for _, call := range turn.ToolCalls {
			kept += len(call.Input) + len(call.Output)
		}
	}
	assert.LessOrEqual(t, kept, transcript.MaxTotalBytes)
	assert.Positive(t, tr.Dropped.TextBytes)
	assert.Equal(t, transcript.Loaded, tr.LoadOf("alpha"))
	assert.Equal(t, "fin", tr.FinalText)
}

func FuzzClaudeDecode(f *testing.F) {
	files, err := filepath.Glob(captures + "claude/*.stdout.jsonl")
	require.NoError(f, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Add([]byte(stream(initLine, bash("1", "for s in a b; do cat .claude/skills/$s/SKILL.md; done"), answer("1", "name: a", false), resultLine)))
	f.Fuzz(func(t *testing.T, data []byte) {
		tr, err := decodeClaude(strings.NewReader(string(data)), 1<<20)
		require.NoError(t, err)
		require.Equal(t, tr.Lines, tr.Understood+tr.Unparsed.Lines)
		exec, cause := tr.Execution()
		require.Equal(t, exec == transcript.ExecutionCompleted, cause == nil)
		tr.LoadOf("alpha-skill")
		transcript.Audit(tr, transcript.AuditInput{Baseline: true})
		first, err := json.Marshal(tr)
		require.NoError(t, err)
		again, err := decodeClaude(strings.NewReader(string(data)), 1<<20)
		require.NoError(t, err)
		second, err := json.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(first), string(second), "decoding is deterministic")
	})
}

func BenchmarkClaudeDecode(b *testing.B) {
	var one strings.Builder
	for _, name := range []string{"success", "subagent", "tools_failed", "thinking"} {
		data, err := os.ReadFile(captures + "claude/" + name + ".stdout.jsonl")
		require.NoError(b, err)
		one.Write(data)
	}
	// One session of about 8 MB: the ids stay unique, as in a real one.
	var all strings.Builder
	for i := 0; all.Len() < 8<<20; i++ {
		tag := strings.Repeat("i", i%50) + string(rune('a'+i%26)) + strings.Repeat("j", i/50)
		all.WriteString(strings.ReplaceAll(strings.ReplaceAll(one.String(), "toolu_", "toolu_"+tag), "msg_", "msg_"+tag))
	}
	b.SetBytes(int64(all.Len()))
	b.ReportAllocs()
	for b.Loop() {
		_, err := Claude{}.Decode(Recording{Stream: strings.NewReader(all.String())})
		require.NoError(b, err)
	}
}
