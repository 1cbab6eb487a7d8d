package attack

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/sandbox"
	"github.com/proctor-evals/proctor/internal/realtools"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// TestMain gives the tests a session keyring, as a login does, so that there is one to attack.
func TestMain(m *testing.M) {
	const mark = "PROCTOR_TEST_KEYRING"
	if os.Getenv(mark) == "" {
		runtime.LockOSThread() // a keyring is a thread's until it is inherited
		_, _ = unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0)
		err := syscall.Exec("/proc/self/exe", os.Args, append(os.Environ(), mark+"=joined"))
		fmt.Fprintln(os.Stderr, "attack tests:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// place is where a machine under attack has its things.
type place struct {
	evals, results, scratch string
	batch                   *harness.Batch
}

// newPlace prepares a batch of the repository's own task from a copy of the evals root, in folders
// of the test's own. The checkout itself is denied too: it is a second copy.
func newPlace(t *testing.T, configurations ...string) place {
	t.Helper()
	repo, err := filepath.Abs("../..")
	require.NoError(t, err)
	denied := []string{repo}
	if source := os.Getenv(sourceVariable); source != "" {
		repo, denied = source, append(denied, os.Getenv(denyVariable))
	}
	// The machine's temporary folder, as far as this test knows: nobody else's targets lie in it.
	t.Setenv("TMPDIR", realtools.ShortDir(t))
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	p := place{evals: filepath.Join(dir, "evals"), results: filepath.Join(dir, "results"), scratch: filepath.Join(dir, "s")}
	require.NoError(t, os.Mkdir(p.evals, 0o755))
	for _, part := range []string{"tasks", "fixtures", "plugins"} {
		_, err := treecopy.Copy(filepath.Join(p.evals, part), filepath.Join(repo, part), treecopy.CopyOptions{})
		require.NoError(t, err)
	}
	require.NoError(t, os.WriteFile(filepath.Join(p.evals, "proctor.toml"), nil, 0o644))
	e, err := harness.Open(harness.Options{
		Evals: p.evals, Results: p.results, Scratch: p.scratch, Configurations: configurations, DenyRead: denied,
		Cache: os.Getenv("PROCTOR_CACHE"), Model: harness.Scripted,
	})
	require.NoError(t, err)
	run, err := e.Rehearse(t.Context(), e.Tasks()[:1])
	require.NoError(t, err, "a missing tool is installed by `proctor setup`")
	t.Cleanup(func() { assert.NoError(t, run.Close(nil)) })
	p.batch = run.Batches()[0]
	require.NoError(t, p.batch.Prepare(t.Context()))
	t.Setenv(KeyVariable, "sk-canary-of-the-test")
	return p
}

// by sorts the guarantees by what the attacks on them showed.
func by(results []Result) map[Verdict][]string {
	out := map[Verdict][]string{}
	for _, r := range results {
		out[r.Verdict] = append(out[r.Verdict], r.Guarantee)
	}
	return out
}

// allHold attacks every configuration.
func allHold(t *testing.T) {
	configurations := plan.Names()
	if os.Getenv(sourceVariable) != "" {
		require.Equal(t, 65534, os.Geteuid(), "the ordinary user's run")
		// The third is a baseline to the sandbox, as root's run shows.
		configurations = []string{plan.Baseline, plan.WithSymposium}
	}
	p := newPlace(t, configurations...)
	before := leftovers(t)
	results, err := Run(t.Context(), p.batch, configurations)
	require.NoError(t, err)
	held := 0
	for _, r := range results {
		if r.Verdict == NoTarget {
			assert.Contains(t, mayHaveNoTarget(), r.Guarantee, r.Detail)
			continue
		}
		assert.Equal(t, Held, r.Verdict, "%s: %s: %s", r.Configuration, r.Guarantee, r.Detail)
		held++
	}
	assert.Greater(t, held, len(configurations)*30)
	assert.Equal(t, before, leftovers(t), "the targets are gone")
}

// mayHaveNoTarget are the guarantees for which a machine that runs these tests may have nothing to attack.
func mayHaveNoTarget() []string {
	out := []string{"names cannot be resolved", "the machine's other addresses cannot be reached"}
	if os.Geteuid() != 0 {
		out = append(out, "the machine's settings cannot be changed")
	}
	return out
}

// leftovers are what targets leave where they are not taken away.
func leftovers(t *testing.T) (found []string) {
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	for _, pattern := range []string{filepath.Join(home, "."+ownPrefix()+"*"), filepath.Join(os.TempDir(), ownPrefix()+"*")} {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		found = append(found, paths...)
	}
	return found
}

// TestEverythingHolds attacks this machine as the user that runs the tests, root in a container.
func TestEverythingHolds(t *testing.T) {
	if testing.Short() {
		t.Skip("trials do not run under -short")
	}
	allHold(t)
}

// TestAPolicyThatLetsThroughIsNoticed takes guarantees away in the policy and the environment. Each
// attack on one must notice, and no other may.
func TestAPolicyThatLetsThroughIsNoticed(t *testing.T) {
	if testing.Short() {
		t.Skip("trials do not run under -short")
	}
	p := newPlace(t, plan.Baseline)
	run := func(l *sandbox.Launch) string { return filepath.Dir(l.Dir) }
	home := []string{"cargo-agents is not on PATH", "no cargo-agents is anywhere in sight", "no installed cargo-agents can be read or run by its path", "a copy of cargo-agents under another name in your home cannot be run",
		"your home cannot be read", "your home cannot be read through links", "your home cannot be read through /proc", "your home cannot be written"}
	// Guarantees that do not hang together are taken away at once: a launch for each takes minutes.
	for name, tt := range map[string]struct {
		change func(*sandbox.Launch, map[string]string)
		broken []string
	}{
		"home writable, a tool of it on PATH; bin writable; policy readable; the proxy lets loopback through; the key and the agent's socket in the environment": {
			func(l *sandbox.Launch, at map[string]string) {
				l.Policy.AllowRead = append(l.Policy.AllowRead, at["HOMEDIR"], l.PolicyFile)
				l.Policy.AllowWrite = append(l.Policy.AllowWrite, at["HOMEDIR"], filepath.Join(run(l), "bin"))
				l.Env["PATH"] += ":" + filepath.Join(at["HOMEDIR"], "bin")
				l.Policy.AllowedDomains = append(l.Policy.AllowedDomains, "127.0.0.1")
				l.Env["OPENAI_API_KEY"], l.Env["SSH_AUTH_SOCK"] = os.Getenv(KeyVariable), "/tmp/agent"
			}, append(home, "tools, fixtures, registry and policy of the trial cannot be written", "the trial's policy cannot be read",
				"services on loopback cannot be reached through the sandbox's proxy", "no environment variable tells of you or of the task",
				"a key in your environment does not reach the trial", "no variable leads to your ssh agent, message bus or display")},
		"evals root, results, other trials, other batches and the temporary folder readable; the environment tells of the task": {
			func(l *sandbox.Launch, at map[string]string) {
				l.Policy.AllowRead = append(l.Policy.AllowRead, p.evals, at["RESULTS"], at["SIBLING"], at["BATCH"], at["SHAREDTMP"])
				l.Env["OLDPWD"] = p.evals
			}, []string{"hidden checks cannot be read", "the solution and the task cannot be read", "no task's hidden checks are anywhere in sight while the agent runs", "no copy of a task's skills can be read outside its own folders",
				"results cannot be read or written", "other trials of the batch cannot be read or written", "other batches cannot be read",
				"the machine's temporary folder cannot be read", "no environment variable tells of you or of the task"}},
	} {
		t.Run(name, func(t *testing.T) {
			results, err := run1(t, p, tt.change)
			require.NoError(t, err)
			sameBroken(t, tt.broken, results)
		})
	}
}

// sameBroken: exactly these are broken, and all others held.
func sameBroken(t *testing.T, want []string, results []Result) {
	t.Helper()
	got := by(results)
	assert.ElementsMatch(t, want, got[Broken])
	assert.Empty(t, got[CouldNotTell])
	if t.Failed() {
		for _, r := range results {
			if r.Verdict != Held {
				t.Log(r.Verdict, r.Guarantee, strings.TrimSpace(r.Detail))
			}
		}
	}
}

func run1(t *testing.T, p place, change func(*sandbox.Launch, map[string]string)) ([]Result, error) {
	return run(t.Context(), p.batch, []string{plan.Baseline}, change)
}

// leakyBwrap stands before the real bubblewrap and leaves out some of its options. %[1]s are the
// cases that leave out, %[2]s is what else to do, %[3]s the real one.
const leakyBwrap = `#!/bin/bash
opts=()
if [ "$1" = --args ]; then
	quiet=yes
	mapfile -d '' -t opts <&"$2"
	shift 2
else
	while [ $# -gt 0 ] && [ "$1" != -- ]; do opts+=("$1"); shift; done
	[ $# -gt 0 ] || exec %[3]s "${opts[@]}"
fi
kept=()
i=0
while [ $i -lt ${#opts[@]} ]; do
	case "${opts[i]} ${opts[i+1]} ${opts[i+2]}" in
	%[1]s
	*) kept+=("${opts[i]}"); i=$((i+1)) ;;
	esac
done
%[2]s
[ "$quiet" ] || exec %[3]s "${kept[@]}" "$@"
# A command line that tells of the options would break a guarantee of its own.
exec 9< <(printf '%%s\0' "${kept[@]}")
exec %[3]s --args 9 "$@"
`

// without makes a case of leakyBwrap: options that match pattern go, with so many words after them.
func without(pattern string, words int) string {
	return fmt.Sprintf("%s) i=$((i+%d)) ;;\n", pattern, words+1)
}

// noSeccompHelper has srt run the program without its helper, which keeps it from unix sockets and in
// a process namespace of its own.
const noSeccompHelper = `
words=()
for word; do words+=("$(printf %s "$word" | sed 's#/[^ ]*/apply-seccomp#/usr/bin/env#g')"); done
set -- "${words[@]}"
`

// TestASandboxThatLetsThroughIsNoticed takes namespaces, filters and mounts away from bubblewrap:
// from the outer one, srt's and the innermost, which are told apart by their options.
func TestASandboxThatLetsThroughIsNoticed(t *testing.T) {
	if testing.Short() {
		t.Skip("trials do not run under -short")
	}
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	real, err := exec.LookPath("bwrap")
	require.NoError(t, err)
	// Where the private folder is not the sandbox's own, srt leaves its sockets in the machine's.
	private := fmt.Sprintf("/tmp/proctor-%d", os.Getuid())
	before, _ := filepath.Glob(private + "/*")
	t.Cleanup(func() {
		now, _ := filepath.Glob(private + "/*")
		for _, path := range now {
			if !slices.Contains(before, path) && !strings.Contains(path, "/proctor-attack-") {
				assert.NoError(t, os.RemoveAll(path))
			}
		}
	})
	for name, tt := range map[string]struct {
		cases, also string
		change      func(*sandbox.Launch, map[string]string)
		broken      []string
	}{
		"no namespace for IPC and network, no /dev of its own, no filter on keys, a file held open, settings and keys in /proc not covered, the private folder shared": {
			cases: without(`"--unshare-ipc "*`, 0) + without(`"--unshare-net "*`, 0) + without(`"--seccomp 4 "*`, 1) + without(`"--ro-bind /proc/"*`, 2) +
				without(`"--ro-bind "*" /proc/key"*`, 2) + without(fmt.Sprintf(`"--tmpfs %s "*`, private), 1),
			also: `[ "$quiet" ] && kept+=(--bind /dev/shm /dev/shm)
exec 200<"$(ls -td ` + sandbox.Quote(home) + `/.` + ownPrefix() + `*/secret | head -1)"`,
			broken: []string{
				"shared memory of other programs cannot be seen", "no shared memory outlives the trial",
				"services on loopback cannot be reached directly", "abstract unix sockets of other programs cannot be reached", "the machine's other addresses cannot be reached",
				"the network has no interface but the sandbox's own loopback", "names cannot be resolved", "/dev/shm of other programs cannot be seen",
				"your keys in the kernel's keyring cannot be read", "the kernel's list of keys cannot be read",
				"files your shell holds open cannot be read", "your home cannot be read through /proc",
				"the machine's settings cannot be changed", "other sandboxes' sockets cannot be seen"}},
		"no process namespace, no helper of srt's, loud command lines, sockets in readable places": {
			cases: without(`"--unshare-pid "*`, 0), also: noSeccompHelper + "quiet=\n",
			change: func(l *sandbox.Launch, at map[string]string) {
				l.Policy.AllowRead = append(l.Policy.AllowRead, at["HOMEDIR"], at["SHAREDTMP"])
			},
			broken: []string{
				"processes outside cannot be seen", "no command line tells what is denied, or of you", "no process outlives the trial",
				"unix sockets of other programs cannot be reached", "your ssh agent, message buses, docker and keyring services cannot be reached",
				"no cargo-agents is anywhere in sight", "no installed cargo-agents can be read or run by its path", "a copy of cargo-agents under another name in your home cannot be run",
				"your home cannot be read", "your home cannot be read through links", "your home cannot be read through /proc", "the machine's temporary folder cannot be read"}},
		"no filter on namespaces, mounts and sockets, and root's capabilities": {
			cases: without(`"--seccomp 8 "*`, 1) + without(`"--cap-drop ALL --unshare-user"`, 2), broken: []string{
				"no namespace can be made and nothing mounted, the machine's control groups neither", "sockets of other kinds than the internet's cannot be opened",
				"the sandbox's own processes cannot be looked into"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "bwrap"), fmt.Appendf(nil, leakyBwrap, tt.cases, tt.also, sandbox.Quote(real)), 0o755))
			t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
			var attacked map[string]string
			results, err := run1(t, newPlace(t, plan.Baseline), func(l *sandbox.Launch, at map[string]string) {
				attacked = at
				if tt.change != nil {
					tt.change(l, at)
				}
			})
			require.NoError(t, err)
			// A machine without these has nothing to attack.
			broken := slices.DeleteFunc(tt.broken, func(guarantee string) bool {
				target := map[string]string{"names cannot be resolved": "NAME", "the machine's other addresses cannot be reached": "ADDRESS", "the machine's settings cannot be changed": "SETTINGS"}[guarantee]
				return target != "" && attacked[target] == "" || guarantee == "the sandbox's own processes cannot be looked into" && os.Geteuid() != 0
			})
			sameBroken(t, broken, results)
		})
	}
}
