package setup

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// cargoAgentsRecipe compiles the crate symposium. Its dependencies are pinned
// by the Cargo.lock inside the crate; the crate's own checksum is the index's.
func cargoAgentsRecipe(platform string) *recipe {
	return &recipe{
		name: CargoAgents, version: SymposiumVersion, with: "cargo install (this takes minutes)",
		folder: filepath.Join("cargo", CargoAgents+"-"+SymposiumVersion+"-"+platform),
		source: "crate symposium =" + SymposiumVersion + " --locked",
		entry:  "bin/cargo-agents",
		bare:   true, // unless told otherwise it updates itself with the cargo it finds
		tools: func(ctx context.Context, in *installation, need Need) []Problem {
			_, problems := in.rustTools(ctx, newTools())
			for i := range problems {
				problems[i].Need = need
			}
			return problems
		},
		build: func(ctx context.Context, in *installation, root, work string) (string, error) {
			return in.cargoInstall(ctx, root, work)
		},
	}
}

func (in *installation) cargoInstall(ctx context.Context, root, work string) (built string, err error) {
	tc, problems := in.rustTools(ctx, newTools())
	if len(problems) > 0 {
		return "", &MissingError{Problems: problems}
	}
	vars := []string{
		// The toolchain's own programs first: the proxies would look for an
		// override in the folder cargo runs in.
		"PATH=" + tc.Bin + string(filepath.ListSeparator) + in.getenv("PATH"),
		"CARGO_TERM_COLOR=never", "CARGO_TERM_PROGRESS_WHEN=always", "CARGO_TERM_PROGRESS_WIDTH=100",
	}
	if in.getenv("CARGO_TARGET_DIR") == "" {
		vars = append(vars, "CARGO_TARGET_DIR="+filepath.Join(work, "target"))
	}
	progress := &cargoProgress{}
	stop := in.out.every(in.tick, func(gone time.Duration) string {
		return fmt.Sprintf("%s %s: %s, %s", CargoAgents, SymposiumVersion, progress.status(), gone)
	})
	defer stop()
	return tc.Rustc, in.stream(ctx, work, in.withEnv(vars...), progress.line, filepath.Join(tc.Bin, Cargo),
		"install", "symposium", "--version", "="+SymposiumVersion, "--locked", "--no-track", "--root", root)
}

// cargoProgress follows what cargo prints. Its progress bar is
//
//	Building [=====>      ] 123/319: serde, syn(build)
//
// and a line "   Compiling syn v2.0.1" is printed for each crate begun.
type cargoProgress struct {
	mu   sync.Mutex
	last string
}

var (
	cargoBarRE  = regexp.MustCompile(`Building \[[=> ]*\] (\d{1,6})/(\d{1,6})`)
	cargoLineRE = regexp.MustCompile(`^\s*(Compiling|Downloading|Updating|Finished|Installing) ([0-9A-Za-z_.-]{1,64})`)
	crateSeenRE = regexp.MustCompile(`^[0-9A-Za-z_.-]{1,64}$`)
)

func (p *cargoProgress) line(s string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m := cargoBarRE.FindStringSubmatch(s); m != nil {
		_, crate, _ := strings.Cut(p.last, ": ")
		p.last = fmt.Sprintf("compiling, %s of %s", m[1], m[2])
		if crateSeenRE.MatchString(crate) {
			p.last += ": " + crate
		}
		return
	}
	m := cargoLineRE.FindStringSubmatch(s)
	switch {
	case m == nil:
	case m[1] == "Compiling" && strings.HasPrefix(p.last, "compiling"):
		count, _, _ := strings.Cut(p.last, ": ")
		p.last = count + ": " + m[2]
	case m[1] == "Compiling":
		p.last = "compiling: " + m[2]
	default:
		p.last = strings.ToLower(m[1])
	}
}

// status is what to tell the user now.
func (p *cargoProgress) status() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == "" {
		return "starting"
	}
	return p.last
}
