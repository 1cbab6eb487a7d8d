package report

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/transcript"
)

func hostileTranscript() *transcript.Transcript {
	const evil = "\x1b[2Jx\r\u202e\u009b31m::error::y\x00"
	b := transcript.NewBuilder("claude")
	b.T.Model, b.T.SessionID, b.T.Cwd = evil, evil, evil
	b.Turn(transcript.Turn{Role: transcript.RoleUser, Text: evil + "\nsecond\tline\n" + strings.Repeat("long ", 200)})
	turn := b.Turn(transcript.Turn{Role: transcript.RoleAssistant, ParentID: evil, Time: evil, Reasoning: evil})
	input, _ := json.Marshal(map[string]string{"command": evil})
	b.Call(turn, "1", evil, input)
	b.Result("1", evil+strings.Repeat("\nx", 100), transcript.StatusDenied)
	b.Load(transcript.SkillLoad{Skill: evil, State: transcript.LoadLoaded, How: "shell"})
	b.T.Lines = 2
	b.Reject(2, "not JSON", []byte(evil))
	b.T.Session = &transcript.SessionFile{Lines: 1, Unparsed: b.T.Unparsed}
	b.T.ClientError = &transcript.ClientError{Kind: transcript.ErrorClient, Message: evil}
	return b.T
}

// What a session says reaches a terminal only escaped, with colours or without.
func TestTranscriptIsEscaped(t *testing.T) {
	for _, color := range []bool{false, true} {
		var out strings.Builder
		require.NoError(t, Transcript(&out, hostileTranscript().Document(), Style{Color: color}))
		text := out.String()
		assert.Equal(t, color, strings.Contains(text, "\x1b[1m"), "colours only when asked for")
		for _, code := range []string{bold, faint, red, green, amber, blue, "0"} {
			text = strings.ReplaceAll(text, "\x1b["+code+"m", "")
		}
		for _, r := range text {
			if r != '\n' && !unicode.IsPrint(r) {
				t.Fatalf("%U is in the output", r)
			}
		}
		for _, want := range []string{`\x1b[2Jx`, "denied", "client_error", "second    line", "more lines)", "more bytes)", "0 of 2 understood", "input —", "loaded", "absence cannot be concluded", "it is not of this session"} {
			assert.Contains(t, text, want)
		}
		for line := range strings.SplitSeq(text, "\n") {
			assert.False(t, strings.HasPrefix(line, "::"), line)
		}
	}
}

func TestCleanJSON(t *testing.T) {
	doc, err := json.Marshal(hostileTranscript().Document())
	require.NoError(t, err)
	clean := CleanJSON(doc)
	for _, r := range string(clean) {
		require.True(t, unicode.IsPrint(r), "%U", r)
	}
	var before, after any
	require.NoError(t, json.Unmarshal(doc, &before))
	require.NoError(t, json.Unmarshal(clean, &after))
	assert.Equal(t, before, after, "it says the same")
	assert.Equal(t, `"é 漢"`, string(CleanJSON([]byte(`"é 漢"`))))
	assert.Equal(t, `"\udb40\udc01"`, string(CleanJSON([]byte("\"\U000e0001\""))))
}
