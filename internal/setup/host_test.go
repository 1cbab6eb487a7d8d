//go:build unix

package setup

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWhatTheUserBrings changes one thing on a machine where all else works.
func TestWhatTheUserBrings(t *testing.T) {
	const nodeFix = "install Node 22, for example with nvm (nvm install 22) or from https://nodejs.org/en/download"
	const update = "rustup update stable && rustup default stable"
	for _, c := range []struct {
		name   string
		change func(m *machine)
		need   Need
		what   string // beginning of the one problem; DIR is the machine's folder
		fix    string
	}{
		{"node too old", func(m *machine) { m.fake("bin", "node", strings.ReplaceAll(fakeNode, "v20.20.2", "v20.10.0")) }, NeedSandbox,
			"node 20.10.0 (DIR/bin/fake-node) is too old: 20.11.0 or newer is needed", nodeFix},
		{"node too old, apt has a newer one", func(m *machine) {
			m.fake("bin", "node", strings.ReplaceAll(fakeNode, "v20.20.2", "v18.20.4"))
			m.fake("bin", "apt-cache", `printf 'nodejs:\n  Installed: (none)\n  Candidate: 20.19.2+dfsg-1\n'`)
		}, NeedSandbox, "node 18.20.4 (DIR/bin/fake-node) is too old", "sudo apt-get install -y nodejs npm"},
		{"node too old, apt's too", func(m *machine) {
			m.fake("bin", "node", strings.ReplaceAll(fakeNode, "v20.20.2", "v12.22.9"))
			m.fake("bin", "apt-cache", `printf 'nodejs:\n  Candidate: 18.20.4+dfsg-1~deb12u3\n  Version table:\n     22.1.0 500\n'`)
		}, NeedSandbox, "node 12.22.9 (DIR/bin/fake-node) is too old", nodeFix},
		{"node crashes", func(m *machine) { m.fake("bin", "node", "echo no libatomic >&2; exit 127") }, NeedSandbox,
			"node does not run: DIR/bin/node: exit status 127; it printed last:\n    no libatomic", nodeFix},
		{"node is something else", func(m *machine) { m.fake("bin", "node", "echo hello") }, NeedSandbox,
			`DIR/bin/node does not answer like Node: it printed "hello"`, nodeFix},
		{"bubblewrap does not run", func(m *machine) { m.fake("bin", "bwrap", "exit 1") }, NeedSandbox,
			"bwrap does not run: DIR/bin/fake-bwrap: exit status 1", "install with your system's package manager: bubblewrap"},
		{"rust too old", func(m *machine) {
			m.fake("toolchain/bin", "cargo", `echo "cargo 1.87.0 (99624be96 2025-05-06)"`)
		}, NeedRust, "cargo 1.87.0 (DIR/toolchain/bin/cargo) is too old: 1.88.0 or newer is needed", update},
		{"no rustfmt", func(m *machine) { m.remove("toolchain/bin/rustfmt") }, NeedRust,
			"the Rust toolchain in DIR/toolchain has no rustfmt", "rustup component add rustfmt"},
		{"no cargo-fmt", func(m *machine) { m.remove("toolchain/bin/cargo-fmt") }, NeedRust,
			"the Rust toolchain in DIR/toolchain has no cargo-fmt", "rustup component add rustfmt"},
		{"rustup without a toolchain", func(m *machine) {
			m.fake("bin", "rustup", "echo error: no default is configured >&2; exit 1")
		}, NeedRust, "no working Rust toolchain: DIR/bin/rustup: exit status 1; it printed last:\n    error: no default", update},
		{"no linker", func(m *machine) { m.remove("bin/cc") }, NeedRust,
			"cc is not on PATH: Rust links with the C compiler", "install with your system's package manager: gcc libc6-dev"},
		{"no browser", func(m *machine) { m.remove("bin/chromium") }, NeedBrowser,
			"no browser on PATH: Chromium or Chrome is needed to test the HTML report", "install with your system's package manager: chromium"},
		{"the browser is a stub", func(m *machine) { m.fake("bin", "chromium", "echo install the snap; exit 10") }, NeedBrowser,
			"DIR/bin/chromium does not run: DIR/bin/chromium: exit status 10", "install with your system's package manager: chromium"},
		{"no sandbox on macOS", func(m *machine) { m.goos = "darwin" }, NeedSandbox,
			"the enforced sandbox is not supported on darwin", "run Proctor in a Linux virtual machine or container"},
		{"no sandbox on Windows", func(m *machine) { m.goos = "windows" }, NeedSandbox,
			"the enforced sandbox is not supported on windows", "run Proctor in WSL 2: wsl --install -d Ubuntu"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t).complete()
			_, err := Install(t.Context(), m.options(), NeedRust, NeedClaude)
			require.NoError(t, err)
			if c.need == NeedSandbox {
				_, err := Install(t.Context(), m.options(), NeedSandbox)
				require.NoError(t, err)
			}
			c.change(m)
			for name, call := range map[string]func() error{
				"Locate":  func() error { _, err := Locate(t.Context(), m.options(), c.need); return err },
				"Install": func() error { _, err := Install(t.Context(), m.options(), c.need); return err },
			} {
				var missing *MissingError
				require.ErrorAs(t, call(), &missing, name)
				require.Len(t, missing.Problems, 1, name)
				p := missing.Problems[0]
				assert.Equal(t, c.need, p.Need)
				assert.True(t, strings.HasPrefix(m.neat(p.What), c.what), "%s: %s", name, m.neat(p.What))
				assert.Equal(t, c.fix, p.Fix, name)
			}
		})
	}
}

