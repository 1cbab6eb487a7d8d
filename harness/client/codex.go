package client

import (
	"bytes"
	"path"
	"runtime"

	"github.com/BurntSushi/toml"
)

// Codex is the Codex client (npm @openai/codex), run headless with "codex exec". Measured with
// 0.171.0.
//
// It speaks the Responses dialect. Its own sandbox does not nest in srt (a shell command hangs there),
// so it is off in enforced mode; in exploratory mode it keeps writing inside the trial's folders and
// cannot restrict reading. It runs no hook that it has not been told to trust; a trial's fresh home
// holds Symposium's only, and the bypass counts for this one session.
//
// What it detects as a skill load: a shell command that prints the installed
// SKILL.md with a reader such as cat, head, tail, sed or less, wherever it was
// started; and, from the rollout, a skill the client itself put into the
// request because the prompt calls it ("$name"). A skill in a listing, a
// failed read or the prompt's own text is none. What it cannot see: without
// the rollout, a "$name" and the folder a command was started in (a read by a
// path that would fit a skill's folder is then unclear, unless its front
// matter is printed); content that a search over many files happens to print.
type Codex struct{}

// Name implements [Decoder].
func (Codex) Name() string { return "codex" }

// MinVersion implements [Adapter]. It is the version the captures come from.
func (Codex) MinVersion() string { return "0.171.0" }

// API implements [Adapter].
func (Codex) API() string { return APIOpenAI }

// Login implements [Adapter].
func (Codex) Login(string) (Login, error) {
	return Login{Variables: []string{"CODEX_API_KEY", "OPENAI_API_KEY"}, Hosts: []string{"api.openai.com"}}, nil
}

// SupportsSymposium implements [Adapter].
func (Codex) SupportsSymposium() bool { return true }

// agentsSkillDir is where every client but Claude Code looks for a project's skills, and where
// Symposium installs them for those.
const agentsSkillDir = ".agents/skills"

// Names of the model endpoint in the clients' configuration, where they need one. A key's variable
// has no name that another program in the trial would take for its own.
const (
	providerName = "endpoint"
	providerKey  = "ENDPOINT_API_KEY"
)

// Command implements [Adapter]. The prompt goes through standard input: "-" stands for it. Without a
// GatewayURL the client's own provider is used, with its variable for headless sessions.
func (Codex) Command(r Request) Spec {
	box := "danger-full-access"
	if !r.Enforced {
		box = "workspace-write"
	}
	spec := Spec{
		Argv: []string{r.Binary, "exec", "--json", "--model", r.Model, "--sandbox", box,
			"--skip-git-repo-check", "--dangerously-bypass-hook-trust", "-"},
		Env:             map[string]string{"CODEX_HOME": path.Join(r.Paths.Home, ".codex")},
		Stdin:           r.Prompt,
		HomeFiles:       map[string][]byte{".codex/config.toml": codexConfig(r)},
		ProjectDirs:     []string{agentsSkillDir},
		SkillDir:        agentsSkillDir,
		ManagedSettings: codexManaged(runtime.GOOS),
	}
	if r.GatewayURL != "" {
		spec.Env[providerKey] = r.Token
	} else {
		spec.Env["CODEX_API_KEY"] = r.Token
	}
	return spec
}

// codexManaged is the administrator's folder, which holds config.toml, managed_config.toml,
// requirements.toml and skills, as the client's binary has it.
func codexManaged(goos string) []string {
	out := []string{"/etc/codex"}
	if goos == "darwin" {
		out = append(out, "/Library/Managed Preferences/com.openai.codex.plist")
	}
	return out
}

// codexConfig is config.toml. What would ask other hosts than the model's is off: inside srt such
// requests are refused, and only cost time.
func codexConfig(r Request) []byte {
	config := map[string]any{
		// A login shell reads /etc/profile, which on many systems sets PATH anew: then the trial's cargo
		// and its other programs are gone.
		"allow_login_shell":           false,
		"check_for_update_on_startup": false,
		"analytics":                   map[string]any{"enabled": false},
		"features":                    map[string]any{"plugins": false, "apps": false, "remote_plugin": false},
	}
	if r.GatewayURL != "" {
		config["model_provider"] = providerName
		config["model_providers"] = map[string]any{providerName: map[string]any{
			"name": providerName, "base_url": r.GatewayURL + "/v1", "env_key": providerKey, "wire_api": "responses",
		}}
	}
	if !r.Enforced {
		config["sandbox_workspace_write"] = map[string]any{
			"writable_roots":    present(r.Paths.CargoHome, r.Paths.Home, r.Paths.Evidence),
			"exclude_slash_tmp": true,
			"network_access":    false,
		}
	}
	var out bytes.Buffer
	if err := toml.NewEncoder(&out).Encode(config); err != nil {
		panic("client: a configuration of strings and booleans always encodes: " + err.Error())
	}
	return out.Bytes()
}

// ConfigFiles are Codex's settings, hooks and rules, of the user and of the project.
func (Codex) ConfigFiles() []ConfigFile {
	var out []ConfigFile
	for _, base := range []string{"home", "project"} {
		out = append(out,
			ConfigFile{Base: base, Path: ".codex/config.toml"},
			ConfigFile{Base: base, Path: ".codex/hooks.json"},
			ConfigFile{Base: base, Path: ".codex/rules", Folder: true},
		)
	}
	return out
}
