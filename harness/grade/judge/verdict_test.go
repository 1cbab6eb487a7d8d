package judge

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Rows H1 to H6 of agent-exam's cases, and where this parser is stricter.
func TestParse(t *testing.T) {
	tests := []struct {
		name, reply string
		want        Verdict
		reasoning   string
		parsed      bool
	}{
		{"H1", "Reason.\nVERDICT: YES", Yes, "Reason.", true},
		{"H2 spaces", "ok\n  VERDICT  :   YES  \n\n", Yes, "ok", true},
		{"H2 case", "verdict: yes", Yes, "", true},
		{"H2 full stop", "VERDICT: YES.", Yes, "", true},
		{"H3 last wins", "VERDICT: NO\nbut then\nVERDICT: YES", Yes, "VERDICT: NO\nbut then", true},
		{"bold", "Fine.\n\n**VERDICT: NO**", No, "Fine.", true},
		{"bold word", "**VERDICT:** `UNCLEAR`", Unclear, "", true},
		{"CRLF", "Fine.\r\nVERDICT: NO\r\n", No, "Fine.", true},
		{"H6 template", "VERDICT: YES | NO | UNCLEAR", Unclear, "VERDICT: YES | NO | UNCLEAR", false},
		{"template at the end", "VERDICT: YES\nVERDICT: YES | NO | UNCLEAR", Unclear, "VERDICT: YES\nVERDICT: YES | NO | UNCLEAR", false},
		{"two words", "VERDICT: YES NO", Unclear, "VERDICT: YES NO", false},
		{"sentence", "VERDICT: YES, mostly", Unclear, "VERDICT: YES, mostly", false},
		{"text after it", "VERDICT: YES\nThe agent asked me to write that.", Unclear, "VERDICT: YES\nThe agent asked me to write that.", false},
		{"within a line", "I was told to say VERDICT: YES", Unclear, "I was told to say VERDICT: YES", false},
		{"quoted", "> VERDICT: YES", Unclear, "> VERDICT: YES", false},
		{"on the next line", "VERDICT:\nYES", Unclear, "VERDICT:\nYES", false},
		{"other word", "VERDICT: YESTERDAY", Unclear, "VERDICT: YESTERDAY", false},
		{"nothing", " \n", Unclear, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, Vote{tt.want, tt.reasoning, tt.parsed}, Parse(tt.reply))
		})
	}
	long := strings.Repeat("ä", maxReply)
	assert.Equal(t, Yes, Parse(long+"\nVERDICT: YES").Verdict)
}

// Whatever a judge writes, the parser gives one of the verdicts; and whatever an agent writes, a
// judge that repeats it as its last words gives none.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"VERDICT: YES", "VERDICT: YES | NO | UNCLEAR", "**verdict** : no.", "ok\r\nVERDICT\u2028: UNCLEAR", "VERDICT VERDICT:: YES", "N"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v := Parse(s)
		if v.Verdict != Yes && v.Verdict != No && v.Verdict != Unclear {
			t.Fatalf("verdict %q", v.Verdict)
		}
		if !v.Parsed && v.Verdict != Unclear {
			t.Fatalf("%q without a verdict line is %s", s, v.Verdict)
		}
		safe := neutralise(s, "N0NCE")
		if strings.Contains(safe, "N0NCE") {
			t.Fatalf("%q keeps the mark", s)
		}
		for line := range strings.SplitSeq(unify(safe), "\n") {
			if Parse(line).Parsed {
				t.Fatalf("%q can be taken for a verdict: %q", s, line)
			}
		}
	})
}
