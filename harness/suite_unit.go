package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/suite"
	"github.com/proctor-evals/proctor/harness/task"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

func newSuiteClient(r *Run, a client.Adapter) *suiteClient {
	return &suiteClient{batch: &Batch{Task: &task.Task{}, adapter: a, run: r}}
}

// tuning is what the task, and after it the configuration, say of how its client is started.
func (u *suiteUnit) tuning() client.Tuning {
	p := u.run.opts.Project.Config.Providers[suite.HarnessName(u.batch.Client())]
	t := client.Tuning{PermissionMode: p.PermissionMode, ExtraArgs: p.ExtraArgs}
	trigger := u.Case.Task.Kind == suite.Trigger
	h := u.Case.Task.Harness
	switch u.batch.Client() {
	case "claude":
		if trigger {
			t.PermissionMode = "bypassPermissions"
		}
		if h.ClaudeCode != nil {
			t.AllowedTools = h.ClaudeCode.AllowedTools
			if h.ClaudeCode.PermissionMode != "" {
				t.PermissionMode = h.ClaudeCode.PermissionMode
			}
		}
	case "copilot":
		if h.CopilotCLI != nil {
			t.AllowedTools = h.CopilotCLI.AllowedTools
		}
	case "opencode":
		if h.OpenCode != nil {
			t.Permission = h.OpenCode.Permission
		}
	}
	return t
}

// environment puts the task's variables over the attempt's, below the client's own: those hold its
// endpoint and its home.
func (u *suiteUnit) environment(env, clients map[string]string) {
	for name, value := range u.Case.Task.Setup.Env {
		if _, needed := clients[name]; needed {
			continue
		}
		if value == nil {
			delete(env, name)
			continue
		}
		env[name] = *value
	}
}

// notes say what a task asks of a client that an attempt does not give.
func (u *suiteUnit) notes() (out []string) {
	h := u.Case.Task.Harness.CodexCLI
	if u.batch.Client() != "codex" || h == nil {
		return nil
	}
	note := func(key, why string) {
		out = append(out, fmt.Sprintf("%s: codex_cli.%s: %s", u.Case.Task.File, key, why))
	}
	if h.Sandbox == "read-only" {
		note("sandbox", "the agent may write in its working directory: Codex's own sandbox is off inside ours")
	}
	if h.NetworkAccess != nil && *h.NetworkAccess {
		note("network_access", "there is no network in an attempt but the model")
	}
	if len(h.WritableRoots) > 0 {
		note("writable_roots", "an attempt writes in its own folders only")
	}
	if len(h.PrefixRules) > 0 {
		note("prefix_rules", "these rules are not given to Codex")
	}
	return out
}

// Notes say, once each, what tasks ask of their clients that attempts do not give.
func (r *SuiteRun) Notes() []string {
	var out []string
	seen := map[string]bool{}
	for _, u := range r.units {
		for _, n := range u.notes() {
			if !seen[n] {
				out, seen[n] = append(out, n), true
			}
		}
	}
	return out
}

// caseHash names what a case asks: its task's file, its fixture, its prompt.
func caseHash(p *suite.Project, c suite.Case) (string, error) {
	sum := sha256.New()
	data, err := os.ReadFile(filepath.Join(p.Root, filepath.FromSlash(c.Task.File)))
	if err != nil {
		return "", fmt.Errorf("hash of %s: %w", c.Name, err)
	}
	fmt.Fprintf(sum, "%s\x00%s\x00%d\x00%s", c.Task.Suite.Name, c.Name, len(data), data)
	if f := c.Task.Setup.Fixture; f != "" {
		tree, err := treecopy.Hash(filepath.Join(p.Evals, "fixtures", filepath.FromSlash(f)), treecopy.Options{})
		if err != nil {
			return "", fmt.Errorf("fixture %s: %w", f, err)
		}
		fmt.Fprintf(sum, "\x00%s", tree)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
