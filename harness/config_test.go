package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func merge(t *testing.T, content string, o Options) (Options, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), ConfigFile)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	err := o.mergeFile(path)
	for _, p := range []*string{&o.Scratch, &o.Results} {
		if rel, relErr := filepath.Rel(filepath.Dir(path), *p); *p != "" && relErr == nil && filepath.IsLocal(rel) {
			*p = "DIR/" + rel
		}
	}
	return o, err
}

// TestConfigProblems: every mistake of the file in one error, each with its place.
func TestConfigProblems(t *testing.T) {
	_, err := merge(t, `jobs = "two"
colour = 1
  scratch = 5
configurations = ["without-symposium", 3]
client = ["x"]
"deny_read" = "x"

[limits]
files = 0
disk_bytes = 1.5
bogus = 1

[other]
x = 1
`, Options{})
	assert.EqualError(t, err, `proctor.toml:1:1: jobs must be a whole number of at least 1
proctor.toml:2:1: unknown key "colour"; the keys are deny_read, scratch, results, jobs, client, model, models, configurations, limits.output_bytes, limits.disk_bytes, limits.files, limits.processes, limits.memory_bytes, limits.run_max_tokens, limits.run_max_cost, limits.trial_max_tokens, limits.trial_max_cost, limits.wait_secs, endpoints.anthropic.url, endpoints.anthropic.key_file, endpoints.openai.url, endpoints.openai.key_file, prices
proctor.toml:3:3: scratch must be a text in quotes
proctor.toml:4:1: configurations must be a list of texts, such as ["one", "two"]
proctor.toml:5:1: client must be a text in quotes
proctor.toml:6:1: deny_read must be a list of paths, absolute or from this file's folder, such as ["/srv/plugins"]; ~ and patterns (*, ?, [) are not expanded
proctor.toml:9:1: limits.files must be a whole number of at least 1
proctor.toml:10:1: limits.disk_bytes must be a whole number of at least 1
proctor.toml:11:1: unknown key "limits.bogus"; the keys are deny_read, scratch, results, jobs, client, model, models, configurations, limits.output_bytes, limits.disk_bytes, limits.files, limits.processes, limits.memory_bytes, limits.run_max_tokens, limits.run_max_cost, limits.trial_max_tokens, limits.trial_max_cost, limits.wait_secs, endpoints.anthropic.url, endpoints.anthropic.key_file, endpoints.openai.url, endpoints.openai.key_file, prices
proctor.toml:13:2: unknown key "other"; the keys are deny_read, scratch, results, jobs, client, model, models, configurations, limits.output_bytes, limits.disk_bytes, limits.files, limits.processes, limits.memory_bytes, limits.run_max_tokens, limits.run_max_cost, limits.trial_max_tokens, limits.trial_max_cost, limits.wait_secs, endpoints.anthropic.url, endpoints.anthropic.key_file, endpoints.openai.url, endpoints.openai.key_file, prices
proctor.toml:14:1: unknown key "other.x"; the keys are deny_read, scratch, results, jobs, client, model, models, configurations, limits.output_bytes, limits.disk_bytes, limits.files, limits.processes, limits.memory_bytes, limits.run_max_tokens, limits.run_max_cost, limits.trial_max_tokens, limits.trial_max_cost, limits.wait_secs, endpoints.anthropic.url, endpoints.anthropic.key_file, endpoints.openai.url, endpoints.openai.key_file, prices`)

	_, err = merge(t, "jobs = = 1\n", Options{})
	assert.ErrorContains(t, err, "proctor.toml:1:")
	_, err = merge(t, "limits = 3\n", Options{})
	assert.ErrorContains(t, err, `proctor.toml:1:1: unknown key "limits"`)
}

// TestConfigFills: the file fills in what the caller left open, and nothing else.
func TestConfigFills(t *testing.T) {
	const content = `deny_read = ["/a"]
scratch = "s"
results = "/r"
jobs = 3
client = "c"
model = "m"
configurations = ["x"]
limits = {output_bytes = 10, disk_bytes = 20, files = 30, processes = 40, memory_bytes = 50}
`
	o, err := merge(t, content, Options{})
	require.NoError(t, err)
	assert.Equal(t, Options{DenyRead: []string{"/a"}, Scratch: "DIR/s", Results: "/r", Jobs: 3, Clients: []string{"c"}, Model: "m",
		Configurations: []string{"x"}, MaxOutput: 10, MaxDisk: 20, MaxFiles: 30, MaxProcesses: 40, MaxMemory: 50}, o)

	given := Options{Scratch: "/g", Results: "/h", Jobs: 1, Clients: []string{"d"}, Model: "n", Configurations: []string{"y"}, MaxOutput: 1, MaxDisk: 2, MaxFiles: 3, MaxProcesses: 4, MaxMemory: 5}
	o, err = merge(t, content, given)
	require.NoError(t, err)
	given.DenyRead = []string{"/a"} // denied regions only ever add up
	assert.Equal(t, given, o)

	require.NoError(t, new(Options).mergeFile(filepath.Join(t.TempDir(), ConfigFile)), "no file, no problem")
}

// What would deny nothing is refused, or told.
func TestDenyRead(t *testing.T) {
	for _, p := range []string{"~/private", "/opt/*", "a?", "x[1]", ""} {
		_, err := merge(t, fmt.Sprintf("deny_read = [%q]", p), Options{})
		require.ErrorContains(t, err, "proctor.toml:1:1: deny_read must be", p)
	}
	there := t.TempDir()
	e := &Engine{opts: Options{DenyRead: []string{there, filepath.Join(there, "missing")}}}
	assert.Equal(t, []string{filepath.Join(there, "missing")}, e.MissingDenied())
	assert.Equal(t, []string{"deny_read names " + filepath.Join(there, "missing") + ", and there is no such file or folder: nothing is denied by it"}, e.Notes())
}
