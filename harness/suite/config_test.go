package suite

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestConfig(t *testing.T) {
	yes := true
	p, err := Load(files{
		"config.yaml": `
default_harness: codex_cli
skills_dirs: [built, ./elsewhere]
default_task_timeout_seconds: "300"
providers:
  claude_code:
    default_model: opus
    judge_model: haiku
    model_aliases: {opus: claude-opus}
    extra_args: [--a]
    permission_mode: plan
    blocked_plugins: [p]
  codex_cli: {network_access: "yes", writable_roots: [/a]}
  opencode: {pure: off}
judge: {timeout_seconds: 10.0, pass_on: [], include_trajectory: false, votes: 3, model: m, provider: claude_code}
concurrency_groups: {remote: 1, wide: "4"}
tags: {slow: {exclude_by_default: true}, quick: {}}
pre_run: make skills
project_root: /nowhere
evals_dir: elsewhere
pre_run_hook: build:skills
`,
		"config.local.yaml": "providers: {claude_code: {default_model: sonnet, extra_args: [--b]}}\nconcurrency_groups: {remote: 2}\n",
	}.write(t))
	require.NoError(t, err)
	assert.Equal(t, Config{
		DefaultHarness: "codex_cli", SkillsDirs: []string{filepath.Join(p.Root, "built"), filepath.Join(p.Root, "elsewhere")},
		Providers: map[string]Provider{
			"claude_code": {DefaultModel: "sonnet", JudgeModel: "haiku", ModelAliases: map[string]string{"opus": "claude-opus"}, ExtraArgs: []string{"--b"}, PermissionMode: "plan", BlockedPlugins: []string{"p"}, Pure: true},
			"codex_cli":   {ModelAliases: map[string]string{}, Pure: true, WritableRoots: []string{"/a"}, NetworkAccess: &yes},
			"opencode":    {ModelAliases: map[string]string{}},
		},
		Judge:             JudgeConfig{Timeout: 10 * time.Second, AgentTimeout: 300 * time.Second, PassOn: []string{"YES"}, Votes: 3, Model: "m", Provider: "claude_code"},
		DefaultTimeout:    300 * time.Second,
		ConcurrencyGroups: map[string]int{"remote": 2, "wide": 4},
		Tags:              map[string]Tag{"slow": {ExcludeByDefault: true}, "quick": {}},
		PreRun:            []string{"bash", "-c", "make skills"},
	}, p.Config)
}

// Rows D1 to D3, and D5: the local file's folders win.
func TestSkillsDirs(t *testing.T) {
	for name, row := range map[string]struct {
		files files
		want  []string // below the root; nil is none configured
	}{
		"D1 no config":        {files{"skills/x/SKILL.md": ""}, []string{"skills"}},
		"D1 empty config":     {files{"skills/x/SKILL.md": "", "config.yaml": "# nothing\n"}, []string{"skills"}},
		"no skills":           {files{"config.yaml": ""}, nil},
		"D2 explicit":         {files{"skills/x/SKILL.md": "", "config.yaml": "skills_dirs: [./elsewhere]"}, []string{"elsewhere"}},
		"D3 null":             {files{"skills/x/SKILL.md": "", "config.yaml": "skills_dirs:\n"}, nil},
		"empty":               {files{"skills/x/SKILL.md": "", "config.yaml": "skills_dirs: []"}, []string{}},
		"D5 local":            {files{"config.yaml": "skills_dirs: [a]\npre_run: [make]", "config.local.yaml": "skills_dirs: [b]"}, []string{"b"}},
		"local null replaces": {files{"config.yaml": "skills_dirs: [a]", "config.local.yaml": "skills_dirs: ~"}, nil},
		"local file alone":    {files{"config.local.yaml": "skills_dirs: [b]"}, []string{"b"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Load(row.files.write(t))
			require.NoError(t, err)
			if row.want == nil {
				assert.Nil(t, p.Config.SkillsDirs)
				_, err := p.Skills()
				assert.ErrorIs(t, err, ErrNoSkillsDirs)
				assert.ErrorContains(t, err, "skills_dirs is not configured")
				return
			}
			want := []string{}
			for _, dir := range row.want {
				want = append(want, filepath.Join(p.Root, dir))
			}
			assert.Equal(t, want, p.Config.SkillsDirs)
		})
	}
}

