package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Survey is a look around the machine for what no trial may read though nobody named it: an
// installed cargo-agents, other copies of the evals root.
type Survey struct {
	// Names are file names that give a thing away: cargo-agents, the hidden checks' files.
	Names []string
	// Skip are folders that are denied already.
	Skip []string
	// Limit bounds the time; 0 means surveyLimit. What is not reached by then is not found.
	Limit time.Duration
}

// Bounds of a survey: it is for what lies in usual places, not a search of every disk.
const (
	surveyLimit = 5 * time.Second
	surveyDepth = 9
)

// notSurveyed are top-level folders that hold no user's files, or that are denied as a whole.
var notSurveyed = []string{"bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "lost+found", "media",
	"mnt", "proc", "root", "run", "sbin", "sys", "tmp", "usr", "var"}

// surveyed are the folders below those that programs and sources are put in, by hand first: the time
// may not suffice for all.
var surveyed = []string{"/usr/local", "/usr/bin", "/usr/sbin", "/usr/src", "/var/lib", "/var/www", "/var", "/usr"}

// Find returns the paths of files and links with one of the names, and whether the survey came to
// its end. Folders are not entered through links.
func (s Survey) Find() (found []string, whole bool) {
	limit := s.Limit
	if limit == 0 {
		limit = surveyLimit
	}
	end := time.Now().Add(limit)
	roots := slices.Clone(surveyed)
	if top, err := os.ReadDir("/"); err == nil {
		for _, e := range top {
			if e.IsDir() && !slices.Contains(notSurveyed, e.Name()) {
				roots = append(roots, "/"+e.Name())
			}
		}
	}
	whole = true
	for _, root := range roots {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case time.Now().After(end):
				whole = false
				return filepath.SkipAll
			case err != nil:
				return nil
			case d.IsDir() && (slices.Contains(s.Skip, path) || strings.Count(path, "/") > surveyDepth):
				return filepath.SkipDir
			case d.IsDir() && path != root && slices.Contains(surveyed, path):
				return filepath.SkipDir // looked at already
			case (d.Type().IsRegular() || d.Type() == fs.ModeSymlink) && slices.Contains(s.Names, d.Name()):
				found = append(found, path)
			}
			return nil
		})
	}
	return found, whole
}

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
