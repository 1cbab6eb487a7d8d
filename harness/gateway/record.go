package gateway

import (
	"bytes"
	"fmt"
	"os"
	"sync"

	"github.com/proctor-evals/proctor/internal/redact"
)

// A record is one line of gateway.jsonl, one a request, in the order requests ended. It holds no header but the user
// agent and no text of the conversation; body_sha256 tells bodies apart. Its strings are hostile: readers must escape
// what they print.
type record struct {
	Time          string   `json:"time"` // when the request came, RFC 3339, UTC
	Method        string   `json:"method"`
	Path          string   `json:"path"`    // without the query, at most 200 bytes
	Dialect       string   `json:"dialect"` // "" where the path has none
	UserAgent     string   `json:"user_agent"`
	Status        int      `json:"status"` // 0: no answer was begun
	Refused       bool     `json:"refused"`
	SideCall      bool     `json:"side_call"`
	Stream        bool     `json:"stream"`
	Model         string   `json:"model"`
	Step          *int     `json:"step"`        // 1-based script step; null where none was behind the answer
	Offered       []Offer  `json:"offered"`     // null where the request was not decoded
	StopReason    string   `json:"stop_reason"` // "" where no whole turn was delivered
	Failure       string   `json:"failure"`     // http, truncated, slow, refusal, or ""
	Usage         *Usage   `json:"usage"`
	RequestBytes  int64    `json:"request_bytes"`
	ResponseBytes int64    `json:"response_bytes"` // body only
	DurationMS    int64    `json:"duration_ms"`
	BodySHA256    string   `json:"body_sha256"`
	Note          string   `json:"note"`
	Stripped      []string `json:"stripped,omitempty"` // tools and fields that were not sent on
	Fault         string   `json:"fault,omitempty"`    // what the provider did wrong
	Error         string   `json:"error"`
}

// A recorder writes records to a file.
type recorder struct {
	secret  string // never written, whatever a request puts where
	secrets *redact.Set

	mu    sync.Mutex
	file  *os.File // nil: nothing is kept
	lines int
	err   error // the first failed write
}

// openRecorder creates path, which must not exist: a log is written once, and no link is followed.
func openRecorder(path string, secrets *redact.Set) (*recorder, error) {
	if path == "" {
		return &recorder{}, nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	return &recorder{file: f, secrets: secrets}, nil
}

// write appends r. kept is false past the log's limit.
func (l *recorder) write(r record) (kept bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lines >= maxRecords {
		return false, nil
	}
	l.lines++
	if l.file == nil {
		return true, nil
	}
	line := encodeJSON(r)
	if l.secret != "" {
		line = bytes.ReplaceAll(line, []byte(l.secret), []byte("[token]"))
	}
	line = l.secrets.Clean(line)
	if _, err := l.file.Write(append(line, '\n')); err != nil && l.err == nil {
		l.err = fmt.Errorf("gateway: log: %w", err)
	}
	return true, l.err
}

// close closes the file and returns the first error of writing it.
func (l *recorder) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return l.err
	}
	if err := l.file.Close(); err != nil && l.err == nil {
		l.err = fmt.Errorf("gateway: log: %w", err)
	}
	l.file = nil
	return l.err
}
