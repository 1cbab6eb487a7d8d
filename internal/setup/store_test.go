package setup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func mkdirs(dir string) error { return os.MkdirAll(dir, 0o755) }

func hexOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func TestHashesAreRemembered(t *testing.T) {
	dir := t.TempDir()
	file, store := filepath.Join(dir, "tool"), filepath.Join(dir, "hashes.json")
	then := time.Unix(1_700_000_000, 0)
	put := func(content string, at time.Time) {
		require.NoError(t, os.WriteFile(file, []byte(content), 0o644))
		require.NoError(t, os.Chtimes(file, at, at))
	}
	sum := func() string {
		h := loadHashes(store)
		s, err := h.file("tool", file)
		require.NoError(t, err)
		h.save()
		return s
	}
	put("one", then)
	assert.Equal(t, hexOf("one"), sum())
	// Same size, time and inode: not read again. This is what makes a second
	// set-up fast, and it shows that the stored value is used.
	put("two", then)
	assert.Equal(t, hexOf("one"), sum())
	put("two", then.Add(1))
	assert.Equal(t, hexOf("two"), sum())
	put("three", then.Add(1))
	assert.Equal(t, hexOf("three"), sum())

	require.NoError(t, os.WriteFile(store, []byte("{broken"), 0o644))
	assert.Equal(t, hexOf("three"), sum(), "a broken store is an empty one")
	_, err := loadHashes(store).file("x", dir)
	assert.ErrorContains(t, err, "is not a regular file")
	_, err = loadHashes(store).file("x", filepath.Join(dir, "none"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestTreeHash(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, mkdirs(filepath.Join(dir, "pkgs", "a")))
	for name, content := range map[string]string{"a/x": "1", "a-b": "2", "z": "3"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "pkgs", name), []byte(content), 0o644))
	}
	require.NoError(t, os.Symlink("../outside", filepath.Join(dir, "pkgs", "l")))
	got, err := loadHashes(filepath.Join(dir, "none")).tree(dir, "pkgs")
	require.NoError(t, err)
	// As sha256sum(1) lists it, in the order of the paths' bytes.
	assert.Equal(t, hexOf(hexOf("2")+"  a-b\n"+hexOf("1")+"  a/x\n"+"link:../outside  l\n"+hexOf("3")+"  z\n"), got)
}

func TestLink(t *testing.T) {
	dir := t.TempDir()
	tool := Tool{Name: "claude", Path: filepath.Join(dir, "one")}
	require.NoError(t, link(dir, tool))
	tool.Path = filepath.Join(dir, "two")
	require.NoError(t, link(dir, tool))
	require.NoError(t, link(dir, tool))
	target, err := os.Readlink(filepath.Join(dir, ".tools", "claude"))
	require.NoError(t, err)
	assert.Equal(t, tool.Path, target)

	own := filepath.Join(dir, ".tools", "srt")
	require.NoError(t, os.WriteFile(own, []byte("mine"), 0o644))
	assert.ErrorContains(t, link(dir, Tool{Name: "srt", Path: "/x"}), own+" is in the way and not a link")
	b, err := os.ReadFile(own)
	require.NoError(t, err)
	assert.Equal(t, "mine", string(b), "the user's file is untouched")
}

func FuzzParseRecord(f *testing.F) {
	b, _ := json.Marshal(record{SchemaVersion: 1, Name: "srt", Version: SRTVersion, SHA256: strings.Repeat("a", 64)})
	f.Add(b)
	f.Add([]byte(`{"schema_version":2}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := parseRecord(b); err == nil && (r.SchemaVersion != 1 || len(r.SHA256) != 64) {
			t.Fatalf("accepted %+v", r)
		}
	})
}

func FuzzParseHashes(f *testing.F) {
	f.Add([]byte(`{"schema_version":1,"files":{"a":{"size":1,"mtime_ns":2,"inode":3,"sha256":"x"}}}`))
	f.Add([]byte(`{"schema_version":1,"files":null}`))
	dir := f.TempDir()
	file := filepath.Join(dir, "a")
	require.NoError(f, os.WriteFile(file, []byte("content"), 0o644))
	want := hexOf("content")
	f.Fuzz(func(t *testing.T, b []byte) {
		h := &hashes{files: parseHashes(b)}
		if h.files == nil {
			return
		}
		// Whatever is stored, an answer has the form of a hash.
		if got, err := h.file("a", file); err != nil || len(got) != len(want) {
			t.Fatalf("%q, %v", got, err)
		}
	})
}

func TestOutput(t *testing.T) {
	var lines []string
	o := &output{line: func(s string) { lines = append(lines, s) }}
	for _, chunk := range []string{"one\ntw", "o\rthree", "\n", strings.Repeat("x", 3*lineSize), "\nend"} {
		n, err := o.Write([]byte(chunk))
		require.NoError(t, err)
		assert.Equal(t, len(chunk), n)
	}
	assert.Equal(t, []string{"one", "two", "three", strings.Repeat("x", lineSize)}, lines)

	o = &output{}
	for range 10 * tailSize {
		_, _ = o.Write([]byte("line\n"))
	}
	_, _ = o.Write([]byte("\x1b]0;title\x07\x9b1m\u009bbye\n"))
	tail := o.tail()
	assert.LessOrEqual(t, len(o.kept), 2*tailSize)
	assert.True(t, strings.HasPrefix(tail, "line\n"), "starts with a whole line")
	assert.True(t, strings.HasSuffix(tail, "line\n]0;title1mbye\n"), "no control characters: %q", tail[len(tail)-30:])
}

func FuzzOutput(f *testing.F) {
	f.Add([]byte("a\r\nb"), []byte("\x1b[31m\n"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		o := &output{line: func(s string) {
			if len(s) > lineSize || strings.ContainsAny(s, "\r\n") {
				t.Fatalf("a line %q", s)
			}
		}}
		for range 3 {
			_, _ = o.Write(a)
			_, _ = o.Write(b)
		}
		if len(o.kept) > 2*tailSize+lineSize || strings.ContainsAny(o.tail(), "\x1b\r\x00\x7f\u009b") {
			t.Fatalf("kept %d, tail %q", len(o.kept), o.tail())
		}
	})
}
