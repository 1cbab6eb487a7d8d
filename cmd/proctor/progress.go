package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/report"
)

// redraw is how often the table is drawn while nothing happens but time.
const redraw = 500 * time.Millisecond

// A progress tells how far a run is: a line for each stage, or on a terminal a line for each trial that
// is done and below them a table of the trials under way, which is redrawn in place.
type progress struct {
	lines       io.Writer // a printer
	withClient  bool
	begun       time.Time
	screen      io.Writer // the terminal below the printer; nil for plain lines
	size        func() (width, height int)
	mu          sync.Mutex
	board       board
	drawn       int // lines of the table on the screen
	spent       func() (int64, *float64)
	stop, ended chan struct{}
}

// newProgress draws on w where that is a terminal; otherwise its lines go there.
func newProgress(w io.Writer) *progress {
	p := &progress{lines: w, begun: time.Now()}
	f, ok := report.Raw(w).(*os.File)
	if ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" && os.Getenv("CI") == "" {
		p.screen = f
		p.size = func() (int, int) {
			width, height, err := term.GetSize(int(f.Fd()))
			if err != nil || width < 1 || height < 1 {
				return 80, 24
			}
			return width, height
		}
	}
	return p
}

// start begins the table. total is how many trials there are to run; limits are 0 where there is none.
func (p *progress) start(total int, maxTokens int64, maxCost float64, spent func() (int64, *float64)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.board.total, p.board.maxTokens, p.board.maxCost, p.spent = total, maxTokens, maxCost, spent
	p.begun = time.Now()
	if p.screen == nil {
		return
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	p.stop, p.ended = stop, ended
	go func() {
		defer close(ended)
		tick := time.NewTicker(redraw)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				p.mu.Lock()
				p.draw(time.Now())
				p.mu.Unlock()
			}
		}
	}()
}

// finish takes the table away; the lines stay. It may be called again.
func (p *progress) finish() {
	p.mu.Lock()
	stop := p.stop
	p.stop = nil
	p.mu.Unlock()
	if stop == nil {
		return
	}
	close(stop)
	<-p.ended
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
}

// tell takes an event.
func (p *progress) tell(ev harness.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.board.take(ev)
	if p.stop == nil {
		p.line(ev)
		return
	}
	if ev.Stage == harness.StageDone {
		p.erase()
		p.line(ev)
	}
	p.draw(ev.Time)
}

// note prints a line of the runner's own above the table.
func (p *progress) note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	fmt.Fprintln(p.lines, report.Clean(text))
	if p.stop != nil {
		p.draw(time.Now())
	}
}

// announceEnd says, once ctx has ended, what happens now; the returned function calls it off.
func (p *progress) announceEnd(ctx context.Context) func() {
	off := context.AfterFunc(ctx, func() {
		p.note("interrupted: the trials under way are ended and recorded; interrupt once more to end at once")
	})
	return func() { off() }
}

func (p *progress) line(ev harness.Event) {
	name := report.Clean(ev.Task) + "/"
	if p.withClient {
		name += report.Clean(ev.Client) + "/"
	}
	fmt.Fprintf(p.lines, "%s  %s%s  %s", ev.Time.Format("15:04:05"), name, report.Clean(ev.Trial), ev.Stage)
	if ev.Detail != "" {
		fmt.Fprintf(p.lines, "  %s", report.Clean(ev.Detail))
	}
	if ev.Stage == harness.StageDone && p.stop != nil {
		fmt.Fprintf(p.lines, "  %s", cost(ev.Tokens, ev.CostUSD))
	}
	fmt.Fprintln(p.lines)
}

// erase takes the table off the screen.
func (p *progress) erase() {
	if p.drawn > 0 {
		fmt.Fprintf(p.screen, "\x1b[%dA\r\x1b[J", p.drawn)
		p.drawn = 0
	}
}

func (p *progress) draw(now time.Time) {
	if p.stop == nil {
		return
	}
	if p.spent != nil {
		p.board.tokens, p.board.cost = p.spent()
	}
	width, height := p.size()
	lines := p.board.render(now, p.begun, width-1, max(3, height-2))
	var b strings.Builder
	if p.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\r", p.drawn)
	}
	for _, line := range lines {
		b.WriteString(line + "\x1b[K\n")
	}
	b.WriteString("\x1b[J")
	_, _ = io.WriteString(p.screen, b.String()) // a lost terminal ends the run by its signal
	p.drawn = len(lines)
}

// A board is what the table shows.
type board struct {
	total, done int
	outcomes    map[string]int
	maxTokens   int64
	maxCost     float64
	tokens      int64    // by the wire, of all trials
	cost        *float64 // as tokens; null without prices
	told        int64    // by the clients, of the trials done
	rows        []row
}

