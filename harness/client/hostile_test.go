package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/transcript"
)

// short are the decoders with a limit of 10,000 bytes a line.
var short = map[string]func(Recording, int) (*transcript.Transcript, error){
	"claude":   func(r Recording, max int) (*transcript.Transcript, error) { return decodeClaude(r.Stream, max) },
	"codex":    decodeCodex,
	"copilot":  decodeCopilot,
	"opencode": decodeOpenCode,
}

// whole is a small session of each client: its opening and its end.
var whole = map[string][2]string{
	"claude":   {initLine, resultLine},
	"codex":    {`{"type":"thread.started","thread_id":"T"}`, codexEnd},
	"copilot":  {copilotUser, copilotEnd},
	"opencode": {openStep, openStop},
}

// TestHostileLines: nothing is lost, nothing crashes, and every line that was
// not understood is counted, whatever the client.
func TestHostileLines(t *testing.T) {
	for name, decode := range short {
		first, last := whole[name][0], whole[name][1]
		for _, c := range []struct {
			name, stream string
			reasons      map[string]int64
			understood   int64
			repaired     map[string]int64
		}{
			{"good, garbage, good", stream(first, "garbage", last), map[string]int64{"not JSON": 1}, 2, nil},
			{"CRLF and BOM", "\xef\xbb\xbf" + first + "\r\n\r\n" + last + "\r\n", nil, 2, map[string]int64{"byte order mark": 1}},
			{"invalid UTF-8", stream(strings.TrimSuffix(first, "}")+`,"x":"f`+"\xff"+`n"}`, last), nil, 2, map[string]int64{"invalid UTF-8": 1}},
			{"lone surrogate", stream(strings.TrimSuffix(first, "}")+`,"x":"\ud800"}`, last), nil, 2, nil},
			{"NUL", stream(first, "\x00\x00\x00", last), map[string]int64{"NUL byte": 1}, 2, nil},
			{"truncated tail", first + "\n" + last[:40], map[string]int64{"truncated": 1}, 1, nil},
			{"unterminated but whole", first + "\n" + last, nil, 2, nil},
			{"not objects", stream("null", "[]", "3", `"x"`), map[string]int64{"not an object": 4}, 0, nil},
			{"wrong types", stream(`{"type":3}`, `{"type":["x"]}`), map[string]int64{"unexpected shape": 2}, 0, nil},
			{"unknown events only", stream(`{"type":"nova","data":{}}`, `{}`), map[string]int64{"unknown event": 2}, 0, nil},
			{"long line", stream(first, `{"type":"`+strings.Repeat("x", 20_000)+`"}`, last), map[string]int64{"line too long": 1}, 2, nil},
			{"deep nesting", stream(first, strings.Repeat("[", 9_000)), map[string]int64{"not JSON": 1}, 1, nil},
			{"nothing", "", nil, 0, nil},
		} {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				tr, err := decode(Recording{Stream: strings.NewReader(c.stream)}, 10_000)
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
				exec, cause := tr.Execution()
				if tr.Understood == 0 {
					require.NotNil(t, cause)
					assert.Equal(t, transcript.ErrorUnreadable, cause.Kind)
					assert.Contains(t, cause.Message, fmt.Sprintf("0 of %d lines understood", tr.Lines))
				} else if c.understood == 2 {
					assert.Equal(t, transcript.ExecutionCompleted, exec)
				}
			})
		}
		t.Run(name+"/read error", func(t *testing.T) {
			broken := errors.New("disk gone")
			tr, err := decode(Recording{Stream: io.MultiReader(strings.NewReader(first+"\n{\"ty"), iotest.ErrReader(broken))}, 10_000)
			require.ErrorIs(t, err, broken)
			assert.EqualValues(t, 1, tr.Understood)
			assert.Equal(t, map[string]int64{"read error": 1}, tr.Unparsed.ByReason)
		})
		t.Run(name+"/a byte at a time", func(t *testing.T) {
			want, err := decode(Recording{Stream: strings.NewReader(stream(first, "é\xff", last))}, 10_000)
			require.NoError(t, err)
			got, err := decode(Recording{Stream: iotest.OneByteReader(strings.NewReader(stream(first, "é\xff", last)))}, 10_000)
			require.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
}

// A session file is as hostile as the stream, and cannot make it worse.
func TestHostileSession(t *testing.T) {
	for name, decode := range short {
		if name == "claude" {
			continue // reads none
		}
		text := stream(whole[name][0], whole[name][1])
		want, err := decode(Recording{Stream: strings.NewReader(text)}, 10_000)
		require.NoError(t, err)
		for _, session := range []string{"", "garbage", "null\n[]\n", "\x00", `{"type":"nova"}`, strings.Repeat("x", 20_000), `{"type":"session_meta","payload":3}`} {
			tr, err := decode(Recording{Stream: strings.NewReader(text), Session: strings.NewReader(session)}, 10_000)
			require.NoError(t, err)
			require.NotNil(t, tr.Session, name)
			assert.False(t, tr.Session.Matches, "%s %q", name, session)
			assert.Equal(t, tr.Session.Lines, tr.Session.Understood+tr.Session.Unparsed.Lines)
			tr.Session = nil
			assert.Equal(t, want, tr, "%s %q", name, session)
		}
		broken := errors.New("disk gone")
		tr, err := decode(Recording{Stream: strings.NewReader(text), Session: iotest.ErrReader(broken)}, 10_000)
		require.ErrorIs(t, err, broken)
		assert.Equal(t, want.Understood, tr.Understood)
	}
}

func FuzzCodexDecode(f *testing.F)    { fuzzDecode(f, "codex") }
func FuzzCopilotDecode(f *testing.F)  { fuzzDecode(f, "copilot") }
func FuzzOpenCodeDecode(f *testing.F) { fuzzDecode(f, "opencode") }

func fuzzDecode(f *testing.F, name string) {
	for _, capture := range captured(f, name) {
		data, err := os.ReadFile(filepath.Join(captures, name, capture+".stdout.jsonl"))
		require.NoError(f, err)
		session := []byte{}
		if found, _ := filepath.Glob(filepath.Join(captures, name, capture+".session.*")); len(found) == 1 {
			session, err = os.ReadFile(found[0])
			require.NoError(f, err)
		}
		f.Add(data, session)
	}
	f.Fuzz(func(t *testing.T, data, session []byte) {
		decode := func() (*transcript.Transcript, string) {
			tr, err := short[name](Recording{Stream: strings.NewReader(string(data)), Session: strings.NewReader(string(session))}, 1<<20)
			require.NoError(t, err)
			text, err := json.Marshal(tr.Document("alpha-skill"))
			require.NoError(t, err)
			return tr, string(text)
		}
		tr, first := decode()
		require.Equal(t, tr.Lines, tr.Understood+tr.Unparsed.Lines)
		require.Equal(t, tr.Session.Lines, tr.Session.Understood+tr.Session.Unparsed.Lines)
		exec, cause := tr.Execution()
		require.Equal(t, exec == transcript.ExecutionCompleted, cause == nil)
		for skill, load := range tr.Document("alpha-skill").Skills {
			require.Equal(t, tr.LoadOf(skill), load)
		}
		transcript.Audit(tr, transcript.AuditInput{Baseline: true})
		if trajectory, err := tr.ATIF(); err == nil {
			require.Empty(t, atifProblems(t, trajectory))
		}
		_, second := decode()
		require.Equal(t, first, second, "decoding is deterministic")
	})
}

// session8MB is one session of about 8 MB made of captures: the ids stay
// unique, as in a real one.
func session8MB(tb testing.TB, name string, ids []string) string {
	var one strings.Builder
	for _, capture := range []string{"success", "toolmix"} {
		data, err := os.ReadFile(filepath.Join(captures, name, capture+".stdout.jsonl"))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		require.NoError(tb, err)
		// The captures are sessions of their own: their ids must not meet.
		text := string(data)
		for _, id := range ids {
			text = strings.ReplaceAll(text, id, id+capture)
		}
		one.WriteString(text)
	}
	var all strings.Builder
	for i := 0; all.Len() < 8<<20; i++ {
		text := one.String()
		for _, id := range ids {
			text = strings.ReplaceAll(text, id, fmt.Sprintf("%s%d_", id, i))
		}
		all.WriteString(text)
	}
	return all.String()
}

func BenchmarkDecode(b *testing.B) {
	for name, ids := range map[string][]string{"codex": {"item_"}, "copilot": {"call_", `"messageId":"`}, "opencode": {"call_", "msg_", "prt_"}} {
		text := session8MB(b, name, ids)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				tr, err := short[name](Recording{Stream: strings.NewReader(text)}, transcript.MaxLineBytes)
				require.NoError(b, err)
				require.Equal(b, tr.Lines, tr.Understood, "%v", tr.Unparsed)
			}
		})
	}
}