func TestToolchainWithoutRustup(t *testing.T) {
	m := newMachine(t).complete()
	m.remove("bin/rustup", "bin/cargo")
	m.fake("bin", "rustc", `[ "$*" = "--print sysroot" ] && echo "$DIR/toolchain"`)
	tools, err := Locate(t.Context(), m.options(), NeedRust)
	require.NoError(t, err)
	assert.Equal(t, m.path("toolchain/bin"), tools.Toolchain.Bin)
	assert.Equal(t, m.path("toolchain/bin/cargo"), tools.ByName[Cargo].Path)
}

func TestForbiddenNamespaces(t *testing.T) {
	const sysctl = "echo '%s' | sudo tee /etc/sysctl.d/60-proctor.conf && sudo sysctl -p /etc/sysctl.d/60-proctor.conf"
	persist := func(s string) string { return strings.Replace(sysctl, "%s", s, 1) }
	for _, c := range []struct {
		name  string
		files map[string]string
		euid  int
		why   string
		fix   string // its beginning
	}{
		{"no user namespaces at all", map[string]string{"proc/sys/user/max_user_namespaces": "0\n"}, 1000,
			"user.max_user_namespaces is 0", persist("user.max_user_namespaces=15000")},
		{"old Debian", map[string]string{"proc/sys/kernel/unprivileged_userns_clone": "0\n"}, 1000,
			"kernel.unprivileged_userns_clone is 0", persist("kernel.unprivileged_userns_clone=1")},
		{"Ubuntu 24.04", map[string]string{"proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n"}, 1000,
			"kernel.apparmor_restrict_unprivileged_userns is 1",
			persist("kernel.apparmor_restrict_unprivileged_userns=0") + "\nor, for bubblewrap alone: printf 'abi <abi/4.0>,\\ninclude <tunables/global>\\n" +
				"profile proctor-bwrap DIR/bin/fake-bwrap flags=(unconfined) {\\n  userns,\\n}\\n' | sudo tee /etc/apparmor.d/proctor-bwrap && sudo apparmor_parser -r /etc/apparmor.d/proctor-bwrap"},
		{"settings that allow them", map[string]string{
			"proc/sys/kernel/apparmor_restrict_unprivileged_userns": "0\n", "proc/sys/kernel/unprivileged_userns_clone": "1\n", "proc/sys/user/max_user_namespaces": "63000\n",
		}, 1000, "the kernel refuses, for a reason its settings do not show", "run it by hand to see more: DIR/bin/fake-bwrap --die-with-parent --unshare-user"},
		{"Docker", map[string]string{".dockerenv": "", "proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n"}, 0,
			"this is a container without the right to make them, and kernel.apparmor_restrict_unprivileged_userns is 1 on its host",
			"start it with: docker run --security-opt seccomp=unconfined"},
		{"root without capabilities", map[string]string{"proc/sys/kernel/unprivileged_userns_clone": "0\n"}, 0,
			"this root user probably lacks CAP_SETFCAP or CAP_SYS_ADMIN", "run as a user other than root"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t).complete()
			m.euid = c.euid
			for f, content := range c.files {
				m.write("root/"+f, content)
			}
			_, err := Install(t.Context(), m.options(), NeedSandbox)
			require.NoError(t, err, "while the probe succeeds, settings do not matter")

			m.write("forbidden", "")
			_, err = Locate(t.Context(), m.options(), NeedSandbox)
			var missing *MissingError
			require.ErrorAs(t, err, &missing)
			require.Len(t, missing.Problems, 1)
			p := missing.Problems[0]
			assert.Contains(t, p.What, "cannot make the namespaces a sandbox needs: "+c.why)
			assert.Contains(t, p.What, "bwrap: setting up uid map: Permission denied", "bubblewrap's own words are shown")
			assert.True(t, strings.HasPrefix(m.neat(p.Fix), c.fix), m.neat(p.Fix))
		})
	}
}

// TestRelativePath: a program in the current folder is not taken.
func TestRelativePath(t *testing.T) {
	m := newMachine(t)
	m.fake("bin", "rg", "")
	t.Chdir(m.path("bin"))
	for _, path := range []string{"", ".", ":", "../bin", "none:."} {
		_, found := (&host{env: []string{"PATH=" + path}}).lookPath("rg")
		assert.False(t, found, path)
	}
	got, _ := (&host{env: []string{"PATH=/none", "PATH=.:" + m.path("bin")}}).lookPath("rg")
	assert.Equal(t, m.path("bin/rg"), got, "the last PATH counts")
}

