package main

import (
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/report"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/suite"
)

// completeCommand is what the shells' scripts call: the words of the line so far, the last one being typed.
// It prints a candidate a line, with a tab and what it is; a last line ":files" asks the shell for files.
const completeCommand = "__complete"

const filesToo = ":files"

//go:embed completion
var completionScripts embed.FS

var shells = []string{"bash", "zsh", "fish"}

// completion prints a shell's script.
func completion(args []string, stdout, _ io.Writer) error {
	names, err := newFlags("completion", stdout).names(args, false)
	if err != nil {
		return err
	}
	if len(names) != 1 || !slices.Contains(shells, names[0]) {
		return fmt.Errorf("name your shell, one of %s; got %q", strings.Join(shells, ", "), names)
	}
	text, err := completionScripts.ReadFile("completion/proctor." + names[0])
	if err != nil {
		return err
	}
	_, err = report.Raw(stdout).Write(text) // a program of ours, which must not be escaped
	return err
}

// candidate is a word that may come next.
type candidate struct{ word, about string }

// complete prints the candidates for the last word. What cannot be found has no candidates: a shell has no
// place for errors.
func complete(words []string, stdout io.Writer) error {
	if len(words) == 0 {
		return errors.New("give the words of the command line, the last one being typed")
	}
	last := words[len(words)-1]
	candidates, files := candidatesFor(words[:len(words)-1], last)
	for _, c := range candidates {
		if strings.HasPrefix(c.word, last) {
			about, _, _ := strings.Cut(c.about, "\n")
			fmt.Fprintf(stdout, "%s\t%s\n", report.Clean(c.word), report.Clean(about))
		}
	}
	if files {
		fmt.Fprintln(stdout, filesToo)
	}
	return nil
}

func candidatesFor(before []string, last string) (out []candidate, files bool) {
	if len(before) == 0 {
		for _, c := range commands() {
			out = append(out, candidate{c.name, c.short})
		}
		return out, false
	}
	c, ok := lookup(before[0])
	if !ok {
		return nil, true
	}
	fs, err := flagsOf(c.name)
	if err != nil {
		return nil, true
	}
	if f := fs.Lookup(strings.TrimLeft(before[len(before)-1], "-")); f != nil && len(before) > 1 && strings.HasPrefix(before[len(before)-1], "-") && takesValue(f) {
		return valuesOf(f, last)
	}
	if strings.HasPrefix(last, "-") {
		fs.VisitAll(func(f *flag.Flag) {
			_, usage := fs.describe(f)
			out = append(out, candidate{"-" + f.Name, usage})
		})
		return out, false
	}
	return namesOf(c.names, before)
}

func takesValue(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return !ok || !b.IsBoolFlag()
}

// valuesOf are the values an option takes; of a list, those for its last item.
func valuesOf(f *flag.Flag, last string) (out []candidate, files bool) {
	start, _ := cutLast(last, ",")
	switch f.Name {
	case "client":
		for _, name := range client.Names() {
			out = append(out, candidate{start + name, "client"})
		}
	case "configurations":
		for _, name := range plan.Names() {
			out = append(out, candidate{start + name, "configuration"})
		}
	case "compare":
		return []candidate{{plan.WithoutSkill, "without the skills the suites evaluate"}, {plan.NoSkills, "without any skill"}}, false
	case "resume":
		return namesOf(runNames, nil)
	default:
		value, _ := flag.UnquoteUsage(f)
		return nil, value == "folder" || value == "file"
	}
	return out, false
}

// cutLast is what stands up to and with the last sep, and what is behind it.
func cutLast(s, sep string) (before, after string) {
	i := strings.LastIndex(s, sep) + len(sep)
	if i < len(sep) {
		return "", s
	}
	return s[:i], s[i:]
}

// namesOf are the names of a kind in this folder.
func namesOf(kind nameKind, before []string) (out []candidate, files bool) {
	o, err := environ()
	if err != nil {
		return nil, false
	}
	// -evals on the line goes over the environment, as it will when the line is run.
	if i := slices.IndexFunc(before, func(w string) bool { return strings.TrimLeft(w, "-") == "evals" }); i >= 0 && i+1 < len(before) {
		o.Evals = before[i+1]
	}
	switch kind {
	case taskNames, runnable:
		return evalNames(o, kind == runnable), false
	case runNames:
		out = append(out, candidate{report.Latest, "the latest run"}, candidate{report.Prev, "the one before it"})
		dir, err := harness.RunsDir(o)
		if err != nil {
			return out, true
		}
		list, _ := report.Runs(dir)
		for _, r := range list[:min(50, len(list))] {
			out = append(out, candidate{r.RunID, r.Kind + ", " + string(r.State)})
		}
		return out, true
	case needNames:
		for _, n := range needs() {
			out = append(out, candidate{n, ""})
		}
	case shellNames:
		for _, s := range shells {
			out = append(out, candidate{s, ""})
		}
	case helpNames:
		out, _ = candidatesFor(nil, "")
	case fileNames:
		return nil, true
	}
	return out, false
}

// evalNames are the tasks, and the suites with their tasks. The folders' names are enough where a file of
// one is being written and has mistakes.
func evalNames(o harness.Options, suites bool) (out []candidate) {
	root, err := harness.FindEvals(o.Evals)
	if err != nil {
		return nil
	}
	folders, _ := os.ReadDir(filepath.Join(root, "tasks"))
	for _, f := range folders {
		if f.IsDir() && !strings.HasPrefix(f.Name(), ".") {
			out = append(out, candidate{f.Name(), "task"})
		}
	}
	if !suites {
		return out
	}
	p, err := suite.Load(root)
	if err != nil {
		return out
	}
	for _, s := range p.Suites {
		out = append(out, candidate{s.Name, "suite"})
		for _, t := range s.Tasks {
			out = append(out, candidate{result.SpecName(s.Name, t.Name), t.Description})
		}
	}
	return out
}
