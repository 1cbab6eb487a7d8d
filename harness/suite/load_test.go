package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/task"
)

type files map[string]string

// write makes a folder with these files; a name that ends in / is an empty folder.
func (f files) write(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range f {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			require.NoError(t, os.MkdirAll(path, 0o755))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	return dir
}

func loadTask(t *testing.T, yaml string) (*Task, error) {
	t.Helper()
	p, err := Load(files{
		"config.yaml":           "concurrency_groups: {remote: 1}\ntags: {a: {}, b: {}, expensive: {}}\n",
		"fixtures/t/file":       "",
		"suites/s/tasks/t.yaml": yaml,
		"suites/s/suite.yml":    "tags: [expensive]\n",
	}.write(t))
	if err != nil {
		return nil, err
	}
	return p.Suites[0].Tasks[0], nil
}

// Rows B and E of the cases, and our own keys.
func TestTaskFileIsRefused(t *testing.T) {
	const oneAssertion = "prompt: x\nassertions:\n- "
	for name, row := range map[string]struct{ yaml, at, message string }{
		"B2 empty":                   {"", "1:1", "execute.prompt: Field required"},
		"B3 boolean prompt":          {"prompt: yes", "1:9", "execute.prompt: Input should be a valid string; YAML 1.1 reads this as True: quote it"},
		"B4 blank prompt":            {`prompt: "  "`, "1:9", "must be a non-empty string"},
		"B5 unknown key":             {"prompt: x\nassertons: []", "2:1", "execute.assertons: Extra inputs are not permitted; did you mean assertions?"},
		"B6 key of the other kind":   {"{kind: execute, prompt: x, assertions: [], positive: [a]}", "1:44", "execute.positive: Extra inputs"},
		"B7 trigger known issue":     {"{kind: trigger, skill: x, positive: [a], known_issue: y}", "1:42", "trigger.known_issue: Extra inputs are not permitted"},
		"B8 null assertions":         {"{prompt: x, assertions: null}", "1:25", "execute.assertions: must be a list"},
		"B9 setup text":              {"{prompt: x, setup: nope}", "1:20", "execute.setup: Input should be a valid dictionary"},
		"B9 setup null":              {"prompt: x\nsetup:", "2:7", "execute.setup: Input should be a valid dictionary"},
		"B9 setup key":               {"{prompt: x, setup: {fixutre: t}}", "1:21", "execute.setup.fixutre: Extra inputs are not permitted; did you mean fixture?"},
		"B9 fixture list":            {"{prompt: x, setup: {fixture: [a, b]}}", "1:30", "execute.setup.fixture: Input should be a valid string"},
		"B14 unknown type":           {oneAssertion + "{judege: t}", "3:4", `execute.assertions[0]: unknown assertion type "judege"; did you mean judge?`},
		"B15 two types":              {oneAssertion + "{judge: a, file_exists: b}", "3:3", "exactly one type key; there are judge, file_exists"},
		"B15 no type":                {oneAssertion + "{known_issue: a}", "3:3", "exactly one"},
		"B15 text":                   {oneAssertion + "judge", "3:3", "must be a mapping"},
		"B16 known issue":            {oneAssertion + "{judge: x, known_issue: 42}", "3:27", "execute.assertions[0].known_issue: Input should be a valid string"},
		"B17 empty providers":        {oneAssertion + "{tool_called: Bash, providers: []}", "3:34", "non-empty list"},
		"B17 providers text":         {oneAssertion + "{tool_called: Bash, providers: claude_code}", "3:34", "non-empty list"},
		"B18 unknown provider":       {oneAssertion + "{tool_called: Bash, providers: [claude_codeX]}", "3:35", `unknown harness name "claude_codeX"`},
		"B18 client's name":          {oneAssertion + "{tool_called: Bash, providers: [claude]}", "3:35", `unknown harness name "claude"; it is called claude_code here`},
		"B19 tools text":             {`{prompt: x, claude_code: {allowed_tools: "Bash(x*)"}}`, "1:42", "execute.claude_code.allowed_tools: Input should be a valid list"},
		"B19 tools number":           {`{prompt: x, claude_code: {allowed_tools: [a, 42]}}`, "1:46", "allowed_tools[1]: Input should be a valid string"},
		"B19 tools key":              {`{prompt: x, claude_code: {allow_tool: t}}`, "1:27", "execute.claude_code.allow_tool: Extra inputs are not permitted"},
		"B20 bare deny":              {"{prompt: x, opencode: {permission: {bash: deny}}}", "1:43", `write {"bash": {"*": "deny"}}`},
		"B20 action":                 {"{prompt: x, opencode: {permission: {webfetch: {'*': never}}}}", "1:53", "Input should be 'allow' or 'ask' or 'deny'"},
		"B23 no list":                {"{kind: trigger, skill: x}", "1:1", "at least one of"},
		"B23 empty lists":            {"{kind: trigger, skill: x, positive: [], negative: []}", "1:1", "at least one of"},
		"B23 no skill":               {"{kind: trigger, positive: [a]}", "1:1", "trigger.skill: Field required"},
		"B23 case is a mapping":      {"{kind: trigger, skill: x, positive: [{a: b}]}", "1:38", "trigger.positive[0]: must be a non-empty string"},
		"kind":                       {"{kind: trigge, prompt: x}", "1:8", "does not match any of the expected tags: 'execute', 'trigger'"},
		"kind null":                  {"{kind: , prompt: x}", "1:8", "expected tags"},
		"list":                       {"- prompt: x", "1:1", "task file must be a YAML mapping"},
		"syntax":                     {"prompt: [x", "1", "this is no YAML: "},
		"two documents":              {"prompt: x\n---\nprompt: y", "2:1", "second document"},
		"timeout boolean":            {"{prompt: x, timeout_seconds: yes}", "1:30", "must be a number, not a bool"},
		"timeout text":               {"{prompt: x, timeout_seconds: '5'}", "1:30", "must be a number, not a string"},
		"timeout zero":               {"{prompt: x, timeout_seconds: 0}", "1:30", "Input should be greater than 0"},
		"timeout endless":            {"{prompt: x, timeout_seconds: .inf}", "1:30", "valid number"},
		"env list":                   {"{prompt: x, setup: {env: {A: [1]}}}", "1:30", "a list or mapping is no value"},
		"env name":                   {"{prompt: x, setup: {env: {A=B: c}}}", "1:27", "no name of an environment variable"},
		"group":                      {"{prompt: x, concurrency_group: remot}", "1:32", `the group "remot" is not declared; add it to concurrency_groups in config.yaml`},
		"C17 tag":                    {"{prompt: x, tags: [a, expensiv]}", "1:23", `the tag "expensiv" is not declared; did you mean expensive?`},
		"fixture missing":            {"{prompt: x, setup: {fixture: none}}", "1:30", "there is no folder fixtures/none"},
		"fixture outside":            {"{prompt: x, setup: {fixture: ../suites}}", "1:30", "no name of a folder below fixtures/"},
		"fixture absolute":           {"{prompt: x, setup: {fixture: /etc}}", "1:30", "no name of a folder below fixtures/"},
		"fixture is a file":          {"{prompt: x, setup: {fixture: t/file}}", "1:30", "there is no folder fixtures/t/file"},
		"fixture empty":              {"{prompt: x, setup: {fixture: ''}}", "1:30", "must be a non-empty string"},
		"task providers":             {"{prompt: x, providers: [code]}", "1:25", "unknown harness name"},
		"codex sandbox":              {"{prompt: x, codex_cli: {sandbox: none}}", "1:34", "Input should be 'read-only' or 'workspace-write' or 'danger-full-access'"},
		"codex rule without pattern": {"{prompt: x, codex_cli: {prefix_rules: [{decision: allow}]}}", "1:40", "prefix_rules[0].pattern: Field required"},
		"codex rule empty":           {"{prompt: x, codex_cli: {prefix_rules: [{pattern: [a, []]}]}}", "1:54", "pattern[1]: List should have at least 1 item"},
		"dummy":                      {"{prompt: x, dummy: {a: 1}}", "1:21", "execute.dummy.a: Extra inputs"},

		"E file_exists number":        {oneAssertion + "file_exists: 42", "3:16", "file_exists.path: Input should be a valid string"},
		"E file_exists nothing":       {oneAssertion + "file_exists: {}", "3:16", "file_exists.path: Field required"},
		"E file_exists key":           {oneAssertion + "file_exists: {path: a, typo: b}", "3:26", "file_exists.typo: Extra inputs"},
		"F2 file_exists outside":      {oneAssertion + "file_exists: ../../../etc/hostname", "3:16", "leaves the working directory"},
		"F2 file_exists absolute":     {oneAssertion + "file_exists: /etc/hostname", "3:16", "leaves the working directory"},
		"file_exists folder itself":   {oneAssertion + "file_exists: a/..", "3:16", "names no file"},
		"E file_contains text":        {oneAssertion + "file_contains: s", "3:18", "file_contains: Input should be a valid dictionary"},
		"E file_contains no pattern":  {oneAssertion + "file_contains: {path: a}", "3:18", "file_contains.pattern: Field required"},
		"E file_contains regex text":  {oneAssertion + `file_contains: {path: a, pattern: b, regex: "yes"}`, "3:47", "file_contains.regex: Input should be a valid boolean"},
		"E file_contains bad regex":   {oneAssertion + `file_contains: {path: a, pattern: "[", regex: true}`, "3:37", `invalid regex pattern "["`},
		"E tool_count text":           {oneAssertion + "tool_count: Read", "3:15", "tool_count: Input should be a valid dictionary"},
		"E tool_count no bound":       {oneAssertion + "tool_count: {name: Read}", "3:15", "needs exactly, min or max"},
		"E tool_count both":           {oneAssertion + "tool_count: {name: R, exactly: 1, min: 1}", "3:15", "both"},
		"E tool_count negative":       {oneAssertion + "tool_count: {name: R, exactly: -1}", "3:34", "greater than or equal to 0"},
		"E tool_count boolean":        {oneAssertion + "tool_count: {name: R, exactly: true}", "3:34", "valid integer"},
		"E tool_count order":          {oneAssertion + "tool_count: {name: R, min: 5, max: 2}", "3:15", "<="},
		"E tool_count name":           {oneAssertion + "tool_count: {name: '', min: 5}", "3:22", "at least 1 character"},
		"E judge nothing":             {oneAssertion + "judge: {}", "3:10", "judge.criterion: Field required"},
		"E judge blank":               {oneAssertion + "judge: {criterion: '   '}", "3:22", "empty or whitespace"},
		"E judge pass_on text":        {oneAssertion + "judge: {criterion: a, pass_on: 'YES'}", "3:34", "judge.pass_on: Input should be a valid list"},
		"E judge trajectory":          {oneAssertion + `judge: {criterion: a, include_trajectory: "no"}`, "3:45", "valid boolean"},
		"E judge_agent pass_on empty": {oneAssertion + "judge_agent: {criterion: a, pass_on: []}", "3:40", "at least 1 item"},
		"E judge_agent pass_on blank": {oneAssertion + "judge_agent: {criterion: a, pass_on: ['']}", "3:41", "non-empty"},
		"judge pass_on unquoted":      {oneAssertion + "judge: {criterion: a, pass_on: [YES]}", "3:35", "YAML 1.1 reads this as True: quote it"},
		"judge pass_on word":          {oneAssertion + "judge: {criterion: a, pass_on: [Yup]}", "3:35", "Input should be 'YES' or 'NO' or 'UNCLEAR'"},
		"judge votes":                 {oneAssertion + "judge: {criterion: a, votes: 2}", "3:32", "no majority"},
		"E permission key":            {oneAssertion + "no_permission_errors: {ignore: [a]}", "3:26", "no_permission_errors.ignore: Extra inputs"},
		"E permission text":           {oneAssertion + "no_permission_errors: oops", "3:25", "no_permission_errors: Input should be a valid dictionary"},
		"E skill null":                {oneAssertion + "skill_invoked: null", "3:18", "skill_invoked.skill: Input should be a valid string"},
		"tool_called empty":           {oneAssertion + "tool_not_called: ''", "3:20", "at least 1 character"},
		"tool_called input":           {oneAssertion + "tool_called: {name: Bash, input: {command: '('}}", "3:46", "tool_called.input.command: invalid regex pattern"},
		"tool_order one":              {oneAssertion + "tool_order: [Read]", "3:15", "at least two tools"},
		"command empty":               {oneAssertion + "command: []", "3:12", "at least a program"},
		"command exit code":           {oneAssertion + "command: {run: a, exit_code: 256}", "3:32", "less than or equal to 255"},
		"command output":              {oneAssertion + "command: {run: a, output: '*'}", "3:29", "nothing to repeat"},
		"response empty":              {oneAssertion + "response_contains: ''", "3:22", "at least 1 character"},
		"json_path both":              {oneAssertion + "json_path: {query: $, equals: 1, matches: b}", "3:14", "cannot stand together"},
		"json_path outside":           {oneAssertion + "json_path: {query: $, path: ../b}", "3:31", "leaves the working directory"},
		"json_path query":             {oneAssertion + "json_path: {query: a.b}", "3:22", "is no JSONPath"},
		"max_cost null":               {oneAssertion + "max_cost: null", "3:13", "valid number"},
		"max_cost negative":           {oneAssertion + "max_cost: -1", "3:13", "greater than or equal to 0"},
		"max_turns null":              {oneAssertion + "max_turns: {turns: null}", "3:22", "valid integer"},
		"max_turns nothing":           {oneAssertion + "max_turns: {}", "3:14", "max_turns.turns: Field required"},
		"max_seconds zero":            {oneAssertion + "max_seconds: 0", "3:16", "greater than 0"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := loadTask(t, row.yaml)
			var problems task.Problems
			require.ErrorAs(t, err, &problems)
			require.Len(t, problems, 1, "%v", problems)
			assert.Contains(t, problems[0].String(), "suites/s/tasks/t.yaml:"+row.at+": ")
			assert.Contains(t, problems[0].String(), row.message)
		})
	}
}

