package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/task"
)

// helpWidth is the width of help texts, in columns.
const helpWidth = 110

// A flagSet is a command's options. A mistake is one line with what to do; the help goes where output goes.
type flagSet struct {
	*flag.FlagSet
	command command
	help    io.Writer
}

// newFlags makes a command's flag set; help is the writer of its help, standard output.
func newFlags(name string, help io.Writer) *flagSet {
	c, ok := lookup(name)
	if !ok {
		panic("no command " + name)
	}
	fs := &flagSet{flag.NewFlagSet("proctor "+name, flag.ContinueOnError), c, help}
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	return fs
}

// asksForFlags is a writer of help that wants the flags themselves.
type asksForFlags struct{ fs *flagSet }

func (*asksForFlags) Write(p []byte) (int, error) { return len(p), nil }

// names parses the arguments and returns those that are no options. Options may stand before and after
// them, unless verbatim says that what comes after the first name is another program's.
func (fs *flagSet) names(args []string, verbatim bool) (names []string, err error) {
	for {
		if err := fs.Parse(args); err != nil {
			return nil, fs.mistake(err)
		}
		rest := fs.Args()
		parsed := args[:len(args)-len(rest)]
		if verbatim || len(rest) == 0 || len(parsed) > 0 && parsed[len(parsed)-1] == "--" {
			return append(names, rest...), nil
		}
		names, args = append(names, rest[0]), rest[1:]
	}
}

// mistake is what is wrong with the arguments, and what would be right.
func (fs *flagSet) mistake(err error) error {
	if errors.Is(err, flag.ErrHelp) {
		if asks, ok := fs.help.(*asksForFlags); ok {
			asks.fs = fs
		} else {
			fs.print(fs.help)
		}
		return flag.ErrHelp
	}
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: -"); ok {
		text = "there is no option -" + name + didYouMean(name, fs.flagNames(), "-%s")
	} else {
		text += ";"
	}
	return fmt.Errorf("%s: %s `%s -h` lists the options", fs.command.name, text, fs.Name())
}

func (fs *flagSet) flagNames() (names []string) {
	fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	return names
}

// optionGroup is a heading for some of a command's options, named by the beginning of their usage.
type optionGroup struct{ prefix, title string }

var optionGroups = []optionGroup{{"", "Options"}, {"ci: ", "For CI servers"}, {"suites: ", "Only for suites"}}

// print writes a command's help.
func (fs *flagSet) print(w io.Writer) {
	c := fs.command
	fmt.Fprintf(w, "%s: %s\n\n", fs.Name(), c.short)
	options := ""
	if len(fs.flagNames()) > 0 {
		options = " [OPTION...]"
	}
	for form := range strings.SplitSeq(c.args, " | ") {
		fmt.Fprintln(w, strings.TrimRight("  "+fs.Name()+options+" "+form, " "))
	}
	if c.long != "" {
		fmt.Fprintf(w, "\n%s\n", wrap(c.long, helpWidth))
	}
	for _, g := range optionGroups {
		fs.printOptions(w, g)
	}
	fmt.Fprintf(w, "\n%s\n", wrap("Exit code: "+c.exitCodes()+".", helpWidth))
	if len(c.examples) > 0 {
		fmt.Fprintln(w, "\nExamples:")
		for _, e := range c.examples {
			fmt.Fprintf(w, "  proctor %s\n", e)
		}
	}
}

func (fs *flagSet) printOptions(w io.Writer, g optionGroup) {
	var names, usages []string
	widest := 0
	fs.VisitAll(func(f *flag.Flag) {
		if groupOf(f).prefix == g.prefix {
			name, usage := fs.describe(f)
			names, usages = append(names, name), append(usages, usage)
			widest = max(widest, len(name))
		}
	})
	if len(names) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s:\n", g.title)
	for i, name := range names {
		usage := strings.ReplaceAll(wrap(usages[i], helpWidth-widest-4), "\n", "\n"+strings.Repeat(" ", widest+4))
		fmt.Fprintf(w, "  %-*s  %s\n", widest, name, usage)
	}
}

func groupOf(f *flag.Flag) optionGroup {
	for _, g := range optionGroups[1:] {
		if strings.HasPrefix(f.Usage, g.prefix) {
			return g
		}
	}
	return optionGroups[0]
}

