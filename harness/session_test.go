package harness

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/internal/redact"
)

// A session file is taken from where the client keeps it, and only as a
// regular file of the session in question.
func TestKeepSession(t *testing.T) {
	const a, b = ".codex/sessions/2026/11/30/rollout-1-aaa.jsonl", ".codex/sessions/2026/11/30/rollout-2-bbb.jsonl"
	for _, c := range []struct {
		name  string
		files []string
		links map[string]string // link → target
		id    string
		want  string // the copy; "" for none
		fails bool
	}{
		{name: "one", files: []string{a}, want: a},
		{name: "one, whatever the id", files: []string{a}, id: "zzz", want: a},
		{name: "of several, that of the session", files: []string{a, b}, id: "bbb", want: b},
		{name: "of several, none that can be told", files: []string{a, b}},
		{name: "none", files: []string{".codex/config.toml"}},
		{name: "elsewhere", files: []string{".codex/rollout-1-aaa.jsonl"}},
		{name: "a link to a file", files: []string{"secret"}, links: map[string]string{a: "../../../../../secret"}, fails: true},
		{name: "a link to a file outside", links: map[string]string{a: "/etc/hostname"}, fails: true},
		{name: "a folder that is a link", files: []string{"x/2026/11/30/rollout-1-aaa.jsonl"}, links: map[string]string{".codex/sessions": "../x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			home, dst := t.TempDir(), filepath.Join(t.TempDir(), "session.jsonl")
			place := func(rel string) string {
				file := filepath.Join(home, filepath.FromSlash(rel))
				require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
				return file
			}
			for _, rel := range c.files {
				require.NoError(t, os.WriteFile(place(rel), []byte(rel), 0o644))
			}
			for link, target := range c.links {
				require.NoError(t, os.Symlink(target, place(link)))
			}
			kept, err := keepSession(home, client.Codex{}.SessionFiles(), c.id, dst, func(w io.Writer) io.WriteCloser { return (*redact.Set)(nil).Writer(w, nil) })
			assert.Equal(t, c.fails, err != nil, "%v", err)
			assert.Equal(t, c.want != "", kept)
			if c.want == "" {
				assert.NoFileExists(t, dst)
				return
			}
			got, err := os.ReadFile(dst)
			require.NoError(t, err)
			assert.Equal(t, c.want, string(got))
		})
	}
}