// maxDecodeMemory bounds the heap while one session is decoded, in bytes,
// however large the stream is: the line buffer and its copies in decoding, and
// twice what is kept of a session.
const maxDecodeMemory = 640 << 20

// watchedReader gives the pieces of a stream and notes the largest heap.
type watchedReader struct {
	io.Reader
	reads int
	peak  uint64
}

func (w *watchedReader) Read(p []byte) (int, error) {
	if w.reads++; w.reads%64 == 0 {
		w.look()
	}
	return w.Reader.Read(p)
}

func (w *watchedReader) look() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	w.peak = max(w.peak, m.HeapAlloc)
}

// repeated gives n bytes of one letter without holding them.
type repeated struct{ left int64 }

func (r *repeated) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), r.left)
	for i := range p[:n] {
		p[i] = 'a'
	}
	r.left -= n
	return int(n), nil
}

// longLine is a session with one line of size bytes in it.
func longLine(name string, size int64) io.Reader {
	return io.MultiReader(strings.NewReader(whole[name][0]+"\n"+`{"type":"error","message":"`), &repeated{size}, strings.NewReader("\"}\n"+whole[name][1]+"\n"))
}

// decodeLong decodes it and returns the heap it took beyond what was there.
func decodeLong(tb testing.TB, name string, size int64) (*transcript.Transcript, uint64) {
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	w := &watchedReader{Reader: longLine(name, size)}
	tr, err := short[name](Recording{Stream: w}, transcript.MaxLineBytes)
	require.NoError(tb, err)
	w.look()
	return tr, w.peak - min(w.peak, before.HeapAlloc)
}

