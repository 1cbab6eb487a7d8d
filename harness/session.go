package harness

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/proctor-evals/proctor/internal/treecopy"
)

// sessionFile is the name the client's session file is kept under in the trial's result.
const sessionFile = "session.jsonl"

// maxSession bounds a session file, in bytes: it holds each tool's output once more.
const maxSession = 256 << 20

// session keeps the file the client recorded its session in, and opens the copy. A client that needs
// none, or left none, gives nil. The file is the trial's: it is read with care, and only ever adds to
// what the stream shows.
func (t *trial) session() (session io.Reader, done func(), err error) {
	done = func() {}
	rel := t.sessionPath()
	if rel == "" {
		return nil, done, nil
	}
	root, err := os.OpenRoot(t.space.Path("home"))
	if err != nil {
		return nil, done, nil
	}
	defer root.Close()
	in, err := treecopy.OpenIn(root, rel)
	if err != nil {
		t.find("session_file", err.Error())
		return nil, done, nil
	}
	defer in.Close()
	out, err := os.Create(filepath.Join(t.dir, sessionFile))
	if err != nil {
		return nil, done, err
	}
	done = func() { out.Close() }
	n, copyErr := io.Copy(out, io.LimitReader(in, maxSession))
	if copyErr != nil || n == maxSession {
		t.find("session_file", "the client's session file was not read to its end")
	}
	if _, err := out.Seek(0, io.SeekStart); err != nil {
		return nil, done, err
	}
	return out, done, nil
}

// sessionPath is the session file below the home, or "". Of several the first by name is taken, which
// is the oldest where names hold the time: a later one is a subagent's.
func (t *trial) sessionPath() string {
	for _, pattern := range t.adapter.SessionFiles() {
		// Only the folders a match can lie in are walked: the home is the trial's, and may be large.
		entries, err := treecopy.List(t.space.Path("home"), treecopy.Options{Untrusted: true, Ignore: func(rel string) bool {
			parts := strings.Split(pattern, "/")
			depth := strings.Count(rel, "/") + 1
			if depth > len(parts) {
				return true
			}
			ok, err := path.Match(strings.Join(parts[:depth], "/"), rel)
			return err != nil || !ok
		}})
		if err != nil {
			continue
		}
		for _, e := range entries {
			if ok, _ := path.Match(pattern, e.Path); ok && e.Kind == treecopy.File {
				return e.Path
			}
		}
	}
	return ""
}
