package workspace

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/proctor-evals/proctor/internal/treecopy"
)

// skillFolders are where the clients keep a user's skills and settings, and Symposium its plugins,
// below the home folder.
var skillFolders = []string{".claude", ".codex", ".agents", ".config/opencode", ".opencode", ".copilot", ".symposium", ".config/symposium"}

// skillVariables move such a folder; the second part is what is added to the variable's value.
var skillVariables = [][2]string{
	{"CLAUDE_CONFIG_DIR", ""}, {"CODEX_HOME", ""}, {"COPILOT_HOME", ""}, {"OPENCODE_CONFIG_DIR", ""}, {"SYMPOSIUM_HOME", ""},
	{"XDG_CONFIG_HOME", "opencode"}, {"XDG_CONFIG_HOME", "symposium"}, {"XDG_CONFIG_HOME", "copilot"}, {"XDG_CACHE_HOME", "symposium"},
}

// skillSystem are folders of skills for all users of a machine.
var skillSystem = []string{"/etc/codex/skills"}

// Bounds of what is read of a user's own settings.
const (
	maxSettings = 1 << 20 // bytes
	maxEntries  = 2000    // of a folder
)

// SkillHomes are the folders in which a user of this machine keeps skills and plugins: the clients'
// and Symposium's, what links in them lead to, and the sources their settings name. A baseline that
// could read one could read a skill. Which of them exist is for the caller to see.
func SkillHomes(home string, getenv func(string) string) []string {
	var out []string
	if home != "" {
		for _, f := range skillFolders {
			out = append(out, filepath.Join(home, f))
		}
	}
	for _, v := range skillVariables {
		if dir := getenv(v[0]); filepath.IsAbs(dir) {
			out = append(out, filepath.Join(dir, v[1]))
		}
	}
	out = append(out, skillSystem...)
	for _, dir := range slices.Clone(out) {
		for _, sub := range []string{"skills", "skill", "plugins"} {
			out = append(out, linked(filepath.Join(dir, sub))...)
		}
		for _, file := range []string{"known_marketplaces.json", "installed_plugins.json"} {
			out = append(out, namedInJSON(filepath.Join(dir, "plugins"), file)...)
		}
		out = append(out, symposiumSources(dir)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// linked are the folders that links in dir lead to, or the repositories these lie in; dir itself may
// be one.
func linked(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []string
	if info, err := os.Lstat(dir); err == nil && info.Mode()&os.ModeSymlink != 0 {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			out = append(out, sourceOf(real)...)
		}
	}
	for _, e := range entries[:min(len(entries), maxEntries)] {
		if e.Type() != os.ModeSymlink {
			continue
		}
		if real, err := filepath.EvalSymlinks(filepath.Join(dir, e.Name())); err == nil {
			out = append(out, sourceOf(real)...)
		}
	}
	return out
}

// sourceOf is the repository a skill or plugin lies in, whose history holds it too, else its folder.
func sourceOf(path string) []string {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	if !info.IsDir() {
		path = filepath.Dir(path)
	}
	return append(checkouts(path), path)
}

// namedInJSON are the folders that strings of a settings file name.
func namedInJSON(dir, file string) []string {
	data, _, err := treecopy.ReadSource(dir, file, maxSettings)
	var v any
	if err != nil || json.Unmarshal(data, &v) != nil {
		return nil
	}
	var out []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			if info, err := os.Stat(v); err == nil && filepath.IsAbs(v) && info.IsDir() && len(out) < maxEntries {
				out = append(out, sourceOf(v)...)
			}
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(v)
	return out
}

// symposiumSources are the folders from which a user's Symposium takes plugins. Source of the names:
// cargo-agents' config.toml, [[registry]] and, in releases before it, [[plugin-source]].
func symposiumSources(dir string) []string {
	data, _, err := treecopy.ReadSource(dir, "config.toml", maxSettings)
	if err != nil {
		return nil
	}
	type source struct {
		Path string `toml:"path"`
	}
	var config struct {
		Registry []source `toml:"registry"`
		Source   []source `toml:"plugin-source"`
	}
	if toml.Unmarshal(data, &config) != nil {
		return nil // not one of Symposium's
	}
	var out []string
	for _, s := range append(config.Registry, config.Source...) {
		if s.Path == "" {
			continue
		}
		path := s.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		out = append(out, sourceOf(path)...)
	}
	return out
}

// needed are folders without which nothing runs in a sandbox: never denied as a whole, whatever was
// found in them.
var needed = []string{"/", "/bin", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr", "/usr/bin", "/usr/lib", "/usr/lib64", "/usr/local", "/usr/share", "/var", "/var/lib", "/System", "/Library", "/private"}

// NotIn are the paths that exist and lie in none of the regions, links resolved, without those a
// sandbox needs to run.
func NotIn(paths, regions []string) []string {
	var out []string
	for _, p := range paths {
		real, err := filepath.EvalSymlinks(p)
		if err != nil || slices.Contains(needed, real) {
			continue
		}
		within := func(region string) bool { return real == region || strings.HasPrefix(real, region+"/") }
		if !slices.ContainsFunc(regions, within) && !slices.ContainsFunc(out, within) {
			out = append(out, real)
		}
	}
	return out
}
