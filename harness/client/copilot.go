package client

import (
	"path"
	"runtime"
	"slices"
	"strconv"
)

// Copilot is the GitHub Copilot CLI (npm @github/copilot), run headless with the prompt on standard
// input. Measured with 1.0.102.
//
// It speaks the Chat Completions dialect here, to a provider of one's own: no GitHub account has a part
// in a trial, and its offline mode keeps it from asking anyone else. In exploratory mode its own
// sandbox holds shell commands; it needs slirp4netns, iptables and /dev/net/tun on Linux.
//
// What it detects as a skill load: a successful call of the skill tool; a
// successful view of the installed SKILL.md; a shell command in bash that
// prints it with a reader such as cat, head, tail, sed or less; and, from the
// session's events, a skill invoked by the prompt. Whether the shell keeps its
// folder from one command to the next is not known: a read that fits only the
// folder an earlier command went to is unclear, unless the skill's front
// matter is printed. What it cannot see: without the session's events, a skill
// the prompt invokes; content that a search over many files happens to print.
type Copilot struct{}

// Name implements [Decoder].
func (Copilot) Name() string { return "copilot" }

// MinVersion implements [Adapter]. It is the version the captures come from.
func (Copilot) MinVersion() string { return "1.0.102" }

// API implements [Adapter].
func (Copilot) API() string { return APIOpenAI }

// Login implements [Adapter].
func (Copilot) Login(string) (Login, error) {
	return Login{
		Variables: []string{"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"}, Hosts: []string{"api.github.com", "*.githubcopilot.com"},
	}, nil
}

// SupportsSymposium implements [Adapter]: Symposium's hooks for it are not among the reference's.
func (Copilot) SupportsSymposium() bool { return false }

// copilotUnpacked is the folder of the staged package that holds what the client would unpack into
// its cache: see setup.CopilotUnpacked.
const copilotUnpacked = "unpacked"

// Command implements [Adapter]. Usage and the session's events go to COPILOT_HOME, in the fresh home.
// Without a GatewayURL the token is a GitHub one.
func (Copilot) Command(r Request) Spec {
	spec := Spec{
		Argv: []string{r.Binary, "--output-format", "json", "--model", r.Model, "--no-auto-update", "--no-ask-user", "--no-color"},
		Env: map[string]string{
			"COPILOT_HOME":        path.Join(r.Paths.Home, ".copilot"),
			"COPILOT_AUTO_UPDATE": "false",
			"NO_COLOR":            "1",
		},
		Stdin:           r.Prompt,
		HomeFiles:       map[string][]byte{},
		ProjectDirs:     []string{agentsSkillDir},
		SkillDir:        agentsSkillDir,
		ManagedSettings: copilotManaged(runtime.GOOS),
	}
	if r.Package != "" {
		cache := ".cache/copilot"
		if runtime.GOOS == "darwin" {
			cache = "Library/Caches/copilot"
		}
		spec.HomeLinks = map[string]string{cache: path.Join(r.Package, copilotUnpacked)}
	}
	if r.GatewayURL != "" {
		spec.Env["COPILOT_OFFLINE"] = "true"
		spec.Env["COPILOT_PROVIDER_TYPE"] = "openai"
		spec.Env["COPILOT_PROVIDER_BASE_URL"] = r.GatewayURL + "/v1"
		spec.Env["COPILOT_PROVIDER_API_KEY"] = r.Token
		spec.Env["COPILOT_PROVIDER_MAX_PROMPT_TOKENS"] = strconv.Itoa(contextTokens - outputTokens)
		spec.Env["COPILOT_PROVIDER_MAX_OUTPUT_TOKENS"] = strconv.Itoa(outputTokens)
		spec.Env["COPILOT_MODEL"] = r.Model
	} else {
		spec.Env["COPILOT_GITHUB_TOKEN"] = r.Token
	}
	if r.Enforced {
		spec.Argv = append(spec.Argv, "--allow-all")
		return spec
	}
	// Built-in file tools stay below the project and these folders; without --allow-all-paths that is
	// checked on every call.
	spec.Argv = append(spec.Argv, "--allow-all-tools", "--disallow-temp-dir")
	for _, dir := range r.AllowRead {
		spec.Argv = append(spec.Argv, "--add-dir", dir)
	}
	spec.HomeFiles[".copilot/settings.json"] = copilotSandbox(r)
	return spec
}

// copilotManaged is the administrator's folder, as the client's runtime has it.
func copilotManaged(goos string) []string {
	if goos == "darwin" {
		return []string{"/Library/Application Support/GitHubCopilot", "/Library/Managed Preferences/com.github.copilot.plist"}
	}
	return []string{"/etc/github-copilot"}
}

// copilotSandbox is settings.json for exploratory mode: commands in the client's own sandbox, without
// a way around it. What it does not name is closed.
func copilotSandbox(r Request) []byte {
	return mustJSON(map[string]any{"sandbox": map[string]any{
		"enabled": true, "addCurrentWorkingDirectory": true, "allowBypass": false, "allowDevToolAccess": false,
		"userPolicy": map[string]any{
			"filesystem": map[string]any{
				"readwritePaths": present(r.Paths.CargoHome, r.Paths.Tmp, r.Paths.Evidence),
				"readonlyPaths":  copilotReadOnly(r),
			},
			"network": map[string]any{"allowOutbound": false, "allowLocalNetwork": false},
		},
	}})
}

// copilotReadOnly are the folders opened again for reading, without those the trial may write: one that
// stands in both lists is read-only to the client's sandbox, the project too.
func copilotReadOnly(r Request) []string {
	p := r.Paths
	writable := []string{p.Project, p.Tmp, p.CargoHome, p.Evidence}
	return slices.DeleteFunc(list(r.AllowRead), func(dir string) bool { return slices.Contains(writable, dir) })
}

// ConfigFiles are Copilot's settings, MCP servers and hooks, of the user and of the project.
func (Copilot) ConfigFiles() []ConfigFile {
	keys := []string{"hooks", "disableAllHooks", "mcpServers", "sandbox", "permissions", "trustedFolders", "trusted_folders", "enabledPlugins", "allowedUrls", "deniedUrls"}
	return []ConfigFile{
		{Base: "home", Path: ".copilot/settings.json", Keys: keys},
		{Base: "home", Path: ".copilot/config.json", Keys: keys},
		{Base: "home", Path: ".copilot/mcp-config.json"},
		{Base: "home", Path: ".copilot/hooks", Folder: true},
		{Base: "project", Path: ".github/copilot/settings.json"},
		{Base: "project", Path: ".github/copilot/settings.local.json"},
		{Base: "project", Path: ".github/hooks", Folder: true},
		{Base: "project", Path: ".github/mcp.json"},
		{Base: "project", Path: ".mcp.json"},
	}
}
