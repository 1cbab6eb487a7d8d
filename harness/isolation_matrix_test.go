//go:build linux

package harness_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness"
	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/sandbox"
	"github.com/proctor-evals/proctor/harness/workspace"
)

// operations are tried on a folder $D that holds f, m and x, each with a canary; $W is a folder that
// can be written. Each prints "ok" or nothing.
var operations = []struct{ letter, script string }{
	{"r", `grep -q canary "$D/f" && echo ok`},
	{"l", `ls "$D" | grep -qx f && echo ok`},
	{"f", `ln -sf "$D/f" "$W/soft" && grep -q canary "$W/soft" && echo ok; rm -f "$W/soft"`},
	{"x", `"$D/x" | grep -q canary && echo ok`},
	{"w", `echo more >>"$D/f" && echo ok`},
	{"c", `echo new >"$D/new" && echo ok`},
	{"m", `mv "$D/m" "$D/moved" && echo ok`},
	{"h", `ln "$D/f" "$D/hard" && echo ok`},
	{"d", `rm "$D/x" && echo ok`},
}

const (
	everything = "rlfxwcmhd"
	readable   = "rlfx"
	nothing    = ""
)

// regions are all a policy speaks of, by what a trial may do there: in a baseline (staged-skills is
// one for the policy) and with Symposium.
var regions = []struct{ name, baseline, symposium string }{
	{"project", everything, everything},
	{"home", everything, everything},
	{"cargo-home", everything, everything},
	{"tmp", everything, everything},
	{"evidence", everything, everything},
	{"bin", readable, readable},
	{"fixtures", readable, readable},
	{"registry", nothing, readable},
	{"tools/common", readable, readable},
	{"tools/symposium", nothing, readable},
	{"run directory", nothing, nothing},
	{"another trial", nothing, nothing},
	{"another batch", nothing, nothing},
	{"checks", nothing, nothing},
	{"solution", nothing, nothing},
	{"another task", nothing, nothing},
	{"results", nothing, nothing},
	{"the developer's home", nothing, nothing},
	{"the machine's temporary folder", nothing, nothing},
	{"a folder of deny_read", nothing, nothing},
	{"elsewhere", readable, readable},
}

// connections are tried at the end, "yes" or "no".
const connections = `
W="$1"
reach() { if "$@" </dev/null 2>/dev/null | grep -qE 'canary|^HTTP/1.. 40'; then echo yes; else echo no; fi; }
tcp() { exec 3<>"/dev/tcp/$1/$2" && printf 'GET / HTTP/1.0\r\nHost: x\r\n\r\n' >&3 && cat <&3; }
echo "loopback $(reach tcp 127.0.0.1 $2)"
echo "unix $(reach socat -u -T 2 "UNIX-CONNECT:$3" -)"
if [ "$HTTP_PROXY" ]; then
	auth=${HTTP_PROXY#http://}; auth=$(echo "${auth%@*}" | sed 's/%3D/=/g')
	endpoint=${ANTHROPIC_BASE_URL#http://}
	via() { printf 'GET / HTTP/1.0\r\nHost: x\r\n\r\n' | socat -T 3 -,ignoreeof "PROXY:localhost:$1,proxyport=3128,proxyauth=$auth"; }
	echo "proxied endpoint $(reach via "$endpoint")"
	echo "proxied loopback $(reach via "127.0.0.1:$2")"
	echo "direct endpoint $(reach tcp "${endpoint%:*}" "${endpoint#*:}")"
fi
`

// matrixScript tries every operation on each of the folders, and then the connections.
func matrixScript(folders []string) string {
	var b strings.Builder
	b.WriteString("W=\"$1\"\n")
	for i, dir := range folders {
		fmt.Fprintf(&b, "D=%s\n", sandbox.Quote(dir))
		for _, op := range operations {
			// On one line, whatever becomes of it.
			fmt.Fprintf(&b, "printf '%d %s %%s\\n' \"$( (%s) 2>/dev/null)\"\n", i, op.letter, op.script)
		}
	}
	return b.String() + connections
}

// plantProbe puts the folder to try into a region, made again where it was tried before.
func plantProbe(t *testing.T, region string) string {
	t.Helper()
	dir := filepath.Join(region, "probe")
	require.NoError(t, os.RemoveAll(dir))
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for _, f := range []string{"f", "m", "x"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, f), []byte("#!/bin/sh\necho canary\n"), 0o755))
	}
	return dir
}

// outcomes sorts what matrixScript printed: the letters that went well by region, and the rest.
func outcomes(t *testing.T, out string) (letters []string, rest string) {
	t.Helper()
	letters = make([]string, len(regions))
	var other strings.Builder
	for line := range strings.Lines(out) {
		var i int
		var letter, ok string
		if n, _ := fmt.Sscanf(line, "%d %s %s", &i, &letter, &ok); n == 3 && ok == "ok" {
			letters[i] += letter
		} else if n < 2 {
			other.WriteString(line)
		}
	}
	return letters, other.String()
}

