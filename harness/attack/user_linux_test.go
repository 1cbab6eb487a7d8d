package attack

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/sandbox"
	"github.com/proctor-evals/proctor/internal/realtools"
	"github.com/proctor-evals/proctor/internal/setup"
)

// sourceVariable is the environment variable that says where the repository is, for a test binary
// that does not run in it.
const sourceVariable = "PROCTOR_TEST_REPOSITORY"

// denyVariable says where that repository really is: a second copy of the hidden checks.
const denyVariable = "PROCTOR_TEST_DENY"

// asUser starts %[1]s (the test binary) as the user 65534, in a mount namespace of its own whose /tmp
// holds all it needs: what root has in places that user cannot enter is mounted there. Nothing of it
// is left when the namespace is gone. %[2]s is an empty folder, %[3]s the repository, %[4]s the
// toolchain, %[5]s the cache, %[6]s the programs.
const asUser = `set -e
exe=%[1]s t=%[2]s repository=%[3]s
mount -t tmpfs -o mode=1777 tmpfs "$t"
cp "$exe" "$t/attack.test"
mkdir "$t/home" "$t/tmp" "$t/cache" "$t/rust" "$t/bin"
chown 65534:65534 "$t/home" "$t/tmp" "$t/cache"
mount --bind %[4]s "$t/rust"
for part in npm cargo; do
	[ -d %[5]s/$part ] || continue
	mkdir "$t/cache/$part"
	mount --bind %[5]s/$part "$t/cache/$part"
done
for program in %[6]s; do
	: >"$t/bin/${program##*/}"
	mount --bind "$program" "$t/bin/${program##*/}"
done
mkdir "$t/repository"
cp -R "$repository/tasks" "$repository/fixtures" "$repository/plugins" "$t/repository"
mount --rbind "$t" /tmp
cd /tmp
exec setpriv --reuid 65534 --regid 65534 --clear-groups env -i HOME=/tmp/home TMPDIR=/tmp/tmp \
	PATH=/tmp/bin:/tmp/rust/bin:/usr/bin:/bin PROCTOR_CACHE=/tmp/cache %[7]s=/tmp/repository %[8]s="$repository" \
	/tmp/attack.test -test.run '^TestEverythingHolds$' -test.v
`

// TestEverythingHoldsForAnOrdinaryUser attacks again as a user who is not root: namespaces, ids and
// what may be read at all differ. A user who runs these tests has had it by TestEverythingHolds.
func TestEverythingHoldsForAnOrdinaryUser(t *testing.T) {
	if testing.Short() {
		t.Skip("trials do not run under -short")
	}
	if os.Geteuid() != 0 {
		return // this is an ordinary user
	}
	tools := realtools.Locate(t, setup.NeedSandbox, setup.NeedRust)
	exe, err := os.Executable()
	require.NoError(t, err)
	repository, err := filepath.Abs("../..")
	require.NoError(t, err)
	// <cache>/npm/<lock>/node_modules/@anthropic-ai/sandbox-runtime/dist/cli.js
	cache := tools.ByName[setup.SRT].Path
	for filepath.Base(cache) != "npm" {
		require.NotEqual(t, "/", cache)
		cache = filepath.Dir(cache)
	}
	var programs []string
	for _, name := range []string{setup.Node, setup.Bubblewrap, setup.Socat, setup.Ripgrep} {
		path, err := filepath.EvalSymlinks(tools.ByName[name].Path)
		require.NoError(t, err)
		programs = append(programs, sandbox.Quote(path))
	}
	script := fmt.Sprintf(asUser, sandbox.Quote(exe), sandbox.Quote(t.TempDir()), sandbox.Quote(repository), sandbox.Quote(tools.Toolchain.Dir),
		sandbox.Quote(filepath.Dir(cache)), strings.Join(programs, " "), sourceVariable, denyVariable)
	out, err := exec.CommandContext(t.Context(), "unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", script).CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Contains(t, string(out), "--- PASS: TestEverythingHolds")
}
