package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Need names what a command is about to use; its text is what a user types
// after `proctor setup`.
type Need string

// The needs, and what each one takes.
const (
	NeedSandbox     Need = "sandbox"      // node, srt, bubblewrap, socat, ripgrep, user namespaces
	NeedRust        Need = "rust"         // cargo, rustc, rustfmt of one toolchain, a C linker
	NeedClaude      Need = "claude"       // the Claude Code client
	NeedCodex       Need = "codex"        // the Codex client
	NeedOpenCode    Need = "opencode"     // the OpenCode client
	NeedCopilot     Need = "copilot"      // the GitHub Copilot CLI
	NeedCargoAgents Need = "cargo-agents" // Symposium
	NeedBrowser     Need = "browser"      // Chromium, for the tests of the HTML report
)

// AllNeeds returns every need in the order they are set up: quick ones first.
func AllNeeds() []Need {
	return []Need{NeedSandbox, NeedRust, NeedClaude, NeedCodex, NeedOpenCode, NeedCopilot, NeedBrowser, NeedCargoAgents}
}

// ParseNeeds reads the arguments of `proctor setup`. All unknown words are
// reported in one error; repeated ones count once. No words give no needs.
func ParseNeeds(words []string) ([]Need, error) {
	var needs []Need
	var unknown []string
	for _, w := range words {
		switch n := Need(w); {
		case !slices.Contains(AllNeeds(), n):
			unknown = append(unknown, fmt.Sprintf("%q", w))
		case !slices.Contains(needs, n):
			needs = append(needs, n)
		}
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf("proctor setup does not know %s; it knows %s", strings.Join(unknown, ", "), needList(AllNeeds()))
	}
	return needs, nil
}

func needList(needs []Need) string {
	words := make([]string, len(needs))
	for i, n := range needs {
		words[i] = string(n)
	}
	return strings.Join(words, ", ")
}

// Options say where tools live and where to speak. The zero value is usable.
type Options struct {
	// Cache holds the installed tools by version, shared by all clones. "" is
	// the folder proctor in os.UserCacheDir.
	Cache string
	// Link is a folder, usually the evals root, whose sub-folder .tools gets one
	// link for each tool Install installs. "" makes no links. Locate ignores it.
	Link string
	// Out gets progress and, at the end of Install, versions and SHA-256. nil
	// discards them. Locate prints nothing.
	Out io.Writer
	// Env is the environment tools are looked up and run in, as os.Environ gives
	// it. nil is this process's.
	Env []string
	// Command is how the user starts set-up, for the fixes in messages. "" is
	// "proctor setup".
	Command string

	// adjust lets this package's tests play another machine.
	adjust func(*host)
}

// Install makes sure the needs are met and returns their tools. What is there
// already is left alone, so a second call takes well under a second. System
// packages are installed when running as root; otherwise, and for all that
// Proctor does not install (Node, Rust), the error is a [*MissingError] and
// nothing has been downloaded yet. Needs asked for are set up in the order
// given. When ctx ends, running installers are stopped and nothing is left
// half done.
func Install(ctx context.Context, opts Options, needs ...Need) (*Tools, error) {
	in, err := open(opts)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(in.cache, 0o755); err != nil {
		return nil, fmt.Errorf("creating the tool cache: %w", err)
	}
	needs, err = checkNeeds(needs)
	if err != nil {
		return nil, err
	}
	for _, need := range needs {
		if err := in.systemPackages(ctx, need); err != nil {
			return nil, err
		}
	}

	var problems []Problem
	tools := newTools()
	for _, need := range needs {
		problems = append(problems, in.hostTools(ctx, need, tools)...)
		for _, r := range in.recipes(need) {
			if _, reason := in.load(r); reason != "" {
				problems = append(problems, r.tools(ctx, in, need)...)
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("set-up was stopped: %w", context.Cause(ctx))
	}
	if problems = dedupe(problems); len(problems) > 0 {
		return nil, &MissingError{Problems: problems}
	}

	var errs []error
	for _, need := range needs {
		for _, r := range in.recipes(need) {
			tool, err := in.ensure(ctx, r)
			if err != nil {
				errs = append(errs, err, in.noteFailure(ctx, r, err))
				continue
			}
			in.forgetFailure(r)
			tools.ByName[r.name] = tool
			if opts.Link != "" {
				errs = append(errs, link(opts.Link, tool))
			}
		}
	}
	in.hashes.save()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	tools.print(in.out)
	return tools, nil
}

// Locate returns the tools of the needs, installing nothing. What is missing,
// too old or changed since it was installed is reported in a [*MissingError],
// all of it at once; any other error means the search itself failed.
func Locate(ctx context.Context, opts Options, needs ...Need) (*Tools, error) {
	opts.Out = nil
	in, err := open(opts)
	if err != nil {
		return nil, err
	}
	needs, err = checkNeeds(needs)
	if err != nil {
		return nil, err
	}
	var problems []Problem
	tools := newTools()
	for _, need := range needs {
		problems = append(problems, in.hostTools(ctx, need, tools)...)
		for _, r := range in.recipes(need) {
			tool, reason := in.load(r)
			if note := in.failureNote(r); reason != "" && note != "" {
				tools.Unavailable[r.name] = fmt.Sprintf("%s %s could not be installed: %s", r.name, r.version, note)
				continue
			}
			if reason != "" {
				problems = append(problems, Problem{
					Need: need,
					What: fmt.Sprintf("%s %s %s", r.name, r.version, reason),
					Fix:  fmt.Sprintf("%s %s", in.command, need),
				})
				continue
			}
			tools.ByName[r.name] = tool
		}
	}
	in.hashes.save()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("looking for tools was stopped: %w", context.Cause(ctx))
	}
	if problems = dedupe(problems); len(problems) > 0 {
		return nil, &MissingError{Problems: problems}
	}
	return tools, nil
}

// installation is one call of Install or Locate.
type installation struct {
	*host
	cache   string  // absolute
	command string  // how the user starts set-up
	hashes  *hashes // of host tools; an install folder has its own
}

func open(opts Options) (*installation, error) {
	cache := opts.Cache
	if cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("finding the user's cache folder (set HOME or XDG_CACHE_HOME): %w", err)
		}
		cache = filepath.Join(dir, "proctor")
	}
	cache, err := filepath.Abs(cache)
	if err != nil {
		return nil, fmt.Errorf("tool cache %q: %w", opts.Cache, err)
	}
	in := &installation{host: newHost(opts), cache: cache, command: opts.Command}
	if in.command == "" {
		in.command = "proctor setup"
	}
	in.hashes = loadHashes(filepath.Join(cache, "host-hashes.json"))
	return in, nil
}

// checkNeeds rejects needs this package does not know and drops repeated ones.
func checkNeeds(needs []Need) ([]Need, error) {
	words := make([]string, len(needs))
	for i, n := range needs {
		words[i] = string(n)
	}
	return ParseNeeds(words)
}

// dedupe drops problems that two needs share (Node is too old for both the
// sandbox and npm), keeping the first.
func dedupe(problems []Problem) []Problem {
	var kept []Problem
	for _, p := range problems {
		same := func(k Problem) bool { return k.What == p.What && k.Fix == p.Fix }
		if !slices.ContainsFunc(kept, same) {
			kept = append(kept, p)
		}
	}
	return kept
}
