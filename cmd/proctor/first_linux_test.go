package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const firstPage = "../../docs/first-five-minutes.md"

// The skill that the page begins with.
const firstSkill = `---
name: changelog
description: Writes changelog entries the way this project wants them. Use it whenever a change is described for users.
---
Write one line for each change, in the present tense, and end the file with a line break.
`

// The page of the first five minutes is a recording: its commands are run in an empty repository with one
// skill, on the real sandbox, client and toolchain. PROCTOR_UPDATE=1 records it anew, with all five rounds;
// the test has one round, and leaves the counts out of the comparison.
func TestFirstFiveMinutes(t *testing.T) {
	if testing.Short() {
		t.Skip("trials do not run under -short")
	}
	update := os.Getenv("PROCTOR_UPDATE") != ""
	page, err := os.ReadFile(firstPage)
	require.NoError(t, err)
	repo := filepath.Join(t.TempDir(), "repo")
	require.NoError(t, os.MkdirAll(filepath.Join(repo, "skills", "changelog"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(repo, "skills", "changelog", "SKILL.md"), []byte(firstSkill), 0o644))
	user, cache, env := firstEnvironment(t)
	type command struct{ text, want, got string }
	var commands []command
	fence := regexp.MustCompile("(?ms)^```console\n(.*?)^```$")
	recorded := fence.ReplaceAllStringFunc(string(page), func(block string) string {
		var b strings.Builder
		for i, part := range strings.Split("\n"+fence.FindStringSubmatch(block)[1], "\n$ ") {
			if i == 0 {
				continue
			}
			text, want, _ := strings.Cut(part, "\n")
			cmd := exec.Command("sh", "-c", text)
			cmd.Dir, cmd.Env = repo, env
			if text == "proctor run changelog-task" && !update {
				cmd.Env = append(cmd.Env, "PROCTOR_TRIALS=1")
			}
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s\n%s", text, out)
			got := strings.NewReplacer(repo, "/home/me/repo", cache, "/home/me/.cache/proctor", user, "/home/me").Replace(string(out))
			commands = append(commands, command{text, want, got})
			fmt.Fprintf(&b, "$ %s\n%s", text, shortened(got))
		}
		return "```console\n" + b.String() + "```"
	})
	require.Greater(t, len(commands), 9)
	if update {
		require.NoError(t, os.WriteFile(firstPage, []byte(recorded), 0o644))
		return
	}
	assertDocumented(t, filepath.Join(repo, "evals"))
	for _, c := range commands {
		if c.text == "proctor run changelog-task" { // one round tells less than five
			assert.Contains(t, c.want, ": helps, ")
			assert.Regexp(t, `(?m)^without-symposium +0 of 1 `, c.got)
			assert.Regexp(t, `(?m)^staged-skills +1 of 1 `, c.got)
			continue
		}
		assert.Equal(t, comparable(c.want), comparable(c.got), "%s\nPROCTOR_UPDATE=1 go test -run TestFirstFiveMinutes ./cmd/proctor records it anew", c.text)
	}
}

// firstEnvironment is that of a new user whose machine has the tools.
func firstEnvironment(t *testing.T) (user, cache string, env []string) {
	t.Helper()
	user, err := os.UserHomeDir()
	require.NoError(t, err)
	dir, err := os.UserCacheDir()
	require.NoError(t, err)
	cache = or(os.Getenv("PROCTOR_CACHE"), filepath.Join(dir, "proctor"))
	home := t.TempDir()
	return user, cache, []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "PROCTOR_CACHE=" + cache, "PROCTOR_SCRATCH=" + filepath.Join(home, "s"),
		"RUSTUP_HOME=" + or(os.Getenv("RUSTUP_HOME"), filepath.Join(user, ".rustup")),
		"CARGO_HOME=" + or(os.Getenv("CARGO_HOME"), filepath.Join(user, ".cargo")),
	}
}

// assertDocumented holds all that the runs left against the reference of files.
func assertDocumented(t *testing.T, evals string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/reference/files.md")
	require.NoError(t, err)
	var told []*regexp.Regexp
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		pattern := regexp.MustCompile(`<\w+>`).ReplaceAllString(regexp.QuoteMeta(m[1]), `[^/]+`)
		if strings.HasSuffix(pattern, "/") {
			pattern += ".+"
		}
		told = append(told, regexp.MustCompile("^"+pattern+"$"))
	}
	require.Greater(t, len(told), 25)
	found := 0
	for root, depth := range map[string]int{"results": 3, "runs": 1} {
		dirs, err := filepath.Glob(filepath.Join(evals, root) + strings.Repeat("/*", depth))
		require.NoError(t, err)
		require.NotEmpty(t, dirs)
		for _, dir := range dirs {
			require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				rel, err := filepath.Rel(dir, path)
				found++
				assert.True(t, slices.ContainsFunc(told, func(p *regexp.Regexp) bool { return p.MatchString(rel) }), "docs/reference/files.md does not tell of %s", rel)
				return err
			}))
		}
	}
	assert.Greater(t, found, 40)
}

var stageLine = regexp.MustCompile(`^\d\d:\d\d:\d\d  `)

// shortened leaves out the middle of many stage lines.
func shortened(text string) string {
	const most = 7
	var b strings.Builder
	stages := 0
	for line := range strings.Lines(text) {
		if stageLine.MatchString(line) {
			if stages++; stages == most {
				fmt.Fprintln(&b, "…")
			}
			if stages >= most {
				continue
			}
		}
		b.WriteString(line)
	}
	return b.String()
}

var (
	anyNumber = regexp.MustCompile(`\$?[0-9a-f]*\d[0-9a-f.]*(ms|[smhd]\b)?|\?`)
	toolLine  = regexp.MustCompile(`^(\S+) .*sha256:.*`)
)

// comparable is what of an output is the same in every recording and on every machine: no numbers, blanks,
// tools' versions and places, or stage lines, which come in the order things happen.
func comparable(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if stageLine.MatchString(line) || line == "…\n" {
			continue
		}
		line = toolLine.ReplaceAllString(line, "$1")
		line = anyNumber.ReplaceAllString(line, "0")
		b.WriteString(strings.Join(strings.Fields(line), " ") + "\n")
	}
	return b.String()
}
