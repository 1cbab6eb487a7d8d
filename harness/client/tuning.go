package client

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Tuning is what a suite says of how a client is started. It changes a [Spec] in enforced mode: the
// sandbox around the client is the boundary, whatever is asked for here.
type Tuning struct {
	// PermissionMode is Claude Code's; "" leaves the client's own, in which a headless session is
	// denied what it would have to ask for.
	PermissionMode string
	// AllowedTools, unless nil, are the tools that need no permission (Claude Code), or that there are
	// (Copilot).
	AllowedTools []string
	// Permission is OpenCode's, by tool and pattern; the pattern "" holds for the whole tool.
	Permission map[string]map[string]string
	ExtraArgs  []string
}

// Apply changes the spec of the named client.
func (t Tuning) Apply(name string, spec *Spec) error {
	switch name {
	case "claude":
		spec.Argv = withoutFlag(spec.Argv, "--permission-mode", 1)
		if t.PermissionMode != "" {
			spec.Argv = append(spec.Argv, "--permission-mode", t.PermissionMode)
		}
		if tools := t.AllowedTools; len(tools) > 0 {
			if !slices.Contains(tools, "Skill") {
				tools = append(slices.Clone(tools), "Skill")
			}
			spec.Argv = append(spec.Argv, "--allowed-tools", strings.Join(tools, ","))
		}
		spec.Argv = append(spec.Argv, t.ExtraArgs...)
	case "copilot":
		if t.AllowedTools != nil {
			spec.Argv = withoutFlag(spec.Argv, "--allow-all", 0)
			spec.Argv = append(spec.Argv, copilotTools(append(slices.Clone(t.AllowedTools), "skill", "report_intent"))...)
		}
		spec.Argv = append(spec.Argv, t.ExtraArgs...)
	case "codex":
		if len(t.AllowedTools) > 0 {
			return fmt.Errorf("codex has no allowed_tools: its one tool is the shell")
		}
		// The last word stands for the prompt on standard input.
		last := len(spec.Argv) - 1
		spec.Argv = slices.Concat(spec.Argv[:last], t.ExtraArgs, spec.Argv[last:])
	case "opencode":
		if t.Permission != nil {
			spec.Env["OPENCODE_CONFIG_CONTENT"] = string(mustJSON(map[string]any{"permission": openCodePermission(t.Permission)}))
			spec.Argv = withoutFlag(spec.Argv, "--auto", 0)
		}
		spec.Argv = append(spec.Argv, t.ExtraArgs...)
	default:
		return fmt.Errorf("client %q cannot be tuned", name)
	}
	return nil
}

// ReadOnly leaves the client tools that read and search files, and no shell. dir is a folder outside
// its project that it has to read.
func ReadOnly(name string, spec *Spec, dir string) error {
	switch name {
	case "claude":
		spec.Argv = withoutFlag(spec.Argv, "--permission-mode", 1)
		spec.Argv = append(spec.Argv, "--tools", "Read,Glob,Grep", "--allowed-tools", "Read,Glob,Grep", "--add-dir", dir, "--strict-mcp-config")
	case "copilot":
		spec.Argv = withoutFlag(spec.Argv, "--allow-all", 0)
		spec.Argv = append(spec.Argv, copilotTools([]string{"view", "glob", "grep"})...)
		spec.Argv = append(spec.Argv, "--add-dir", dir)
	case "opencode":
		// A later rule counts for more; JSON objects keep their order in the client.
		rules := `{"permission":{"*":"deny","read":"allow","glob":"allow","grep":"allow","external_directory":` +
			string(mustJSON(map[string]string{dir + "/*": "allow"})) + `}}`
		if !json.Valid([]byte(rules)) {
			return fmt.Errorf("opencode: no rules for %q", dir)
		}
		spec.Env["OPENCODE_CONFIG_CONTENT"] = rules
		spec.Argv = withoutFlag(spec.Argv, "--auto", 0)
	case "codex":
		return fmt.Errorf("codex reads files with its shell only, so it cannot be a read-only judge: name another client as judge.provider in config.yaml")
	default:
		return fmt.Errorf("client %q has no read-only tools that are known", name)
	}
	return nil
}

func copilotTools(tools []string) []string {
	args := []string{"--available-tools", strings.Join(tools, ",")}
	for _, tool := range tools {
		args = append(args, "--allow-tool", tool)
	}
	return args
}

// openCodePermission is the client's form; outside the project nothing is allowed unless it is said.
func openCodePermission(rules map[string]map[string]string) map[string]any {
	out := map[string]any{"external_directory": "deny"}
	for tool, patterns := range rules {
		if action, whole := patterns[""]; whole {
			out[tool] = action
			continue
		}
		out[tool] = patterns
	}
	return out
}

// withoutFlag is argv without a flag and the values behind it.
func withoutFlag(argv []string, flag string, values int) []string {
	i := slices.Index(argv, flag)
	if i < 0 {
		return argv
	}
	return slices.Delete(slices.Clone(argv), i, min(i+1+values, len(argv)))
}
