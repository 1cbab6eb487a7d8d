// Package client knows the agent clients: how one is started for a trial, and
// how its output stream becomes a [transcript.Transcript].
//
// An adapter only describes. It starts nothing, reads no file and has no
// state; the runner builds the environment, wraps the command in the sandbox
// and feeds the stream back. So a new client is one adapter and its captures.
package client

import (
	"fmt"
	"io"
	"strings"
)

// Adapter is one client.
type Adapter interface {
	Decoder
	// MinVersion is the oldest version whose stream Decode is known to
	// understand, as MAJOR.MINOR.PATCH.
	MinVersion() string
	// SupportsSymposium tells whether the with-symposium configuration exists.
	SupportsSymposium() bool
	// API is what the client speaks to the gateway, one of the API constants.
	API() string
	// Login is for a session that reaches its provider itself: where its credential comes from.
	Login(model string) (Login, error)
	// Command describes one headless session.
	Command(Request) Spec
	// ConfigFiles are the files that set its hooks, MCP servers and permissions.
	ConfigFiles() []ConfigFile
}

// The APIs of models, by their providers' names in proctor.toml.
const (
	APIAnthropic = "anthropic" // Messages
	APIOpenAI    = "openai"    // Responses and Chat Completions
)

// Login says which credential a client's own provider wants.
type Login struct {
	// Variables of the runner's environment the credential is taken from, in order of preference. The
	// client gets it in the variable of its key, or in that of Own.
	Variables []string
	// Own are those of Variables that the client has to get by their own names, as a subscription's token.
	Own []string
	// Hosts the session may reach with it.
	Hosts []string
}

// Recording is what a session left behind.
type Recording struct {
	Stream io.Reader // standard output; the primary record
	// Session is the client's session file, nil when there is none. It only
	// adds what the stream leaves out, since the agent could write there.
	Session io.Reader
	// Home and Project are the absolute folders of the run as the session saw
	// them, "" when unknown: then what the recording itself says of them counts.
	Home, Project string
}

// Request is what a session needs to know.
type Request struct {
	Binary string // absolute path of the staged client
	// Package is the absolute folder of the staged client's package, "" for a client that is one file.
	Package    string
	Prompt     string // first user turn; any length and any first character
	Model      string // as the client names it
	GatewayURL string // base URL of the model endpoint, no trailing slash; "" leaves the client's default
	Token      string // key for that endpoint
	Paths      Paths
	// Enforced means that srt is the boundary and the client's own sandbox is
	// off. Otherwise (exploratory) the client's own one is as strict as it can be.
	Enforced bool
	Root     bool // the effective user id is 0
	// DenyRead and AllowRead are for exploratory mode only: absolute folders
	// closed to reading (the developer's home), and those opened again inside
	// them (the trial's folders, the toolchain, the staged tools).
	DenyRead, AllowRead []string
}

// Paths are the absolute folders of the run.
type Paths struct {
	Home, Project, Tmp, CargoHome, Evidence string
}

// Spec describes a session to launch in the run's project folder.
type Spec struct {
	Argv  []string          // holds no secret and not the prompt
	Env   map[string]string // what the client needs beside the trial's own environment; holds the token
	Stdin string            // all of standard input; it ends after that
	// HomeFiles are written below the fresh home before launch, by relative path.
	HomeFiles map[string][]byte
	// HomeLinks are links made below the fresh home before launch, by relative path, to absolute paths
	// of the staged package: what is the same for all trials and too large for each.
	HomeLinks map[string]string
	// ProjectDirs must exist and be empty in the project before launch, in all
	// configurations alike.
	ProjectDirs []string
	// SkillDir is where the client discovers a project's skills, relative to
	// the project.
	SkillDir string
	// ManagedSettings are machine-wide files and folders of the client's
	// administrator that reach into every trial. Before launch each must be
	// absent or empty.
	ManagedSettings []string
}

// adapters are the known clients. A new one is a line here.
var adapters = []Adapter{Claude{}, Codex{}, OpenCode{}, Copilot{}}

// Names lists the known clients.
func Names() []string {
	var names []string
	for _, a := range adapters {
		names = append(names, a.Name())
	}
	return names
}

// Lookup returns the adapter of a name.
func Lookup(name string) (Adapter, error) {
	for _, a := range adapters {
		if a.Name() == name {
			return a, nil
		}
	}
	return nil, fmt.Errorf("client %q is not known; known are: %s", name, strings.Join(Names(), ", "))
}
