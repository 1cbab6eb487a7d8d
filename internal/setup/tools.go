package setup

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
)

// Names of tools, the keys of [Tools.ByName].
const (
	Node        = "node"
	SRT         = "srt"
	Bubblewrap  = "bwrap"
	Socat       = "socat"
	Ripgrep     = "rg"
	Cargo       = "cargo"
	Rustc       = "rustc"
	Rustfmt     = "rustfmt"
	Claude      = "claude"
	Codex       = "codex"
	OpenCode    = "opencode"
	Copilot     = "copilot"
	CargoAgents = "cargo-agents"
	Browser     = "browser"
)

// A Tool is one program as it was found.
type Tool struct {
	Name string `json:"name"`
	// Version is the bare number, such as "20.20.2"; "" when the program does
	// not say one.
	Version string `json:"version"`
	// Path is the absolute path of the file to run, links resolved. For srt it
	// is a script: run it with the path of the tool named [Node].
	Path string `json:"path"`
	// Dir is the folder the file needs around it, "" when it stands alone.
	Dir string `json:"dir,omitempty"`
	// SHA256 is the file's, in hex. For srt and for tools with a Dir it covers the
	// whole installed tree: the SHA-256 of a listing in the format of sha256sum(1), one
	// line "<hex>  <path>" for each file below node_modules or Dir, sorted by path; a
	// link's line has "link:<target>" in place of the hex.
	SHA256 string `json:"sha256"`
}

// A Toolchain is the Rust toolchain active in the current folder.
type Toolchain struct {
	Dir   string `json:"dir"`   // its root, links resolved; all it needs at run time is below
	Bin   string `json:"bin"`   // its own bin folder, never that of rustup's proxies
	Rustc string `json:"rustc"` // what `rustc --version` prints: "rustc 1.95.0 (59807616e 2026-04-14)"
	Cargo string `json:"cargo"` // what `cargo --version` prints
}

// Tools are the tools of the needs asked for.
type Tools struct {
	ByName    map[string]Tool `json:"tools"`
	Toolchain *Toolchain      `json:"toolchain"` // nil unless NeedRust was asked for
	// Unavailable says of a tool that runs can do without why Install could not install it.
	Unavailable map[string]string `json:"unavailable,omitempty"`
}

func newTools() *Tools { return &Tools{ByName: map[string]Tool{}, Unavailable: map[string]string{}} }

// Sorted are the tools by name.
func (t *Tools) Sorted() []Tool {
	var out []Tool
	for _, name := range slices.Sorted(maps.Keys(t.ByName)) {
		out = append(out, t.ByName[name])
	}
	return out
}

// print writes one line a tool: name, version, SHA-256, path.
func (t *Tools) print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, tool := range t.Sorted() {
		fmt.Fprintf(w, "%s\t%s\tsha256:%s\t%s\n", tool.Name, tool.Version, tool.SHA256, tool.Path)
	}
	w.Flush()
}
