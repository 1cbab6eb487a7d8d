package workspace

import (
	"bufio"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Bounds of what is looked at of repositories.
const (
	maxRefs       = 20_000
	maxNeighbours = 100
	maxLookedAt   = 10_000 // folders beside a checkout
)

// Neighbours are the repositories (bare ones too) and copies of an evals root that lie beside the
// checkout of dir, or one folder below such a place. They need not be related: that a trial cannot
// read them costs it nothing. whole is false when there were more than are looked at.
func Neighbours(dir string) (found []string, whole bool) {
	tops := checkouts(dir)
	if len(tops) == 0 {
		tops = []string{dir}
	}
	whole = true
	looked := 0
	add := func(path string) bool {
		if looked++; looked > maxLookedAt {
			whole = false
			return true
		}
		if slices.Contains(tops, path) || slices.Contains(found, path) || !holdsTasks(path) && !isRepository(path) {
			return false
		}
		if len(found) == maxNeighbours {
			whole = false
			return true
		}
		found = append(found, path)
		return true
	}
	for _, top := range tops {
		parent := filepath.Dir(top)
		if slices.Contains(needed, parent) {
			continue // beside it lies the system; the survey looks there
		}
		for _, p := range folders(parent, &whole) {
			if slices.Contains(tops, p) || add(p) {
				continue
			}
			for _, below := range folders(p, &whole) {
				add(below)
			}
		}
	}
	return found, whole
}

// folders are the folders in dir, at most maxEntries.
func folders(dir string, whole *bool) []string {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, err := f.ReadDir(maxEntries)
	if err == nil && len(entries) == maxEntries {
		*whole = false
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	slices.Sort(out)
	return out
}

// isRepository tells a work tree or a bare repository. Format: gitrepository-layout(5).
func isRepository(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		return true
	}
	return isGitDir(dir)
}

func isGitDir(dir string) bool {
	for name, folder := range map[string]bool{"HEAD": false, "objects": true, "refs": true} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.IsDir() != folder {
			return false
		}
	}
	return true
}

// holdsTasks tells an evals root, or a folder with one named evals.
func holdsTasks(dir string) bool {
	for _, root := range []string{dir, filepath.Join(dir, "evals")} {
		if found, _ := filepath.Glob(filepath.Join(root, "tasks", "*", "checks")); len(found) > 0 {
			return true
		}
	}
	return false
}

// Repository tells repositories of one history apart from others, from their files alone.
type Repository struct {
	tops   []string        // its folders
	hashes map[string]bool // of commits its names stand for, now and lately
	urls   map[string]bool // where it was cloned from
}

// RepositoryOf reads the repository that dir lies in.
func RepositoryOf(dir string) Repository {
	r := Repository{tops: checkouts(dir), hashes: map[string]bool{}, urls: map[string]bool{}}
	for _, top := range r.tops {
		for _, git := range []string{filepath.Join(top, ".git"), top} {
			if isGitDir(git) {
				r.read(git)
				hashesIn(filepath.Join(git, "logs", "HEAD"), r.hashes)
			}
		}
	}
	return r
}

// Shares says whether the repository whose HEAD file this is shares history with r, as far as names
// of commits and places of origin tell.
func (r Repository) Shares(head string) bool {
	git := filepath.Dir(head)
	if len(r.tops) == 0 || !isGitDir(git) {
		return false
	}
	other := Repository{hashes: map[string]bool{}, urls: map[string]bool{}}
	other.read(git)
	for h := range other.hashes {
		if r.hashes[h] {
			return true
		}
	}
	for u := range other.urls {
		if r.urls[u] || slices.ContainsFunc(r.tops, func(top string) bool { return u == top || u == filepath.Join(top, ".git") }) {
			return true
		}
	}
	return false
}

func (r Repository) read(git string) {
	hashesIn(filepath.Join(git, "HEAD"), r.hashes)
	hashesIn(filepath.Join(git, "packed-refs"), r.hashes)
	n := 0
	_ = filepath.WalkDir(filepath.Join(git, "refs"), func(path string, d fs.DirEntry, err error) error {
		if n++; n > maxRefs {
			return filepath.SkipAll
		}
		if err == nil && d.Type().IsRegular() {
			hashesIn(path, r.hashes)
		}
		return nil
	})
	if b, err := os.ReadFile(filepath.Join(git, "config")); err == nil {
		for _, m := range remoteURL.FindAllStringSubmatch(string(b), -1) {
			u := strings.TrimPrefix(strings.Trim(strings.TrimSpace(m[1]), `"`), "file://")
			r.urls[strings.TrimSuffix(strings.TrimSuffix(u, "/"), ".git")] = true
		}
	}
}

// hashesIn takes the object names from a file of refs or of a log.
func hashesIn(file string, into map[string]bool) {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	f, err := os.Open(file)
	if err != nil {
		return
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 0; lines.Scan() && n < maxRefs; n++ {
		for i, word := range strings.Fields(lines.Text()) {
			word = strings.TrimPrefix(word, "^")
			if i < 2 && (len(word) == 40 || len(word) == 64) && strings.Trim(word, "0123456789abcdef") == "" && strings.Trim(word, "0") != "" {
				into[word] = true
			}
		}
	}
}
