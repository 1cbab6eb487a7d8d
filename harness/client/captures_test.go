package client

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/transcript"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// captures are streams of the real clients: CLIENT/CASE.stdout.jsonl, beside
// it the session file CASE.session.* where one was kept, and the golden file.
const captures = "../../testdata/transcripts/"

// summary is what the golden files hold of a decoded capture.
type summary struct {
	Execution   transcript.Execution
	Error       *transcript.ClientError
	Interpreted string
	Loads       map[string]transcript.Load
	Transcript  *transcript.Transcript
}

// decodeCapture decodes a stream with its session file, if there is one.
func decodeCapture(t testing.TB, a Decoder, name string) *transcript.Transcript {
	t.Helper()
	dir := filepath.Join(captures, a.Name())
	stream, err := os.Open(filepath.Join(dir, name+".stdout.jsonl"))
	require.NoError(t, err)
	defer stream.Close()
	r := Recording{Stream: stream}
	found, err := filepath.Glob(filepath.Join(dir, name+".session.*"))
	require.NoError(t, err)
	if len(found) == 1 {
		session, err := os.Open(found[0])
		require.NoError(t, err)
		defer session.Close()
		r.Session = session
	}
	tr, err := a.Decode(r)
	require.NoError(t, err)
	return tr
}

// captured are the names of a client's captures.
func captured(t testing.TB, name string) []string {
	files, err := filepath.Glob(filepath.Join(captures, name, "*.stdout.jsonl"))
	require.NoError(t, err)
	for i, file := range files {
		files[i] = strings.TrimSuffix(filepath.Base(file), ".stdout.jsonl")
	}
	return files
}

// TestCaptures decodes every stream recorded from a real client.
func TestCaptures(t *testing.T) {
	least := map[string]int{"claude": 20, "codex": 33, "copilot": 21, "opencode": 24}
	for _, a := range Decoders() {
		name := a.Name()
		names := captured(t, name)
		require.GreaterOrEqual(t, len(names), least[name], name)
		for _, capture := range names {
			t.Run(name+"/"+capture, func(t *testing.T) {
				tr := decodeCapture(t, a, capture)
				s := summary{Transcript: tr, Loads: map[string]transcript.Load{}}
				s.Execution, s.Error = tr.Execution()
				_, s.Interpreted = tr.Interpretable()
				for _, skill := range []string{"alpha-skill", "nope-skill"} {
					s.Loads[skill] = tr.LoadOf(skill)
				}
				got, err := json.MarshalIndent(s, "", "  ")
				require.NoError(t, err)
				golden := filepath.Join(captures, name, capture+".golden.json")
				if *update {
					require.NoError(t, os.WriteFile(golden, append(got, '\n'), 0o644))
				}
				want, err := os.ReadFile(golden)
				require.NoError(t, err, "run go test with -update once")
				assert.Equal(t, string(want), string(got)+"\n")
			})
		}
	}
}