// A line over the limit is skipped, counted, and costs no more than the limit.
func TestLongLineMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes through 96 MB")
	}
	for name := range short {
		tr, peak := decodeLong(t, name, transcript.MaxLineBytes+32<<20)
		assert.Equal(t, map[string]int64{"line too long": 1}, tr.Unparsed.ByReason, name)
		assert.EqualValues(t, 2, tr.Understood, name)
		exec, _ := tr.Execution()
		assert.Equal(t, transcript.ExecutionCompleted, exec, name)
		assert.Less(t, peak, uint64(maxDecodeMemory), name)
	}
	// A line just below the limit is decoded within the same bound.
	tr, peak := decodeLong(t, "codex", transcript.MaxLineBytes-1024)
	assert.EqualValues(t, 3, tr.Understood)
	assert.Less(t, peak, uint64(maxDecodeMemory))
}

// BenchmarkLongLine decodes a session with a line of 1 GB.
func BenchmarkLongLine(b *testing.B) {
	for name := range short {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(1 << 30)
			var peak uint64
			for b.Loop() {
				_, p := decodeLong(b, name, 1<<30)
				peak = max(peak, p)
			}
			require.Less(b, peak, uint64(maxDecodeMemory))
			b.ReportMetric(float64(peak)/(1<<20), "peak-MB")
		})
	}
}
