package harness

import (
	"bytes"
	"errors"
	"io"

	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/transcript"
)

// errAnswered ends the session of a trigger task whose answer is known.
var errAnswered = errors.New("the first skill was invoked")

// maxWatched is how much of a stream a watch keeps for decoding, in bytes; more is not watched, and
// the session then ends by itself or by its deadline.
const maxWatched = 16 << 20

// skillWatch looks for the first skill invocation in a client's stream while it runs. It decodes with
// the client's own decoder, so that what stops a session is what its transcript will say. Every
// client's trap is thereby the decoder's: a skill tool, a read of SKILL.md by a file tool, and one by
// a shell command, of any skill, not the wanted one only.
type skillWatch struct {
	decoder       client.Decoder
	home, project string
	invoked       func() // called once

	seen    []byte // whole lines, and the start of the next one
	checked int    // how much of seen is whole lines that were looked at
	done    bool
}

// Write takes a part of the stream; it never fails.
func (w *skillWatch) Write(p []byte) (int, error) {
	if w.done {
		return len(p), nil
	}
	if len(w.seen)+len(p) > maxWatched {
		w.done, w.seen = true, nil
		return len(p), nil
	}
	w.seen = append(w.seen, p...)
	end := bytes.LastIndexByte(w.seen, '\n') + 1
	if end <= w.checked {
		return len(p), nil
	}
	fresh := w.seen[w.checked:end]
	w.checked = end
	// Whatever a client calls it, the word is in the tool's name or in the file's.
	if !bytes.Contains(bytes.ToLower(fresh), []byte("skill")) {
		return len(p), nil
	}
	t, err := w.decoder.Decode(client.Recording{Stream: bytes.NewReader(w.seen[:end]), Home: w.home, Project: w.project})
	if err == nil && firstInvocation(t) != nil {
		w.done, w.seen = true, nil
		w.invoked()
	}
	return len(p), nil
}

// firstInvocation is the first event that says which skill was invoked, whether or not the call
// came to its end: a session stopped there has no more to tell.
func firstInvocation(t *transcript.Transcript) *transcript.SkillLoad {
	for i, l := range t.SkillLoads {
		if l.Skill != "" && l.State != transcript.LoadUnclear {
			return &t.SkillLoads[i]
		}
	}
	return nil
}

var _ io.Writer = (*skillWatch)(nil)
