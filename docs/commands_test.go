package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// elsewhere are commands of the pages that something other than a script runs: the file that holds the very
// words.
var elsewhere = map[string]string{
	"make eval TASK=store-durability": ".ci/run",
	"make test":                       ".ci/run",
}

// Every command that a page shows in a block is run: by a script of testdata/script, or by the recording
// of the first five minutes. A word in capitals, and one with …, stands for any word.
func TestCommandsAreRun(t *testing.T) {
	runs := commandsRun(t)
	require.Greater(t, len(runs), 150)
	shown := 0
	for page, text := range pages(t) {
		for _, command := range commandsShown(page, text) {
			shown++
			if file, ok := elsewhere[command]; ok {
				data, err := os.ReadFile(filepath.Join(repository, file))
				require.NoError(t, err)
				assert.True(t, strings.Contains(string(data), command), "%s: %s is not in %s", page, command, file)
				continue
			}
			assert.True(t, slices.ContainsFunc(runs, func(run []string) bool { return fits(strings.Fields(command), run) }),
				"%s: nothing runs `%s`; add it to testdata/script/docs_commands.txtar", page, command)
		}
	}
	assert.Greater(t, shown, 60)
}

// Every command named in a sentence or a table is one, with options it has: the reference of commands,
// which is the program's own, tells.
func TestNamedCommandsExist(t *testing.T) {
	reference, err := os.ReadFile("reference/commands.md")
	require.NoError(t, err)
	sections := map[string]string{}
	for _, s := range strings.Split(string(reference), "\n## proctor ")[1:] {
		name, body, _ := strings.Cut(s, "\n")
		sections[name] = body
	}
	require.Greater(t, len(sections), 20)
	span := regexp.MustCompile("`proctor ([a-z][a-z-]*)([^`]*)`")
	option := regexp.MustCompile(`(?:^| |\[)--?([a-z][a-z-]*)`)
	named := 0
	for page, text := range pages(t) {
		for _, m := range span.FindAllStringSubmatch(text, -1) {
			named++
			body, ok := sections[m[1]]
			if !assert.True(t, ok, "%s: %s", page, m[0]) || m[1] == "enter" {
				continue
			}
			for _, o := range option.FindAllStringSubmatch(m[2], -1) {
				assert.True(t, o[1] == "h" || regexp.MustCompile(`(?m)^  -`+regexp.QuoteMeta(o[1])+` `).MatchString(body), "%s: %s has no -%s", page, m[0], o[1])
			}
		}
	}
	assert.Greater(t, named, 40)
}

func pages(t *testing.T) map[string]string {
	out := files(t, ".md")
	for page := range out {
		if !strings.HasPrefix(page, "../docs") && page != "../README.md" {
			delete(out, page)
		}
	}
	require.Greater(t, len(out), 15)
	return out
}

var (
	fence      = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")
	indented   = regexp.MustCompile(`(?m)^    (proctor .*)$`)
	itsMeaning = regexp.MustCompile(`\s+[#>]\s.*$|  +\S.*$`)
	synopsis   = regexp.MustCompile(`^proctor [a-z-]+(:| \[)`)
	program    = regexp.MustCompile(`^(?:[A-Z_]+=\S+ )*((?:proctor|go|make|git)(?: .*)?)$`)
)

// commandsShown are the commands in a page's blocks; what stands behind them says what they do. Of a
// console's the page is the script already.
func commandsShown(page, text string) (out []string) {
	take := func(line string) {
		line = itsMeaning.ReplaceAllString(strings.TrimSpace(line), "")
		if synopsis.MatchString(line) {
			return // the reference of commands says how each is called
		}
		if m := program.FindStringSubmatch(line); m != nil {
			out = append(out, m[1])
		}
	}
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(m[2]) {
			console := strings.HasPrefix(line, "$ ")
			if console && strings.HasSuffix(page, "first-five-minutes.md") {
				continue
			}
			if console || m[1] == "sh" || m[1] == "" {
				take(strings.TrimPrefix(line, "$ "))
			}
		}
	}
	for _, m := range indented.FindAllStringSubmatch(text, -1) {
		take(m[1])
	}
	return out
}

// commandsRun are the commands of the scripts, and of the page that is one.
func commandsRun(t *testing.T) (out [][]string) {
	scripts, err := filepath.Glob("../testdata/script/*.txtar")
	require.NoError(t, err)
	line := regexp.MustCompile(`(?m)^(?:! )?(?:exec|exits \d) ((?:proctor|go) .*|proctor)$`)
	for _, file := range scripts {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range line.FindAllStringSubmatch(string(data), -1) {
			out = append(out, strings.Fields(strings.NewReplacer("'", "", `"`, "").Replace(m[1])))
		}
	}
	data, err := os.ReadFile("first-five-minutes.md")
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`(?m)^\$ (proctor.*)$`).FindAllStringSubmatch(string(data), -1) {
		out = append(out, strings.Fields(m[1]))
	}
	return out
}

var anyWord = regexp.MustCompile(`^[A-Z][A-Z_-]*(\.[a-z]+)?$|…`)

func fits(shown, run []string) bool {
	if len(shown) != len(run) {
		return false
	}
	for i, word := range shown {
		word = strings.Trim(word, `'"`)
		if !anyWord.MatchString(word) && oneDash(word) != oneDash(run[i]) {
			return false
		}
	}
	return true
}

// oneDash is an option with one dash, as both forms mean the same.
func oneDash(word string) string {
	if strings.HasPrefix(word, "--") {
		return word[1:]
	}
	return word
}
