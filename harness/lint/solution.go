package lint

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/proctor-evals/proctor/harness/task"
)

// solutionLines is how many lines in a row, of those that hold a letter, make a copy of the solution.
// Shorter runs are shared by chance: a match, a derive and a signature.
const solutionLines = 6

// solution checks that no file every agent gets, of the starter or a fixture, holds what the solution
// adds. A stretch of the solution that the file of the same path has is no addition, nor is one that
// the solution takes out of another file.
func (l *linter) solution() {
	if l.task.Solution == "" {
		return
	}
	own := path.Join("tasks", l.task.Name)
	solution := map[string][]sourceLine{}
	for _, f := range l.files(path.Join(own, "solution")) {
		if text, ok := l.read(path.Join(own, "solution", f)); ok {
			solution[f] = linesOf(text, false)
		}
	}
	type shown struct {
		file, below string // below is the path in the starter, "" in a fixture
		lines       []sourceLine
	}
	var all []shown
	for _, folder := range append([]string{path.Join(own, "starter")}, l.fixtureFolders()...) {
		for _, f := range l.files(folder) {
			text, ok := l.read(path.Join(folder, f))
			if !ok {
				continue
			}
			s := shown{file: path.Join(folder, f), lines: linesOf(text, true)}
			if strings.HasPrefix(folder, own+"/") {
				s.below = f
			}
			all = append(all, s)
		}
	}
	for _, f := range sortedKeys(solution) {
		text, _ := l.read(path.Join(own, "starter", f))
		added := additions(solution[f], linesOf(text, false))
		for _, s := range all {
			line := firstCopy(s.lines, added)
			if line == 0 {
				continue
			}
			// Moved: the solution's own form of that file has it no more.
			if theirs, ok := solution[s.below]; ok && s.below != f && firstCopy(theirs, added) == 0 {
				continue
			}
			l.add(s.file, line, 1, fmt.Sprintf("from here, the file has at least %d lines in a row that tasks/%s/solution/%s adds", solutionLines, l.task.Name, f), "remove them: every trial's agent would read the solution")
		}
	}
}

// sourceLine is a line without its blanks, as it is compared, and its number from 1.
type sourceLine struct {
	text   string
	number int
}

// linesOf are the lines of a text that hold a letter; without marks of comments at their beginning
// when bare.
func linesOf(text string, bare bool) []sourceLine {
	var out []sourceLine
	for i, line := range strings.Split(task.Visible(text), "\n") {
		if bare {
			line = strings.TrimLeft(line, "/*#!> \t")
		}
		line = strings.Join(strings.Fields(line), " ")
		if strings.IndexFunc(line, unicode.IsLetter) >= 0 {
			out = append(out, sourceLine{line, i + 1})
		}
	}
	return out
}

// additions are the runs of solutionLines lines that hold none of the file the solution replaces.
func additions(solution, replaced []sourceLine) map[string]bool {
	there := map[string]bool{}
	for _, l := range replaced {
		there[l.text] = true
	}
	out := map[string]bool{}
	for i := 0; i+solutionLines <= len(solution); i++ {
		window := solution[i : i+solutionLines]
		if !slices.ContainsFunc(window, func(l sourceLine) bool { return there[l.text] }) {
			out[joined(window)] = true
		}
	}
	return out
}

// joined is a run of lines, without marks of comments.
func joined(lines []sourceLine) string {
	var out []string
	for _, l := range lines {
		out = append(out, strings.TrimLeft(l.text, "/*#!> "))
	}
	return strings.Join(out, "\n")
}

// firstCopy is the line where the first of the runs begins, or 0.
func firstCopy(lines []sourceLine, runs map[string]bool) int {
	for i := 0; i+solutionLines <= len(lines); i++ {
		if runs[joined(lines[i:i+solutionLines])] {
			return lines[i].number
		}
	}
	return 0
}

func sortedKeys(m map[string][]sourceLine) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
