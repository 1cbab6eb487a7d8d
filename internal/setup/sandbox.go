package setup

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// systemPackage is a program of the sandbox that the system's packages provide.
type systemPackage struct {
	program, pkg string
	version      []string // arguments that make it print its version
}

// The packages have the same name in Debian, Ubuntu, Fedora, Arch, openSUSE and Alpine.
var sandboxPackages = []systemPackage{
	{Bubblewrap, "bubblewrap", []string{"--version"}},
	{Socat, "socat", []string{"-V"}},
	{Ripgrep, "ripgrep", []string{"--version"}},
}

// sandboxTools finds what srt needs from the machine and tries the namespaces
// it will ask the kernel for.
func (in *installation) sandboxTools(ctx context.Context, tools *Tools) []Problem {
	if in.goos != "linux" {
		fix := "run Proctor in a Linux virtual machine or container"
		if in.goos == "windows" {
			fix = "run Proctor in WSL 2: wsl --install -d Ubuntu"
		}
		return []Problem{{What: "the enforced sandbox is not supported on " + in.goos + ": it is built on Linux namespaces", Fix: fix}}
	}
	problems := in.node(ctx, tools)
	missing := in.missingPackages()
	if len(missing) > 0 {
		problems = append(problems, Problem{
			What: "not on PATH: " + strings.Join(missing, ", "),
			Fix:  in.packageFix(NeedSandbox, missing...),
		})
	}
	for _, p := range sandboxPackages {
		path, ok := in.lookPath(p.program)
		if !ok {
			continue
		}
		fix := in.packageFix(NeedSandbox, p.pkg)
		path, err := filepath.EvalSymlinks(path)
		if err != nil {
			problems = append(problems, Problem{What: fmt.Sprintf("%s: %v", p.program, err), Fix: fix})
			continue
		}
		printed, err := in.probe(ctx, path, p.version...)
		if err != nil {
			problems = append(problems, Problem{What: fmt.Sprintf("%s does not run: %v", p.program, err), Fix: fix})
			continue
		}
		problems = append(problems, in.add(ctx, tools, p.program, path, printed, "", fix)...)
	}
	if bwrap, ok := tools.ByName[Bubblewrap]; ok {
		problems = append(problems, in.namespaces(ctx, bwrap.Path)...)
	}
	return problems
}

// missingPackages returns the packages whose program is not on PATH.
func (h *host) missingPackages() []string {
	var missing []string
	for _, p := range sandboxPackages {
		if _, ok := h.lookPath(p.program); !ok {
			missing = append(missing, p.pkg)
		}
	}
	return missing
}

// node finds Node and the file that really runs: what stands on PATH may be a
// version manager's shim, whose answer depends on the current folder.
func (in *installation) node(ctx context.Context, tools *Tools) []Problem {
	path, ok := in.lookPath("node")
	if !ok {
		return []Problem{{What: "node is not on PATH: Node " + MinNode + " or newer is needed", Fix: in.nodeFix(ctx)}}
	}
	printed, err := in.probe(ctx, path, "-p", `process.version + "\n" + process.execPath`)
	if err != nil {
		return []Problem{{What: fmt.Sprintf("node does not run: %v", err), Fix: in.nodeFix(ctx)}}
	}
	number, exec, ok := strings.Cut(printed, "\n")
	exec = strings.TrimSpace(exec)
	if !ok || !filepath.IsAbs(exec) {
		return []Problem{{What: fmt.Sprintf("%s does not answer like Node: it printed %q", path, clip(printed)), Fix: in.nodeFix(ctx)}}
	}
	fix := ""
	if _, v, ok := parseVersion(number); !ok || v.older(MinNode) {
		fix = in.nodeFix(ctx)
	}
	return in.add(ctx, tools, Node, exec, number, MinNode, fix)
}

// nodeFix names apt only where apt's Node is new enough.
func (h *host) nodeFix(ctx context.Context) string {
	other := "install Node 22, for example with nvm (nvm install 22) or from https://nodejs.org/en/download"
	policy, ok := h.lookPath("apt-cache")
	if !ok {
		return other
	}
	printed, err := h.probe(ctx, policy, "policy", "nodejs")
	if err != nil {
		return other
	}
	for line := range strings.Lines(printed) {
		candidate, ok := strings.CutPrefix(strings.TrimSpace(line), "Candidate:")
		if !ok {
			continue
		}
		if _, v, ok := parseVersion(candidate); ok && !v.older(MinNode) {
			return h.sudo() + "apt-get install -y nodejs npm"
		}
	}
	return other
}
