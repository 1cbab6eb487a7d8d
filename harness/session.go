package harness

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/transcript"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// sessionFile is the copy of the client's session file in a trial's result
// directory.
const sessionFile = "session.jsonl"

// What is looked at of a trial's home for a session file, and kept of it. More is not read: the
// transcript then says that the file was cut.
const (
	maxSessionBytes   = 256 << 20
	maxSessionEntries = 10_000 // of one folder
	maxSessions       = 100
)

// decodeTranscript decodes the client's stream, together with the session file the client kept in
// the trial's home. The agent is dead, and could write there: the file is read as the trial's.
func (t *trial) decodeTranscript(stdout io.ReadSeeker) error {
	decoder := t.adapter
	decode := func(session io.Reader) error {
		if _, err := stdout.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("trial: %w", err)
		}
		var err error
		t.transcript, err = decoder.Decode(client.Recording{
			Stream: stdout, Session: session, Home: t.space.Path("home"), Project: t.space.Path("project"),
		})
		if err != nil {
			return fmt.Errorf("trial: transcript: %w", err)
		}
		return nil
	}
	if err := decode(nil); err != nil || len(decoder.SessionFiles()) == 0 {
		return err
	}
	kept, err := keepSession(t.space.Path("home"), decoder.SessionFiles(), t.transcript.SessionID, filepath.Join(t.dir, sessionFile), t.filter)
	if odd := (*treecopy.EntryError)(nil); errors.As(err, &odd) {
		t.find("session_file", "the client's session file was not read: "+odd.Error())
		return nil
	}
	if err != nil || !kept {
		return err
	}
	session, err := os.Open(filepath.Join(t.dir, sessionFile))
	if err != nil {
		return fmt.Errorf("trial: %w", err)
	}
	defer session.Close()
	return decode(session)
}

// keepSession copies the file of a session from a home a trial could write to. Of several, it is
// the one whose path holds the session's id; none when that cannot be told.
func keepSession(home string, patterns []string, id, dst string, filter func(io.Writer) io.WriteCloser) (kept bool, err error) {
	root, err := os.OpenRoot(home)
	if err != nil {
		return false, fmt.Errorf("trial: %w", err)
	}
	defer root.Close()
	var found []string
	for _, pattern := range patterns {
		found = append(found, matchIn(root, strings.Split(pattern, "/"))...)
	}
	if len(found) > 1 {
		found = slices.DeleteFunc(found, func(rel string) bool { return id == "" || !strings.Contains(rel, id) })
	}
	if len(found) != 1 {
		return false, nil
	}
	in, err := treecopy.OpenIn(root, found[0])
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer in.Close()
	out, err := os.Create(dst)
	if err != nil {
		return false, fmt.Errorf("trial: %w", err)
	}
	defer out.Close()
	clean := filter(out)
	if _, err := io.Copy(clean, io.LimitReader(in, maxSessionBytes)); err != nil {
		return false, fmt.Errorf("trial: keep the session file: %w", err)
	}
	if err := clean.Close(); err != nil {
		return false, fmt.Errorf("trial: keep the session file: %w", err)
	}
	return true, nil
}

// matchIn finds the files below root that match a pattern, one part for each folder. Links are not
// followed.
func matchIn(root *os.Root, parts []string) []string {
	found := []string{"."}
	for _, part := range parts {
		var next []string
		for _, dir := range found {
			for _, name := range namesIn(root, dir) {
				if ok, err := path.Match(part, name); err == nil && ok && len(next) < maxSessions {
					next = append(next, path.Join(dir, name))
				}
			}
		}
		found = next
	}
	return found
}

// namesIn lists a folder; nothing for what is none.
func namesIn(root *os.Root, dir string) []string {
	// Each part is looked at before it is entered, so that no link is.
	for at := dir; at != "."; at = path.Dir(at) {
		if info, err := root.Lstat(filepath.FromSlash(at)); err != nil || !info.IsDir() {
			return nil
		}
	}
	f, err := root.Open(filepath.FromSlash(dir) + "/.")
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(maxSessionEntries)
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	slices.Sort(names)
	return names
}

// Transcript decodes the session of a trial again, from its result directory. The folders the
// session ran in no longer exist: what the recording says of them counts.
func Transcript(dir, clientName string) (*transcript.Transcript, error) {
	decoder, err := client.LookupDecoder(clientName)
	if err != nil {
		return nil, err
	}
	stream, err := os.Open(filepath.Join(dir, "transcript.jsonl"))
	if errors.Is(err, fs.ErrNotExist) { // a suite's attempt has agent-exam's name
		stream, err = os.Open(filepath.Join(dir, result.RawStreamFile))
	}
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	r := client.Recording{Stream: stream}
	session, err := os.Open(filepath.Join(dir, sessionFile))
	switch {
	case err == nil:
		defer session.Close()
		r.Session = session
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	return decoder.Decode(r)
}
