package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/proctor-evals/proctor/harness/transcript"
)

// How much of a text the terminal form shows; the JSON form has all.
const (
	maxShownLines = 40  // of one text
	maxShownLine  = 400 // bytes of one line
)

// Style turns colours on; without, the output is plain text.
type Style struct{ Color bool }

// The colours, as SGR codes.
const (
	bold  = "1"
	faint = "2"
	red   = "31"
	green = "32"
	amber = "33"
	blue  = "36"
)

func (s Style) paint(code, text string) string {
	if !s.Color || text == "" || code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Transcript prints a session for a person to read. Everything the session
// says is escaped; a text is cut after 40 lines and says so.
func Transcript(w io.Writer, d transcript.Document, style Style) error {
	p := &printer{w: w, Style: style}
	p.head(d)
	for i := range d.Turns {
		p.turn(&d.Turns[i])
	}
	p.foot(d)
	return p.err
}

type printer struct {
	w io.Writer
	Style
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

func (p *printer) head(d transcript.Document) {
	parts := []string{p.paint(bold, Clean(d.Client))}
	for _, s := range []string{d.ClientVersion, d.Model, d.SessionID} {
		if s != "" {
			parts = append(parts, Clean(s))
		}
	}
	p.line("%s", strings.Join(parts, "  "))
	execution, cause := d.Transcript.Execution()
	state := p.paint(green, string(execution))
	if cause != nil {
		state = p.paint(red, string(execution)) + "  " + cause.Kind
		if cause.Status != nil {
			state += fmt.Sprintf(" (HTTP %d)", *cause.Status)
		}
		state += ": " + Clean(cause.Message)
	}
	p.line("execution  %s", state)
	if d.Cwd != "" {
		p.line("folder     %s", Clean(d.Cwd))
	}
}

func (p *printer) turn(t *transcript.Turn) {
	indent := ""
	who := string(t.Role)
	if t.ParentID != "" {
		indent, who = "  ", who+" in subagent "+Clean(t.ParentID)
	}
	if t.Synthetic {
		who += " (by the client)"
	}
	if t.Source != "" {
		who += " (from the session file)"
	}
	p.line("")
	at := ""
	if t.Time != "" {
		at = " " + p.paint(faint, Clean(t.Time))
	}
	p.line("%s%s%s", indent, p.paint(bold, who), at)
	p.text(indent+"  ", t.Reasoning, faint)
	p.text(indent+"  ", t.Text, "")
	for i := range t.ToolCalls {
		p.call(indent+"  ", &t.ToolCalls[i])
	}
}

var statusColour = map[transcript.Status]string{
	transcript.StatusOK: green, transcript.StatusError: red, transcript.StatusDenied: amber,
	transcript.StatusRejected: amber, transcript.StatusAborted: red, transcript.StatusUnfinished: amber,
}

func (p *printer) call(indent string, c *transcript.ToolCall) {
	state := p.paint(statusColour[c.Status], string(c.Status))
	if c.Source != "" {
		state += p.paint(faint, " (from the session file)")
	}
	input := Clean(string(c.Input))
	if c.InputCut {
		input += " … (cut)"
	}
	p.line("%s%s %s  %s", indent, p.paint(blue, "→ "+Clean(c.Name)), input, state)
	p.text(indent+"    ", c.Output, faint)
	if more := c.OutputBytes - int64(len(c.Output)); more > 0 {
		p.line("%s    … (%d more bytes of output were not kept)", indent, more)
	}
}

// text prints a text line by line.
func (p *printer) text(indent, s, colour string) {
	s = strings.TrimRight(s, "\n")
	if s == "" {
		return
	}
	shown := 0
	for line := range strings.SplitSeq(s, "\n") {
		if shown == maxShownLines {
			p.line("%s… (%d more lines)", indent, strings.Count(s, "\n")+1-shown)
			return
		}
		line = strings.TrimSuffix(line, "\r")
		more := ""
		if len(line) > maxShownLine {
			more = fmt.Sprintf("… (%d more bytes)", len(line)-maxShownLine)
			line = line[:maxShownLine]
		}
		p.line("%s%s%s", indent, p.paint(colour, Clean(strings.ReplaceAll(line, "\t", "    "))), more)
		shown++
	}
}

func (p *printer) foot(d transcript.Document) {
	p.line("")
	if len(d.Skills) > 0 {
		tw := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', 0)
		for _, name := range slices.Sorted(maps.Keys(d.Skills)) {
			if d.Skills[name] != transcript.NotObserved || len(d.Skills) <= 10 {
				fmt.Fprintf(tw, "skill\t%s\t%s\n", Clean(name), d.Skills[name])
			}
		}
		if err := tw.Flush(); err != nil && p.err == nil {
			p.err = err
		}
	}
	u := d.Usage
	p.line("tokens     input %s  output %s  cache read %s  cache write %s  reasoning %s", tokens(u.Input), tokens(u.Output), tokens(u.CacheRead), tokens(u.CacheWrite), tokens(u.Reasoning))
	if ms := d.Timing.DurationMS; ms != nil {
		p.line("time       %.1f s", float64(*ms)/1000)
	}
	if d.RetryCount > 0 {
		p.line("retries    %d", d.RetryCount)
	}
	lines := fmt.Sprintf("%d of %d understood", d.Understood, d.Lines)
	if d.Understood < d.Lines || d.Lines == 0 {
		lines = p.paint(red, lines)
	}
	p.line("lines      %s", lines)
	p.unparsed("stream", d.Unparsed)
	if s := d.Session; s != nil {
		note := ""
		if !s.Matches {
			note = "; it is not of this session, and nothing was taken from it"
		}
		p.line("session    %d of %d lines understood%s", s.Understood, s.Lines, note)
		p.unparsed("session file", s.Unparsed)
	}
	if !d.Interpretable {
		p.line("%s", p.paint(amber, "absence cannot be concluded: "+Clean(d.Why)))
	}
}

func (p *printer) unparsed(what string, u transcript.Unparsed) {
	for _, reason := range slices.Sorted(maps.Keys(u.ByReason)) {
		p.line("%s", p.paint(red, fmt.Sprintf("           %s: %d × %s", what, u.ByReason[reason], Clean(reason))))
	}
	for _, s := range u.Samples {
		p.line("           line %d (%s): %s", s.Line, Clean(s.Reason), Clean(s.Text))
	}
}

// tokens is a count, or a dash where it is not known.
func tokens(n *int64) string {
	if n == nil {
		return "—"
	}
	return fmt.Sprint(*n)
}