func TestTaskFile(t *testing.T) {
	for name, row := range map[string]struct {
		yaml  string
		check func(t *testing.T, got *Task)
	}{
		"B1 prompt alone": {"{prompt: hi}", func(t *testing.T, got *Task) {
			assert.Equal(t, Execute, got.Kind)
			assert.Empty(t, got.Assertions)
			assert.Equal(t, []Case{{Task: got, Name: "t", Prompt: "hi"}}, got.Cases())
		}},
		"B11 environment": {"{prompt: x, setup: {env: {A: 3, B: true, C: 1.50, D: null, F: 010, G: 1e3, H: 12:30, I: 1_000, J: 2026-01-02, K: 'yes', 1: x}}}", func(t *testing.T, got *Task) {
			env := map[string]string{}
			for k, v := range got.Setup.Env {
				if v != nil {
					env[k] = *v
				}
			}
			assert.Equal(t, map[string]string{"A": "3", "B": "True", "C": "1.5", "F": "8", "G": "1e3", "H": "750", "I": "1000", "J": "2026-01-02", "K": "yes", "1": "x"}, env)
			assert.Contains(t, got.Setup.Env, "D")
		}},
		"B13 tags": {"{prompt: x, tags: [a, a, b]}", func(t *testing.T, got *Task) {
			assert.Equal(t, []string{"a", "b", "expensive"}, got.AllTags())
		}},
		"B20 permissions": {"{prompt: x, opencode: {permission: {webfetch: deny, bash: {'*': deny}}}}", func(t *testing.T, got *Task) {
			assert.Equal(t, map[string]map[string]string{"webfetch": {"": "deny"}, "bash": {"*": "deny"}}, got.Harness.OpenCode.Permission)
		}},
		"B22 cases": {"{kind: trigger, skill: x, positive: [p0, p1], negative: [n0]}", func(t *testing.T, got *Task) {
			cases := got.Cases()
			require.Len(t, cases, 3)
			for i, want := range []Case{
				{Name: "t-0", Prompt: "p0", Positive: true, Assertions: []Assertion{{Type: "first_skill", Check: FirstSkill{"x"}, Raw: "x", At: Place{1, 1}}}},
				{Name: "t-1", Prompt: "p1", Positive: true, Assertions: []Assertion{{Type: "first_skill", Check: FirstSkill{"x"}, Raw: "x", At: Place{1, 1}}}},
				{Name: "t-2", Prompt: "n0", Assertions: []Assertion{{Type: "skill_not_invoked", Check: SkillNotInvoked{"x"}, Raw: "x", At: Place{1, 1}}}},
			} {
				want.Task = got
				assert.Equal(t, want, cases[i])
			}
			assert.Equal(t, time.Minute, got.Deadline(Config{DefaultTimeout: 300 * time.Second}))
			assert.Equal(t, 10*time.Second, got.Deadline(Config{DefaultTimeout: 10 * time.Second}))
		}},
		"B24 trigger with a fixture": {"{kind: trigger, skill: x, positive: [p0], setup: {fixture: t}}", func(t *testing.T, got *Task) {
			assert.Equal(t, "t", got.Cases()[0].Task.Setup.Fixture)
		}},
		"blocks": {"{prompt: x, known_issue: later, description: d, providers: [codex_cli], timeout_seconds: 1.5, concurrency_group: remote, claude_code: {permission_mode: plan, allowed_tools: []}, copilot_cli: null, dummy: {}, codex_cli: {sandbox: read-only, network_access: 'off', writable_roots: [/a], prefix_rules: [{pattern: [shub, [schedule, deploy]], justification: j}]}}", func(t *testing.T, got *Task) {
			off := false
			assert.Equal(t, Harness{
				ClaudeCode: &ClaudeCode{"plan", []string{}},
				CodexCLI:   &CodexCLI{"read-only", &off, []string{"/a"}, []PrefixRule{{[][]string{{"shub"}, {"schedule", "deploy"}}, "allow", "j"}}},
			}, got.Harness)
			assert.Equal(t, "later", *got.KnownIssue)
			assert.Equal(t, []string{"codex_cli"}, got.Providers)
			assert.Equal(t, 1500*time.Millisecond, got.Deadline(Config{}))
			assert.Equal(t, "remote", got.Group)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := loadTask(t, row.yaml)
			require.NoError(t, err)
			row.check(t, got)
		})
	}
}