func TestConfigIsRefused(t *testing.T) {
	for name, row := range map[string]struct{ yaml, message string }{
		"D7 provider null":  {"providers: {claude_code: }", "config.yaml:1:26: providers.claude_code: Input should be a valid dictionary"},
		"D7 tag null":       {"tags: {a: }", "config.yaml:1:11: tags.a: Input should be a valid dictionary"},
		"list":              {"- a", "config.yaml:1:1: the file must be a YAML mapping"},
		"harness":           {"default_harness: codex", `config.yaml:1:18: default_harness: unknown harness name "codex"; it is called codex_cli here`},
		"provider name":     {"providers: {claude: {}}", `providers.claude: unknown harness name "claude"; it is called claude_code here`},
		"provider key":      {"providers: {opencode: {defaultmodel: x}}", "config.yaml:1:24: providers.opencode.defaultmodel: Extra inputs are not permitted; did you mean default_model?"},
		"timeout fraction":  {"default_task_timeout_seconds: 1.5", "default_task_timeout_seconds: Input should be a valid integer"},
		"timeout boolean":   {"default_task_timeout_seconds: yes", "default_task_timeout_seconds: Input should be a valid integer"},
		"timeout zero":      {"default_task_timeout_seconds: 0", "default_task_timeout_seconds: Input should be greater than 0"},
		"group of none":     {"concurrency_groups: {a: 0}", "concurrency_groups.a: Input should be greater than 0"},
		"group negative":    {"concurrency_groups: {a: -1}", "concurrency_groups.a: Input should be greater than 0"},
		"group null":        {"concurrency_groups: {a: }", "concurrency_groups.a: Input should be a valid integer"},
		"tag number":        {"tags: {1: {}}", "tags.1: Input should be a valid string; quote the key"},
		"tag key":           {"tags: {a: {exclude: yes}}", "tags.a.exclude: Extra inputs"},
		"judge verdict":     {"judge: {pass_on: ['Yup']}", "judge.pass_on[0]: Input should be 'YES' or 'NO' or 'UNCLEAR'"},
		"pre_run":           {"pre_run: []", "pre_run: a command has at least a program"},
		"skills_dirs blank": {"skills_dirs: ['']", "skills_dirs: a folder's name is empty"},
		"pure null":         {"providers: {opencode: {pure: }}", "providers.opencode.pure: Input should be a valid boolean"},
		"alias":             {"providers: {opencode: {model_aliases: {a: 1}}}", "model_aliases.a: Input should be a valid string"},
		"syntax":            {"tags: [", "config.yaml:1: this is no YAML"},
	} {
		t.Run(name, func(t *testing.T) {
			// The task's tag is not told as undeclared when the file that declares it is broken.
			_, err := Load(files{"config.yaml": row.yaml}.write(t))
			require.Error(t, err)
			assert.Contains(t, err.Error(), row.message)
			assert.NotContains(t, err.Error(), "\n")
		})
	}
	_, err := Load(files{"config.yaml": "tags: [", "suites/s/tasks/t.yaml": "{prompt: x, tags: [a], concurrency_group: g}"}.write(t))
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "declared", "the file that declares it is broken")
	_, err = Load(files{"config.yml": "", "config.yaml": ""}.write(t))
	assert.EqualError(t, err, "config.yml: a file of this name is not read; rename it to config.yaml")
	_, err = Load(files{"config.local.yaml": "[]", "config.yaml": ""}.write(t))
	assert.EqualError(t, err, "config.local.yaml:1:1: the file must be a YAML mapping")
}

