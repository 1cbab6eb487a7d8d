package suite

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// importFile imports content from a skill's folder into a new evals root and loads the suite.
func importFile(t *testing.T, content string, opts ImportOptions) (*Imported, *Suite, error) {
	t.Helper()
	skill := files{
		"csv/SKILL.md": "", "csv/evals/evals.json": content,
		"csv/evals/files/sales.csv": "a,b\n", "csv/data/more.csv": "c\n",
	}.write(t)
	opts.File = filepath.Join(skill, "csv", "evals", "evals.json")
	if opts.Evals == "" {
		opts.Evals = t.TempDir()
	}
	got, err := Import(opts)
	entries, errDir := os.ReadDir(opts.Evals)
	require.NoError(t, errDir)
	for _, e := range entries {
		assert.False(t, strings.HasPrefix(e.Name(), ".import-"), "left behind: %s", e.Name())
	}
	if err != nil {
		return nil, nil, err
	}
	p, err := Load(opts.Evals, got.Suite)
	require.NoError(t, err)
	return got, p.Suites[0], nil
}

func TestImportAgentskills(t *testing.T) {
	evals := t.TempDir()
	got, s, err := importFile(t, `{"skill_name": "csv", "owner": "x", "evals": [
  {"id": 1, "prompt": "yes", "expected_output": "A sum: 3", "files": ["evals/files/sales.csv", "data/more.csv"], "assertions": ["The sum is 3", "- no: yaml"]},
  {"id": "Empty File!", "prompt": "two\nlines\n", "expected_output": "\u00e9\ud83d\ude00 12:30", "difficulty": "hard"},
  {"id": "empty file", "prompt": "# x", "expected_skill": null},
  {"prompt": "x", "files": "files/sales.csv", "assertions": [{"text": "a", "weight": 2}], "expected_skill": "csv"}
]}`, ImportOptions{Evals: evals})
	require.NoError(t, err)
	assert.Equal(t, "csv", got.Suite)
	assert.Equal(t, []string{"csv"}, s.EvaluatedSkills)
	require.Len(t, s.Tasks, 4)
	byName := map[string]*Task{}
	for _, task := range s.Tasks {
		byName[task.Name] = task
	}
	one := byName["eval-1"]
	assert.Equal(t, "yes", one.Prompt)
	assert.Equal(t, "A sum: 3", one.Description)
	assert.Equal(t, "csv-eval-1", one.Setup.Fixture)
	judge := func(s string) Check { return Judge{Criterion: s, IncludeTrajectory: true, Agent: true} }
	checks := func(task *Task) []Check {
		var out []Check
		for _, a := range task.Assertions {
			out = append(out, a.Check)
		}
		return out
	}
	assert.Equal(t, []Check{judge("The sum is 3"), judge("- no: yaml")}, checks(one))
	assert.Equal(t, "two\nlines\n", byName["empty-file"].Prompt)
	assert.Equal(t, []Check{judge("The result is what is expected: é😀 12:30")}, checks(byName["empty-file"]))
	assert.Equal(t, []Check{SkillNotInvoked{"csv"}}, checks(byName["empty-file-2"]))
	assert.Equal(t, []Check{judge("a"), SkillInvoked{"csv"}}, checks(byName["eval-4"]))
	for file, content := range map[string]string{"csv-eval-1/sales.csv": "a,b\n", "csv-eval-1/data/more.csv": "c\n", "csv-eval-4/sales.csv": "a,b\n"} {
		data, err := os.ReadFile(filepath.Join(evals, "fixtures", file))
		require.NoError(t, err)
		assert.Equal(t, content, string(data))
	}
	assert.Equal(t, []string{`not imported: "evals[].assertions[].weight" (1 times)`, `not imported: "evals[].difficulty" (1 times)`, `not imported: "owner" (1 times)`}, got.Notes)
	assert.Contains(t, got.Files, "suites/csv/tasks/eval-1.yaml")
}

func TestImportSkillCreator(t *testing.T) {
	got, s, err := importFile(t, `{"evals": [{"id": 0, "eval_name": "Top rows", "prompt": "p", "expectations": ["e1"], "files": []}, {"prompt": "q"}]}`, ImportOptions{Suite: "other"})
	require.NoError(t, err)
	assert.Equal(t, []string{"csv"}, s.EvaluatedSkills, "the folder's skill")
	assert.Equal(t, "other", s.Name)
	require.Len(t, s.Tasks, 2)
	assert.Equal(t, "top-rows", s.Tasks[1].Name)
	assert.Equal(t, "e1", s.Tasks[1].Assertions[0].Raw)
	assert.Equal(t, []string{"eval-2 asserts nothing: it passes whatever the agent does"}, got.Notes)
}

func TestImportTriggers(t *testing.T) {
	_, s, err := importFile(t, `[{"query": "sum this", "should_trigger": true}, {"query": "on", "should_trigger": false}, {"query": "and this", "should_trigger": true}]`, ImportOptions{Skill: "sheets"})
	require.NoError(t, err)
	assert.Equal(t, "sheets", s.Name)
	require.Len(t, s.Tasks, 1)
	task := s.Tasks[0]
	assert.Equal(t, []string{"sum this", "and this"}, task.Positive)
	assert.Equal(t, []string{"on"}, task.Negative)
	assert.Equal(t, "sheets", task.Skill)
}

