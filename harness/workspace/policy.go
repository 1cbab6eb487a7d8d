package workspace

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/harness/sandbox"
)

// Denied are the regions no trial may read, alike in every configuration.
type Denied struct {
	Scratch  string
	Evals    string   // the evals root; its whole checkout is denied
	Results  string   // where results go
	Cache    string   // where setup keeps tools
	Extra    []string // from proctor.toml
	Searched []string // folders in which a cargo-agents may be installed (the user's PATH and the usual places)
}

// userDataRoots are where each system keeps users' files, and the machine's shared temporary folders,
// where other programs keep theirs. macOS gives every user temporary folders below /private/var/folders.
var userDataRoots = map[string][]string{
	"linux": {"/home", "/root", "/mnt", "/media", "/tmp", "/var/tmp", "/run/user"},
	"darwin": {
		"/Users", "/Volumes", "/private/var/root", "/private/tmp", "/private/var/tmp", "/private/var/folders",
	},
}

// toolFolders are the folders beside the user's PATH in which a cargo-agents may be installed.
var toolFolders = map[string][]string{
	"linux":  {"/usr/local/bin", "/opt/cargo/bin"},
	"darwin": {"/usr/local/bin", "/opt/cargo/bin", "/opt/homebrew/bin", "/opt/local/bin"},
}

// Paths are the existing denied regions, absolute, links resolved.
func (d Denied) Paths() []string {
	home, _ := os.UserHomeDir() // "" where the runner has none
	return d.paths(runtime.GOOS, home, checkouts(d.Evals), func(path string) (string, bool) {
		// An empty or relative entry of PATH means the current folder.
		abs, err := filepath.Abs(path)
		if err != nil {
			return "", false
		}
		real, err := filepath.EvalSymlinks(abs)
		return real, err == nil
	})
}

// paths is Paths on a system: resolve makes a path absolute and free of links, and tells whether it
// is there. What is missing cannot be read anyway, and srt mounts over what is there.
func (d Denied) paths(goos, home string, checkouts []string, resolve func(string) (string, bool)) []string {
	in := append(slices.Clone(userDataRoots[goos]), home, d.Scratch, d.Evals, d.Results, d.Cache)
	in = append(in, checkouts...)
	in = append(in, d.Extra...)
	for _, dir := range append(slices.Clone(d.Searched), toolFolders[goos]...) {
		in = append(in, filepath.Join(dir, "cargo-agents"))
	}
	var out []string
	for _, p := range in {
		if p == "" {
			continue
		}
		if real, ok := resolve(p); ok && real != "/" && !slices.Contains(out, real) {
			out = append(out, real)
		}
	}
	return out
}

// checkouts are the repository a folder lies in and, where that is a linked worktree or a submodule,
// the folders that hold its history and its main checkout: all of them hold the hidden checks.
func checkouts(dir string) []string {
	abs, err := filepath.Abs(dir)
	if err != nil || dir == "" {
		return nil
	}
	for d := abs; d != filepath.Dir(d); d = filepath.Dir(d) {
		git := filepath.Join(d, ".git")
		info, err := os.Lstat(git)
		if err != nil {
			continue
		}
		if !info.Mode().IsRegular() {
			return []string{d}
		}
		out := []string{d}
		// Format of both files: git-worktree(1), gitrepository-layout(5).
		gitDir, ok := pathIn(git, "gitdir: ", d)
		if !ok {
			return out
		}
		out = append(out, gitDir)
		if common, ok := pathIn(filepath.Join(gitDir, "commondir"), "", gitDir); ok {
			out = append(out, common)
			if filepath.Base(common) == ".git" {
				out = append(out, filepath.Dir(common))
			}
		}
		return out
	}
	return nil
}

// pathIn reads a file that holds a path after a prefix, relative to base.
func pathIn(file, prefix, base string) (string, bool) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", false
	}
	p, ok := strings.CutPrefix(strings.TrimSpace(string(data)), prefix)
	if !ok || p == "" {
		return "", false
	}
	if !filepath.IsAbs(p) {
		p = filepath.Join(base, p)
	}
	return filepath.Clean(p), true
}

// Readable are the folders outside the run that every launch may read although a denied region
// may cover them.
type Readable struct {
	Toolchain string // the Rust toolchain's folder
	SRTVendor string // srt's own helper, which it runs inside
}

// Paths are the folders, links resolved.
func (r Readable) Paths() []string {
	var out []string
	for _, p := range []string{r.Toolchain, r.SRTVendor} {
		if p == "" {
			continue
		}
		if real, err := filepath.EvalSymlinks(p); err == nil {
			p = real
		}
		out = append(out, p)
	}
	return out
}

// TrialPolicy is the policy of the client (and of cargo-agents' init) in run r. hosts are what it may
// reach: the gateway's host:port, a direct trial's model host, or none.
func (b *Batch) TrialPolicy(r *Run, denied []string, readable Readable, hosts ...string) sandbox.Policy {
	p := sandbox.Policy{DenyRead: denied}
	for _, f := range []string{"project", "home", "cargo-home", "tmp", "evidence"} {
		p.AllowWrite = append(p.AllowWrite, r.Path(f))
	}
	p.AllowRead = append(p.AllowRead, p.AllowWrite...)
	p.AllowRead = append(p.AllowRead, r.Path("bin"), r.Path("fixtures"), b.Tools(Common))
	p.AllowRead = append(p.AllowRead, readable.Paths()...)
	if r.HasRegistry {
		p.AllowRead = append(p.AllowRead, r.Path("registry"), b.Tools(Symposium))
	}
	for _, host := range hosts {
		if host != "" {
			p.AllowedDomains = append(p.AllowedDomains, host)
		}
	}
	return p
}

// Env is the environment every process of the trial has, besides what the client's adapter adds.
func (r *Run) Env(toolchainBin string) map[string]string {
	path := []string{r.Path("bin"), toolchainBin, "/usr/bin", "/bin"}
	if toolchainBin == "" { // a suite on a machine without one; an empty entry would be the current folder
		path = slices.Delete(path, 1, 2)
	}
	return map[string]string{
		"HOME":                 r.Path("home"),
		"PATH":                 strings.Join(path, ":"),
		"TMPDIR":               r.Path("tmp"),
		"CARGO_HOME":           r.Path("cargo-home"),
		"EVAL_EVIDENCE_DIR":    r.Path("evidence"),
		"SYMPOSIUM_HOOK_TRACE": r.Path("evidence", "hook-trace.jsonl"),
	}
}
