//go:build linux

package sandbox_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each operation against each region. The same operations outside the sandbox, on a box of their
// own, must all succeed: the control that shows the refusals are the sandbox's.
func TestFilesOfEachRegion(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, command string
		allowed       bool
	}{
		{"read in an allowed folder", "cat work/f", true},
		{"list an allowed folder", "ls work", true},
		{"write in an allowed folder", "echo x > work/new", true},
		{"change in an allowed folder", "echo x >> work/f", true},
		{"make a folder", "mkdir work/sub", true},
		{"remove in an allowed folder", "rm work/gone", true},
		{"read in a read-only folder", "cat bin/f", true},
		{"write in a read-only folder", "echo x > bin/new", false},
		{"change in a read-only folder", "echo x >> bin/f", false},
		{"remove in a read-only folder", "rm bin/gone", false},
		{"chmod in a read-only folder", "chmod 777 bin/f", false},
		{"rename out of a read-only folder", "mv bin/gone2 work/moved", false},
		{"read in a denied folder", "cat secret/f", false},
		{"read in a denied folder by another name", "cat work/../secret/f", false},
		{"read through a link", "ln -s ../secret/f work/link && cat work/link", false},
		{"read through a link that was there", "cat work/old-link", false},
		{"hard link to a denied file", "ln secret/f work/hard && cat work/hard", false},
		{"read through /proc", "cat /proc/self/root$PWD/secret/f", false},
		{"write in a denied folder", "echo x > secret/f", false},
		// A denied folder is an empty one of its own: what is written there is nowhere afterwards.
		{"write in the denied root", "echo x > new", true},
		{"read a denied file in an allowed folder", "grep canary work/denied-file", false},
		{"change a file that must not be written", "echo x >> work/frozen", false},
		{"read a file that must not be written", "cat work/frozen", true},
		{"write outside every region", "echo x > outside/new", false},
		{"read outside every region", "cat outside/f", true},
	}
	var script strings.Builder
	for _, tt := range tests {
		script.WriteString("( cd \"$BOX\" && " + strings.ReplaceAll(tt.command, "outside/", "\"$OUTSIDE\"/") + " ) >/dev/null 2>&1 && echo ok || echo refused\n")
	}
	prepare := func() (*box, string) {
		b, outside := newBox(t), t.TempDir()
		for _, f := range []string{"work/f", "work/gone", "work/frozen", "work/denied-file", "bin/f", "bin/gone", "bin/gone2", "secret/f"} {
			require.NoError(t, os.WriteFile(b.path(f), []byte("canary\n"), 0o644))
		}
		require.NoError(t, os.WriteFile(outside+"/f", []byte("canary\n"), 0o644))
		require.NoError(t, os.Symlink("../secret/f", b.path("work/old-link")))
		return b, outside
	}
	b, outside := prepare()
	l := b.sh(t, "", script.String())
	l.Env["BOX"], l.Env["OUTSIDE"] = b.dir, outside
	l.Policy.DenyRead = append(l.Policy.DenyRead, b.path("work/denied-file"))
	l.Policy.DenyWrite = []string{b.path("work/frozen")}
	got, _, _ := b.run(t, l)

	control, outside2 := prepare()
	free := runOutside(t, script.String(), "BOX="+control.dir, "OUTSIDE="+outside2)

	inside, without := strings.Fields(got), strings.Fields(free)
	require.Len(t, inside, len(tests))
	require.Len(t, without, len(tests))
	for i, tt := range tests {
		want := map[bool]string{true: "ok", false: "refused"}[tt.allowed]
		assert.Equal(t, want, inside[i], tt.name)
		assert.Equal(t, "ok", without[i], "control, without a sandbox: %s", tt.name)
	}
	assert.NoFileExists(t, b.path("new"))
	data, err := os.ReadFile(b.path("secret/f"))
	require.NoError(t, err)
	assert.Equal(t, "canary\n", string(data))
	for _, gone := range []string{"bin/gone", "bin/gone2"} {
		assert.FileExists(t, b.path(gone))
	}
}

