//go:build linux

package grade

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/workspace"
)

// A submission that cannot be graded as it is fails, and nothing of it runs.
func TestInvalidSubmission(t *testing.T) {
	for name, tt := range map[string]struct {
		editable []string
		make     func(t *testing.T, dir string)
		want     string // "" is valid
	}{
		"a link in an editable folder": {[]string{"src"}, func(t *testing.T, dir string) {
			require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "src/x.rs")))
		}, `"src/x.rs" is a symbolic link`},
		"the editable file is a link": {[]string{"src/lib.rs"}, func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "src/lib.rs")))
			require.NoError(t, os.Symlink("other.rs", filepath.Join(dir, "src/lib.rs")))
		}, `"src/lib.rs" is a symbolic link`},
		"the folder above is a link": {[]string{"src/lib.rs"}, func(t *testing.T, dir string) {
			require.NoError(t, os.RemoveAll(filepath.Join(dir, "src")))
			require.NoError(t, os.Symlink("tests", filepath.Join(dir, "src")))
		}, `"src" is a symbolic link`},
		"the folder above is a file": {[]string{"src/deep/lib.rs"}, func(t *testing.T, dir string) {
			require.NoError(t, os.RemoveAll(filepath.Join(dir, "src")))
			write(t, dir, map[string]string{"src": "a file"})
		}, `"src" is not a folder`},
		"a FIFO": {[]string{"src"}, func(t *testing.T, dir string) { require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "src/f"), 0o644)) }, `"src/f" is a FIFO`},
		"a link in the middle of a path": {[]string{"src/a/b"}, func(t *testing.T, dir string) {
			require.NoError(t, os.Symlink("../tests", filepath.Join(dir, "src/a")))
		}, `"src/a" is a symbolic link`},
		"a hard link": {[]string{"src"}, func(t *testing.T, dir string) {
			require.NoError(t, os.Link(filepath.Join(dir, "Cargo.toml"), filepath.Join(dir, "src/h.rs")))
		}, `"src/h.rs" is a file with more than one hard link`},
		"a socket": {[]string{"src"}, func(t *testing.T, dir string) {
			fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
			require.NoError(t, err)
			defer syscall.Close(fd)
			t.Chdir(filepath.Join(dir, "src")) // a socket's path holds 107 bytes
			require.NoError(t, syscall.Bind(fd, &syscall.SockaddrUnix{Name: "s"}))
		}, `"src/s" is a socket`},
		"a device": {[]string{"src"}, func(t *testing.T, dir string) {
			if os.Geteuid() != 0 {
				t.Skip("only root makes devices")
			}
			require.NoError(t, syscall.Mknod(filepath.Join(dir, "src/d"), syscall.S_IFCHR|0o666, 1<<8|3))
		}, `"src/d" is a device`},
		"a set-user-ID bit": {[]string{"src"}, func(t *testing.T, dir string) {
			require.NoError(t, os.Chmod(filepath.Join(dir, "src/lib.rs"), 0o755|os.ModeSetuid))
		}, `"src/lib.rs" is a file with the set-user-ID`},
		"a path that is too long": {[]string{"src"}, func(t *testing.T, dir string) {
			long := filepath.Join(dir, "src", strings.Repeat(strings.Repeat("d", 200)+"/", 6))
			require.NoError(t, os.MkdirAll(long, 0o755))
		}, `is too long a path`},
		"folders nested too deeply": {[]string{"src"}, func(t *testing.T, dir string) {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "src", strings.Repeat("d/", 80)), 0o755))
		}, `is nested too deeply`},
		"a name that is no UTF-8": {[]string{"src"}, func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"src/caf\xe9.rs": "x"})
		}, ""},
		"a name of two lines": {[]string{"src"}, func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"src/a\nsrc/b\x1b[31m.rs": "x"})
		}, ""},
		"a set-user-ID bit elsewhere": {[]string{"src"}, func(t *testing.T, dir string) {
			require.NoError(t, os.Chmod(filepath.Join(dir, "Cargo.toml"), 0o755|os.ModeSetuid))
		}, ""},
		"a link elsewhere": {[]string{"src"}, func(t *testing.T, dir string) {
			require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "link")))
		}, ""},
		"a link beside a like name": {[]string{"src"}, func(t *testing.T, dir string) {
			require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "src2")))
		}, ""},
		"the editable folder is gone": {[]string{"src"}, func(t *testing.T, dir string) { require.NoError(t, os.RemoveAll(filepath.Join(dir, "src"))) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := newInput(t, nil)
			in.Task.Editable = tt.editable
			run := &workspace.Run{Dir: t.TempDir()}
			require.NoError(t, os.Rename(in.Submission.Dir, run.Path("project")))
			tt.make(t, run.Path("project"))
			var err error
			in.Submission, err = run.Capture(filepath.Join(t.TempDir(), "submission"))
			require.NoError(t, err)
			if tt.want == "" {
				assert.Empty(t, invalid(in.Submission, in.Task.Editable))
				// It can be copied to be graded.
				c, err := (&grading{Input: in}).copy()
				require.NoError(t, err)
				c.remove()
				return
			}
			in.OnStep = func(step string) { assert.Fail(t, "nothing may run", step) }
			got := Code(t.Context(), in)
			require.Empty(t, got.InfrastructureError)
			assert.Contains(t, strings.Join(got.InvalidSubmission, "\n"), tt.want)
			assert.Equal(t, result.Fail, got.Overall)
			assert.Equal(t, result.Skipped, got.Build)
		})
	}
}

