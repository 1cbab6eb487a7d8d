package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness"
)

const commandsPage = "../../docs/reference/commands.md"

// The reference of commands is what the program says of itself; PROCTOR_UPDATE=1 writes it anew.
func TestCommandsPage(t *testing.T) {
	for _, entry := range os.Environ() { // what is set would be told as a default
		if name, value, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "PROCTOR_") && name != "PROCTOR_UPDATE" {
			t.Setenv(name, value)
			require.NoError(t, os.Unsetenv(name))
		}
	}
	var b bytes.Buffer
	fmt.Fprint(&b, `# Commands

This page is written by a test from what the program says of itself: `+"`proctor help`, `proctor COMMAND -h`"+`. Options may be written with
one dash or two, and stand before or behind names (with `+"`enter`"+` before). [ci.md](ci.md) has the exit codes' meaning in a run.

| command | |
|---|---|
`)
	for _, c := range commands() {
		fmt.Fprintf(&b, "| [`%s`](#proctor-%s) | %s |\n", c.name, c.name, c.short)
	}
	fmt.Fprint(&b, "\n`proctor` alone tells what to do next in this folder.\n\n## Environment\n\n"+
		"An option goes over its variable, a variable over [`proctor.toml`](configuration.md).\n\n| variable | meaning |\n|---|---|\n")
	for _, v := range harness.Variables {
		fmt.Fprintf(&b, "| `%s` | %s |\n", v.Name, v.Meaning)
	}
	for _, c := range commands() {
		fs, err := flagsOf(c.name)
		require.NoError(t, err)
		fmt.Fprintf(&b, "\n## proctor %s\n\n```\n", c.name)
		fs.print(&b)
		fmt.Fprint(&b, "```\n")
	}
	if os.Getenv("PROCTOR_UPDATE") != "" {
		require.NoError(t, os.WriteFile(commandsPage, b.Bytes(), 0o644))
	}
	page, err := os.ReadFile(commandsPage)
	require.NoError(t, err)
	assert.Equal(t, b.String(), string(page), "PROCTOR_UPDATE=1 go test -run TestCommandsPage ./cmd/proctor writes it anew")
}
