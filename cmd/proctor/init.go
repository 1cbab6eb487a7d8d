package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/proctor-evals/proctor/harness/report"
	"github.com/proctor-evals/proctor/harness/scaffold"
)

// initEvals makes an evals folder for a skill and tells what to do next.
func initEvals(args []string, stdout, stderr io.Writer) error {
	env, envErr := environ()
	o := scaffold.Options{Evals: env.Evals}
	fs := newFlags("init", stdout)
	fs.StringVar(&o.Evals, "evals", o.Evals, "evals root to make, a `folder` (default: evals in this folder)")
	fs.BoolVar(&o.Task, "task", false, "also make a task of code in Rust, graded by hidden tests (default where there is a Cargo.toml)")
	names, err := fs.names(args, false)
	if err := cmp.Or(err, envErr); err != nil {
		return err
	}
	if len(names) > 1 {
		return errors.New("name one skill: proctor init [-task] [SKILL.md]")
	}
	if o.Dir, err = os.Getwd(); err != nil {
		return err
	}
	if len(names) == 1 {
		o.Skill = names[0]
	}
	if o.Skill == "" {
		if o.Skill, err = scaffold.Find(o.Dir); err != nil {
			return err
		}
	}
	given := false
	fs.Visit(func(f *flag.Flag) { given = given || f.Name == "task" })
	if _, err := os.Stat(filepath.Join(o.Dir, "Cargo.toml")); err == nil && !given {
		o.Task = true
	}
	made, err := scaffold.Make(o)
	if err != nil {
		return err
	}
	for _, f := range made.Files {
		fmt.Fprintf(stdout, "wrote  %s\n", report.Clean(f))
	}
	if made.Copied {
		fmt.Fprintln(stdout, "note   a copy of the skill is examined: change it there, or copy it again")
	}
	fmt.Fprint(stdout, "\nNext, without a key and at no cost:\n\n")
	fmt.Fprintf(stdout, "  proctor setup                      # once: the sandbox, Rust's tools, Claude Code\n")
	fmt.Fprintf(stdout, "  proctor run %-22s # does the skill fire, and do its work?\n", made.Suite)
	if made.Task != "" {
		fmt.Fprintf(stdout, "  proctor run %-22s # with it and without it: does it help?\n", made.Task)
	}
	if made.GoTest {
		if made.GoGet {
			fmt.Fprintln(stdout, "  go get github.com/proctor-evals/proctor")
		}
		fmt.Fprintf(stdout, "  go test -count=1 -timeout 0 -v ./%s\n", filepath.ToSlash(relativeTo(o.Dir, made.Evals)))
	}
	fmt.Fprint(stdout, "\nThe scripted model proves the plumbing and says nothing of the skill. Then write prompts and assertions of your own into\nthe files above, name a real model with -model, and see what it would take: proctor run -dry-run.\n")
	return nil
}

func relativeTo(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil {
		return rel
	}
	return path
}
