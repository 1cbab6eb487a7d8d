package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness"
)

// What a file's reader takes and what its page tells are the same keys, both ways. The reader's are the
// string literals of a package variable; the page's are the code spans in the first column of a table.
func TestKeysAreDocumented(t *testing.T) {
	for _, c := range []struct {
		name, page, heading string // the table's own heading, or the section's
		source              string
		variables           []string
	}{
		{"task.toml", "reference/task.md", "task.toml", "harness/task/decode.go", []string{"topKeys", "deadlineKeys", "expectedKeys"}},
		{"proctor.toml", "reference/configuration.md", "proctor.toml", "harness/config.go", []string{"configKeys"}},
		{"prices", "reference/configuration.md", "key of [prices.\"MODEL\"]", "harness/config.go", []string{"priceFields"}},
		{"config.yaml", "reference/suites.md", "config.yaml", "harness/suite/config.go", []string{"configKeys", "providerKeys", "judgeConfigKeys"}},
		{"a suite's tasks", "reference/suites.md", "Tasks", "harness/suite/taskfile.go", []string{"commonKeys", "executeKeys", "triggerKeys"}},
		{"assertions", "reference/suites.md", "Assertions", "harness/suite/assertion_kinds.go", []string{"kinds"}},
		{"model script", "reference/model-scripts.md", "The file", "harness/gateway/script_parse.go", []string{"scriptKeys"}},
		{"step", "reference/model-scripts.md", "key of [[step]]", "harness/gateway/script_parse.go", []string{"stepKeys", "actionKeys"}},
		{"judge", "reference/model-scripts.md", "key of [[judge]]", "harness/gateway/script_parse.go", []string{"judgeKeys"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var code []string
			for _, v := range c.variables {
				found := literals(t, c.source, v)
				require.NotEmpty(t, found, v)
				code = append(code, found...)
			}
			var page []string
			for _, key := range firstColumn(t, c.page, c.heading) {
				key = strings.Trim(key, "[]")
				if key != "deadlines" && key != "expected" {
					page = append(page, key)
				}
			}
			code = slices.DeleteFunc(code, func(k string) bool { return k == "deadlines" || k == "expected" })
			assert.ElementsMatch(t, unique(code), unique(page))
		})
	}
	// suite.yml is read without a list of keys of its own.
	text, err := os.ReadFile("../harness/suite/taskfile.go")
	require.NoError(t, err)
	_, body, ok := strings.Cut(string(text), "func (d *decoder) suiteFile(")
	require.True(t, ok)
	m := regexp.MustCompile(`d\.object\(v, "", (.*?)\)`).FindStringSubmatch(body)
	require.NotNil(t, m)
	assert.ElementsMatch(t, quotedWords(m[1]), firstColumn(t, "reference/suites.md", "suite.yml"))
}

func quotedWords(s string) (out []string) {
	for _, m := range quoted.FindAllStringSubmatch(s, -1) {
		out = append(out, m[1])
	}
	return out
}

func unique(s []string) []string {
	slices.Sort(s)
	return slices.Compact(s)
}

// literals are the keys in a package variable's, or a function's, value: of each composite literal's
// elements the key, or the first field, or the string itself.
func literals(t *testing.T, file, name string) (out []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(repository, file), nil, 0)
	require.NoError(t, err)
	text := func(e ast.Expr) (string, bool) {
		b, ok := e.(*ast.BasicLit)
		if !ok || b.Kind != token.STRING {
			return "", false
		}
		s, err := strconv.Unquote(b.Value)
		return s, err == nil
	}
	take := func(e ast.Expr) {
		switch e := e.(type) {
		case *ast.KeyValueExpr:
			if s, ok := text(e.Key); ok {
				out = append(out, s)
			}
		case *ast.CompositeLit:
			if len(e.Elts) > 0 {
				if s, ok := text(e.Elts[0]); ok {
					out = append(out, s)
				}
			}
		default:
			if s, ok := text(e); ok {
				out = append(out, s)
			}
		}
	}
	value := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				for _, e := range n.Elts {
					take(e)
				}
				return false
			case *ast.CallExpr:
				for _, a := range n.Args {
					take(a)
				}
			}
			return true
		})
	}
	for _, d := range parsed.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.Name == name {
				value(d.Body)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				v, ok := s.(*ast.ValueSpec)
				if !ok {
					continue
				}
				for i, id := range v.Names {
					if id.Name == name && i < len(v.Values) {
						value(v.Values[i])
					}
				}
			}
		}
	}
	return out
}

