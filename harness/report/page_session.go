package report

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/transcript"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// What a session may put on the page, in bytes of one text and in turns. `proctor transcript` has all.
const (
	mostTurnText = 16 << 10
	mostCallText = 8 << 10
	mostTurns    = 2000
	mostBrief    = 120
	mostSkills   = 40 // a client may list thousands
)

// session decodes a trial's recording again; root is its folder.
func session(root *os.Root, clientName string, asked []string, b *budget) *pageSession {
	t, err := recording(root, clientName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &pageSession{Problem: "There is no transcript: the client was never started."}
	case err != nil:
		return &pageSession{Problem: "The transcript cannot be shown: " + Clean(err.Error())}
	}
	d := t.Document(asked...)
	s := &pageSession{}
	fact := func(name, value string) {
		if value != "" {
			s.Facts = append(s.Facts, [2]string{name, value})
		}
	}
	execution, cause := t.Execution()
	ended := string(execution)
	if cause != nil {
		ended += ": " + cause.Error()
	}
	fact("ended", Clean(ended))
	fact("model", Clean(d.Model))
	fact("client's version", Clean(d.ClientVersion))
	for _, skill := range slices.Sorted(maps.Keys(d.Skills)) {
		if len(s.Facts) > mostSkills {
			fact("more skills", "proctor transcript has them")
			break
		}
		if d.Skills[skill] != transcript.NotObserved || slices.Contains(asked, skill) {
			fact("skill "+Clean(skill), string(d.Skills[skill]))
		}
	}
	if d.CostUSD != nil {
		fact("cost", fmt.Sprintf("%.4f US dollars, by the client's own estimate", *d.CostUSD))
	}
	fact("lines", fmt.Sprintf("%d of %d understood", d.Understood, d.Lines))
	if !d.Interpretable {
		fact("absence", "cannot be concluded: "+Clean(d.Why))
	}
	for i := range d.Turns {
		if b.left <= 0 || i == mostTurns {
			s.Omitted = len(d.Turns) - i
			break
		}
		s.Turns = append(s.Turns, turn(&d.Turns[i], b))
	}
	return s
}

func recording(root *os.Root, clientName string) (*transcript.Transcript, error) {
	decoder, err := client.LookupDecoder(clientName)
	if err != nil {
		return nil, err
	}
	stream, err := treecopy.OpenIn(root, "transcript.jsonl")
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	r := client.Recording{Stream: stream}
	f, err := treecopy.OpenIn(root, "session.jsonl")
	switch {
	case err == nil:
		defer f.Close()
		r.Session = f
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	return decoder.Decode(r)
}

func turn(t *transcript.Turn, b *budget) pageTurn {
	who := string(t.Role)
	if t.ParentID != "" {
		who += " in a subagent"
	}
	if t.Synthetic {
		who += ", by the client"
	}
	if t.Source != "" {
		who += ", from the session file"
	}
	out := pageTurn{
		Who: Clean(who), Time: Clean(t.Time), Inner: t.ParentID != "", Folded: t.Synthetic,
		Text: b.text("", t.Text, mostTurnText), Reasoning: b.text("reasoning", t.Reasoning, mostTurnText),
	}
	for i := range t.ToolCalls {
		c := &t.ToolCalls[i]
		brief, cut := Visible(strings.Join(strings.Fields(string(c.Input)), " "), mostBrief)
		if cut > 0 {
			brief += "…"
		}
		call := pageCall{
			Name: Clean(c.Name), Brief: brief, Status: string(c.Status),
			Input: b.text("input", string(c.Input), mostCallText), Output: b.text("output", c.Output, mostCallText),
		}
		if more := c.OutputBytes - int64(len(c.Output)); more > 0 {
			call.Output.Cut += int(more)
		}
		b.left -= len(call.Name) + len(call.Brief) + 100
		out.Calls = append(out.Calls, call)
	}
	b.left -= 200
	return out
}
