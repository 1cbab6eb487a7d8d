package lint

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/proctor-evals/proctor/harness/task"
)

// quoteWords is how many words in a row make a quotation. Six is the shortest run
// that the prompts of this repository's tasks and ordinary phrases ("in the order
// of the", "make sure that cargo test passes") do not share with a skill by chance.
const quoteWords = 6

// word is a run of letters, digits and underscores, lower case, with its place.
type word struct {
	text       string
	start, end int // bytes
}

func wordsOf(text string) []word {
	var out []word
	start := -1
	for i, r := range text {
		if start >= 0 && unicode.Is(unicode.Cf, r) {
			continue // not seen: a soft hyphen does not end a word
		}
		inside := r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
		if inside && start < 0 {
			start = i
		}
		if !inside && start >= 0 {
			out = append(out, word{strings.ToLower(task.Visible(text[start:i])), start, i})
			start = -1
		}
	}
	if start >= 0 {
		out = append(out, word{strings.ToLower(task.Visible(text[start:])), start, len(text)})
	}
	return out
}

// runsOf are all runs of n words, joined with blanks.
func runsOf(words []word, n int) map[string]bool {
	out := map[string]bool{}
	for i := 0; i+n <= len(words); i++ {
		out[run(words[i:i+n])] = true
	}
	return out
}

func run(words []word) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.text
	}
	return strings.Join(texts, " ")
}

// prompt checks what the prompt gives away to every configuration: a skill's or a
// check's words, or what the skill has in code and the project has not.
func (l *linter) prompt() {
	if strings.TrimSpace(l.task.Prompt) == "" {
		return
	}
	file := path.Join("tasks", l.task.Name, "task.toml")
	text, _ := l.read(file)
	at := func(words ...string) (line, col int) { return placeOf(text, words) }
	prompt := wordsOf(l.task.Prompt)

	// What stands in the starter or a fixture is no secret.
	open := map[string]bool{}
	openWords := map[string]bool{}
	for _, folder := range append([]string{path.Join("tasks", l.task.Name, "starter")}, l.fixtureFolders()...) {
		for _, f := range l.files(folder) {
			if content, ok := l.read(path.Join(folder, f)); ok {
				words := wordsOf(content)
				for r := range runsOf(words, quoteWords) {
					open[r] = true
				}
				if !strings.HasPrefix(folder, "fixtures/") {
					for _, w := range words {
						openWords[w.text] = true
					}
				}
			}
		}
	}
	quotes := func(source, content string) {
		theirs := runsOf(wordsOf(content), quoteWords)
		if from, to := longestQuote(prompt, theirs, open); to > from {
			line, col := at(textsOf(prompt[from:to])...)
			l.add(file, line, col, fmt.Sprintf("the prompt has %d words in a row of %s: %q", to-from, source, cut(run(prompt[from:to]))), "it is the same in every configuration, and must not give the answer: describe the work in other words")
		}
	}
	for _, p := range l.pluginNames() {
		if !slices.Contains(l.task.Fixtures, p) && namesSkill(l.task.Prompt, p) {
			line, col := at(textsOf(wordsOf(p))...)
			l.add(file, line, col, fmt.Sprintf("the prompt names the plugin %q", p), "a trial without it has the same prompt: describe the work alone")
		}
	}
	for _, c := range l.task.Checks {
		source := path.Join("tasks", l.task.Name, "checks", c.Name+".rs")
		if content, ok := l.read(source); ok {
			quotes(source, content)
		}
	}
	for _, s := range l.skills() {
		quotes(s.file, s.text)
		if s.name != "" && !slices.Contains(l.task.Fixtures, s.name) && namesSkill(l.task.Prompt, s.name) {
			line, col := at(textsOf(wordsOf(s.name))...)
			l.add(file, line, col, fmt.Sprintf("the prompt names the skill %q", s.name), "a trial without it has the same prompt: describe the work alone")
		}
		for _, id := range l.secrets(s.text, openWords) {
			line, col := at(id)
			l.add(file, line, col, fmt.Sprintf("the prompt has `%s` of %s, which the starter does not show", id, s.file), "the method is the skill's to tell: describe the result instead")
		}
	}
}