var (
	codeSpan   = regexp.MustCompile("`([^`]+)`")
	tableRule  = regexp.MustCompile(`^\|[-|: ]+\|$`)
	headingEnd = regexp.MustCompile(`^#{1,3} `)
)

// firstColumn are the code spans in the first column of the tables under a heading, or of the table whose
// own first heading it is.
func firstColumn(t *testing.T, page, heading string) (out []string) {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash(page))
	require.NoError(t, err)
	inSection, inTable, own := false, false, false
	lines := strings.Split(string(data), "\n")
	for i, line := range lines {
		if headingEnd.MatchString(line) {
			inSection = strings.ReplaceAll(strings.TrimLeft(line, "# "), "`", "") == heading
		}
		if !strings.HasPrefix(line, "|") {
			inTable, own = false, false
			continue
		}
		first, _, _ := strings.Cut(line[1:], " |")
		if i+1 < len(lines) && tableRule.MatchString(lines[i+1]) {
			title := strings.TrimSpace(strings.ReplaceAll(first, "`", ""))
			inTable, own = true, title == heading
			if strings.HasPrefix(title, "key of ") && !own {
				inTable = false // another table's
			}
			continue
		}
		if !tableRule.MatchString(line) && inTable && (inSection || own) {
			for _, m := range codeSpan.FindAllStringSubmatch(first, -1) {
				out = append(out, m[1])
			}
		}
	}
	require.NotEmpty(t, out, "%s: no table under %q", page, heading)
	return out
}

// Every variable the code reads is told and every one that is told is read.
func TestVariablesAreDocumented(t *testing.T) {
	name := regexp.MustCompile(`PROCTOR_[A-Z][A-Z_]*[A-Z]`)
	// Of tests, and what attacks plant in trials.
	known := map[string]bool{"PROCTOR_UPDATE": true, "PROCTOR_ATTACK_KEY": true, "PROCTOR_ATTACK_AT": true}
	var variables []string
	for _, v := range harness.Variables {
		known[v.Name] = true
		variables = append(variables, v.Name)
	}
	assert.Equal(t, variables, firstColumn(t, "reference/commands.md", "Environment"))
	read := 0
	for path, text := range files(t, ".md", ".go", ".yml") {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, v := range name.FindAllString(text, -1) {
			read++
			assert.True(t, known[v], "%s in %s", v, path)
		}
	}
	assert.Greater(t, read, 2*len(variables))
}

// The exit codes of the code are those of the page.
func TestExitCodesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../cmd/proctor/run.go")
	require.NoError(t, err)
	var code, page []string
	for _, m := range regexp.MustCompile(`(?m)^\texit[A-Z]\w+ += (\d)`).FindAllStringSubmatch(string(text), -1) {
		code = append(code, m[1])
	}
	ci, err := os.ReadFile("reference/ci.md")
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`(?m)^\| (\d) \|`).FindAllStringSubmatch(string(ci), -1) {
		page = append(page, m[1])
	}
	assert.Len(t, code, 4)
	assert.Equal(t, code, page)
}

// What is told of a run's files has its name in the code. That what is left is told, a run's test checks.
func TestFilesAreOfTheCode(t *testing.T) {
	var code strings.Builder
	for path, text := range files(t, ".go") {
		if !strings.HasSuffix(path, "_test.go") {
			code.WriteString(text)
		}
	}
	told := append(firstColumn(t, "reference/files.md", "A batch: all trials of one task with one client"), firstColumn(t, "reference/files.md", "A run")...)
	require.Greater(t, len(told), 25)
	for _, path := range told {
		name := regexp.MustCompile(`<\w+>`).ReplaceAllString(filepath.Base(path), "")
		assert.True(t, strings.Contains(code.String(), name), path)
		if !strings.HasSuffix(path, "/") && !strings.Contains(path, "<step>") && !strings.Contains(path, "<time>") {
			assert.True(t, strings.Contains(code.String(), `"`+name+`"`), path)
		}
	}
}

// files are the texts of the repository's files with these endings, but for what runs leave.
func files(t *testing.T, endings ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(repository, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && (name == "results" || name == "runs" || name == "testdata" || strings.HasPrefix(name, ".") && name != "..") {
			return filepath.SkipDir
		}
		if !slices.Contains(endings, filepath.Ext(path)) {
			return nil
		}
		text, err := os.ReadFile(path)
		out[path] = string(text)
		return err
	})
	require.NoError(t, err)
	require.NotEmpty(t, out)
	return out
}