const client = `
const http = require('http')
const ask = (label, options) => new Promise(done => {
  const r = http.get(options, res => { let b = ''; res.on('data', d => b += d); res.on('end', () => { console.log(label, res.statusCode, b.trim().split('\n')[0]); done() }) })
  r.on('error', e => { console.log(label, 'error', e.code); done() })
})
const url = port => 'http://127.0.0.1:' + port + '/'
const viaProxy = (label, port) => {
  if (!process.env.HTTP_PROXY) { console.log(label, 'no proxy'); return }
  const p = new URL(process.env.HTTP_PROXY)
  const auth = 'Basic ' + Buffer.from(decodeURIComponent(p.username) + ':' + decodeURIComponent(p.password)).toString('base64')
  return ask(label, { host: p.hostname, port: p.port, path: url(port), headers: { host: '127.0.0.1:' + port, 'proxy-authorization': auth } })
}
;(async () => {
  const [allowed, other, dead] = process.argv.slice(1)
  await viaProxy('proxy-allowed', allowed)
  await viaProxy('proxy-other', other)
  await viaProxy('proxy-dead', dead)
  await ask('direct-allowed', url(allowed))
  await ask('direct-other', url(other))
})()`

func TestNetworkIsTheAllowedAddressAlone(t *testing.T) {
	t.Parallel()
	var hits atomic.Int64
	serve := func(name string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			hits.Add(1)
			_, _ = w.Write([]byte("from " + name + "\n"))
		}))
		t.Cleanup(s.Close)
		return s.Listener.Addr().(*net.TCPAddr).String()
	}
	allowed, other := serve("allowed"), serve("other")
	port := func(addr string) string { return addr[strings.LastIndexByte(addr, ':')+1:] }
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	dead := closed.Addr().String()
	require.NoError(t, closed.Close())

	b := newBox(t)
	argv := []string{b.rt.Node, "-e", client, port(allowed), port(other), port(dead)}
	t.Run("control without a sandbox", func(t *testing.T) {
		out := runOutside(t, `exec "$0" "$@"`, argv...)
		assert.Contains(t, out, "direct-allowed 200 from allowed")
		assert.Contains(t, out, "direct-other 200 from other")
	})
	t.Run("with an allowed address", func(t *testing.T) {
		before := hits.Load()
		l := b.sh(t, "on", "")
		l.Argv, l.Proxy, l.Policy.AllowedDomains = argv, true, []string{allowed, dead}
		out, _, _ := b.run(t, l)
		assert.Contains(t, out, "proxy-allowed 200 from allowed\n")
		assert.Contains(t, out, "proxy-other 403 Connection blocked by network allowlist\n")
		assert.Contains(t, out, "proxy-dead 502")
		assert.Contains(t, out, "direct-allowed error ECONNREFUSED\n")
		assert.Contains(t, out, "direct-other error ECONNREFUSED\n")
		assert.Equal(t, before+1, hits.Load())
	})
	t.Run("without one", func(t *testing.T) {
		before := hits.Load()
		l := b.sh(t, "off", "")
		l.Argv, l.Proxy = argv, true
		out, _, _ := b.run(t, l)
		assert.NotContains(t, out, "200")
		assert.Contains(t, out, "direct-allowed error ECONNREFUSED\n")
		assert.Equal(t, before, hits.Load())
	})
	t.Run("the proxy's variables are passed on only when asked for", func(t *testing.T) {
		l := b.sh(t, "env", "env | cut -d= -f1 | sort | tr '\\n' ' '")
		l.Policy.AllowedDomains = []string{allowed}
		out, _, _ := b.run(t, l)
		assert.NotContains(t, strings.ToUpper(out), "PROXY")
		l.Proxy = true
		out, _, _ = b.run(t, l)
		assert.Equal(t, "HTTPS_PROXY HTTP_PROXY PATH PWD http_proxy https_proxy ", out)
	})
}
