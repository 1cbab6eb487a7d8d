package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// NeedOf is the need that installs a client, by the client's name.
func NeedOf(client string) (Need, error) {
	if n := Need(client); n.IsClient() {
		return n, nil
	}
	return "", fmt.Errorf("setup knows no client %q; it knows %s", client, needList(clientNeeds))
}

var clientNeeds = []Need{NeedClaude, NeedCodex, NeedOpenCode, NeedCopilot}

// IsClient tells whether the need is an agent client: they are set up when they are named.
func (n Need) IsClient() bool {
	for _, c := range clientNeeds {
		if n == c {
			return true
		}
	}
	return false
}

// clientRecipe is how a client is installed: what runs is the binary of its platform package. The
// packages around those only look for it, some with an install script that set-up does not run.
func (in *installation) clientRecipe(need Need) *recipe {
	platform, exe := in.platform(), ""
	if in.goos == "windows" {
		exe = ".exe"
	}
	switch need {
	case NeedClaude:
		return npmRecipe(Claude, ClaudeVersion, platform, recipe{
			entry: "node_modules/@anthropic-ai/claude-code-" + platform + "/claude" + exe,
		})
	case NeedCodex:
		// One package serves both C libraries: its binary is static.
		platform = strings.TrimSuffix(platform, "-musl")
		return npmRecipe(Codex, CodexVersion, platform, recipe{
			entry: "node_modules/@openai/codex-" + platform + "/vendor/" + codexTriple(in.goos, in.goarch) + "/bin/codex" + exe,
		})
	case NeedOpenCode:
		r := npmRecipe(OpenCode, OpenCodeVersion, platform, recipe{
			entry: "node_modules/opencode-" + platform + "/bin/opencode" + exe,
		})
		npm := r.tools
		r.tools = func(ctx context.Context, in *installation, need Need) []Problem {
			if strings.Contains(string(npmFile(OpenCode, "package-lock.json")), `"node_modules/opencode-`+platform+`"`) {
				return npm(ctx, in, need)
			}
			return []Problem{{
				Need: need, What: fmt.Sprintf("no package of opencode %s for %s is pinned", OpenCodeVersion, platform),
				Fix: fmt.Sprintf("npm install --ignore-scripts opencode-ai@%s, in a folder of its own, and PROCTOR_CLIENT_PATH=…/node_modules/opencode-%s/bin/opencode", OpenCodeVersion, platform),
			}}
		}
		return r
	case NeedCopilot:
		platform = strings.ReplaceAll(platform, "-x64-musl", "-x64")
		platform = strings.ReplaceAll(platform, "-arm64-musl", "-arm64")
		if in.goos == "linux" && in.musl() {
			platform = strings.Replace(platform, "linux-", "linuxmusl-", 1)
		}
		folder := "node_modules/@github/copilot-" + platform
		r := npmRecipe(Copilot, CopilotVersion, platform, recipe{
			entry: folder + "/copilot" + exe, whole: folder, staged: true,
		})
		ci := r.build
		r.build = func(ctx context.Context, in *installation, root, work string) (string, error) {
			if built, err := ci(ctx, in, root, work); err != nil {
				return built, err
			}
			return "", in.unpackCopilot(ctx, filepath.Join(root, folder), "copilot"+exe, work)
		}
		return r
	}
	return nil
}

// codexTriple names a platform as Codex's packages do, which is as Rust does.
func codexTriple(goos, goarch string) string {
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[goarch]
	return arch + map[string]string{"linux": "-unknown-linux-musl", "darwin": "-apple-darwin", "windows": "-pc-windows-msvc"}[goos]
}

// CopilotUnpacked is the folder, below Copilot's staged package, that its ~/.cache/copilot is to be.
const CopilotUnpacked = "unpacked"

// unpackCopilot lets the client unpack what it carries, 235 MB that it would else unpack into every
// fresh home, and keeps it beside the binary: so it is hashed with it, and staged once.
func (in *installation) unpackCopilot(ctx context.Context, dir, program, home string) error {
	if _, err := in.probeEnv(ctx, []string{"HOME=" + home, "TMPDIR=" + home, "PATH=" + home}, filepath.Join(dir, program), "--version"); err != nil {
		return err
	}
	cache := filepath.Join(home, ".cache", "copilot")
	if in.goos == "darwin" {
		cache = filepath.Join(home, "Library", "Caches", "copilot")
	}
	if _, err := os.Stat(filepath.Join(cache, "pkg")); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s unpacked nothing into %s", program, cache)
	}
	return os.Rename(cache, filepath.Join(dir, CopilotUnpacked))
}
