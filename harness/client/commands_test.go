package client

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// request is one as the engine makes it, of a prompt that would be taken for options and in a folder
// whose name needs quoting.
func request(enforced bool) Request {
	return Request{
		Binary: "/r/bin/client", Package: "/tools/package", Prompt: "-p --model x\nrest", Model: "model-1",
		GatewayURL: "http://127.0.0.1:9", Token: "one-time-token", Enforced: enforced,
		Paths: Paths{
			Home: `/r/h "x"`, Project: "/r/project", Tmp: "/r/tmp", CargoHome: "/r/cargo-home", Evidence: "/r/evidence",
		},
		DenyRead: []string{"/home/dev"}, AllowRead: []string{"/home/dev/toolchain"},
	}
}

// TestEveryAdapter holds what the engine relies on, for all clients and both kinds of isolation.
func TestEveryAdapter(t *testing.T) {
	for _, name := range Names() {
		a, err := Lookup(name)
		require.NoError(t, err)
		for _, enforced := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				r := request(enforced)
				spec := a.Command(r)
				assert.Equal(t, r.Binary, spec.Argv[0])
				argv := strings.Join(spec.Argv, "\n")
				assert.NotContains(t, argv, r.Token, "every process of the machine sees it")
				assert.NotContains(t, argv, "rest", "a long prompt does not fit, and one with a dash is an option")
				assert.Contains(t, argv, "model-1")
				assert.Equal(t, r.Prompt, spec.Stdin)
				keys := 0
				for _, value := range spec.Env {
					if value == r.Token {
						keys++
					}
				}
				assert.Equal(t, 1, keys, "one variable holds the key")
				for rel, data := range spec.HomeFiles {
					assert.True(t, filepath.IsLocal(rel), rel)
					assert.NotContains(t, string(data), r.Token, "files are kept as evidence")
				}
				for rel, target := range spec.HomeLinks {
					assert.True(t, filepath.IsLocal(rel), rel)
					assert.True(t, strings.HasPrefix(target, r.Package+"/"), target)
				}
				assert.Contains(t, spec.ProjectDirs, spec.SkillDir)
				require.NotEmpty(t, spec.ManagedSettings)
				for _, p := range spec.ManagedSettings {
					assert.True(t, filepath.IsAbs(p), p)
				}
				assert.Equal(t, spec.SkillDir, a.Command(Request{}).SkillDir, "known before there is a run")
				for _, f := range a.ConfigFiles() {
					assert.Contains(t, []string{"home", "project"}, f.Base)
					assert.True(t, filepath.IsLocal(f.Path), f.Path)
					assert.False(t, f.Folder && len(f.Keys) > 0, "%s: a folder has no keys", f.Path)
				}
				for rel := range spec.HomeFiles {
					assert.True(t, compared(a, rel), "%s decides what the client may do, and is not compared", rel)
				}

				r.GatewayURL = ""
				direct := a.Command(r)
				assert.NotContains(t, direct.Env, providerKey)
				for name, data := range direct.HomeFiles {
					assert.NotContains(t, string(data), "127.0.0.1", name)
				}
			})
		}
	}
}

func compared(a Adapter, rel string) bool {
	for _, f := range a.ConfigFiles() {
		if f.Base == "home" && f.Path == rel {
			return true
		}
	}
	return false
}

func TestCodexCommand(t *testing.T) {
	spec := Codex{}.Command(request(true))
	assert.Equal(t, []string{"/r/bin/client", "exec", "--json", "--model", "model-1", "--sandbox", "danger-full-access",
		"--skip-git-repo-check", "--dangerously-bypass-hook-trust", "-"}, spec.Argv)
	assert.Equal(t, map[string]string{"CODEX_HOME": `/r/h "x"/.codex`, "ENDPOINT_API_KEY": "one-time-token"}, spec.Env)
	config := decodeTOML(t, spec.HomeFiles[".codex/config.toml"])
	assert.Equal(t, "endpoint", config["model_provider"])
	assert.Equal(t, map[string]any{"endpoint": map[string]any{
		"name": "endpoint", "base_url": "http://127.0.0.1:9/v1", "env_key": "ENDPOINT_API_KEY", "wire_api": "responses",
	}}, config["model_providers"])
	assert.NotContains(t, config, "sandbox_workspace_write")
	assert.Equal(t, false, config["allow_login_shell"], "its profile would take the trial's PATH away")

	spec = Codex{}.Command(request(false))
	assert.Contains(t, strings.Join(spec.Argv, " "), "--sandbox workspace-write")
	config = decodeTOML(t, spec.HomeFiles[".codex/config.toml"])
	assert.Equal(t, map[string]any{
		"writable_roots": []any{"/r/cargo-home", `/r/h "x"`, "/r/evidence"}, "exclude_slash_tmp": true, "network_access": false,
	}, config["sandbox_workspace_write"])

	r := request(true)
	r.GatewayURL = ""
	assert.Equal(t, "one-time-token", Codex{}.Command(r).Env["CODEX_API_KEY"])
}

