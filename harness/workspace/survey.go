package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
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

// Bounds of a survey.
const (
	surveyLimit = 5 * time.Second
	surveyDepth = 9
)

// usualPlaces are the folders, beside a user's and those at the top that no system has, that programs
// and sources are put in by hand. They are looked at first.
var usualPlaces = []string{"/usr/bin", "/usr/sbin", "/usr/local", "/usr/src", "/var/lib", "/var/www", "/var/opt", "/var/backups"}

// systemFolders are the top-level folders that hold the system. They are looked at last.
var systemFolders = []string{"bin", "boot", "etc", "lib", "lib32", "lib64", "libx32", "run", "sbin", "usr", "var"}

// notSurveyed are top-level folders that hold no files of a disk, or that a sandbox has its own of.
var notSurveyed = []string{"dev", "lost+found", "proc", "sys"}

// Usual tells whether a survey's find lies in a place where files are put by hand. Elsewhere a mere
// name says little: a compiler's sources have files of every name.
func Usual(path string) bool {
	if slices.ContainsFunc(usualPlaces, func(place string) bool { return strings.HasPrefix(path, place+"/") }) {
		return true
	}
	top, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return !slices.Contains(systemFolders, top)
}

// Find returns the paths of files and links with one of the names, sorted, and whether the survey came
// to its end. Folders are not entered through links.
func (s Survey) Find() (found []string, whole bool) {
	limit := s.Limit
	if limit == 0 {
		limit = surveyLimit
	}
	w := surveyor{Survey: s, end: time.Now().Add(limit), whole: true}
	var first, last []string
	if top, err := os.ReadDir("/"); err == nil {
		for _, e := range top {
			switch {
			case !e.IsDir() || slices.Contains(notSurveyed, e.Name()):
			case slices.Contains(systemFolders, e.Name()):
				last = append(last, "/"+e.Name())
			default:
				first = append(first, "/"+e.Name())
			}
		}
	}
	for _, root := range slices.Concat(usualPlaces, first) {
		w.walk(root)
	}
	w.Skip = slices.Concat(s.Skip, usualPlaces)
	for _, root := range last {
		w.walk(root)
	}
	slices.Sort(w.found)
	return w.found, w.whole
}

// surveyor is a survey on its way.
type surveyor struct {
	Survey
	end   time.Time
	found []string
	whole bool
}

// walk reads folders as they are on the disk, unsorted: there are hundreds of thousands of files.
func (w *surveyor) walk(dir string) {
	if slices.Contains(w.Skip, dir) || strings.Count(dir, "/") > surveyDepth {
		return
	}
	if time.Now().After(w.end) {
		w.whole = false
		return
	}
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	entries, _ := f.ReadDir(-1) // what could be read of it
	_ = f.Close()
	for _, e := range entries {
		switch {
		case e.IsDir():
			w.walk(filepath.Join(dir, e.Name()))
		case (e.Type().IsRegular() || e.Type() == fs.ModeSymlink) && slices.Contains(w.Names, e.Name()):
			w.found = append(w.found, filepath.Join(dir, e.Name()))
		}
	}
}
