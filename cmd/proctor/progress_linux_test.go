package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/report"
	"github.com/proctor-evals/proctor/harness/result"
)

var t0 = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func event(trial string, stage harness.Stage, detail string) harness.Event {
	return harness.Event{Time: t0, Task: "one", Client: "claude", Configuration: "staged-skills", Trial: trial + "-staged-skills", Stage: stage, Detail: detail, LimitSecs: 600}
}

func done(trial string, tokens int64) harness.Event {
	ev := event(trial, harness.StageDone, "succeeded")
	ev.Outcome, ev.Tokens = result.Succeeded, &tokens
	return ev
}

func TestBoard(t *testing.T) {
	cost := 0.5
	b := board{total: 6, maxCost: 2, cost: &cost, maxTokens: 1000, tokens: 400}
	b.take(event("trial-1", harness.StageSetup, ""))
	b.take(event("trial-1", harness.StageGrading, "hidden-a"))
	b.take(event("trial-2", harness.StageAgent, ""))
	b.take(event("trial-3", harness.StageAgent, "\x1b[31m::error"))
	b.take(done("trial-2", 100))
	want := []string{
		"1 of 6 done · 1 succeeded · 1:05 · 400 of 1000 tokens, 600 left · $0.5000 of $2.00, $1.5000 left",
		"task  client  configuration  trial  stage                   elapsed",
		"one   claude  staged-skills  1      grading  hidden-a       1:05 of 10:00",
		`one   claude  staged-skills  3      agent  \x1b[31m::error  1:05 of 10:00`,
	}
	assert.Equal(t, want, b.render(t0.Add(65*time.Second), t0, 200, 20))
	for _, line := range b.render(t0, t0, 30, 20) {
		assert.LessOrEqual(t, len([]rune(line)), 30)
	}
	for i := range 20 {
		b.take(event("trial-"+strconv.Itoa(10+i), harness.StageAgent, ""))
	}
	lines := b.render(t0, t0, 80, 8)
	assert.Len(t, lines, 8)
	assert.Equal(t, "and 17 more", lines[7])
}

// lockedBuffer is a buffer that may be read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// On a terminal the table is drawn in place: what stays at the end are the lines of the trials that are
// done and of the runner, in order, and nothing of the table.
func TestProgressOnATerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("CI", "")
	master, tty, err := pty.Open()
	require.NoError(t, err)
	defer master.Close()
	require.NoError(t, pty.Setsize(tty, &pty.Winsize{Rows: 10, Cols: 60}))
	var shown lockedBuffer
	copied := make(chan struct{})
	go func() { defer close(copied); _, _ = io.Copy(&shown, master) }() // ends with an error when the tty is closed

	p := newProgress(report.NewPrinter(tty))
	require.NotNil(t, p.screen)
	ctx, cancel := context.WithCancel(t.Context())
	p.start(3, 0, 0, nil)
	off := p.announceEnd(ctx)
	p.tell(event("trial-1", harness.StageSetup, ""))
	p.tell(event("trial-1", harness.StageAgent, ""))
	p.tell(done("trial-1", 12))
	p.tell(event("trial-2", harness.StageAgent, strings.Repeat("long ", 50)))
	cancel()
	require.Eventually(t, func() bool { return strings.Contains(shown.String(), "interrupted: ") }, time.Minute, time.Millisecond)
	off()
	p.tell(done("trial-2", 3))
	p.finish()
	p.finish()
	require.NoError(t, tty.Close())
	<-copied

	screen := emulate(t, shown.String(), 60)
	require.NotEmpty(t, screen)
	assert.Equal(t, "03:04:05  one/trial-1-staged-skills  done  succeeded  12 tokens", strings.Join(screen[:2], ""))
	last := strings.Join(screen[len(screen)-2:], "")
	assert.Contains(t, last, "one/trial-2-staged-skills  done  succeeded  3 tokens")
	for _, line := range screen {
		assert.NotContains(t, line, "elapsed", "the table is gone")
	}
	assert.Contains(t, shown.String(), "2 of 3 done")
}

// Elsewhere there is a line a stage and no control character.
func TestProgressElsewhere(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out)
	p.start(1, 0, 0, nil)
	p.tell(event("trial-1", harness.StageSetup, ""))
	p.tell(event("trial-1", harness.StageGrading, "\x1b[2Jx"))
	p.tell(done("trial-1", 12))
	p.finish()
	assert.Equal(t, "03:04:05  one/trial-1-staged-skills  setup\n"+
		`03:04:05  one/trial-1-staged-skills  grading  \x1b[2Jx`+"\n"+
		"03:04:05  one/trial-1-staged-skills  done  succeeded\n", out.String())
	file, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer file.Close()
	assert.Nil(t, newProgress(file).screen)
}

// emulate is what a terminal of a width shows after a text: the sequences that progress writes, and no other.
func emulate(t *testing.T, text string, width int) []string {
	rows, y, x := [][]rune{{}}, 0, 0
	for i := 0; i < len(text); {
		rest := text[i:]
		switch {
		case strings.HasPrefix(rest, "\x1b[J"):
			rows = rows[:y+1]
			rows[y] = rows[y][:min(x, len(rows[y]))]
			i += 3
		case strings.HasPrefix(rest, "\x1b[K"):
			rows[y] = rows[y][:min(x, len(rows[y]))]
			i += 3
		case strings.HasPrefix(rest, "\x1b["):
			number, _, ok := strings.Cut(rest[2:], "A")
			require.True(t, ok, "%q", rest)
			n, err := strconv.Atoi(number)
			require.NoError(t, err, "%q", rest)
			require.LessOrEqual(t, n, y, "above the screen")
			y -= n
			i += 3 + len(number)
		case rest[0] == '\r':
			x = 0
			i++
		case rest[0] == '\n':
			y, x = y+1, 0
			if y == len(rows) {
				rows = append(rows, nil)
			}
			i++
		default:
			r := []rune(rest[:min(len(rest), 4)])[0]
			if x == width {
				y, x = y+1, 0
				if y == len(rows) {
					rows = append(rows, nil)
				}
			}
			for len(rows[y]) <= x {
				rows[y] = append(rows[y], ' ')
			}
			rows[y][x] = r
			x++
			i += len(string(r))
		}
	}
	var out []string
	for _, row := range rows {
		if line := strings.TrimRight(string(row), " "); line != "" {
			out = append(out, line)
		}
	}
	return out
}