func decodeTOML(t *testing.T, data []byte) map[string]any {
	t.Helper()
	var out map[string]any
	require.NoError(t, toml.Unmarshal(data, &out))
	return out
}

func TestOpenCodeCommand(t *testing.T) {
	spec := OpenCode{}.Command(request(true))
	assert.Equal(t, []string{"/r/bin/client", "run", "--format", "json", "-m", "endpoint/model-1", "--auto", "--title", "session"}, spec.Argv)
	assert.Equal(t, `/r/h "x"/.local/share`, spec.Env["XDG_DATA_HOME"])
	assert.Equal(t, "one-time-token", spec.Env["ENDPOINT_API_KEY"])
	assert.JSONEq(t, `{"$schema":"https://opencode.ai/config.json","autoupdate":false,"share":"disabled",
		"model":"endpoint/model-1","small_model":"endpoint/model-1",
		"provider":{"endpoint":{"npm":"@ai-sdk/openai-compatible","name":"endpoint",
			"options":{"baseURL":"http://127.0.0.1:9/v1","apiKey":"{env:ENDPOINT_API_KEY}"},
			"models":{"model-1":{"name":"model-1","tool_call":true,"limit":{"context":200000,"output":32000}}}}}}`,
		string(spec.HomeFiles[".config/opencode/opencode.json"]))

	var config struct{ Permission json.RawMessage }
	require.NoError(t, json.Unmarshal(OpenCode{}.Command(request(false)).HomeFiles[".config/opencode/opencode.json"], &config))
	assert.JSONEq(t, `{"external_directory":{"*":"deny","/home/dev/toolchain/*":"allow"},"webfetch":"deny","websearch":"deny"}`, string(config.Permission))

	r := request(true)
	r.GatewayURL, r.Model = "", "anthropic/model-1"
	direct := OpenCode{}.Command(r)
	assert.Equal(t, "one-time-token", direct.Env["ANTHROPIC_API_KEY"])
	assert.Contains(t, direct.Argv, "anthropic/model-1")
}

func TestCopilotCommand(t *testing.T) {
	spec := Copilot{}.Command(request(true))
	assert.Equal(t, []string{"/r/bin/client", "--output-format", "json", "--model", "model-1", "--no-auto-update", "--no-ask-user", "--no-color", "--allow-all"}, spec.Argv)
	assert.Equal(t, "true", spec.Env["COPILOT_OFFLINE"])
	assert.Equal(t, "http://127.0.0.1:9/v1", spec.Env["COPILOT_PROVIDER_BASE_URL"])
	assert.Empty(t, spec.HomeFiles)
	require.Len(t, spec.HomeLinks, 1)
	for _, target := range spec.HomeLinks {
		assert.Equal(t, "/tools/package/unpacked", target)
	}

	spec = Copilot{}.Command(request(false))
	argv := strings.Join(spec.Argv, " ")
	assert.NotContains(t, argv, "--allow-all ")
	assert.NotContains(t, argv, "--allow-all-paths")
	assert.Contains(t, argv, "--allow-all-tools --disallow-temp-dir --add-dir /home/dev/toolchain")
	assert.JSONEq(t, `{"sandbox":{"enabled":true,"addCurrentWorkingDirectory":true,"allowBypass":false,"allowDevToolAccess":false,
		"userPolicy":{"filesystem":{"readwritePaths":["/r/cargo-home","/r/tmp","/r/evidence"],"readonlyPaths":["/home/dev/toolchain"]},
			"network":{"allowOutbound":false,"allowLocalNetwork":false}}}}`, string(spec.HomeFiles[".copilot/settings.json"]))

	// A folder that may be written must not stand among the read-only ones, which win.
	r := request(false)
	r.AllowRead = append([]string{r.Paths.Project, r.Paths.Home, r.Paths.CargoHome, r.Paths.Tmp, r.Paths.Evidence}, r.AllowRead...)
	var settings struct {
		Sandbox struct {
			UserPolicy struct {
				Filesystem struct{ ReadonlyPaths []string }
			}
		}
	}
	require.NoError(t, json.Unmarshal(Copilot{}.Command(r).HomeFiles[".copilot/settings.json"], &settings))
	assert.Equal(t, []string{r.Paths.Home, "/home/dev/toolchain"}, settings.Sandbox.UserPolicy.Filesystem.ReadonlyPaths)

	r = request(true)
	r.GatewayURL, r.Package = "", ""
	direct := Copilot{}.Command(r)
	assert.Equal(t, "one-time-token", direct.Env["COPILOT_GITHUB_TOKEN"])
	assert.NotContains(t, direct.Env, "COPILOT_OFFLINE")
	assert.Empty(t, direct.HomeLinks, "a client of one's own unpacks into the home")
}
