package lint

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/proctor-evals/proctor/harness/task"
)

const (
	goodToml = `kind = "capability"
prompt = "Make the settings last."
editable = ["src"]
fixtures = ["store"]
plugins = ["guide"]

[expected]
installed = ["store-guide"]
used = ["store-guide"]
`
	goodSkill = "---\nname: store-guide\ndescription: How writes last.\n---\n\nCall `Store::rotate()` after the writes that belong together, or they are gone.\n"
)

// base is an evals root whose task has no problem.
func base() map[string]string {
	return map[string]string{
		"tasks/good/task.toml":                      goodToml,
		"tasks/good/starter/Cargo.toml":             "[package]\nname = \"settings\"\n\n[dependencies]\nstore = { path = \"../fixtures/store\" }\n",
		"tasks/good/starter/Cargo.lock":             "version = 4\n\n[[package]]\nname = \"settings\"\n\n[[package]]\nname = \"store\"\n",
		"tasks/good/starter/src/lib.rs":             "//! Settings that are there again the next time the program starts.\n",
		"tasks/good/checks/settings.rs":             "//! What was set before the program ended must be found afterwards.\n#[test]\nfn persists() {}\n",
		"fixtures/store/Cargo.toml":                 "[package]\nname = \"store\"\n",
		"fixtures/store/src/lib.rs":                 "//! A store for one process, kept in a folder of segment files.\n",
		"plugins/guide/SYMPOSIUM.toml":              "name = \"guide\"\ndepends-on = [\"store\"]\n\n[[skills]]\nsource.path = \"skills\"\n",
		"plugins/guide/skills/store-guide/SKILL.md": goodSkill,
	}
}

func write(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		at := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
		require.NoError(t, os.WriteFile(at, []byte(content), 0o644))
	}
	return root
}

// problems are what this package finds in all tasks, and what loading found.
func problems(t testing.TB, root string) (own, loading string) {
	t.Helper()
	sketches, loaded, err := task.Inspect(root)
	require.NoError(t, err)
	var all task.Problems
	for _, s := range sketches {
		all = append(append(all, Project(s.Task)...), Texts(s.Task)...)
	}
	return all.Sorted().Error(), loaded.Error()
}

// Each archive in testdata/problems is laid over the good evals root; a file whose content is
// "absent" is taken away, and a long text is written @N, for N times x. Its section "want" holds the
// problems as printed; an empty one is a control that nothing is found. PROCTOR_UPDATE=1 rewrites it.
func TestProblems(t *testing.T) {
	own, loading := problems(t, write(t, base()))
	require.Empty(t, own+loading, "the base itself is good")
	archives, err := filepath.Glob("testdata/problems/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, archives)
	for _, archive := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(archive), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(archive)
			require.NoError(t, err)
			files, want, has := base(), "", false
			for _, f := range ar.Files {
				switch content := string(f.Data); {
				case f.Name == "want":
					want, has = content, true
				case content == "absent\n":
					require.Contains(t, files, f.Name)
					delete(files, f.Name)
				default:
					files[f.Name] = strings.ReplaceAll(strings.ReplaceAll(content, "@1025", strings.Repeat("x", 1025)), "@600", strings.Repeat("x", 600))
				}
			}
			got, _ := problems(t, write(t, files))
			if got != "" {
				got += "\n"
			}
			if os.Getenv("PROCTOR_UPDATE") != "" {
				ar.Files = slices.DeleteFunc(ar.Files, func(f txtar.File) bool { return f.Name == "want" })
				ar.Files = append(ar.Files, txtar.File{Name: "want", Data: []byte(got)})
				require.NoError(t, os.WriteFile(archive, txtar.Format(ar), 0o644))
				return
			}
			require.True(t, has, "the archive has no section want")
			assert.Equal(t, want, got)
		})
	}
}

// Six words in a row are a quotation, five are none; case, line ends and punctuation do not count.
func TestQuotationLength(t *testing.T) {
	for prompt, quoted := range map[string]bool{
		"Mind the writes that belong together.":                          false, // 5: the writes that belong together
		"Go on after the writes that belong together.":                   true,
		"AFTER the\nwrites -- that, belong (together)!":                  true,
		"After the many writes that belong together, they vanish.":       false,
		"What was set before the program starts again is there.":         true,  // the check has six, too: was set before the program
		"A setting must be there again the next time the program starts": false, // the starter's own words
	} {
		files := base()
		files["tasks/good/task.toml"] = strings.Replace(goodToml, "Make the settings last.", strings.ReplaceAll(prompt, "\n", `\n`), 1)
		own, loading := problems(t, write(t, files))
		assert.Empty(t, loading)
		assert.Equal(t, quoted, strings.Contains(own, "words in a row"), "%q: %s", prompt, own)
	}
}

func TestAtoms(t *testing.T) {
	for _, good := range []string{"*", "store", "fixture-store", "a_b", "store>=1.0", "store <= 2", "store=1.0", "store==1.2.3", "store^1", "store~1.2", "store==1.0.0-rc.1"} {
		assert.Empty(t, badAtom(good), good)
	}
	for _, bad := range []string{"", "store>>1", "store>=", "crate(store)", "store 1.0", "a b", ">=1", "store>=x"} {
		assert.NotEmpty(t, badAtom(bad), bad)
	}
}

// FuzzPrompt holds the search for quotations against any prompt and skill: places lie in the file,
// and messages stay on one line.
func FuzzPrompt(f *testing.F) {
	f.Add("Make it last.", goodSkill)
	f.Add("after the writes that belong together or `rotate`", goodSkill)
	f.Add("a \xff b", "---\nname: [\n---\n")
	f.Add("x", "---\nname: x\ndescription: &a [*a]\n---\n")
	f.Add("İ ß", "---\n- a\n---\n`İ()`")
	f.Fuzz(func(t *testing.T, prompt, skill string) {
		for _, w := range wordsOf(prompt) {
			if w.start < 0 || w.end > len(prompt) || w.start >= w.end {
				t.Fatalf("word %q at %d to %d of %d", w.text, w.start, w.end, len(prompt))
			}
		}
		words := wordsOf(prompt)
		from, to := longestQuote(words, runsOf(wordsOf(skill), quoteWords), nil)
		if to < from || to > len(words) || (to > from && to-from < quoteWords) {
			t.Fatalf("a quotation from %d to %d of %d words", from, to, len(words))
		}
		line, col := placeOf(prompt, textsOf(words[from:to]))
		if line < 1 || col < 1 || line > 1+strings.Count(prompt, "\n") {
			t.Fatalf("%d:%d", line, col)
		}
		identifiers(skill)
	})
}

// FuzzSkill holds the check of a SKILL.md against any text: no panic, places in the file, one line a
// message.
func FuzzSkill(f *testing.F) {
	root := f.TempDir()
	for _, s := range []string{goodSkill, "---\nname: a\nname: b\n---\n", "---\n? [a]\n: b\n---\nx", "---\na: &x [*x]\n---\n", "\r\n---\r\nname: [\r\n---", "---\n\"a\\nb\": 1\ndepends-on: a, b>>1\n---\n[x](y)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l := &linter{task: &task.Task{Root: root}}
		l.skill(skill{file: "plugins/p/skills/a/SKILL.md", text: text})
		for _, p := range l.problems {
			if p.Line < 0 || p.Line > 2+strings.Count(text, "\n") || strings.ContainsAny(p.String(), "\n\r") {
				t.Fatalf("%d lines: %q", 1+strings.Count(text, "\n"), p.String())
			}
		}
	})
}
