//go:build unix

package setup

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A release nobody can have must not keep a baseline from running, and must not be forgotten.
func TestUnavailableCargoAgents(t *testing.T) {
	ctx := context.Background()
	m := newMachine(t).complete()
	_, err := Locate(ctx, m.options(), NeedCargoAgents)
	var missing *MissingError
	require.ErrorAs(t, err, &missing, "nobody has tried yet: say how to install it")

	m.fake("toolchain/bin", "cargo", `case "$1" in --version) echo "cargo 1.95.0 (x)";; *) echo "error: could not find symposium in registry" >&2; exit 101;; esac`)
	_, err = Install(ctx, m.options(), NeedCargoAgents)
	require.ErrorContains(t, err, "could not find symposium")

	tools, err := Locate(ctx, m.options(), NeedCargoAgents)
	require.NoError(t, err)
	assert.Contains(t, tools.Unavailable[CargoAgents], "could not find symposium")
	assert.NotContains(t, tools.ByName, CargoAgents)

	// Once it can be had, the note is forgotten.
	m.fake("toolchain/bin", "cargo", fakeCargo)
	_, err = Install(ctx, m.options(), NeedCargoAgents)
	require.NoError(t, err)
	m.remove("cache/cargo/cargo-agents-0.5.1-linux-x64")
	_, err = Locate(ctx, m.options(), NeedCargoAgents)
	require.ErrorAs(t, err, &missing)
}
