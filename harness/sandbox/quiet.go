package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
)

// quietBwrap stands between srt and bubblewrap. srt gives bubblewrap every denied path as an
// argument, and inside, process 1 is bubblewrap: without this its /proc/1/cmdline would tell the
// agent where the user's files, the evals root and the results are. The options go through a file
// that is gone before the program starts.
const quietBwrap = `#!/bin/sh
options=
for word; do [ "$word" = -- ] && options=yes; done
[ "$options" ] || exec %[1]s "$@"
file=%[2]s/o.$$
while [ "$1" != -- ]; do
	printf '%%s\0' "$1"
	shift
done >"$file"
exec 9<"$file" || exit 125
rm -f "$file"
exec %[1]s --args 9 "$@"
`

// quietFile is where the policy's launch finds its bubblewrap.
func quietFile(policyFile string) string { return filepath.Join(filepath.Dir(policyFile), "quiet-bwrap") }

func (rt Runtime) writeQuietBwrap(path string) error {
	script := fmt.Sprintf(quietBwrap, Quote(rt.Bwrap), Quote(rt.PrivateTmp))
	// srt executes it by name; a fork elsewhere must not hold it open for writing meanwhile.
	if err := os.WriteFile(path+".new", []byte(script), 0o755); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	return nil
}
