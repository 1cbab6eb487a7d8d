package transcript

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLineReader(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"empty", "", nil},
		{"LF, CRLF, blank", "a\nb\r\n\nc\n", []string{"a", "b", "", "c"}},
		{"unterminated", "a\nb", []string{"a", "b unterminated"}},
		{"byte order mark", "\xef\xbb\xbfa\n\xef\xbb\xbfb\n", []string{"a bom", "\xef\xbb\xbfb"}},
		{"too long", "123456789\nb\n" + strings.Repeat("x", 200_000) + "\nc\n", []string{"12345678 oversize", "b", "xxxxxxxx oversize", "c"}},
		{"just fits", "12345678\n", []string{"12345678"}},
		{"too long at the end", "1234567890", []string{"12345678 oversize unterminated"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in)), iotest.DataErrReader(strings.NewReader(c.in))} {
				lines := NewLineReader(r, 8)
				var got []string
				for {
					l, err := lines.Next()
					if err == io.EOF {
						break
					}
					require.NoError(t, err)
					s := string(l.Data)
					if l.BOM {
						s += " bom"
					}
					if l.Oversize {
						s += " oversize"
					}
					if l.Unterminated {
						s += " unterminated"
					}
					got = append(got, s)
				}
				assert.Equal(t, c.want, got)
			}
		})
	}
}

// endless gives n bytes without a line end, out of no memory.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.left)
	for i := range p[:n] {
		p[i] = 'x'
	}
	e.left -= n
	return n, nil
}

func TestLineReaderBoundedMemory(t *testing.T) {
	lines := NewLineReader(&endless{256 << 20}, 1<<20)
	l, err := lines.Next()
	require.NoError(t, err)
	assert.True(t, l.Oversize)
	assert.EqualValues(t, 256<<20, l.Size)
	assert.LessOrEqual(t, cap(lines.buf), 4<<20)
}

func TestLoadOf(t *testing.T) {
	whole := func(loads ...SkillLoad) *Transcript {
		return &Transcript{Lines: 3, Understood: 3, Started: true, Completed: true, SkillLoads: loads}
	}
	loaded, tried := SkillLoad{Skill: "a", State: LoadLoaded}, SkillLoad{Skill: "a", State: LoadAttempted}
	unclear, somewhere := SkillLoad{Skill: "a", State: LoadUnclear}, SkillLoad{State: LoadUnclear}
	change := func(t *Transcript, f func(*Transcript)) *Transcript { f(t); return t }
	unparsed := func(t *Transcript) { t.Unparsed.Lines = 1 }
	for name, c := range map[string]struct {
		t    *Transcript
		want Load
	}{
		"nothing":              {whole(), NotObserved},
		"loaded":               {whole(tried, loaded), Loaded},
		"attempted":            {whole(tried), Attempted},
		"another":              {whole(SkillLoad{Skill: "b", State: LoadLoaded}), NotObserved},
		"unclear":              {whole(tried, unclear), Unknown},
		"unclear which":        {whole(somewhere), Unknown},
		"unclear but loaded":   {whole(somewhere, loaded), Loaded},
		"unparsed":             {change(whole(), unparsed), Unknown},
		"unparsed, attempted":  {change(whole(tried), unparsed), Unknown},
		"unparsed, loaded":     {change(whole(loaded), unparsed), Loaded},
		"no opening":           {change(whole(), func(t *Transcript) { t.Started = false }), Unknown},
		"no completion":        {change(whole(), func(t *Transcript) { t.Completed = false }), Unknown},
		"nothing understood":   {change(whole(), func(t *Transcript) { t.Understood = 0 }), Unknown},
		"too many load events": {change(whole(), func(t *Transcript) { t.Dropped.Loads = 1 }), Unknown},
	} {
		assert.Equal(t, c.want, c.t.LoadOf("a"), name)
	}
}

func TestExecution(t *testing.T) {
	exec, cause := (&Transcript{Completed: true}).Execution()
	assert.Equal(t, ExecutionCompleted, exec)
	assert.Nil(t, cause)
	exec, cause = (&Transcript{}).Execution()
	assert.Equal(t, ExecutionClientError, exec)
	assert.Equal(t, ErrorNoCompletion, cause.Kind)
	status := int64(500)
	failed := &ClientError{Kind: ErrorModelEndpoint, Status: &status, Message: "boom\x1b[31m"}
	exec, cause = (&Transcript{Completed: true, ClientError: failed}).Execution()
	assert.Equal(t, ExecutionClientError, exec)
	assert.Equal(t, `model_endpoint (HTTP 500): "boom\x1b[31m"`, cause.Error())
}

func TestBuilder(t *testing.T) {
	b := NewBuilder("x")
	turn := b.Turn(Turn{Role: RoleAssistant, MessageID: "m"})
	assert.True(t, b.Call(turn, "1", "Bash", json.RawMessage(`{ "command": "ls" }`)))
	assert.False(t, b.Call(turn, "1", "Bash", nil), "the id is taken")
	assert.True(t, b.Result("1", "out", StatusError))
	assert.False(t, b.Result("1", "again", StatusOK), "closed")
	assert.False(t, b.Result("2", "orphan", StatusOK))
	b.Restate("1", StatusError, StatusDenied)
	b.AddText(turn, "one")
	b.AddText(turn, "two")
	got := b.T.Turns[0]
	assert.Equal(t, "one\n\ntwo", got.Text)
	assert.Equal(t, ToolCall{ID: "1", Name: "Bash", Input: json.RawMessage(`{"command":"ls"}`), Output: "out", OutputBytes: 3, Status: StatusDenied}, got.ToolCalls[0])

	long := `{"file_path":"/x","content":"` + strings.Repeat("y", MaxInputBytes) + `"}`
	require.True(t, b.Call(turn, "3", "Write", json.RawMessage(long)))
	call := b.T.Turns[0].ToolCalls[1]
	assert.True(t, call.InputCut)
	assert.Contains(t, string(call.Input), `"/x"`)
	assert.Less(t, len(call.Input), 8<<10)

	for range 200 {
		b.Ignore(strings.Repeat("z", 300))
		b.Reject(1, "r", []byte("\xff"+strings.Repeat("w", 300)))
	}
	assert.Len(t, b.T.Unparsed.Samples, MaxSamples)
	assert.LessOrEqual(t, len(b.T.Unparsed.Samples[0].Text), MaxSampleBytes+2)
	_, err := json.Marshal(b.T)
	require.NoError(t, err)
}

