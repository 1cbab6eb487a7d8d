package report

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printer is what everything for a terminal, a CI log or go test's output goes through. Line breaks and
// tabs stay; all else that Clean makes visible becomes visible, and no line that comes out is a test's
// result or a workflow command. Text from a trial goes through Clean besides: a line break of its own is
// the one thing that a printer cannot tell from the report's.
type Printer struct {
	next  io.Writer
	held  []byte // the start of a character, or of what may be a command
	start bool   // only blanks in this line so far
	// Color lets the colours of a report's Style pass.
	Color bool
}

// NewPrinter prints to w. Flush when nothing more comes.
func NewPrinter(w io.Writer) *Printer { return &Printer{next: w, start: true} }

// Raw is what is below a printer, and w itself where it is none. It is for documents that a program
// reads, which escape what they hold in their own way, and for handing a terminal on.
func Raw(w io.Writer) io.Writer {
	if p, ok := w.(*Printer); ok {
		_ = p.Flush()
		return p.next
	}
	return w
}

// Lines is what a printer makes of s.
func Lines(s string) string {
	var b strings.Builder
	p := NewPrinter(&b)
	_, _ = io.WriteString(p, s) // a builder takes all
	_ = p.Flush()
	return b.String()
}

// Write implements io.Writer. The start of a character, and of what may become a command, waits for more.
func (p *Printer) Write(b []byte) (int, error) {
	p.held = append(p.held, b...)
	if err := p.print(false); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Flush prints what waits.
func (p *Printer) Flush() error { return p.print(true) }

func (p *Printer) print(all bool) error {
	var out []byte
	i := 0
	for i < len(p.held) {
		rest := p.held[i:]
		if n := p.paint(rest); n > 0 {
			out = append(out, rest[:n]...)
			i += n
			continue
		}
		if !all && (!utf8.FullRune(rest) || p.undecided(string(rest[:min(len(rest), 4)]))) {
			break
		}
		r, size := utf8.DecodeRune(rest)
		switch {
		case r == '\n' || r == '\t':
			out = append(out, byte(r))
		case r == utf8.RuneError && size == 1:
			out = fmt.Appendf(out, `\x%02x`, rest[0])
		case r == unicode.ReplacementChar || !unicode.IsPrint(r) || blank[r]:
			q := strconv.QuoteRuneToASCII(r)
			out = append(out, q[1:len(q)-1]...)
		case command(string(rest[:min(len(rest), 4)]), p.start):
			out = fmt.Appendf(out, `\x%02x`, rest[0])
		default:
			out = append(out, rest[:size]...)
		}
		p.start = r == '\n' || p.start && (r == ' ' || r == '\t')
		i += size
	}
	p.held = append(p.held[:0], p.held[i:]...)
	if len(out) == 0 {
		return nil
	}
	_, err := p.next.Write(out)
	return err
}

// paint is the length of the colour that s starts with, 0 for none. Style writes a colour whole.
func (p *Printer) paint(s []byte) int {
	if !p.Color || s[0] != '\x1b' {
		return 0
	}
	for _, code := range []string{"0", bold, faint, red, green, amber, blue} {
		if sgr := "\x1b[" + code + "m"; bytes.HasPrefix(s, []byte(sgr)) {
			return len(sgr)
		}
	}
	return 0
}

// undecided tells whether s may become a command.
func (p *Printer) undecided(s string) bool {
	for _, c := range commands {
		if len(s) < len(c) && strings.HasPrefix(c, s) && (p.start || c == "##") {
			return true
		}
	}
	return false
}
