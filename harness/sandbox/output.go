package sandbox

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// outputBudget lets a program print so much in all and ends it past that.
type outputBudget struct {
	mu       sync.Mutex
	left     int64
	exceeded func()
}

func (b *outputBudget) writer(w io.Writer) io.Writer {
	if w == nil {
		w = io.Discard
	}
	return budgetWriter{b, w}
}

type budgetWriter struct {
	b *outputBudget
	w io.Writer
}

func (w budgetWriter) Write(p []byte) (int, error) {
	w.b.mu.Lock()
	take := min(int64(len(p)), w.b.left)
	w.b.left -= take
	over := take < int64(len(p))
	w.b.mu.Unlock()
	if take > 0 {
		if _, err := w.w.Write(p[:take]); err != nil {
			return 0, err
		}
	}
	if over {
		w.b.exceeded()
	}
	// The rest is swallowed, not refused: a refused pipe would hide the real cause.
	return len(p), nil
}

// markWriter removes the start mark from stderr and remembers that it came. What is printed
// before the mark is srt's own.
type markWriter struct {
	mark []byte
	next io.Writer
	seen bool
	held []byte
	pre  bytes.Buffer
}

// maxDiagnosis is how much of srt's own output is kept, in bytes.
const maxDiagnosis = 16 << 10

func (m *markWriter) Write(p []byte) (int, error) {
	if m.seen {
		return m.next.Write(p)
	}
	from := max(0, len(m.held)-len(m.mark)) // what was held before does not hold the whole mark
	m.held = append(m.held, p...)
	if i := bytes.Index(m.held[from:], m.mark); i >= 0 {
		i += from
		m.seen = true
		rest := append(slices.Clone(m.held[:i]), m.held[i+len(m.mark):]...)
		m.held = nil
		if len(rest) == 0 {
			return len(p), nil
		}
		if _, err := m.next.Write(rest); err != nil {
			return 0, err
		}
		return len(p), nil
	}
	// Held back whole, so that a failed start can be tried again without a word of it passed on.
	if extra := len(m.held) - maxDiagnosis; extra > 0 {
		m.keep(m.held[:extra])
		if _, err := m.next.Write(m.held[:extra]); err != nil {
			return 0, err
		}
		m.held = slices.Clone(m.held[extra:])
	}
	return len(p), nil
}

// keep remembers the beginning of what came before the mark, and no more.
func (m *markWriter) keep(p []byte) {
	m.pre.Write(p[:min(len(p), maxDiagnosis-m.pre.Len())])
}

func (m *markWriter) flush() {
	if len(m.held) > 0 {
		m.keep(m.held)
		_, _ = m.next.Write(m.held)
		m.held = nil
	}
}

func (m *markWriter) head() string { return strings.ToValidUTF8(m.pre.String(), "\uFFFD") }

// diagnosis is what a sandbox that did not start had to say; call it after flush.
func (m *markWriter) diagnosis(program string, ended Ended) string {
	said := strings.TrimSpace(m.head())
	if said == "" && ended.Cause == nil {
		said = fmt.Sprintf("%s ended with exit code %d and no message", program, ended.ExitCode)
	}
	return said
}
