package suite

import (
	"encoding/json"
	"math/big"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// golden reads what Python 3.11 and PyYAML 6.0 answered.
func golden(t *testing.T, name string, out any) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, out))
}

func TestScalarsReadAsByPyYAML(t *testing.T) {
	var rows []struct{ In, Type, Str, Error string }
	golden(t, "pyyaml_scalars.json", &rows)
	require.Greater(t, len(rows), 80)
	for _, row := range rows {
		t.Run(row.In, func(t *testing.T) {
			v, problems := parseYAML("f", []byte("k: "+row.In+"\n"))
			if row.Error != "" {
				assert.NotEmpty(t, problems)
				return
			}
			require.Empty(t, problems)
			got := v.get("k")
			text, ok := pythonText(got.scalar)
			require.True(t, ok)
			assert.Equal(t, row.Str, text)
			assert.Equal(t, row.Type, pythonType(got.scalar))
		})
	}
}

func pythonType(v any) string {
	switch v := v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case *big.Int:
		return "int"
	case float64:
		return "float"
	case stamp:
		if len(v) == len("2026-01-02") {
			return "date"
		}
		return "datetime"
	}
	return "str"
}

func TestDocumentsReadAsByPyYAML(t *testing.T) {
	var rows []struct {
		In    string
		Value json.RawMessage
		Error string
	}
	golden(t, "pyyaml_documents.json", &rows)
	require.Greater(t, len(rows), 30)
	for _, row := range rows {
		t.Run(row.In, func(t *testing.T) {
			v, problems := parseYAML("f", []byte(row.In))
			if row.Error != "" {
				assert.NotEmpty(t, problems)
				return
			}
			require.Empty(t, problems)
			got, err := json.Marshal(v.json())
			require.NoError(t, err)
			assert.JSONEq(t, string(row.Value), string(got))
		})
	}
}

func TestRegexpsMatchAsInPython(t *testing.T) {
	var g struct {
		Subjects []string
		Patterns []struct {
			RE      string
			Error   string
			Matches []string
		}
	}
	golden(t, "python_regexps.json", &g)
	require.Greater(t, len(g.Patterns), 120)
	for _, p := range g.Patterns {
		t.Run(p.RE, func(t *testing.T) {
			re, err := Compile(p.RE)
			if p.Error != "" && !wider[p.RE] || p.RE == `\N{BULLET}` { // refused here: see docs/reference/suites.md
				assert.Error(t, err, "%s", p.Error)
				return
			}
			require.NoError(t, err)
			if wider[p.RE] {
				return
			}
			var matches []string
			for _, s := range g.Subjects {
				ok, err := re.Search(s)
				require.NoError(t, err)
				if ok {
					matches = append(matches, s)
				}
			}
			if len(p.Matches) == 0 {
				p.Matches = nil
			}
			assert.Equal(t, p.Matches, matches)
		})
	}
}

// wider are expressions that Python 3.11 refuses and we read.
var wider = map[string]bool{
	`\z`:       true, // as from Python 3.14
	`(?<=a+)b`: true, // any length looks behind
}

func TestRegexpsThatAreRefused(t *testing.T) {
	for expr, message := range map[string]string{
		`[`:                                   "unterminated character set at position 0",
		`\N{BULLET}`:                          "names of characters are not read",
		`a{100001}`:                           "repetition count is larger",
		strings.Repeat("(", 300):              "more than 200 groups",
		strings.Repeat("a", maxRegexpBytes+1): "longer than",
		`(?<name>a)`:                          "unknown extension",
		`x(?i)y`:                              "global flags not at the start",
	} {
		_, err := Compile(expr)
		require.Error(t, err)
		assert.Contains(t, err.Error(), message)
		assert.Contains(t, err.Error(), "invalid regex")
	}
}

func TestSearchIsGivenUp(t *testing.T) {
	const exponential = `(x+x+)+y`
	re, err := Compile(exponential)
	require.NoError(t, err)
	assert.Equal(t, matchTimeout, re.re.MatchTimeout)
	re.re.MatchTimeout = 50 * time.Millisecond
	_, err = re.Search(strings.Repeat("x", 60))
	require.Error(t, err)
	assert.Contains(t, err.Error(), "given up")
	assert.Equal(t, exponential, re.String())
}

func FuzzTranslate(f *testing.F) {
	for _, s := range []string{`(?P<a>x)[^\W]\1`, `(?x) a # b`, `a{,2}+`, `(?(1)a|b)`, `[\]-a]`, `\U00000041`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, expr string) {
		if len(expr) > 200 {
			t.Skip()
		}
		out, err := translate(expr)
		if err == nil {
			assert.LessOrEqual(t, len(out), 400+len(expr)*80)
		}
		_, _ = Compile(expr)
	})
}

func FuzzParseYAML(f *testing.F) {
	for _, s := range []string{"a: &x [1, 2]\nb: [*x, *x]\n", "{<<: [{a: 1}], a: 12:30}", "- 2026-01-02\n", "a: !!int x\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, problems := parseYAML("f", []byte(text))
		if (v == nil) == (len(problems) == 0) {
			t.Errorf("value %v, problems %v", v, problems)
		}
		if v == nil {
			return
		}
		if _, err := json.Marshal(v.json()); err != nil {
			t.Error(err)
		}
		var d decoder
		d.task(v, &Task{Suite: &Suite{}}, JudgeConfig{})
		d.config(v, "/", func(string) bool { return false })
		d.suiteFile(v, &Suite{Name: "s"})
		for _, p := range d.problems {
			if p.File != "f" || p.Line < 1 || p.Col < 1 {
				t.Errorf("no place: %+v", p)
			}
		}
	})
}

// Aliases that multiply, and a value that is in itself, end as problems.
func TestAliases(t *testing.T) {
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		alias := "*a" + string(rune('0'+i))
		bomb += "a" + string(rune('1'+i)) + ": &a" + string(rune('1'+i)) + " [" + strings.Repeat(alias+", ", 9) + alias + "]\n"
	}
	_, problems := parseYAML("f", []byte(bomb))
	require.Len(t, problems, 1)
	assert.Contains(t, problems[0].String(), "f:6:")
	assert.Contains(t, problems[0].Message, "larger than 200000 values with its aliases written out")
	_, problems = parseYAML("f", []byte("a: &x {b: [*x]}\n"))
	require.Len(t, problems, 1)
	assert.Contains(t, problems[0].String(), "f:1:4: an anchor stands within itself")
	merges := "a: &a {" + strings.Repeat("k: 1, ", 1000) + "k: 1}\nb: {<<: [" + strings.Repeat("*a, ", 1000) + "*a]}\n"
	_, problems = parseYAML("f", []byte(merges))
	assert.NotEmpty(t, problems)
}