// The valid ones of row E, and our own.
func TestAssertions(t *testing.T) {
	re := func(s string) *Regexp {
		r, err := Compile(s)
		require.NoError(t, err)
		return r
	}
	num := func(n int) *int { return &n }
	for yaml, want := range map[string]Check{
		"file_exists: x":                                       FileExists{"x"},
		"file_exists: {path: ./a//b}":                          FileExists{"a/b"},
		"file_contains: {path: x, pattern: ''}":                FileContains{Path: "x"},
		"file_contains: {path: x, pattern: a+, regex: yes}":    FileContains{"x", "a+", re("a+")},
		"tool_count: {name: R, exactly: 2}":                    ToolCount{Name: "R", Exactly: num(2)},
		"tool_count: {name: R, min: 1, max: 3}":                ToolCount{Name: "R", Min: num(1), Max: num(3)},
		"tool_count: {name: R, min: 0}":                        ToolCount{Name: "R", Min: num(0)},
		"judge: good":                                          Judge{Criterion: "good", IncludeTrajectory: true},
		"judge: {criterion: c, include_trajectory: false}":     Judge{Criterion: "c"},
		"judge_agent: {criterion: c, pass_on: ['YES', 'No']}":  Judge{Criterion: "c", IncludeTrajectory: true, PassOn: []string{"YES", "NO"}, Agent: true},
		"judge: {criterion: c, votes: 3, model: m}":            Judge{Criterion: "c", IncludeTrajectory: true, Votes: 3, Model: "m"},
		"no_permission_errors: null":                           NoPermissionErrors{},
		"no_permission_errors: {}":                             NoPermissionErrors{},
		"first_skill: p:x":                                     FirstSkill{"p:x"},
		"skill_invoked: {skill: x}":                            SkillInvoked{"x"},
		"skill_not_invoked: x":                                 SkillNotInvoked{"x"},
		"tool_not_called: WebFetch":                            ToolNotCalled{Name: "WebFetch"},
		"tool_called: {name: Bash, input: {command: ^git}}":    ToolCalled{"Bash", map[string]*Regexp{"command": re("^git")}},
		"tool_order: [Read, Edit]":                             ToolOrder{[]string{"Read", "Edit"}},
		"tool_order: {names: [Read, Edit]}":                    ToolOrder{[]string{"Read", "Edit"}},
		"command: test -f x":                                   Command{Run: []string{"bash", "-c", "test -f x"}},
		"command: [go, test]":                                  Command{Run: []string{"go", "test"}},
		"command: {run: x, exit_code: 3, timeout_seconds: 5}":  Command{Run: []string{"bash", "-c", "x"}, ExitCode: 3, Timeout: 5 * time.Second},
		"command: {run: x, output: ok$}":                       Command{Run: []string{"bash", "-c", "x"}, Output: re("ok$")},
		"response_contains: Done":                              ResponseContains{Pattern: "Done"},
		"response_contains: {pattern: '[Dd]one', regex: true}": ResponseContains{"[Dd]one", re("[Dd]one")},
		"json_path: {path: a.json, query: $.n, equals: null}":  JSONPath{Path: "a.json", Query: "$.n", HasEqual: true},
		"json_path: {query: $.n, equals: [1, 1.5, {a: b}]}":    JSONPath{Query: "$.n", Equals: []any{int64(1), 1.5, map[string]any{"a": "b"}}, HasEqual: true},
		"json_path: {query: $.n, matches: x}":                  JSONPath{Query: "$.n", Matches: re("x")},
		"max_cost: 0.5":                                        MaxCost{0.5},
		"max_turns: 4":                                         MaxTurns{4},
		"max_seconds: {seconds: 90}":                           MaxSeconds{90},
	} {
		t.Run(yaml, func(t *testing.T) {
			got, err := loadTask(t, "prompt: x\nassertions:\n- "+yaml+"\n  providers: [claude_code]\n  known_issue: k\n")
			require.NoError(t, err)
			require.Len(t, got.Assertions, 1)
			a := got.Assertions[0]
			assert.Equal(t, want, a.Check)
			assert.Equal(t, Place{3, 3}, a.At)
			assert.Equal(t, "k", *a.KnownIssue)
			assert.Equal(t, []string{"claude_code"}, a.Providers)
			kind, _, _ := strings.Cut(yaml, ":")
			assert.Equal(t, kind, a.Type)
		})
	}
}

