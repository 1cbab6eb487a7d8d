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
//
// It also makes the machine's settings in /proc read-only. Root writes them without any capability,
// and a core_pattern of "|program" is run by the kernel outside every sandbox; bubblewrap 0.8 covers
// only the folders that access(2) calls writable, which /proc/sys is not. For an ordinary user they
// are closed, and covering them would keep a sandbox inside from mounting its own /proc.
const quietBwrap = `#!/bin/sh
options=
for word; do [ "$word" = -- ] && options=yes; done
[ "$options" ] || exec %[1]s "$@"
file=%[2]s/o.$$
while [ "$1" != -- ]; do
	printf '%%s\0' "$1"
	shift
done >"$file"
if [ "$(id -u)" = 0 ]; then
	for path in /proc/[!0-9]*; do
		[ -L "$path" ] && continue
		if [ -d "$path" ] || [ -w "$path" ]; then printf '%%s\0' --ro-bind "$path" "$path"; fi
	done >>"$file"
fi
exec 9<"$file" || exit 125
rm -f "$file"
exec %[1]s --args 9 "$@"
`

// quietFile is where the policy's launch finds its bubblewrap.
func quietFile(policyFile string) string {
	return filepath.Join(filepath.Dir(policyFile), "quiet-bwrap")
}

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
