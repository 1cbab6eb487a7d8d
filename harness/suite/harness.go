package suite

// Harness is what a task says to each client; nil means nothing. The names are agent-exam's, which
// calls a client a harness.
type Harness struct {
	ClaudeCode *ClaudeCode
	CopilotCLI *CopilotCLI
	CodexCLI   *CodexCLI
	OpenCode   *OpenCode
}

// ClaudeCode is a task's block for Claude Code.
type ClaudeCode struct {
	PermissionMode string
	AllowedTools   []string // nil: not given
}

// CopilotCLI is a task's block for Copilot CLI.
type CopilotCLI struct {
	AllowedTools []string
}

// CodexCLI is a task's block for Codex.
type CodexCLI struct {
	Sandbox       string // read-only, workspace-write or danger-full-access; "": not given
	NetworkAccess *bool
	WritableRoots []string
	PrefixRules   []PrefixRule
}

// PrefixRule is a rule of Codex for commands that begin alike.
type PrefixRule struct {
	Pattern       [][]string // alternatives for each word
	Decision      string     // allow, prompt or forbidden
	Justification string
}

// OpenCode is a task's block for OpenCode.
type OpenCode struct {
	// Permission is by tool, then by pattern: allow, ask or deny. A pattern "" holds for the whole tool.
	Permission map[string]map[string]string
}

// clients has the client's name for each harness of the files.
var clients = map[string]string{
	"claude_code": "claude", "codex_cli": "codex", "copilot_cli": "copilot", "opencode": "opencode",
}

// Client is the client's name for a harness name, or "" when there is none.
func Client(harness string) string { return clients[harness] }

// HarnessName is the name the files have for a client, or "".
func HarnessName(client string) string {
	for harness, name := range clients {
		if name == client {
			return harness
		}
	}
	return ""
}

// harness reads the blocks of a task.
func (o *object) harness() Harness {
	var h Harness
	if v := o.given("claude_code"); v != nil {
		b := o.d.object(v, o.at("claude_code"), "permission_mode", "allowed_tools")
		h.ClaudeCode = &ClaudeCode{PermissionMode: b.optional("permission_mode"), AllowedTools: b.optionalTexts("allowed_tools")}
	}
	if v := o.given("copilot_cli"); v != nil {
		b := o.d.object(v, o.at("copilot_cli"), "allowed_tools")
		h.CopilotCLI = &CopilotCLI{AllowedTools: b.optionalTexts("allowed_tools")}
	}
	if v := o.given("codex_cli"); v != nil {
		b := o.d.object(v, o.at("codex_cli"), "sandbox", "network_access", "writable_roots", "prefix_rules")
		h.CodexCLI = &CodexCLI{
			Sandbox:       b.choice("sandbox", "read-only", "workspace-write", "danger-full-access"),
			NetworkAccess: b.boolean("network_access"), WritableRoots: b.optionalTexts("writable_roots"), PrefixRules: b.prefixRules(),
		}
	}
	if v := o.given("opencode"); v != nil {
		b := o.d.object(v, o.at("opencode"), "permission")
		h.OpenCode = &OpenCode{Permission: b.permission()}
	}
	if v := o.given("dummy"); v != nil {
		o.d.object(v, o.at("dummy"))
	}
	return h
}

func (o *object) prefixRules() []PrefixRule {
	if o.given("prefix_rules") == nil {
		return nil
	}
	var out []PrefixRule
	for i, v := range o.list("prefix_rules") {
		b := o.d.object(v, o.at("prefix_rules")+index(i), "pattern", "decision", "justification")
		rule := PrefixRule{Decision: "allow", Justification: b.optional("justification")}
		if b.get("decision") != nil {
			rule.Decision = b.choice("decision", "allow", "prompt", "forbidden")
		}
		if p := b.need("pattern"); p != nil {
			words := b.list("pattern")
			if p.kind == isList && len(words) == 0 {
				o.d.add(p.at, b.at("pattern"), atLeastOne, "")
			}
			for j, w := range words {
				rule.Pattern = append(rule.Pattern, o.d.alternatives(w, b.at("pattern")+index(j)))
			}
		}
		out = append(out, rule)
	}
	return out
}

// alternatives are a word, or the words that may stand in its place.
func (d *decoder) alternatives(v *value, loc string) []string {
	if v.kind != isList {
		return []string{d.filled(v, loc)}
	}
	if len(v.items) == 0 {
		d.add(v.at, loc, atLeastOne, "")
	}
	var out []string
	for i, item := range v.items {
		out = append(out, d.filled(item, loc+index(i)))
	}
	return out
}

// deniedWhole are OpenCode's tools that a bare deny takes away in a way that leaves a headless
// session waiting for ever.
var deniedWhole = map[string]bool{"bash": true, "edit": true, "write": true, "read": true}

func (o *object) permission() map[string]map[string]string {
	v := o.given("permission")
	if v == nil {
		return nil
	}
	out := map[string]map[string]string{}
	for tool, e := range o.d.entries(v, o.at("permission")) {
		loc := o.at("permission") + "." + tool
		out[tool] = map[string]string{}
		if e.value.kind == isMap {
			for pattern, action := range o.d.entries(e.value, loc) {
				out[tool][pattern] = o.d.choice(action.value, loc+"."+pattern, "allow", "ask", "deny")
			}
			continue
		}
		action := o.d.choice(e.value, loc, "allow", "ask", "deny")
		if action == "deny" && deniedWhole[tool] {
			o.d.add(e.value.at, loc, "a bare deny makes a headless session wait for ever", `write {"`+tool+`": {"*": "deny"}}`)
		}
		out[tool][""] = action
	}
	return out
}