// Every type has a valid row above: a new one may not be left out.
func TestAssertionTypes(t *testing.T) {
	source, err := os.ReadFile("load_test.go")
	require.NoError(t, err)
	page, err := os.ReadFile("../../docs/reference/suites.md")
	require.NoError(t, err)
	for kind := range kinds() {
		assert.Contains(t, string(source), "\t\t\""+kind+": ")
		assert.Contains(t, string(page), "`"+kind+"`")
	}
}

func TestEveryProblemAtOnce(t *testing.T) {
	dir := files{
		"config.yaml":             "judge: {votes: 2}\nprovider: {}\n",
		"config.local.yaml":       "default_task_timeout_seconds: 0\n",
		"suites/s/suite.yml":      "evaluated_skils: [x]\n",
		"suites/s/tasks/b.yaml":   "prompt: yes\nassertions:\n- file_exists: 1\n- judge: ''\n",
		"suites/s/tasks/a.yaml":   "prompt: [\n",
		"suites/s/tasks/c.yml":    "",
		"suites/empty/notes.txt":  "",
		"tasks/s/task.toml":       "",
		"suites/s/scripts/z.toml": "",
	}.write(t)
	_, err := Load(dir)
	var problems task.Problems
	require.ErrorAs(t, err, &problems)
	var got []string
	for _, p := range problems {
		got = append(got, strings.SplitN(p.String(), ": ", 2)[0]+" "+strings.SplitN(p.Message, ":", 2)[0])
	}
	assert.Equal(t, []string{
		"config.local.yaml:1:31 default_task_timeout_seconds",
		"config.yaml:1:16 judge.votes",
		"config.yaml:2:1 provider",
		"suites/empty the suite has no tasks",
		"suites/s a task has the same name",
		"suites/s/scripts/z.toml the suite has no task \"z\" for this model script",
		"suites/s/suite.yml:1:1 evaluated_skils",
		"suites/s/tasks/a.yaml:1 this is no YAML",
		"suites/s/tasks/b.yaml:1:9 execute.prompt",
		"suites/s/tasks/b.yaml:3:16 execute.assertions[0].file_exists.path",
		"suites/s/tasks/b.yaml:4:10 execute.assertions[1].judge.criterion",
		"suites/s/tasks/c.yml a file of this name is not read",
	}, got)
}

