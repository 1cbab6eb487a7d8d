package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/proctor-evals/proctor/harness/task"
)

// gitTimeout is for a repository on a slow disk; without an answer the fixtures are not checked.
const gitTimeout = 30 * time.Second

// Hygiene looks, by git, whether the fixtures of these cases are what a fresh checkout has: a file that
// git ignores, or a folder without files, is there on this machine alone. Outside a repository, or
// without git, nothing is checked.
func (p *Project) Hygiene(ctx context.Context, cases []Case) (task.Problems, error) {
	var fixtures []string
	for _, c := range cases {
		if f := c.Task.Setup.Fixture; f != "" {
			fixtures = append(fixtures, f)
		}
	}
	slices.Sort(fixtures)
	fixtures = slices.Compact(fixtures)
	if len(fixtures) == 0 {
		return nil, nil
	}
	dir := filepath.Join(p.Evals, "fixtures")
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	list := func(options ...string) ([]string, bool) {
		args := append(append([]string{"ls-files", "-z"}, options...), "--")
		for _, f := range fixtures {
			args = append(args, ":(literal)"+f)
		}
		out, ok := git(ctx, dir, nil, args...)
		return split(out), ok
	}
	ignored, ok := list("--others", "--ignored", "--exclude-standard")
	if !ok {
		return nil, nil
	}
	wanted, ok := list("--cached", "--others", "--exclude-standard")
	if !ok {
		return nil, nil
	}
	shown := below(p.Root, dir)
	var problems task.Problems
	for _, rel := range collapse(ctx, dir, ignored, wanted) {
		problems = append(problems, task.Problem{File: shown + "/" + rel, Message: "the fixture holds what git ignores, so other machines do not have it", Fix: "remove it, or change the ignore rules"})
	}
	for _, f := range fixtures {
		empty, err := emptyFolders(dir, f)
		if err != nil {
			return nil, fmt.Errorf("look into the fixture %s: %w", f, err)
		}
		for _, rel := range empty {
			problems = append(problems, task.Problem{File: shown + "/" + rel, Message: "the fixture holds an empty folder, which git does not keep", Fix: "put a .gitkeep into it, which trials do not get, or remove it"})
		}
	}
	return problems.Sorted(), nil
}

// git runs git and says whether it succeeded. The caller's GIT_ variables would name another repository.
func git(ctx context.Context, dir string, stdin []byte, args ...string) (string, bool) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	cmd.WaitDelay = time.Second
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GIT_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Stdin = bytes.NewReader(stdin)
	out, err := cmd.Output()
	return string(out), err == nil
}

func split(nul string) []string {
	return slices.DeleteFunc(strings.Split(nul, "\x00"), func(s string) bool { return s == "" })
}

// collapse replaces ignored files by the highest folder above them that git ignores itself and that
// holds nothing wanted.
func collapse(ctx context.Context, dir string, ignored, wanted []string) []string {
	keeps := map[string]bool{} // folders with something wanted
	for _, f := range wanted {
		for up := path.Dir(f); up != "."; up = path.Dir(up) {
			keeps[up] = true
		}
	}
	candidates := map[string]bool{}
	for _, f := range ignored {
		for up := path.Dir(f); up != "."; up = path.Dir(up) {
			if !keeps[up] {
				candidates[up] = true
			}
		}
	}
	ignoredDirs := map[string]bool{}
	if len(candidates) > 0 {
		// Exit status 1 says that none is ignored.
		out, _ := git(ctx, dir, []byte(strings.Join(sortedKeys(candidates), "\x00")+"\x00"), "check-ignore", "-z", "--stdin")
		for _, d := range split(out) {
			ignoredDirs[strings.TrimSuffix(d, "/")] = true
		}
	}
	var out []string
	for _, f := range ignored {
		top := f
		for up := path.Dir(f); up != "."; up = path.Dir(up) {
			if ignoredDirs[up] {
				top = up
			}
		}
		out = append(out, top)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// emptyFolders are the topmost folders of a fixture that hold no file, below the fixtures' folder.
func emptyFolders(fixtures, name string) ([]string, error) {
	full := map[string]bool{}
	var all []string
	err := filepath.WalkDir(filepath.Join(fixtures, filepath.FromSlash(name)), func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(fixtures, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if d.Name() == ".git" {
				return fs.SkipDir
			}
			all = append(all, rel)
			return nil
		}
		for up := path.Dir(rel); up != "."; up = path.Dir(up) {
			full[up] = true
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []string
	for _, d := range all {
		if !full[d] && (d == name || full[path.Dir(d)]) {
			out = append(out, d)
		}
	}
	return out, nil
}