// An unknown number is null in the JSON form, never 0.
func TestUnknownIsNull(t *testing.T) {
	text, err := json.Marshal(NewBuilder("x").T)
	require.NoError(t, err)
	for _, field := range []string{"input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "cost_usd", "num_turns", "duration_ms", "skills_listed", "usage_by_model"} {
		assert.Contains(t, string(text), `"`+field+`":null`)
	}
}

func TestCount(t *testing.T) {
	for in, want := range map[string]any{"5": 5, "0": 0, "1e3": 1000, "-1": nil, "1.5": nil, `"5"`: nil, "null": nil, "": nil, "1e300": nil, "{}": nil} {
		got := Count(json.RawMessage(in))
		if want == nil {
			assert.Nil(t, got, in)
		} else if assert.NotNil(t, got, in) {
			assert.EqualValues(t, want, *got, in)
		}
	}
}

func TestAudit(t *testing.T) {
	for _, c := range []struct {
		name, tool, input string
		baseline          bool
		want              []string
	}{
		{"inside", "Read", `{"file_path":"/run/project/src/lib.rs"}`, false, nil},
		{"outside", "Read", `{"file_path":"/home/dev/secret"}`, false, []string{"/home/dev/secret"}},
		{"a sibling with the same start", "Read", `{"file_path":"/run/project2/x"}`, false, []string{"/run/project2/x"}},
		{"dots", "Read", `{"file_path":"/run/project/../../etc/shadow"}`, false, []string{"/etc/shadow"}},
		{"relative dots", "Read", `{"file_path":"../../other/x"}`, false, []string{"/other/x"}},
		{"allowed", "Bash", `{"command":"/usr/bin/cargo build > /dev/null 2>&1"}`, false, nil},
		{"command", "Bash", `{"command":"cat /home/dev/x && ls ../.. "}`, false, []string{"/home/dev/x", "/"}},
		{"option", "Bash", `{"command":"cargo --config=/root/.cargo/config.toml build"}`, false, []string{"/root/.cargo/config.toml"}},
		{"redirection", "Bash", `{"command":"echo x > /var/tmp/y"}`, false, []string{"/var/tmp/y"}},
		{"substitution", "Bash", `{"command":"echo $(cat /home/dev/z)"}`, false, []string{"/home/dev/z"}},
		{"own home", "Bash", `{"command":"ls ~/.claude $HOME/x"}`, false, nil},
		{"another home", "Bash", `{"command":"ls ~dev/x"}`, false, []string{"~dev/x"}},
		{"pattern", "Bash", `{"command":"ls /home/*/.cargo"}`, false, []string{"/home"}},
		{"written content", "Write", `{"file_path":"/run/project/a","content":"see /etc/passwd"}`, false, nil},
		{"text to print", "Bash", `{"command":"echo /etc/passwd; sed -n '/x/p' a; grep -n '/// doc' b; curl https://x.y/z"}`, false, nil},
		{"here-document", "Bash", `{"command":"cat > a <<EOF\n/etc/passwd\nEOF"}`, false, nil},
		{"python", "Bash", `{"command":"python3 -c \"open('/home/dev/q')\""}`, false, []string{"/home/dev/q"}},
		{"cargo-agents", "Bash", `{"command":"cargo-agents sync"}`, true, []string{"cargo-agents"}},
		{"cargo agents", "Bash", `{"command":"cargo  agents sync"}`, true, []string{"cargo  agents"}},
		{"in content", "Write", `{"file_path":"/run/project/a","content":"x .symposium y"}`, true, []string{".symposium"}},
		{"with Symposium", "Bash", `{"command":"cargo-agents sync"}`, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := NewBuilder("x")
			b.T.Lines, b.T.Understood, b.T.Started, b.T.Completed = 1, 1, true, true
			require.True(t, b.Call(b.Turn(Turn{Role: RoleAssistant}), "1", c.tool, json.RawMessage(c.input)))
			b.Result("1", "", StatusDenied)
			in := AuditInput{Cwd: "/run/project", Home: "/run/home", RunPaths: []string{"/run/project", "/run/home"}, AllowedPrefixes: []string{"/usr/"}, Baseline: c.baseline}
			report := Audit(b.T, in)
			var got []string
			for _, f := range report.Findings {
				got = append(got, f.Detail)
				assert.Equal(t, StatusDenied, f.Status)
			}
			assert.Equal(t, c.want, got)
			if c.want == nil {
				assert.Equal(t, AuditClean, report.State)
				b.T.Unparsed.Lines = 1
				assert.Equal(t, AuditNotInterpretable, Audit(b.T, in).State)
			} else {
				assert.Equal(t, AuditSuspicious, report.State)
			}
		})
	}
}