func TestImportIsRefused(t *testing.T) {
	for name, row := range map[string]struct{ json, message string }{
		"no JSON":          {`{"evals": [}`, "evals.json:1:12: this is no JSON"},
		"cut off":          {"{\"evals\": [\n", "this is no JSON: the file ends too early"},
		"more":             {"[] []", "more follows"},
		"deep":             {strings.Repeat("[", 300), "more than 200 deep"},
		"no evals":         {`{"skill_name": "x"}`, "evals.json:1:1: evals: Field required"},
		"evals object":     {`{"evals": {}}`, "evals.json:1:11: evals: Input should be a valid list"},
		"nothing":          {`{"evals": []}`, "there is nothing to import"},
		"text":             {`"x"`, "Input should be a valid list"},
		"no prompt":        {"{\"evals\": [\n {\"id\": 1}]}", "evals.json:2:2: evals[0].prompt: Field required"},
		"prompt number":    {`{"evals": [{"prompt": 1}]}`, "evals.json:1:23: evals[0].prompt: Input should be a valid string"},
		"id list":          {`{"evals": [{"prompt": "a", "id": []}]}`, "evals[0].id: must be a number or a string"},
		"assertions text":  {`{"evals": [{"prompt": "a", "assertions": "b"}]}`, "evals[0].assertions: Input should be a valid list"},
		"assertion number": {`{"evals": [{"prompt": "a", "assertions": [1]}]}`, "evals[0].assertions[0]: Input should be a valid string"},
		"file outside":     {`{"evals": [{"prompt": "a", "files": ["../../x"]}]}`, "is no path below the skill's folder"},
		"file absolute":    {`{"evals": [{"prompt": "a", "files": ["/etc/passwd"]}]}`, "is no path below the skill's folder"},
		"file missing":     {`{"evals": [{"prompt": "a", "files": ["none.csv"]}]}`, `files: "none.csv": `},
		"file twice":       {`{"evals": [{"prompt": "a", "files": ["evals/files/sales.csv", "files/sales.csv"]}]}`, "would be written twice"},
		"BenchFlow":        {`{"version": 1, "cases": []}`, "BenchFlow"},
		"query number":     {`[{"query": 1, "should_trigger": true}]`, "[0].query: Input should be a valid string"},
		"no answer":        {`[{"query": "a"}]`, "[0].should_trigger: Field required"},
		"answer text":      {`[{"query": "a", "should_trigger": "yes"}]`, "[0].should_trigger: Input should be a valid boolean"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := importFile(t, row.json, ImportOptions{})
			assert.ErrorContains(t, err, row.message)
		})
	}
}

func TestImportOverwritesNothing(t *testing.T) {
	const one = `{"evals": [{"prompt": "a", "files": ["evals/files/sales.csv"]}]}`
	for _, taken := range []string{"suites/csv/x", "tasks/csv/x", "fixtures/csv-eval-1/x"} {
		evals := files{taken: "kept"}.write(t)
		_, _, err := importFile(t, one, ImportOptions{Evals: evals})
		require.ErrorContains(t, err, "is there already", taken)
		var found []string
		require.NoError(t, filepath.WalkDir(evals, func(p string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				found = append(found, below(evals, p))
			}
			return err
		}))
		assert.Equal(t, []string{taken}, found)
	}
	_, _, err := importFile(t, one, ImportOptions{Suite: "a/b"})
	assert.ErrorContains(t, err, "cannot name a suite")
	alone := files{"q.json": "[]"}.write(t)
	_, err = Import(ImportOptions{File: filepath.Join(alone, "none.json"), Evals: alone})
	assert.True(t, errors.Is(err, fs.ErrNotExist), "%v", err)
	require.NoError(t, os.WriteFile(filepath.Join(alone, "q.json"), []byte(`[{"query": "a", "should_trigger": true}]`), 0o644))
	_, err = Import(ImportOptions{File: filepath.Join(alone, "q.json"), Evals: alone})
	assert.ErrorContains(t, err, "name the skill with -skill")
}

// A text that is written as YAML reads back as itself, with both versions' rules.
func FuzzText(f *testing.F) {
	for _, s := range []string{"yes", "12:30", "010", "a\nb", " a\n", "- x", "a: b # c", "\u2028", "\x00", "=", "<<", "a\n\n", "\n", "'", "\t", "0o7", "~"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "?")
		var b bytes.Buffer
		require.NoError(t, yaml.NewEncoder(&b).Encode(mapping("k", text(s))))
		v, problems := parseYAML("f", b.Bytes())
		require.Empty(t, problems, "%q", b.String())
		assert.Equal(t, s, v.get("k").scalar, "%q", b.String())
	})
}

func FuzzParseJSON(f *testing.F) {
	f.Add(`{"a": [1, -0.5e3, null, true, {"b": "c"}], "a": 2}`)
	f.Fuzz(func(t *testing.T, s string) {
		v, problems := parseJSON("f", []byte(s))
		if (v == nil) == (len(problems) == 0) {
			t.Errorf("value %v, problems %v", v, problems)
		}
		if v != nil {
			var d decoder
			d.evalsFile(v)
		}
	})
}