func TestGradingCopy(t *testing.T) {
	for name, tt := range map[string]struct {
		editable []string
		changes  map[string]string
		want     map[string]string // below project; "-" is absent
	}{
		"a folder, replaced exactly": {[]string{"src"}, map[string]string{"src/lib.rs": "mine", "src/unused.rs": "-", "src/new/deep.rs": "new", "README": "mine", "Cargo.toml": "mine"},
			map[string]string{"src/lib.rs": "mine", "src/unused.rs": "-", "src/new/deep.rs": "new", "README": "-", "Cargo.toml": starterFiles()["Cargo.toml"], "tests/existing.rs": "#[test]\nfn there() {}\n"}},
		"the whole project": {[]string{"."}, map[string]string{"src/lib.rs": "mine", "tests/existing.rs": "-", "README": "mine"},
			map[string]string{"src/lib.rs": "mine", "tests/existing.rs": "-", "README": "mine", "src/unused.rs": "not even Rust"}},
		"one file": {[]string{"src/lib.rs"}, map[string]string{"src/lib.rs": "mine", "src/unused.rs": "mine", "src/new.rs": "new"},
			map[string]string{"src/lib.rs": "mine", "src/unused.rs": "not even Rust", "src/new.rs": "-"}},
		"a deleted file":             {[]string{"src/lib.rs"}, map[string]string{"src/lib.rs": "-"}, map[string]string{"src/lib.rs": "-", "src/unused.rs": "not even Rust"}},
		"a file in a folder's place": {[]string{"src"}, map[string]string{"src/lib.rs": "-", "src/unused.rs": "-", "src": "a file"}, map[string]string{"src": "a file"}},
		"a folder in a file's place": {[]string{"src/lib.rs"}, map[string]string{"src/lib.rs": "-", "src/lib.rs/x": "in it"}, map[string]string{"src/lib.rs/x": "in it"}},
		"new and deep":               {[]string{"a/b/c.rs"}, map[string]string{"a/b/c.rs": "new", "a/b/d.rs": "not editable"}, map[string]string{"a/b/c.rs": "new", "a/b/d.rs": "-"}},
		"not there on either side":   {[]string{"nowhere/x"}, nil, map[string]string{"nowhere/x": "-"}},
		"a like name":                {[]string{"src"}, map[string]string{"src2/x": "mine", "src.rs": "mine"}, map[string]string{"src2/x": "-", "src.rs": "-"}},
	} {
		t.Run(name, func(t *testing.T) {
			in := newInput(t, tt.changes)
			in.Task.Editable = tt.editable
			g := &grading{Input: in}
			c, err := g.copy()
			require.NoError(t, err)
			defer c.remove()
			for rel, want := range tt.want {
				data, err := os.ReadFile(c.path("project", rel))
				if want == "-" {
					assert.Error(t, err, rel)
					continue
				}
				require.NoError(t, err)
				assert.Equal(t, want, string(data), rel)
			}
			info, err := os.Lstat(c.path("fixtures/base/src/lib.rs"))
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o444), info.Mode())
		})
	}
}

// While a check is compiled, neither it nor what Cargo obeys can be written; where the submission may bring
// a build script, nothing of the project can.
func TestGradingPolicy(t *testing.T) {
	c := &gradingCopy{dir: "/copy"}
	outside := []string{"/copy/home", "/copy/cargo-home", "/copy/tmp", "/copy/target"}
	all := append([]string{"/copy/project"}, outside...)
	for project, want := range map[access]struct{ write, deny []string }{
		writesAll: {all, nil}, keepsChecks: {all, []string{"/copy/project/tests", "/copy/project/.cargo", "/copy/project/Cargo.toml"}}, writesNothing: {outside, nil},
	} {
		p := c.policy([]string{"/denied"}, workspace.Readable{}, project)
		assert.Equal(t, want.write, p.AllowWrite, project)
		assert.Equal(t, want.deny, p.DenyWrite, project)
		assert.Equal(t, []string{"/denied"}, p.DenyRead)
		assert.Subset(t, p.AllowRead, append([]string{"/copy/project", "/copy/fixtures", "/copy/bin"}, outside...))
	}
}

// A check takes its place whatever the submission put there.
func TestAddCheck(t *testing.T) {
	for name, tests := range map[string]map[string]string{
		"nothing there": {}, "a file of the name": {"tests/c.rs": "mine"}, "a target folder of the name": {"tests/c/main.rs": "mine"}, "both": {"tests/c.rs": "mine", "tests/c/main.rs": "mine"},
		"a folder in its place": {"tests/c.rs/x": "mine"}, "tests is a file": {"tests": "mine"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c := &gradingCopy{dir: dir}
			write(t, filepath.Join(dir, "project"), map[string]string{"src/lib.rs": ""})
			write(t, filepath.Join(dir, "project"), tests)
			file, err := c.addCheck("c", valueCheck)
			require.NoError(t, err)
			assert.Equal(t, c.path("project/tests/c.rs"), file)
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, valueCheck, string(data))
			assert.NoDirExists(t, c.path("project/tests/c"))
		})
	}
}

func TestRustsOwn(t *testing.T) {
	for file, want := range map[string]string{
		"debug/deps/libstd-0a.rlib": "std", "x86_64-unknown-linux-gnu/debug/deps/libtest-0a.rmeta": "test", "release/deps/libcore-1.so": "core",
		"debug/deps/libtests-0a.rlib": "", "debug/deps/test-0a": "", "debug/build/libstd-0a": "", "debug/deps/libstd_like-0a.rlib": "",
	} {
		c := &gradingCopy{dir: write(t, t.TempDir(), map[string]string{"target/" + file: ""})}
		assert.Equal(t, want, c.rustsOwn(), file)
	}
}
