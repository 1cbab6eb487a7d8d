package symposium

import (
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestConfig(t *testing.T) {
	assert.Equal(t, `auto-sync = true
hook-scope = "global"
auto-update = "off"

[defaults]
symposium-recommendations = false
user-plugins = false

[[registry]]
name = "eval"
path = "/run/registry"
`, string(Config(Registry, "/run/registry")))
	for _, d := range Dialects() {
		for _, path := range []string{"/plain", `/with "quotes" and \n`, "/new\nline\ttab\r\x01\x7f", "/ünï ☃"} {
			config := Config(d, path)
			var got map[string]any
			require.NoError(t, toml.Unmarshal(config, &got), "%q", path)
			assert.Equal(t, path, got[string(d)].([]map[string]any)[0]["path"])
			assert.NoError(t, CheckConfig(config, path), "what init leaves untouched is accepted")
		}
	}
	assert.Equal(t, []string{"init", "--add-agent", "claude"}, InitArgs("claude"))
}

func TestCheckConfig(t *testing.T) {
	const good = "auto-update = 'off'\n[defaults]\nsymposium-recommendations = false\nuser-plugins = false\n"
	for name, tt := range map[string]struct {
		config string
		errs   []string // nil: accepted
	}{
		"registry":         {good + "[[registry]]\nname = 'eval'\npath = '/r'\nauto-update = true\n", nil},
		"plugin-source":    {good + "[[plugin-source]]\nname = 'eval'\npath = '/r'\n", nil},
		"among others":     {good + "[[registry]]\nname = 'x'\npath = '/x'\n[[registry]]\nname = 'eval'\npath = '/r'\n", nil},
		"no registry":      {good, []string{"the registry"}},
		"another path":     {good + "[[registry]]\nname = 'eval'\npath = '/else'\n", []string{"the registry"}},
		"another name":     {good + "[[registry]]\nname = 'x'\npath = '/r'\n", []string{"the registry"}},
		"all lost":         {"", []string{"the registry", "auto-update", "symposium-recommendations", "user-plugins"}},
		"defaults back on": {"auto-update = 'on'\n[defaults]\nsymposium-recommendations = true\nuser-plugins = true\n[[registry]]\nname = 'eval'\npath = '/r'\n", []string{"auto-update", "symposium-recommendations", "user-plugins"}},
		"not TOML":         {"auto-update =", []string{ConfigFile}},
		"other types":      {"registry = 3\n", []string{ConfigFile}},
	} {
		t.Run(name, func(t *testing.T) {
			err := CheckConfig([]byte(tt.config), "/r")
			if tt.errs == nil {
				assert.NoError(t, err)
				return
			}
			for _, want := range tt.errs {
				assert.ErrorContains(t, err, want)
			}
		})
	}
}

// The configuration is written by a program inside the trial.
func FuzzCheckConfig(f *testing.F) {
	f.Add(Config(Registry, "/r"))
	f.Add([]byte("[[registry]]\nname = 3"))
	f.Fuzz(func(t *testing.T, data []byte) { _ = CheckConfig(data, "/r") })
}
