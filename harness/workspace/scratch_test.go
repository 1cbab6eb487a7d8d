//go:build unix

package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func openScratch(t *testing.T) *Scratch {
	t.Helper()
	s, err := OpenScratch(filepath.Join(t.TempDir(), "scratch"))
	require.NoError(t, err)
	return s
}

func newBatch(t *testing.T) *Batch {
	t.Helper()
	b, err := openScratch(t).NewBatch()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, b.Close()) })
	return b
}

// write makes files below dir, by slash path.
func write(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	for rel, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(rel))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	return dir
}

func TestScratchIsPrivate(t *testing.T) {
	s := openScratch(t)
	for _, dir := range []string{s.Dir, s.PrivateTmp} {
		info, err := os.Lstat(dir)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o700), info.Mode().Perm(), dir)
	}
	assert.Less(t, len(s.PrivateTmp), 40, "sockets' paths must fit below it")
	_, err := OpenScratch(s.Dir)
	require.NoError(t, err, "a second run uses the same scratch")
}

func TestScratchThatOthersCouldEnter(t *testing.T) {
	tests := map[string]struct {
		make func(t *testing.T, dir string)
		want string // "" is accepted
	}{
		"empty and open": {func(t *testing.T, dir string) { require.NoError(t, os.Mkdir(dir, 0o755)) }, ""},
		"empty and world-writable": {func(t *testing.T, dir string) {
			require.NoError(t, os.Mkdir(dir, 0o755))
			require.NoError(t, os.Chmod(dir, 0o1777))
		}, ""},
		// PROCTOR_SCRATCH=/tmp as root must not close /tmp to everybody.
		"in use and open": {func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"someone/else": "x"})
			require.NoError(t, os.Chmod(dir, 0o1777))
		}, "open to other users"},
		"in use and private": {func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"mine": "x"})
			require.NoError(t, os.Chmod(dir, 0o700))
		}, ""},
		"a link": {func(t *testing.T, dir string) { require.NoError(t, os.Symlink(t.TempDir(), dir)) }, "not a folder"},
		"a file": {func(t *testing.T, dir string) { require.NoError(t, os.WriteFile(dir, nil, 0o600)) }, "not a folder"},
	}
	if os.Geteuid() == 0 { // only root can make another user's folder
		tests["another user's"] = struct {
			make func(t *testing.T, dir string)
			want string
		}{func(t *testing.T, dir string) {
			require.NoError(t, os.Mkdir(dir, 0o700))
			require.NoError(t, os.Chown(dir, 12345, 12345))
		}, "another user"}
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "scratch")
			tt.make(t, dir)
			before, err := os.Lstat(dir)
			require.NoError(t, err)
			_, err = OpenScratch(dir)
			after, lerr := os.Lstat(dir)
			require.NoError(t, lerr)
			if tt.want == "" {
				require.NoError(t, err)
				assert.Equal(t, os.FileMode(0o700), after.Mode().Perm())
				return
			}
			require.ErrorContains(t, err, tt.want)
			assert.ErrorContains(t, err, dir)
			assert.ErrorContains(t, err, "PROCTOR_SCRATCH")
			assert.Equal(t, before.Mode(), after.Mode(), "what is refused is left alone")
		})
	}
}