func TestWhereAProjectLives(t *testing.T) {
	const a = "suites/s/tasks/t.yaml"
	for name, row := range map[string]struct {
		files       files
		open        string
		root, evals string
	}{
		"our evals root":                 {files{a: "prompt: x"}, ".", ".", "."},
		"Python project":                 {files{"pyproject.toml": "", "evals/" + a: "prompt: x"}, ".", ".", "evals"},
		"its evals folder":               {files{"pyproject.toml": "", "evals/" + a: "prompt: x"}, "evals", ".", "evals"},
		"evals_dir":                      {files{"pyproject.toml": "[tool.agent-exam]\nevals_dir = \"x/y\"", "x/y/" + a: "prompt: x"}, ".", ".", "x/y"},
		"evals_dir opened":               {files{"pyproject.toml": "[tool.agent-exam]\nevals_dir = \"x/y\"", "x/y/" + a: "prompt: x"}, "x/y", ".", "x/y"},
		"another folder of the project":  {files{"pyproject.toml": "", "evals/" + a: "prompt: x", "other/" + a: "prompt: x"}, "other", "other", "other"},
		"Python project with our layout": {files{"pyproject.toml": "[project]\nname = \"p\"", a: "prompt: x"}, ".", ".", "."},
		"no suites":                      {files{"pyproject.toml": "[project]\nname = \"p\""}, ".", ".", "."},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(row.files.write(t))
			require.NoError(t, err)
			p, err := Load(filepath.Join(dir, row.open))
			require.NoError(t, err)
			assert.Equal(t, filepath.Join(dir, row.root), p.Root)
			assert.Equal(t, filepath.Join(dir, row.evals), p.Evals)
		})
	}
	_, err := Load(filepath.Join(t.TempDir(), "none"))
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, err = Load(files{"pyproject.toml": "[tool.agent-exam\n"}.write(t))
	require.Error(t, err)
	assert.Contains(t, err.Error(), "pyproject.toml:2:17: this is no TOML")
	_, err = Load(files{"pyproject.toml": "[tool.agent-exam]\nevals_dir = 3\n"}.write(t))
	require.Error(t, err)
	assert.Contains(t, err.Error(), "evals_dir and pre_run_hook must be strings")
}

// Row D6: the hook is Python and is not run; the same folder may serve both tools.
func TestPreRunHook(t *testing.T) {
	f := files{"pyproject.toml": "[tool.agent-exam]\npre_run_hook = \"build:skills\"\n", "evals/suites/s/tasks/t.yaml": "prompt: x"}
	_, err := Load(f.write(t))
	assert.EqualError(t, err, `pyproject.toml:2:1: tool.agent-exam.pre_run_hook: the Python function "build:skills" is not run here; `+
		"put a command that builds the skills into evals/config.yaml as pre_run, and the folders it fills into skills_dirs")
	f["evals/config.yaml"] = "pre_run: [python, -m, build]\nskills_dirs: [built]\n"
	p, err := Load(f.write(t))
	require.NoError(t, err)
	assert.Equal(t, []string{"python", "-m", "build"}, p.Config.PreRun)
}

func TestSkills(t *testing.T) {
	p, err := Load(files{
		"config.yaml": "skills_dirs: [one, two]", "one/a/SKILL.md": "", "one/notes.md": "", "one/no-skill/README.md": "",
		"two/a/SKILL.md": "", "two/b/SKILL.md": "", "two/c/SKILL.md/": "",
	}.write(t))
	require.NoError(t, err)
	skills, err := p.Skills()
	require.NoError(t, err)
	assert.Equal(t, []Skill{{"a", filepath.Join(p.Root, "one", "a")}, {"b", filepath.Join(p.Root, "two", "b")}}, skills)
	p, err = Load(files{"config.yaml": "skills_dirs: [missing]"}.write(t))
	require.NoError(t, err)
	_, err = p.Skills()
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// Row F10.
func TestSameSkill(t *testing.T) {
	for _, same := range [][2]string{{"x", "x"}, {"p:x", "x"}, {"x", "p:x"}, {"p:q:x", "q:x"}} {
		assert.True(t, SameSkill(same[0], same[1]), same)
	}
	for _, other := range [][2]string{{"p:x", "q:x"}, {"p:q:x", "x"}, {"X", "x"}} {
		assert.False(t, SameSkill(other[0], other[1]), other)
	}
}

func TestHarnessNames(t *testing.T) {
	for harness, client := range map[string]string{"claude_code": "claude", "codex_cli": "codex", "copilot_cli": "copilot", "opencode": "opencode"} {
		assert.Equal(t, client, Client(harness))
		assert.Equal(t, harness, HarnessName(client))
	}
	assert.Empty(t, Client("dummy"))
	assert.Empty(t, HarnessName("cursor"))
}