func TestSuiteFile(t *testing.T) {
	for yaml, message := range map[string]string{
		"{evaluated_skils: [x]}":         "suites/s/suite.yml:1:2: evaluated_skils: Extra inputs are not permitted; did you mean evaluated_skills?",
		"{evaluated_skills: not-a-list}": "suites/s/suite.yml:1:20: evaluated_skills: Input should be a valid list",
		"{tags: [x]}":                    `suites/s/suite.yml:1:9: tags[0]: the tag "x" is not declared; add it to tags in config.yaml`,
		"- a":                            "suites/s/suite.yml:1:1: the file must be a YAML mapping",
	} {
		_, err := Load(files{"suites/s/suite.yml": yaml, "suites/s/tasks/t.yaml": "prompt: x"}.write(t))
		assert.EqualError(t, err, message)
	}
	for yaml, skills := range map[string][]string{"": {"s"}, "evaluated_skills:": {"s"}, "evaluated_skills: []": {"s"}, "evaluated_skills: [a, b]": {"a", "b"}} {
		p, err := Load(files{"suites/s/suite.yml": yaml, "suites/s/tasks/t.yaml": "prompt: x"}.write(t))
		require.NoError(t, err)
		assert.Equal(t, skills, p.Suites[0].EvaluatedSkills)
	}
}