func TestPackageFix(t *testing.T) {
	for _, c := range []struct {
		manager string
		euid    int
		want    string
	}{
		{"apt-get", 1000, "sudo apt-get install -y socat"},
		{"apt-get", 0, "proctor setup sandbox"},
		{"dnf", 1000, "sudo dnf install -y socat"},
		{"dnf", 0, "dnf install -y socat"},
		{"pacman", 1000, "sudo pacman -S --needed socat"},
		{"", 1000, "install with your system's package manager: socat"},
	} {
		m := newMachine(t)
		m.euid = c.euid
		if c.manager != "" {
			m.fake("bin", c.manager, "exit 1")
		}
		in, err := open(m.options())
		require.NoError(t, err)
		assert.Equal(t, c.want, in.packageFix(NeedSandbox, "socat"))
	}
}

// fakeApt installs the programs from a folder where the test put them. Its
// lists are empty or stale as files of these names say.
const (
	fakeApt = `
while [ "$1" = -o ]; do shift 2; done
case $1 in
update) rm -f "$DIR/lists-empty" "$DIR/lists-stale";;
install)
	[ "$DEBIAN_FRONTEND" = noninteractive ] || exit 2
	if [ -f "$DIR/lists-empty" ] || [ -f "$DIR/lists-stale" ]; then echo "E: 404 Not Found"; exit 100; fi
	cp -P "$DIR"/packages/* "$DIR/bin/";;
esac`
	fakeAptCache = `[ ! -f "$DIR/lists-empty" ] || exit 100`
)

func TestAptAsRoot(t *testing.T) {
	const options = "apt-get -o DPkg::Lock::Timeout=120 "
	const install = options + "install -y --no-install-recommends bubblewrap ripgrep"
	for _, c := range []struct {
		name  string
		state string // of apt's lists
		want  []string
	}{
		{"lists are fine", "", []string{install}},
		{"lists are empty", "lists-empty", []string{options + "update", install}},
		{"lists are stale", "lists-stale", []string{install, options + "update", install}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t).complete()
			m.euid = 0
			m.fake("bin", "apt-get", fakeApt)
			m.fake("bin", "apt-cache", fakeAptCache)
			require.NoError(t, mkdirs(m.path("packages")))
			m.remove("bin/bwrap", "bin/rg")
			m.fake("packages", "bwrap", fakeBwrap)
			m.fake("packages", "rg", `echo "ripgrep 13.0.0"`)
			if c.state != "" {
				m.write(c.state, "")
			}
			tools, err := Install(t.Context(), m.options(), NeedSandbox)
			require.NoError(t, err)
			assert.Equal(t, "13.0.0", tools.ByName[Ripgrep].Version)
			assert.Equal(t, c.want, m.ran("apt-get"))

			_, err = Install(t.Context(), m.options(), NeedSandbox)
			require.NoError(t, err)
			assert.Len(t, m.ran("apt-get"), len(c.want), "nothing was to be done")
		})
	}
}

func TestAptFails(t *testing.T) {
	m := newMachine(t).complete()
	m.euid = 0
	m.remove("bin/socat")
	m.fake("bin", "apt-get", "echo E: no network; exit 100")
	_, err := Install(t.Context(), m.options(), NeedSandbox)
	require.Error(t, err)
	assert.False(t, errors.As(err, new(*MissingError)))
	assert.ErrorContains(t, err, "installing socat: apt-get -o DPkg::Lock::Timeout=120 update: exit status 100; it printed last:\n    E: no network")
}

func TestPlatform(t *testing.T) {
	for _, c := range []struct{ goos, arch, loader, want string }{
		{"linux", "amd64", "lib64/ld-linux-x86-64.so.2", "linux-x64"},
		{"linux", "arm64", "lib/ld-linux-aarch64.so.1", "linux-arm64"},
		{"linux", "amd64", "lib/ld-musl-x86_64.so.1", "linux-x64-musl"},
		{"darwin", "arm64", "", "darwin-arm64"},
		{"windows", "amd64", "", "win32-x64"},
	} {
		m := newMachine(t)
		if c.loader != "" {
			m.write("root/"+c.loader, "")
		}
		h := &host{goos: c.goos, goarch: c.arch, root: m.path("root")}
		assert.Equal(t, c.want, h.platform())
	}
	m := newMachine(t)
	m.write("root/lib/ld-musl-x86_64.so.1", "")
	m.write("root/lib64/ld-linux-x86-64.so.2", "")
	assert.Equal(t, "linux-x64", (&host{goos: "linux", goarch: "amd64", root: m.path("root")}).platform(), "musl beside glibc is a guest")
}
