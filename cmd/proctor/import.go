package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/report"
	"github.com/proctor-evals/proctor/harness/suite"
)

// importSuite makes a suite of an evals.json file, which others may have written.
func importSuite(args []string, stdout, stderr io.Writer) error {
	o, envErr := environ()
	var opts suite.ImportOptions
	fs := newFlags("import", stdout)
	fs.StringVar(&o.Evals, "evals", o.Evals, "evals root: the `folder` that gets suites/NAME")
	fs.StringVar(&opts.Suite, "suite", "", "`name` of the new suite (default: the skill's)")
	fs.StringVar(&opts.Skill, "skill", "", "`name` of the skill under test (default: the file's skill_name, or the folder it belongs to)")
	names, err := fs.names(args, false)
	if err := cmp.Or(err, envErr); err != nil {
		return err
	}
	if len(names) != 1 {
		return errors.New("name one file to import: proctor import FILE")
	}
	opts.File, opts.Evals = names[0], o.Evals
	if opts.Evals == "" { // a folder that is named may be a new one
		if opts.Evals, err = harness.FindEvals(""); err != nil {
			return err
		}
	}
	got, err := suite.Import(opts)
	if err != nil {
		lines := strings.Split(err.Error(), "\n")
		for i, line := range lines {
			lines[i] = report.Clean(line)
		}
		return errors.New(strings.Join(lines, "\n"))
	}
	for _, file := range got.Files {
		fmt.Fprintf(stdout, "wrote  %s\n", report.Clean(file))
	}
	for _, note := range got.Notes {
		fmt.Fprintf(stdout, "note   %s\n", report.Clean(note))
	}
	return nil
}
