//go:build unix

package setup

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A stub that runs nothing does not hide the browser that does.
func TestBrowserBehindAStub(t *testing.T) {
	m := newMachine(t).complete()
	m.remove("bin/chromium")
	m.fake("bin", "chromium", "echo install the snap; exit 10")
	m.fake("bin", "google-chrome", `echo "Google Chrome 151.0.1.2"`)
	tools, err := Locate(t.Context(), m.options(), NeedBrowser)
	require.NoError(t, err)
	assert.Equal(t, "151.0.1.2", tools.ByName[Browser].Version)
	assert.Equal(t, m.path("bin/fake-google-chrome"), tools.ByName[Browser].Path)
}

// As root on a system with apt, set-up installs Chromium itself, once, and for this need alone.
func TestBrowserByAptAsRoot(t *testing.T) {
	m := newMachine(t).complete()
	m.euid = 0
	m.fake("bin", "apt-get", fakeApt)
	m.fake("bin", "apt-cache", fakeAptCache)
	require.NoError(t, mkdirs(m.path("packages")))
	m.remove("bin/chromium")
	m.fake("packages", "chromium", `echo "Chromium 150.0.1.2"`)
	_, err := Install(t.Context(), m.options(), NeedSandbox)
	require.NoError(t, err)
	assert.Empty(t, m.ran("apt-get"))
	for range 2 {
		tools, err := Install(t.Context(), m.options(), NeedBrowser)
		require.NoError(t, err)
		assert.Equal(t, "150.0.1.2", tools.ByName[Browser].Version)
	}
	assert.Equal(t, []string{"apt-get -o DPkg::Lock::Timeout=120 install -y --no-install-recommends chromium"}, m.ran("apt-get"))
}