func TestNames(t *testing.T) {
	_, err := Load(files{"suites/s/tasks/trig.yaml": "{kind: trigger, skill: x, positive: [a, b]}", "suites/s/tasks/trig-1.yaml": "prompt: x"}.write(t))
	assert.EqualError(t, err, "suites/s/tasks/trig-1.yaml: the task has the name of case trig-1 of suites/s/tasks/trig.yaml; rename one of the files")
	_, err = Load(files{"suites/a:b/tasks/t*.yaml": "prompt: x"}.write(t))
	require.Error(t, err)
	assert.Contains(t, err.Error(), "the suite's name holds one of")
	assert.Contains(t, err.Error(), "the task's name holds one of")
}

func TestModelScript(t *testing.T) {
	dir := files{"suites/s/tasks/t.yaml": "prompt: x", "suites/s/tasks/u.yaml": "prompt: x", "suites/s/scripts/t.toml": ""}.write(t)
	p, err := Load(dir)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(p.Evals, "suites", "s", "scripts", "t.toml"), p.Suites[0].Tasks[0].ModelScript)
	assert.Empty(t, p.Suites[0].Tasks[1].ModelScript)
}

// Only the named suites are read: a broken one does not stop the others.
func TestLoadNamedSuites(t *testing.T) {
	dir := files{"suites/good/tasks/t.yaml": "prompt: x", "suites/bad/tasks/t.yaml": "promt: x"}.write(t)
	p, err := Load(dir, "good", "good")
	require.NoError(t, err)
	require.Len(t, p.Suites, 1)
	_, err = Load(dir)
	require.Error(t, err)
	_, err = Load(dir, "god")
	assert.EqualError(t, err, `there is no suite "god"; did you mean "good"?; the suites are bad, good`)
	p, err = Load(t.TempDir())
	require.NoError(t, err)
	assert.Empty(t, p.Suites)
}

func TestFixtureLinkOut(t *testing.T) {
	dir := files{"suites/s/tasks/t.yaml": "{prompt: x, setup: {fixture: out}}", "fixtures/a/f": ""}.write(t)
	require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(dir, "fixtures", "out")))
	_, err := Load(dir)
	require.Error(t, err)
	assert.Contains(t, err.Error(), `the fixture "out" is a link out of fixtures/`)
}

// The reference page names every key.
func TestKeysAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/suites.md")
	require.NoError(t, err)
	keys := append(append(append([]string{}, executeKeys...), triggerKeys...), configKeys...)
	keys = append(append(keys, providerKeys...), judgeConfigKeys...)
	for _, kind := range kinds() {
		keys = append(keys, kind.keys...)
	}
	for _, key := range append(keys, "evaluated_skills", "exclude_by_default", "fixture", "env") {
		assert.Contains(t, string(page), "`"+key+"`")
	}
}
