package client

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ConfigFile is a file through which a client's hooks, MCP servers or permissions are set. The
// runner compares it before and after a trial.
type ConfigFile struct {
	// Base is "home" or "project"; Path is relative to it, with slashes.
	Base, Path string
	// Keys are the top-level JSON keys to compare, because the client rewrites the rest of its own
	// settings; none means the whole file.
	Keys []string
	// Folder says that Path is a folder, whose files all count, such as one of hooks.
	Folder bool
}

// ConfigFiles are Claude Code's settings, of the user and of the project.
func (Claude) ConfigFiles() []ConfigFile {
	keys := []string{"hooks", "mcpServers", "disableAllHooks", "permissions", "enabledPlugins"}
	return []ConfigFile{
		{Base: "home", Path: ".claude/settings.json", Keys: keys},
		{Base: "home", Path: ".claude/settings.local.json", Keys: keys},
		{Base: "home", Path: ".claude.json", Keys: []string{"mcpServers"}},
		{Base: "project", Path: ".claude/settings.json", Keys: keys},
		{Base: "project", Path: ".claude/settings.local.json", Keys: keys},
		{Base: "project", Path: ".mcp.json"},
	}
}

// CheckVersion refuses a client older than the adapter's floor: hook and stream formats change
// between versions, and a misread stream is a wrong number.
func CheckVersion(a Adapter, version string) error {
	got, ok := parseVersion(version)
	if !ok {
		return fmt.Errorf("the version %q of the client %s is not of the form 1.2.3", version, a.Name())
	}
	floor, _ := parseVersion(a.MinVersion())
	if slices.Compare(got[:], floor[:]) < 0 {
		return fmt.Errorf("the client %s %s is older than %s, the oldest this Proctor understands; run `proctor setup %s`", a.Name(), version, a.MinVersion(), a.Name())
	}
	return nil
}

func parseVersion(s string) (v [3]int, ok bool) {
	core, _, _ := strings.Cut(s, "-")
	parts := strings.Split(core, ".")
	if len(parts) != 3 {
		return v, false
	}
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 {
			return v, false
		}
		v[i] = n
	}
	return v, true
}
