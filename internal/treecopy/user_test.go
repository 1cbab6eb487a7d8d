//go:build unix

package treecopy

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestUser runs this package's tests once more as an ordinary user when they run
// as root, since root may read everything.
func TestUser(t *testing.T) {
	if os.Geteuid() != 0 {
		asOrdinaryUser(t)
		return
	}
	const nobody = 65534
	dir, err := os.MkdirTemp("", "treecopy-user-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, Remove(dir)) })
	require.NoError(t, os.Chown(dir, nobody, nobody))
	// The test binary lies in a folder only root may enter.
	exe := filepath.Join(dir, "treecopy.test")
	in, err := os.Open("/proc/self/exe")
	if err != nil {
		self, err := os.Executable()
		require.NoError(t, err)
		in, err = os.Open(self)
		require.NoError(t, err)
	}
	defer in.Close()
	out, err := os.OpenFile(exe, os.O_CREATE|os.O_WRONLY, 0o755)
	require.NoError(t, err)
	_, err = io.Copy(out, in)
	require.NoError(t, err)
	require.NoError(t, out.Close())

	cmd := exec.Command(exe, "-test.v", "-test.run=^(TestUser|TestCopy.*|TestReadFile.*|TestRemove|TestDiff|TestHash.*)$")
	cmd.Dir = dir
	cmd.Env = []string{"TMPDIR=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, "as user %d:\n%s", nobody, output)
	assert.Contains(t, string(output), "--- PASS: TestUser", "it ran as that user")
	assert.Contains(t, string(output), "--- PASS: TestCopyHostile/file_of_mode_000")
}

// asOrdinaryUser is what differs for a user whom permissions bind.
func asOrdinaryUser(t *testing.T) {
	for _, h := range hostile {
		if h.wantContent == "" {
			continue
		}
		src := tree(t, map[string]string{"good": "good"})
		h.make(t, src, filepath.Join(src, "bad"))
		_, err := os.ReadFile(filepath.Join(src, "bad"))
		require.ErrorIs(t, err, os.ErrPermission, "the test's premise: %s", h.name)

		var bad *TreeError
		_, err = Copy(filepath.Join(t.TempDir(), "dst"), src, CopyOptions{})
		require.ErrorAs(t, err, &bad, "a trusted tree is not made readable")
		assert.Equal(t, []Entry{{"bad", Unreadable}}, bad.Entries)
		_, err = Hash(src, Options{})
		assert.ErrorAs(t, err, &bad)
		var entry *EntryError
		_, _, err = ReadFile(src, "bad", 10)
		require.ErrorAs(t, err, &entry)
		assert.Equal(t, Unreadable, entry.Kind)

		d, err := Diff(src, src, Options{})
		require.NoError(t, err)
		assert.Equal(t, Difference{Changed: []string{"bad"}, Incomplete: true}, d, "what cannot be compared counts as changed")
	}
	src := tree(t, map[string]string{"d/f": "x"})
	require.NoError(t, os.Chmod(filepath.Join(src, "d"), 0))
	var bad *TreeError
	_, err := Copy(filepath.Join(t.TempDir(), "dst"), src, CopyOptions{})
	require.ErrorAs(t, err, &bad)
	assert.Equal(t, []Entry{{"d", Unreadable}}, bad.Entries)

	// A tree of another user, here root's, cannot be made readable: it is skipped.
	if info, err := os.Lstat("/etc/shadow"); err == nil && info.Mode().Perm()&0o004 == 0 {
		rep, err := Copy(filepath.Join(t.TempDir(), "dst"), "/etc", CopyOptions{Options: Options{Untrusted: true, Ignore: func(rel string) bool { return rel != "shadow" }}})
		require.NoError(t, err)
		assert.Equal(t, []Entry{{"shadow", Unreadable}}, rep.Skipped)
	}
}