// TestPolicyByOperation tries each operation in each region of each configuration, on the real
// sandbox. Outside, with the same script on the same folders, every one succeeds.
func TestPolicyByOperation(t *testing.T) {
	deny, elsewhere := t.TempDir(), ""
	b := rehearsed(t, harness.Options{DenyRead: []string{deny}})
	place := b.Place()
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(place.Results)) })
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	mkdir := func(parent string) string {
		require.NoError(t, os.MkdirAll(parent, 0o755))
		dir, err := os.MkdirTemp(parent, ".proctor-matrix-")
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
		return dir
	}
	// A place no policy speaks of. Every folder that can be written for a test lies in a denied one
	// for an ordinary user; root has /srv.
	if os.Geteuid() == 0 {
		elsewhere = mkdir("/srv")
	}
	fixed := map[string]string{
		"tools/common": place.Staged, "tools/symposium": filepath.Join(filepath.Dir(place.Staged), "symposium"),
		"another trial": filepath.Join(place.Batch, "0123456789ab", "project"), "another batch": filepath.Join(place.Scratch, "x-0123456789ab"),
		"checks": b.Task.Dir + "/checks", "solution": b.Task.Dir + "/solution", "another task": filepath.Join(place.Evals, "tasks", "other"),
		"results": place.Results, "the developer's home": mkdir(home), "the machine's temporary folder": mkdir(os.TempDir()), "a folder of deny_read": deny,
	}
	socket := filepath.Join(fixed["the machine's temporary folder"], "s")
	port := serveCanary(t, "tcp", "127.0.0.1:0")
	serveCanary(t, "unix", socket)

	for _, configuration := range plan.Names() {
		t.Run(configuration, func(t *testing.T) {
			var folders []string
			var outside, inside bytes.Buffer
			input := &bytes.Buffer{}
			args := func(dir string) []string { return []string{"-s", dir, port, socket} }
			_, err := b.Enter(t.Context(), harness.Visit{
				Configuration: configuration, Argv: append([]string{"/bin/bash"}, args(".")...), Stdin: input, Stdout: &inside,
				Before: func(run *workspace.Run) error {
					plantAll := func() {
						folders = nil
						for _, r := range regions {
							at, ok := fixed[r.name]
							switch {
							case r.name == "elsewhere":
								at = elsewhere
							case r.name == "run directory":
								at = run.Dir
							case !ok:
								at = run.Path(filepath.FromSlash(r.name))
							}
							if at == "" {
								at = "/usr/share/nothing-there"
								folders = append(folders, at)
								continue
							}
							folders = append(folders, plantProbe(t, at))
						}
					}
					plantAll()
					cmd := exec.Command("/bin/bash", args(fixed["the machine's temporary folder"])...)
					cmd.Stdin, cmd.Stdout = strings.NewReader(matrixScript(folders)), &outside
					cmd.Env = []string{"PATH=/usr/bin:/bin"}
					require.NoError(t, cmd.Run())
					plantAll()
					input.WriteString(matrixScript(folders))
					return nil
				},
				After: func(*workspace.Run) error {
					// What was refused really did not happen, and what went well really did.
					for i, r := range regions {
						want := r.baseline
						if configuration == plan.WithSymposium {
							want = r.symposium
						}
						if r.name == "elsewhere" && elsewhere == "" {
							continue
						}
						data, err := os.ReadFile(filepath.Join(folders[i], "f"))
						require.NoError(t, err)
						assert.Equal(t, strings.Contains(want, "w"), bytes.Contains(data, []byte("more")), "%s: written to", r.name)
						_, err = os.Stat(filepath.Join(folders[i], "new"))
						assert.Equal(t, strings.Contains(want, "c"), err == nil, "%s: created in", r.name)
						_, err = os.Stat(filepath.Join(folders[i], "x"))
						assert.Equal(t, !strings.Contains(want, "d"), err == nil, "%s: removed from", r.name)
					}
					return nil
				},
			})
			require.NoError(t, err)
			free, connectedOutside := outcomes(t, outside.String())
			got, connected := outcomes(t, inside.String())
			for i, r := range regions {
				if r.name == "elsewhere" && elsewhere == "" {
					continue
				}
				want := r.baseline
				if configuration == plan.WithSymposium {
					want = r.symposium
				}
				assert.Equal(t, everything, free[i], "%s: the control outside", r.name)
				assert.Equal(t, want, got[i], r.name)
			}
			assert.Equal(t, "loopback yes\nunix yes\n", connectedOutside, "the control outside")
			assert.Equal(t, "loopback no\nunix no\nproxied endpoint yes\nproxied loopback no\ndirect endpoint no\n", connected)
		})
	}
}

// serveCanary answers every connection with "canary" and returns the port.
func serveCanary(t *testing.T, network, address string) string {
	t.Helper()
	l, err := net.Listen(network, address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.WriteString(c, "canary\n")
				// Closed with something unread, the answer would be lost.
				if half, ok := c.(interface{ CloseWrite() error }); ok {
					_ = half.CloseWrite()
				}
				_, _ = io.Copy(io.Discard, c)
				_ = c.Close()
			}()
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}
