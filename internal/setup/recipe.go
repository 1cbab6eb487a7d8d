package setup

import (
	"context"
	"fmt"
	"path/filepath"
)

// recipe says how one pinned tool is installed.
type recipe struct {
	name, version string
	folder        string // below the cache
	source        string // of the install: when it changes, so must the folder's content
	entry         string // the file to run, below folder
	runner        string // the program that runs entry, "" for none
	whole         string // the folder whose tree is hashed, below folder; "" hashes entry alone
	staged        bool   // the tool is the whole folder: see Tool.Dir
	bare          bool   // asked for its version with an empty PATH
	with          string // how it is installed, for the progress line

	// tools reports what building takes and this machine lacks.
	tools func(ctx context.Context, in *installation, need Need) []Problem
	// build puts the files into root. work is a folder for what is not kept.
	build func(ctx context.Context, in *installation, root, work string) (built string, err error)
}

func (r *recipe) hash(known *hashes, dir string) (string, error) {
	if !isExecutable(filepath.Join(dir, r.entry)) {
		return "", fmt.Errorf("%s is missing or not executable", r.entry)
	}
	if r.whole != "" {
		return known.tree(dir, r.whole)
	}
	return known.file(filepath.ToSlash(r.entry), filepath.Join(dir, r.entry))
}

// path is the PATH the tool is asked for its version with.
func (r *recipe) path(h *host, empty string) string {
	if r.bare {
		return empty
	}
	return h.getenv("PATH")
}

// recipes returns what the need takes that Proctor installs.
func (in *installation) recipes(need Need) []*recipe {
	switch need {
	case NeedSandbox:
		if in.goos != "linux" {
			return nil // hostTools has said that there is no sandbox here
		}
		return []*recipe{npmRecipe(SRT, SRTVersion, "", recipe{
			entry:  "node_modules/@anthropic-ai/sandbox-runtime/dist/cli.js",
			runner: Node,
			whole:  "node_modules", // cli.js alone is a thin front
		})}
	case NeedClaude, NeedCodex, NeedOpenCode, NeedCopilot:
		return []*recipe{in.clientRecipe(need)}
	case NeedCargoAgents:
		return []*recipe{cargoAgentsRecipe(in.platform())}
	}
	return nil
}

// platform names this machine the way most of the clients' packages do:
// <os>-<arch>[-musl].
func (h *host) platform() string {
	goos, arch := h.goos, h.goarch
	if goos == "windows" {
		goos = "win32"
	}
	if arch == "amd64" {
		arch = "x64"
	}
	name := goos + "-" + arch
	if h.goos == "linux" && h.musl() {
		name += "-musl"
	}
	return name
}

// musl reports whether the C library is musl: its loader is there and glibc's is not.
func (h *host) musl() bool {
	glob := func(pattern string) bool {
		m, _ := filepath.Glob(filepath.Join(h.root, pattern))
		return len(m) > 0
	}
	return glob("lib/ld-musl-*.so.1") && !glob("lib*/ld-linux*.so*")
}