// describe is an option with the word for its value, and what it does, with its default and variable.
func (fs *flagSet) describe(f *flag.Flag) (name, usage string) {
	value, usage := flag.UnquoteUsage(f)
	usage = strings.TrimPrefix(usage, groupOf(f).prefix)
	name = "-" + f.Name
	switch value {
	case "":
	case "int":
		name += " N"
	default:
		name += " " + strings.ToUpper(value)
	}
	if d := f.DefValue; d != "" && d != "0" && d != "false" && d != "-1" && !strings.Contains(usage, "default") {
		usage += " (default: " + d + ")"
	}
	if v := fs.variable(f.Name); v != "" {
		usage += " [" + v + "]"
	}
	return name, usage
}

// variable is the environment variable of an option, or "".
func (fs *flagSet) variable(name string) string {
	if slices.Contains(fs.command.own, name) {
		return ""
	}
	v := "PROCTOR_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	if name == "k" && fs.command.name == "run" {
		v = "PROCTOR_TRIALS"
	}
	if slices.ContainsFunc(harness.Variables, func(known harness.Variable) bool { return known.Name == v }) {
		return v
	}
	return ""
}

// help prints the overview, or a command's help.
func help(args []string, stdout, _ io.Writer) error {
	switch {
	case len(args) == 0:
		overview(stdout)
		return nil
	case len(args) > 1:
		return fmt.Errorf("help takes one command, got %q", args)
	}
	name := strings.TrimLeft(args[0], "-")
	if name == "h" || name == "help" {
		newFlags("help", stdout).print(stdout)
		return nil
	}
	fs, err := flagsOf(name)
	if err != nil {
		return err
	}
	fs.print(stdout)
	return nil
}

// flagsOf are a command's options: it is asked for its help.
func flagsOf(name string) (*flagSet, error) {
	c, ok := lookup(name)
	if !ok {
		return nil, unknownCommand(name)
	}
	if name == "help" {
		return newFlags(name, io.Discard), nil
	}
	asks := &asksForFlags{}
	c.run(context.Background(), []string{"-h"}, asks, io.Discard) // no command goes on after -h
	if asks.fs == nil {
		return nil, fmt.Errorf("%s does not tell its options", name)
	}
	return asks.fs, nil
}

func unknownCommand(name string) error {
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return fmt.Errorf("unknown command %q%s `proctor help` lists the commands", name, didYouMean(name, names, "%q"))
}

// didYouMean is a question to put behind an error, or no more than its semicolon.
func didYouMean(name string, known []string, form string) string {
	if near := task.Near(name, known); near != "" {
		return fmt.Sprintf("; did you mean "+form+"?", near)
	}
	return ";"
}

// overview prints all commands, the environment variables and the exit codes.
func overview(w io.Writer) {
	fmt.Fprint(w, "Proctor supervises exams for coding agents: does a skill help, does it fire, does it behave?\n")
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	group := ""
	for _, c := range commands() {
		if c.group != group {
			group = c.group
			fmt.Fprintf(tw, "\n%s:\n", group)
		}
		fmt.Fprintf(tw, "  %s\t%s\n", c.name, c.short)
	}
	fmt.Fprint(tw, "\nEnvironment; an option goes over its variable, a variable over proctor.toml:\n")
	for _, v := range harness.Variables {
		fmt.Fprintf(tw, "  %s\t%s\n", v.Name, v.Meaning)
	}
	tw.Flush()
	fmt.Fprint(w, `
Exit codes:
  0  everything ran, and nothing that gates failed
  1  a regression task, an attempt of a suite or a check failed
  2  wrong arguments or input files; nothing was run
  3  the runner broke or was interrupted, something is missing, or nothing was measured

proctor alone tells what to do next in this folder; proctor COMMAND -h lists a command's options.
`)
}

// wrap breaks a text into lines of at most width columns.
func wrap(text string, width int) string {
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		switch {
		case column == 0:
		case column+1+len(word) > width:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}

// environ are the options of the environment. Its mistakes come after those of the arguments, so that -h
// helps whatever the environment holds.
func environ() (harness.Options, error) {
	o, err := harness.Environ(os.Getenv)
	return o, errors.Join(err, harness.UnknownVariables(os.Environ()))
}
