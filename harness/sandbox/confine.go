package sandbox

import (
	"fmt"
	"os"

	"github.com/proctor-evals/proctor/internal/proc"
)

// Endings of the files beside the start script.
const (
	confinerEnding = ".hold"   // bubblewrap
	filterEnding   = ".filter" // the system call filter it sets
	emptyEnding    = ".empty"  // nothing, to lie over what must not be read
)

// confinement is the last part of the start script: one more bubblewrap, within srt's sandbox. srt
// needs mounts and namespaces to build itself, so a filter that refuses them can only be set by what
// comes after it. It gives the program a user namespace in which it has no capability (as root it
// would else have all of them in srt's, where it could mount the machine's cgroups and look into
// srt's own processes), and hides the names of the machine's keys.
//
// %[1]s is bubblewrap, %[2]s the filter, %[3]s the start mark, %[4]d a bound on processes that holds
// where the kernel keeps it for each namespace: not for root. dash calls it -p, bash -u. %[5]s is an
// empty file.
const confinement = `set --
for path in /proc/keys /proc/key-users; do
	[ ! -e "$path" ] || set -- "$@" --ro-bind %[5]s "$path"
done
exec 8<%[2]s
exec %[1]s --dev-bind / / --cap-drop ALL --unshare-user "$@" --seccomp 8 -- \
	/bin/sh -c '{ ulimit -u %[4]d || ulimit -p %[4]d; } 2>/dev/null; echo %[3]s >&2; exec "$@"' sh`

func (l Launch) confine(nonce string) string {
	// Twice the bound the runner keeps, so that the runner ends the launch and says why.
	return fmt.Sprintf(confinement, Quote(l.StartFile+confinerEnding), Quote(l.StartFile+filterEnding), nonce, 2*l.Quota.processes(), Quote(l.StartFile+emptyEnding))
}

// writeConfinement puts what the start script needs beside it: bubblewrap may lie where the program
// must not look.
func (rt Runtime) writeConfinement(l Launch) error {
	program, err := os.ReadFile(rt.Bwrap)
	if err != nil {
		return fmt.Errorf("sandbox: bubblewrap: %w", err)
	}
	filter, err := proc.Confinement()
	if err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	for _, f := range []struct {
		ending  string
		content []byte
		mode    os.FileMode
	}{{confinerEnding, program, 0o755}, {filterEnding, filter, 0o644}, {emptyEnding, nil, 0o644}} {
		if err := os.WriteFile(l.StartFile+f.ending, f.content, f.mode); err != nil {
			return fmt.Errorf("sandbox: %w", err)
		}
	}
	return nil
}
