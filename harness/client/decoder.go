package client

import (
	"fmt"
	"strings"

	"github.com/proctor-evals/proctor/harness/transcript"
)

// Decoder is the reading side of an [Adapter]: how a client's recording
// becomes a transcript.
type Decoder interface {
	// Name is the word users select the client with.
	Name() string
	// SessionFiles are patterns (as for path.Match), relative to the home, of
	// the file the client records a session in. None when its stream tells all.
	SessionFiles() []string
	// Decode reads a recording to its end. Whatever it holds is a value in the
	// transcript; an error is one of a reader, and the transcript then holds
	// what came before it.
	Decode(Recording) (*transcript.Transcript, error)
}

// Decoders are the clients whose recordings are understood.
func Decoders() []Decoder { return []Decoder{Claude{}, Codex{}, Copilot{}, OpenCode{}} }

// LookupDecoder returns the decoder of a client.
func LookupDecoder(name string) (Decoder, error) {
	var known []string
	for _, d := range Decoders() {
		if d.Name() == name {
			return d, nil
		}
		known = append(known, d.Name())
	}
	return nil, fmt.Errorf("client %q is not known; known are: %s", name, strings.Join(known, ", "))
}
