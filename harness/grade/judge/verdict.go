package judge

import (
	"regexp"
	"strings"
)

// maxReply is how much of a reply's end is looked at, in bytes.
const maxReply = 256 << 10

// verdictLine is a line that is a verdict and nothing else but Markdown's marks. A template
// ("VERDICT: YES | NO | UNCLEAR") and a sentence are none.
var verdictLine = regexp.MustCompile("(?i)^[\\s*_`#]*VERDICT[\\s*_`]*:[\\s*_`]*(YES|NO|UNCLEAR)[\\s*_`.!]*$")

// mentionsVerdict is what could be taken for the beginning of a verdict, by this parser or a reader.
var mentionsVerdict = regexp.MustCompile("(?i)(verdict)([\\s*_`]*):")

// Parse reads the verdict of a reply. It is the last line that is not blank; what stands before it
// is the reasoning. A reply with anything after its verdict, or without one, is UNCLEAR.
func Parse(reply string) Vote {
	reply = strings.ToValidUTF8(reply, "\uFFFD")
	if len(reply) > maxReply {
		reply = strings.ToValidUTF8(reply[len(reply)-maxReply:], "")
	}
	trimmed := strings.TrimRight(unify(reply), " \t\n")
	head, last := "", trimmed
	if at := strings.LastIndexByte(trimmed, '\n'); at >= 0 {
		head, last = trimmed[:at], trimmed[at+1:]
	}
	m := verdictLine.FindStringSubmatch(last)
	if m == nil {
		return Vote{Verdict: Unclear, Reasoning: strings.TrimSpace(trimmed)}
	}
	return Vote{Verdict: Verdict(strings.ToUpper(m[1])), Reasoning: strings.TrimSpace(head), Parsed: true}
}

// unify makes every kind of line end the same, so that none hides a line.
var unify = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\u0085", "\n", "\v", "\n", "\f", "\n").Replace