func (l *linter) fixtureFolders() []string {
	var out []string
	for _, name := range l.task.Fixtures {
		out = append(out, path.Join("fixtures", name))
	}
	return out
}

func textsOf(words []word) []string {
	var out []string
	for _, w := range words {
		out = append(out, w.text)
	}
	return out
}

// longestQuote is the longest stretch of the prompt whose every run of quoteWords
// words is theirs and not open; from == to when there is none.
func longestQuote(prompt []word, theirs, open map[string]bool) (from, to int) {
	start := -1
	for i := 0; i+quoteWords <= len(prompt); i++ {
		r := run(prompt[i : i+quoteWords])
		if !theirs[r] || open[r] {
			start = -1
			continue
		}
		if start < 0 {
			start = i
		}
		if end := i + quoteWords; end-start > to-from {
			from, to = start, end
		}
	}
	return from, to
}

// placeOf is the line and column of some words in a row in a file, or of its
// prompt key when they do not stand there as such (an escape between them).
func placeOf(text string, words []string) (line, col int) {
	all := wordsOf(text)
	offset := -1
	for i := 0; i+len(words) <= len(all) && len(words) > 0; i++ {
		if slices.Equal(textsOf(all[i:i+len(words)]), words) {
			offset = all[i].start
			break
		}
	}
	if offset < 0 {
		if offset = strings.Index("\n"+text, "\nprompt"); offset < 0 {
			return 1, 1
		}
	}
	before := text[:offset]
	return 1 + strings.Count(before, "\n"), offset - (strings.LastIndex(before, "\n") + 1) + 1
}

func cut(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// namesSkill reports whether a text has the name, of a skill or a plugin, as a whole.
func namesSkill(text, name string) bool {
	return regexp.MustCompile(`(?i)(^|[^\w-])` + regexp.QuoteMeta(task.Visible(name)) + `($|[^\w-])`).MatchString(task.Visible(text))
}

// pluginNames are the task's plugins by folder and by manifest, without those whose skill has the same
// name, which is reported as the skill's.
func (l *linter) pluginNames() []string {
	var out []string
	for _, folder := range l.task.Plugins {
		out = append(out, folder)
		if f := l.toml(path.Join("plugins", folder, "SYMPOSIUM.toml"), true); f != nil {
			if name, ok := f.values["name"].(string); ok && strings.TrimSpace(name) != "" {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	skills := l.skills()
	return slices.DeleteFunc(slices.Compact(out), func(name string) bool {
		return slices.ContainsFunc(skills, func(s skill) bool { return s.name == name })
	})
}

var (
	codeSpan   = regexp.MustCompile("`([^`\n]+)`")
	fenced     = regexp.MustCompile("(?ms)^```.*?^```")
	identifier = regexp.MustCompile(`^(?:\w+(?:::|\.))*([A-Za-z_]\w{3,})!?(?:\(.*\))?$`)
)

// identifiers are the names in the code spans of a Markdown text, each without
// what qualifies it, lower case.
func identifiers(markdown string) []string {
	var out []string
	for _, span := range codeSpan.FindAllStringSubmatch(fenced.ReplaceAllString(task.Visible(markdown), ""), -1) {
		if m := identifier.FindStringSubmatch(span[1]); m != nil {
			out = append(out, strings.ToLower(m[1]))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// secrets are the names that prompt and skill both have in code spans, and the
// starter nowhere.
func (l *linter) secrets(skill string, open map[string]bool) []string {
	theirs := identifiers(skill)
	var out []string
	for _, id := range identifiers(l.task.Prompt) {
		if slices.Contains(theirs, id) && !open[id] {
			out = append(out, id)
		}
	}
	return out
}
