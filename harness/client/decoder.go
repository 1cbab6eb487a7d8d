package client

import "github.com/proctor-evals/proctor/harness/transcript"

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

// Decoders are the clients whose recordings are understood: all of them.
func Decoders() []Decoder {
	var out []Decoder
	for _, a := range adapters {
		out = append(out, a)
	}
	return out
}

// LookupDecoder returns the decoder of a client.
func LookupDecoder(name string) (Decoder, error) { return Lookup(name) }
