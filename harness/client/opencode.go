package client

import (
	"encoding/json"
	"fmt"
	"path"
	"runtime"
	"strings"
)

// OpenCode is the OpenCode client (npm opencode-ai), run headless with "opencode run". Measured with
// 1.18.33.
//
// It speaks the Chat Completions dialect here. It has no sandbox of its own: in exploratory mode only
// its permissions hold, which do not bind a shell command.
//
// What it detects as a skill load: a successful call of the skill tool; a
// successful read of the installed SKILL.md by the read tool, or by a shell
// command that prints it with a reader such as cat, head, tail, sed or less,
// from the folder the call names. What it cannot see: what a subagent does
// (its session is not in the stream), and content that a search over many
// files happens to print.
type OpenCode struct{}

// Name implements [Decoder].
func (OpenCode) Name() string { return "opencode" }

// MinVersion implements [Adapter]. It is the version the captures come from.
func (OpenCode) MinVersion() string { return "1.18.33" }

// API implements [Adapter].
func (OpenCode) API() string { return APIOpenAI }

// openCodeLogins are the providers OpenCode has a key's variable for; a model is PROVIDER/MODEL.
var openCodeLogins = map[string]struct{ variable, host string }{
	"anthropic":  {"ANTHROPIC_API_KEY", "api.anthropic.com"},
	"openai":     {"OPENAI_API_KEY", "api.openai.com"},
	"google":     {"GOOGLE_GENERATIVE_AI_API_KEY", "generativelanguage.googleapis.com"},
	"openrouter": {"OPENROUTER_API_KEY", "openrouter.ai"},
	"opencode":   {"OPENCODE_API_KEY", "opencode.ai"},
}

// Login implements [Adapter].
func (OpenCode) Login(model string) (Login, error) {
	provider, _, _ := strings.Cut(model, "/")
	way, ok := openCodeLogins[provider]
	if !ok {
		return Login{}, fmt.Errorf("the client opencode needs a model like anthropic/NAME, not %q", model)
	}
	return Login{Variables: []string{way.variable}, Hosts: []string{way.host}}, nil
}

// SupportsSymposium implements [Adapter]: Symposium has no hooks for it.
func (OpenCode) SupportsSymposium() bool { return false }

// Command implements [Adapter]. The prompt goes through standard input: given as an argument it
// reaches the model in quotes. A session with a title asks for none, which would be a request more.
func (OpenCode) Command(r Request) Spec {
	model := r.Model
	if r.GatewayURL != "" {
		model = providerName + "/" + r.Model
	}
	home := r.Paths.Home
	spec := Spec{
		Argv: []string{r.Binary, "run", "--format", "json", "-m", model, "--auto", "--title", "session"},
		Env: map[string]string{
			"XDG_CONFIG_HOME":                  path.Join(home, ".config"),
			"XDG_DATA_HOME":                    path.Join(home, ".local/share"),
			"XDG_STATE_HOME":                   path.Join(home, ".local/state"),
			"XDG_CACHE_HOME":                   path.Join(home, ".cache"),
			"OPENCODE_DISABLE_AUTOUPDATE":      "1",
			"OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
			"OPENCODE_DISABLE_LSP_DOWNLOAD":    "1",
			"OPENCODE_DISABLE_MODELS_FETCH":    "1",
			"OPENCODE_DISABLE_SHARE":           "1",
		},
		Stdin:           r.Prompt,
		HomeFiles:       map[string][]byte{".config/opencode/opencode.json": openCodeConfig(r)},
		ProjectDirs:     []string{agentsSkillDir},
		SkillDir:        agentsSkillDir,
		ManagedSettings: openCodeManaged(runtime.GOOS),
	}
	if r.GatewayURL != "" {
		spec.Env[providerKey] = r.Token
	} else if name := openCodeKey(model); name != "" {
		spec.Env[name] = r.Token
	}
	return spec
}

// openCodeKey is the variable a provider's key is taken from; model is PROVIDER/MODEL.
func openCodeKey(model string) string {
	provider, _, _ := strings.Cut(model, "/")
	return map[string]string{
		"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "google": "GOOGLE_GENERATIVE_AI_API_KEY",
		"openrouter": "OPENROUTER_API_KEY", "opencode": "OPENCODE_API_KEY",
	}[provider]
}

// openCodeManaged is the administrator's folder, as the client's binary has it.
func openCodeManaged(goos string) []string {
	if goos == "darwin" {
		return []string{"/Library/Application Support/opencode", "/Library/Managed Preferences/ai.opencode.managed.plist"}
	}
	return []string{"/etc/opencode"}
}

// Limits a model is said to have, in tokens: OpenCode needs some, and cuts a conversation down to
// them.
const (
	contextTokens = 200_000
	outputTokens  = 32_000
)

func openCodeConfig(r Request) []byte {
	// Without "$schema" the client adds it to the file, which would be a change of the configuration.
	config := map[string]any{"$schema": "https://opencode.ai/config.json", "autoupdate": false, "share": "disabled"}
	if r.GatewayURL != "" {
		model := providerName + "/" + r.Model
		config["model"], config["small_model"] = model, model
		config["provider"] = map[string]any{providerName: map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": providerName,
			"options": map[string]any{"baseURL": r.GatewayURL + "/v1", "apiKey": "{env:" + providerKey + "}"},
			"models": map[string]any{r.Model: map[string]any{
				"name": r.Model, "tool_call": true, "limit": map[string]any{"context": contextTokens, "output": outputTokens},
			}},
		}}
	}
	if !r.Enforced {
		outside := map[string]string{"*": "deny"}
		for _, dir := range r.AllowRead {
			outside[path.Join(dir, "*")] = "allow"
		}
		config["permission"] = map[string]any{"external_directory": outside, "webfetch": "deny", "websearch": "deny"}
	}
	return mustJSON(config)
}

func mustJSON(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		panic("client: settings of strings, numbers and booleans always encode: " + err.Error())
	}
	return out
}

// ConfigFiles are OpenCode's settings, and the plugins and tools that are its hooks.
func (OpenCode) ConfigFiles() []ConfigFile {
	out := []ConfigFile{{Base: "home", Path: ".config/opencode/opencode.json"}, {Base: "home", Path: ".config/opencode/opencode.jsonc"}}
	for _, dir := range []string{"plugin", "plugins", "tool", "tools"} {
		out = append(out, ConfigFile{Base: "home", Path: ".config/opencode/" + dir, Folder: true},
			ConfigFile{Base: "project", Path: ".opencode/" + dir, Folder: true})
	}
	for _, name := range []string{"opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"} {
		out = append(out, ConfigFile{Base: "project", Path: name})
	}
	return out
}