type row struct {
	harness.Event           // the last
	began         time.Time // of its stage
}

func (b *board) take(ev harness.Event) {
	same := func(r row) bool { return r.Task == ev.Task && r.Client == ev.Client && r.Trial == ev.Trial }
	i := slices.IndexFunc(b.rows, same)
	if ev.Stage == harness.StageDone {
		b.done++
		if b.outcomes == nil {
			b.outcomes = map[string]int{}
		}
		word := string(ev.Outcome)
		if word == "" {
			word = "not counted"
		}
		b.outcomes[word]++
		if ev.Tokens != nil {
			b.told += *ev.Tokens
		}
		b.rows = slices.DeleteFunc(b.rows, same)
		return
	}
	if i < 0 {
		b.rows = append(b.rows, row{Event: ev, began: ev.Time})
		return
	}
	b.rows[i] = row{Event: ev, began: ev.Time}
}

// render is the table in at most so many lines, none wider than the width.
func (b *board) render(now, begun time.Time, width, height int) []string {
	out := []string{b.headline(now.Sub(begun))}
	if len(b.rows) > 0 {
		cells := [][]string{{"task", "client", "configuration", "trial", "stage", "elapsed"}}
		for _, r := range b.rows {
			if len(cells) == height-2 && len(b.rows) > height-2 {
				break
			}
			elapsed := clock(now.Sub(r.began))
			if r.LimitSecs > 0 {
				elapsed += " of " + clock(time.Duration(r.LimitSecs)*time.Second)
			}
			cells = append(cells, []string{r.Task, r.Client, r.Configuration, shortTrial(r.Trial, r.Configuration), r.Step(), elapsed})
		}
		out = append(out, columns(cells)...)
		if more := len(b.rows) - len(cells) + 1; more > 0 {
			out = append(out, fmt.Sprintf("and %d more", more))
		}
	}
	for i, line := range out {
		out[i] = fit(line, width)
	}
	return out
}

func (b *board) headline(elapsed time.Duration) string {
	parts := []string{fmt.Sprintf("%d of %d done", b.done, b.total)}
	for _, word := range []string{"succeeded", "failed", "inconclusive", "not counted"} {
		if n := b.outcomes[word]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, word))
		}
	}
	parts = append(parts, clock(elapsed))
	tokens := fmt.Sprintf("%d tokens", max(b.tokens, b.told))
	if b.maxTokens > 0 {
		tokens = fmt.Sprintf("%d of %d tokens, %d left", b.tokens, b.maxTokens, max(0, b.maxTokens-b.tokens))
	}
	parts = append(parts, tokens)
	switch {
	case b.cost != nil && b.maxCost > 0:
		parts = append(parts, fmt.Sprintf("$%.4f of $%.2f, $%.4f left", *b.cost, b.maxCost, max(0, b.maxCost-*b.cost)))
	case b.maxCost > 0:
		parts = append(parts, fmt.Sprintf("nothing spent of $%.2f", b.maxCost))
	case b.cost != nil:
		parts = append(parts, fmt.Sprintf("$%.4f", *b.cost))
	}
	return strings.Join(parts, " · ")
}

// shortTrial is a trial's name without what the configuration's column says.
func shortTrial(name, configuration string) string {
	return strings.TrimPrefix(strings.TrimSuffix(name, "-"+configuration), "trial-")
}

func cost(tokens *int64, usd *float64) string {
	text := "tokens not told"
	if tokens != nil {
		text = fmt.Sprintf("%d tokens", *tokens)
	}
	if usd != nil {
		text += fmt.Sprintf(", $%.4f", *usd)
	}
	return text
}

// clock writes a duration as minutes and seconds.
func clock(d time.Duration) string {
	s := int(max(d, 0) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// columns lines up cells, cleaned.
func columns(cells [][]string) []string {
	widths := make([]int, len(cells[0]))
	for _, line := range cells {
		for i := range line {
			line[i] = report.Clean(line[i])
			widths[i] = max(widths[i], utf8.RuneCountInString(line[i]))
		}
	}
	var out []string
	for _, line := range cells {
		var b strings.Builder
		for i, cell := range line {
			b.WriteString(cell)
			if i < len(line)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
			}
		}
		out = append(out, b.String())
	}
	return out
}

// fit cuts a line to a width. Wide characters count as two, so that no line wraps.
func fit(line string, width int) string {
	used := 0
	for i, r := range line {
		n := 1
		if r >= 0x1100 || unicode.Is(unicode.So, r) && r > 0xff {
			n = 2
		}
		if used += n; used > width {
			return line[:i]
		}
	}
	return line
}
