package symposium

import (
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

// Dialect is the spelling of the registry table that a release understands.
type Dialect string

// The dialects, newest first. Releases up to 0.4.0 ignore [[registry]] without a word.
const (
	Registry     Dialect = "registry"
	PluginSource Dialect = "plugin-source"
)

// Dialects lists the dialects to probe for, newest first.
func Dialects() []Dialect { return []Dialect{Registry, PluginSource} }

// ConfigFile is where the configuration stands below the home folder.
const ConfigFile = ".symposium/config.toml"

// Config is the trial's configuration, before init.
func Config(d Dialect, registry string) []byte {
	return fmt.Appendf(nil, `auto-sync = true
hook-scope = "global"
auto-update = "off"

[defaults]
symposium-recommendations = false
user-plugins = false

[[%s]]
name = "eval"
path = %s
`, d, tomlString(registry))
}

// tomlString is s as a basic string of TOML 1.0.
func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// InitArgs are the arguments of cargo-agents that register its hooks for a client.
func InitArgs(client string) []string { return []string{"init", "--add-agent", client} }

// CheckConfig says what a release's init made of the configuration: init rewrites the file from
// what it understood, so that what is gone was not understood. The error names what is missing.
func CheckConfig(rewritten []byte, registry string) error {
	var got struct {
		AutoUpdate string `toml:"auto-update"`
		Defaults   struct {
			Recommendations *bool `toml:"symposium-recommendations"`
			UserPlugins     *bool `toml:"user-plugins"`
		} `toml:"defaults"`
		Registry     []struct{ Name, Path string } `toml:"registry"`
		PluginSource []struct{ Name, Path string } `toml:"plugin-source"`
	}
	if err := toml.Unmarshal(rewritten, &got); err != nil {
		return fmt.Errorf("%s after init: %w", ConfigFile, err)
	}
	var missing []string
	found := false
	for _, r := range append(got.Registry, got.PluginSource...) {
		found = found || (r.Name == "eval" && r.Path == registry)
	}
	if !found {
		missing = append(missing, "the registry")
	}
	if got.AutoUpdate != "off" {
		missing = append(missing, `auto-update = "off"`)
	}
	if r := got.Defaults.Recommendations; r == nil || *r {
		missing = append(missing, "symposium-recommendations = false")
	}
	if u := got.Defaults.UserPlugins; u == nil || *u {
		missing = append(missing, "user-plugins = false")
	}
	if len(missing) > 0 {
		return fmt.Errorf("%s lost %s in init: this release did not understand it", ConfigFile, strings.Join(missing, ", "))
	}
	return nil
}