func TestNamesTellNothing(t *testing.T) {
	b := newBatch(t)
	starter := write(t, t.TempDir(), map[string]string{"a": "1"})
	neutral := regexp.MustCompile(`^[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for _, plugins := range []map[string]string{nil, {}, nil, {}} {
		r, err := b.NewRun(Layout{Starter: starter, Plugins: plugins})
		require.NoError(t, err)
		assert.Regexp(t, neutral, filepath.Base(r.Dir))
		seen[r.Dir] = true
	}
	assert.Len(t, seen, 4)
}

func TestSweepRemovesDeadBatchesOnly(t *testing.T) {
	s := openScratch(t)
	alive, err := s.NewBatch()
	require.NoError(t, err)
	defer alive.Close()
	dead, err := s.NewBatch()
	require.NoError(t, err)
	dead.release() // as the runner's death does
	write(t, dead.Dir, map[string]string{"run/project/f": "x"})
	require.NoError(t, os.Chmod(filepath.Join(dead.Dir, "run", "project"), 0o555))
	write(t, s.Dir, map[string]string{"keep/f": "not a batch", "store/new-old": "", "store/new-recent": ""})
	old := time.Now().Add(-48 * time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(s.Dir, "store", "new-old"), old, old))

	_, err = OpenScratch(s.Dir)
	require.NoError(t, err)
	assert.DirExists(t, alive.Dir)
	assert.NoDirExists(t, dead.Dir)
	assert.FileExists(t, filepath.Join(s.Dir, "keep", "f"))
	assert.NoFileExists(t, filepath.Join(s.Dir, "store", "new-old"))
	assert.FileExists(t, filepath.Join(s.Dir, "store", "new-recent"), "another runner may be writing it")
}

// Batches that are being made while others open the scratch are not taken for dead.
func TestBatchesAndSweepsSideBySide(t *testing.T) {
	s := openScratch(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				b, err := s.NewBatch()
				if !assert.NoError(t, err) {
					return
				}
				assert.DirExists(t, b.Tools(Symposium))
				assert.NoError(t, b.Close())
			}
		})
		wg.Go(func() {
			for range 20 {
				_, err := OpenScratch(s.Dir)
				assert.NoError(t, err)
			}
		})
	}
	wg.Wait()
	left, err := filepath.Glob(filepath.Join(s.Dir, "b-*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestStage(t *testing.T) {
	s := openScratch(t)
	content := "#!/bin/sh\necho staged\n"
	sum := sha256.Sum256([]byte(content))
	want := hex.EncodeToString(sum[:])
	src := filepath.Join(write(t, t.TempDir(), map[string]string{"tool": content}), "tool")

	var paths [6]string
	var wg sync.WaitGroup
	for i := range paths {
		b, err := s.NewBatch()
		require.NoError(t, err)
		defer b.Close()
		wg.Go(func() {
			var err error
			paths[i], err = b.Stage(Common, "tool", src, want)
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	for _, p := range paths {
		info, err := os.Lstat(p)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o555), info.Mode(), "a regular file, closed to writing, not a link")
		data, err := os.ReadFile(p)
		require.NoError(t, err)
		assert.Equal(t, content, string(data))
	}
	left, err := filepath.Glob(filepath.Join(s.Dir, "store", "*"))
	require.NoError(t, err)
	assert.Equal(t, []string{filepath.Join(s.Dir, "store", want)}, left)

	t.Run("a batch more is a hard link", func(t *testing.T) {
		b, err := s.NewBatch()
		require.NoError(t, err)
		defer b.Close()
		p, err := b.Stage(Symposium, "cargo-agents", src, want)
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(b.Tools(Symposium), "cargo-agents"), p)
		a, err := os.Stat(p)
		require.NoError(t, err)
		stored, err := os.Stat(left[0])
		require.NoError(t, err)
		assert.True(t, os.SameFile(a, stored))
	})
	t.Run("other content than expected", func(t *testing.T) {
		b, err := s.NewBatch()
		require.NoError(t, err)
		defer b.Close()
		other := hex.EncodeToString(make([]byte, 32))
		_, err = b.Stage(Common, "tool", src, other)
		require.ErrorContains(t, err, "expected "+other)
		assert.ErrorContains(t, err, "proctor setup")
		assert.NoFileExists(t, filepath.Join(b.Tools(Common), "tool"))
		now, err := filepath.Glob(filepath.Join(s.Dir, "store", "*"))
		require.NoError(t, err)
		assert.Equal(t, left, now, "nothing of it stays")
		_, err = b.Stage(Common, "tool", src+"-missing", want)
		assert.ErrorContains(t, err, src+"-missing")
	})
	t.Run("a stored copy cut short is made anew", func(t *testing.T) {
		require.NoError(t, os.Remove(left[0]))
		require.NoError(t, os.WriteFile(left[0], []byte("#!"), 0o555))
		b, err := s.NewBatch()
		require.NoError(t, err)
		defer b.Close()
		p, err := b.Stage(Common, "tool", src, want)
		require.NoError(t, err)
		data, err := os.ReadFile(p)
		require.NoError(t, err)
		assert.Equal(t, content, string(data))
	})
	t.Run("so is one of the same size and mode, and it is told", func(t *testing.T) {
		before := s.Replaced()
		tampered := strings.Replace(content, "staged", "forged", 1)
		require.NoError(t, os.Chmod(left[0], 0o755))
		require.NoError(t, os.WriteFile(left[0], []byte(tampered), 0o755))
		require.NoError(t, os.Chmod(left[0], 0o555))
		for range 2 {
			b, err := s.NewBatch()
			require.NoError(t, err)
			defer b.Close()
			p, err := b.Stage(Common, "tool", src, want)
			require.NoError(t, err)
			data, err := os.ReadFile(p)
			require.NoError(t, err)
			assert.Equal(t, content, string(data))
		}
		told := s.Replaced()[len(before):]
		require.Len(t, told, 1, "once: the second time it is what it should be")
		assert.Contains(t, told[0], "the copy of tool in the scratch")
	})
	t.Run("exploratory trials have a store of their own", func(t *testing.T) {
		b, err := s.Apart().NewBatch()
		require.NoError(t, err)
		defer b.Close()
		p, err := b.Stage(Common, "tool", src, want)
		require.NoError(t, err)
		require.NoError(t, os.Chmod(p, 0o755))
		require.NoError(t, os.WriteFile(p, []byte("written by an agent"), 0o755))
		data, err := os.ReadFile(left[0])
		require.NoError(t, err)
		assert.Equal(t, content, string(data), "what it writes over is no file of an enforced trial")
	})
}

// TestStageStored: a package of many files costs a batch hard links, and no trial can write to it.
func TestStageStored(t *testing.T) {
	s := openScratch(t)
	src := write(t, t.TempDir(), map[string]string{"bin/tool": "#!/bin/sh\n", "unpacked/pkg/part": "a part"})
	require.NoError(t, os.Chmod(filepath.Join(src, "bin/tool"), 0o755))
	sum := strings.Repeat("a", 64)
	var dirs [2]string
	var wg sync.WaitGroup
	for i := range dirs {
		b, err := s.NewBatch()
		require.NoError(t, err)
		wg.Go(func() {
			var err error
			dirs[i], err = b.StageStored(Common, "tool-package", src, sum)
			assert.NoError(t, err)
			assert.Equal(t, filepath.Join(b.Tools(Common), "tool-package"), dirs[i])
		})
		defer func() {
			require.NoError(t, b.Close())
			assert.NoDirExists(t, dirs[i])
			data, err := os.ReadFile(filepath.Join(s.Dir, "store", "tool-package-"+sum, "unpacked/pkg/part"))
			require.NoError(t, err, "the store outlives the batch")
			assert.Equal(t, "a part", string(data))
		}()
	}
	wg.Wait()
	for rel, mode := range map[string]os.FileMode{"bin/tool": 0o555, "unpacked/pkg/part": 0o444} {
		one, err := os.Lstat(filepath.Join(dirs[0], rel))
		require.NoError(t, err)
		two, err := os.Lstat(filepath.Join(dirs[1], rel))
		require.NoError(t, err)
		assert.True(t, os.SameFile(one, two), rel)
		assert.Equal(t, mode, one.Mode(), rel)
	}
	stored := filepath.Join(s.Dir, "store", "tool-package-"+sum)
	for name, tamper := range map[string]func(){
		"a file of the same size": func() {
			require.NoError(t, os.Chmod(filepath.Join(stored, "unpacked/pkg/part"), 0o644))
			require.NoError(t, os.WriteFile(filepath.Join(stored, "unpacked/pkg/part"), []byte("a tarp"), 0o444))
		},
		"a file more": func() {
			require.NoError(t, os.Chmod(filepath.Join(stored, "bin"), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(stored, "bin/more"), nil, 0o444))
		},
		"a link": func() {
			require.NoError(t, os.Chmod(filepath.Join(stored, "bin"), 0o755))
			require.NoError(t, os.Symlink("/bin/sh", filepath.Join(stored, "bin/link")))
		},
	} {
		before := len(s.Replaced())
		tamper()
		b, err := s.NewBatch()
		require.NoError(t, err)
		dir, err := b.StageStored(Common, "tool-package", src, sum)
		require.NoError(t, err)
		data, err := os.ReadFile(filepath.Join(dir, "unpacked/pkg/part"))
		require.NoError(t, err)
		assert.Equal(t, "a part", string(data), name)
		entries, err := os.ReadDir(filepath.Join(dir, "bin"))
		require.NoError(t, err)
		assert.Len(t, entries, 1, name)
		assert.Len(t, s.Replaced(), before+1, name)
		for _, d := range []string{dir, filepath.Join(dir, "unpacked/pkg"), stored, filepath.Join(stored, "bin")} {
			info, err := os.Lstat(d)
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o555), info.Mode().Perm(), d)
		}
		require.NoError(t, b.Close())
	}
	b, err := s.NewBatch()
	require.NoError(t, err)
	_, err = b.StageStored(Common, "other", filepath.Join(src, "missing"), sum)
	require.ErrorContains(t, err, "stage other")
	require.NoError(t, b.Close())
	left, err := filepath.Glob(filepath.Join(s.Dir, "store", "new-*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestNewRunLayout(t *testing.T) {
	b := newBatch(t)
	src := write(t, t.TempDir(), map[string]string{
		"starter/src/lib.rs": "fn a() {}", "starter/Cargo.toml": "[package]",
		"fixture/src/lib.rs": "fn f() {}", "plugin/skills/s/SKILL.md": "---", "tool": "bin",
	})
	r, err := b.NewRun(Layout{
		Starter: filepath.Join(src, "starter"), Fixtures: map[string]string{"fx": filepath.Join(src, "fixture")},
		Plugins: map[string]string{"pl": filepath.Join(src, "plugin")}, Links: map[string]string{"claude": filepath.Join(src, "tool")},
		EmptyDirs: []string{".claude/skills"},
	})
	require.NoError(t, err)
	require.NoError(t, r.FillHome(map[string][]byte{".claude/settings.json": []byte("{}")}, map[string]string{".cache/x": "/tools/x"}))
	link, err := os.Readlink(r.Path("home/.cache/x"))
	require.NoError(t, err)
	assert.Equal(t, "/tools/x", link)
	assert.True(t, r.HasRegistry)
	for _, dir := range []string{"home", "project", "fixtures", "bin", "cargo-home", "tmp", "evidence", "registry", "project/.claude/skills"} {
		assert.DirExists(t, r.Path(dir))
	}
	for _, f := range []string{"project/src/lib.rs", "fixtures/fx/src/lib.rs", "registry/pl/skills/s/SKILL.md", "home/.claude/settings.json"} {
		assert.FileExists(t, r.Path(f))
	}
	for f, mode := range map[string]os.FileMode{"fixtures/fx": 0o555, "fixtures/fx/src": 0o555, "fixtures/fx/src/lib.rs": 0o444, "project/src/lib.rs": 0o644, "home/.claude/settings.json": 0o600} {
		info, err := os.Lstat(r.Path(f))
		require.NoError(t, err)
		assert.Equal(t, mode, info.Mode().Perm(), f)
	}
	target, err := os.Readlink(r.Path("bin", "claude"))
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(src, "tool"), target)
	require.NoError(t, r.Remove(), "read-only fixtures do not hinder it")
	assert.NoDirExists(t, r.Dir)

	bare, err := b.NewRun(Layout{Starter: filepath.Join(src, "starter")})
	require.NoError(t, err)
	assert.False(t, bare.HasRegistry)
	assert.NoDirExists(t, bare.Path("registry"))

	for what, l := range map[string]Layout{
		"starter":   {Starter: filepath.Join(src, "none")},
		"fixture x": {Starter: filepath.Join(src, "starter"), Fixtures: map[string]string{"x": filepath.Join(src, "none")}},
		"plugin y":  {Starter: filepath.Join(src, "starter"), Plugins: map[string]string{"y": filepath.Join(src, "none")}},
	} {
		_, err := b.NewRun(l)
		assert.ErrorContains(t, err, what)
	}
}

func TestEnv(t *testing.T) {
	r := &Run{Dir: "/s/b/r"}
	assert.Equal(t, map[string]string{
		"HOME": "/s/b/r/home", "PATH": "/s/b/r/bin:/tc/bin:/usr/bin:/bin", "TMPDIR": "/s/b/r/tmp", "CARGO_HOME": "/s/b/r/cargo-home",
		"EVAL_EVIDENCE_DIR": "/s/b/r/evidence", "SYMPOSIUM_HOOK_TRACE": "/s/b/r/evidence/hook-trace.jsonl",
	}, r.Env("/tc/bin"))
}

// special makes what a project may hold besides files and folders.
func special(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "link")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644))
}
