package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every command has its help: on standard output, with exit code 0, its options and its exit codes, and in
// an environment with mistakes too.
func TestEveryCommandHelps(t *testing.T) {
	t.Setenv("PROCTOR_TRIALS", "many")
	require.Greater(t, len(commands()), 20)
	var all bytes.Buffer
	require.Equal(t, exitOK, run(context.Background(), []string{"help"}, &all, io.Discard))
	for _, c := range commands() {
		t.Run(c.name, func(t *testing.T) {
			assert.Contains(t, all.String(), c.name+" ")
			fs, err := flagsOf(c.name)
			require.NoError(t, err)
			for _, args := range [][]string{{c.name, "-h"}, {c.name, "--help"}, {"help", c.name}} {
				var out, errs bytes.Buffer
				assert.Equal(t, exitOK, run(context.Background(), args, &out, &errs))
				assert.Empty(t, errs.String())
				assert.Contains(t, out.String(), "proctor "+c.name+": "+c.short)
				assert.Contains(t, out.String(), "Exit code: ")
				fs.VisitAll(func(f *flag.Flag) { assert.Contains(t, out.String(), "\n  -"+f.Name) })
				for line := range strings.Lines(out.String()) {
					assert.LessOrEqual(t, len(line), helpWidth+1, line)
				}
			}
		})
	}
}

// What stands in an example is a command with its own options.
func TestExamplesParse(t *testing.T) {
	for _, c := range commands() {
		for _, e := range c.examples {
			words := strings.Fields(e)
			require.Equal(t, c.name, words[0])
			fs, err := flagsOf(c.name)
			require.NoError(t, err)
			_, err = fs.names(words[1:], c.name == "enter")
			assert.NoError(t, err, e)
		}
	}
}

func TestMisspelt(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"command", []string{"rnu"}, "unknown command \"rnu\"; did you mean \"run\"? `proctor help` lists the commands"},
		{"like no command", []string{"frobnicate"}, "unknown command \"frobnicate\"; `proctor help` lists the commands"},
		{"option", []string{"run", "-configuration", "x"}, "run: there is no option -configuration; did you mean -configurations? `proctor run -h` lists the options"},
		{"option behind a name", []string{"show", "latest", "--jsno"}, "show: there is no option -jsno; did you mean -json? `proctor show -h` lists the options"},
		{"value", []string{"run", "-k", "many", "one"}, "run: invalid value \"many\" for flag -k: parse error; `proctor run -h` lists the options"},
		{"help of no command", []string{"help", "chekc"}, "unknown command \"chekc\"; did you mean \"check\"? `proctor help` lists the commands"},
		{"options of setup", []string{"setup", "-fast"}, "setup: there is no option -fast; `proctor setup -h` lists the options"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			assert.Equal(t, exitUsage, run(context.Background(), c.args, &out, &errs))
			assert.Empty(t, out.String())
			assert.Equal(t, "proctor: "+c.want+"\n", errs.String(), "one line, not all options")
		})
	}
}

// Options may stand before and after names; behind -- there are names alone, and behind enter's task
// another program's options.
func TestOptionsAnywhere(t *testing.T) {
	for _, c := range []struct {
		name     string
		args     []string
		verbatim bool
		want     []string
		json     bool
	}{
		{"before", []string{"-json", "a", "b"}, false, []string{"a", "b"}, true},
		{"between", []string{"a", "-json", "b"}, false, []string{"a", "b"}, true},
		{"behind", []string{"a", "b", "--json"}, false, []string{"a", "b"}, true},
		{"after --", []string{"a", "--", "-json"}, false, []string{"a", "-json"}, false},
		{"only --", []string{"--", "b", "-json"}, false, []string{"b", "-json"}, false},
		{"verbatim", []string{"a", "ls", "-json"}, true, []string{"a", "ls", "-json"}, false},
		{"none", nil, false, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			fs := newFlags("show", io.Discard)
			json := fs.Bool("json", false, "")
			names, err := fs.names(c.args, c.verbatim)
			require.NoError(t, err)
			assert.Equal(t, c.want, names)
			assert.Equal(t, c.json, *json)
		})
	}
}
