package workspace

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Relatives are the folders on this machine that the repository of dir is known to share its
// content with: linked worktrees, repositories it borrows objects from, and the local repository it
// was cloned from. Formats: gitrepository-layout(5), git-worktree(1), git-config(1).
func Relatives(dir string) []string {
	var out []string
	for _, top := range checkouts(dir) {
		for _, git := range []string{top, filepath.Join(top, ".git")} {
			out = append(out, gitRelatives(git)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func gitRelatives(git string) []string {
	var out []string
	links, _ := filepath.Glob(filepath.Join(git, "worktrees", "*", "gitdir"))
	for _, l := range links {
		if p, ok := pathIn(l, "", filepath.Dir(l)); ok {
			out = append(out, filepath.Dir(p)) // the path is that of the worktree's .git file
		}
	}
	if b, err := os.ReadFile(filepath.Join(git, "objects", "info", "alternates")); err == nil {
		for line := range strings.SplitSeq(string(b), "\n") {
			if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			if !filepath.IsAbs(line) {
				line = filepath.Join(git, "objects", line)
			}
			out = append(out, repositoryOf(filepath.Dir(filepath.Clean(line))))
		}
	}
	if b, err := os.ReadFile(filepath.Join(git, "config")); err == nil {
		for _, m := range remoteURL.FindAllStringSubmatch(string(b), -1) {
			p := strings.TrimPrefix(strings.Trim(strings.TrimSpace(m[1]), `"`), "file://")
			if filepath.IsAbs(p) {
				out = append(out, repositoryOf(filepath.Clean(p)))
			}
		}
	}
	return out
}

var remoteURL = regexp.MustCompile(`(?m)^\s*url\s*=\s*(.+)$`)

// repositoryOf is the work tree a .git folder belongs to, or the folder itself (a bare repository).
func repositoryOf(git string) string {
	if filepath.Base(git) == ".git" {
		return filepath.Dir(git)
	}
	return git
}

// WorkTree is the folder to deny for a repository's own folder: its work tree where it has one.
func WorkTree(git string) string { return repositoryOf(git) }

// CopyRoot is the folder to deny when one file of a copy of an evals root was found: the repository
// it lies in, else the evals root itself (file is <root>/tasks/<task>/checks/<name>), else the
// file's folder.
func CopyRoot(file string) []string {
	if tops := checkouts(filepath.Dir(file)); len(tops) > 0 {
		return tops
	}
	dir := filepath.Dir(file)
	if root := filepath.Dir(filepath.Dir(filepath.Dir(dir))); filepath.Base(dir) == "checks" && root != "/" && filepath.Base(filepath.Dir(filepath.Dir(dir))) == "tasks" {
		return []string{root}
	}
	return []string{dir}
}
