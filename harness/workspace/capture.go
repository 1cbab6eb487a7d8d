package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/internal/treecopy"
)

// srtLeftovers are the names srt mounts over in the working directory and may leave there, empty
// and read-only, when it is killed.
var srtLeftovers = []string{".gitconfig", ".gitmodules", ".bashrc", ".bash_profile", ".profile", ".zshrc", ".zprofile",
	".ripgreprc", ".mcp.json", ".vscode", ".idea", ".claude/commands", ".claude/agents", ".git/hooks", ".git/config"}

// RemoveLeftovers removes what a killed srt left in the project: only entries of its list that the
// starter does not have and that are empty. The project is the trial's: no link in it is followed.
func (r *Run) RemoveLeftovers(starter string) {
	root, err := os.OpenRoot(r.Path("project"))
	if err != nil {
		return
	}
	defer root.Close()
	for _, rel := range srtLeftovers {
		if _, err := os.Lstat(filepath.Join(starter, rel)); err == nil {
			continue
		}
		if dir := filepath.Dir(rel); dir != "." {
			if info, err := root.Lstat(dir); err != nil || !info.IsDir() {
				continue
			}
		}
		info, err := root.Lstat(rel)
		if err != nil || (info.Mode().IsRegular() && info.Size() > 0) {
			continue
		}
		if info.Mode().IsRegular() || info.IsDir() {
			_ = root.Remove(rel) // a folder with content stays: Remove refuses it
		}
	}
}

// buildFolder is cargo's output, which is not part of what the agent wrote.
const buildFolder = "target"

// Submission is the project as the agent left it, kept apart from the agent.
type Submission struct {
	Dir    string
	Report treecopy.Report
}

// Capture freezes the project into dst, without the build folder at its top. Entries that are
// neither regular files nor folders are named in the report, not copied.
func (r *Run) Capture(dst string) (*Submission, error) {
	report, err := treecopy.Copy(dst, r.Path("project"), treecopy.CopyOptions{Filter: r.Filter, Options: treecopy.Options{
		Untrusted: true, Ignore: func(rel string) bool { return rel == buildFolder },
	}})
	if err != nil {
		return nil, fmt.Errorf("capture the submission: %w", err)
	}
	return &Submission{Dir: dst, Report: report}, nil
}

// Keep copies a folder the trial wrote into the results, guarded, and returns what it left out. A
// missing one is no error.
func (r *Run) Keep(dst string, parts ...string) ([]treecopy.Entry, error) {
	src := r.Path(parts...)
	if info, err := os.Lstat(src); err != nil || !info.IsDir() {
		return nil, nil
	}
	report, err := treecopy.Copy(dst, src, treecopy.CopyOptions{Filter: r.Filter, Options: treecopy.Options{
		Untrusted: true, Limits: treecopy.Limits{Bytes: 256 << 20, Entries: 10_000},
	}})
	if err != nil {
		return nil, fmt.Errorf("keep %s: %w", filepath.Join(parts...), err)
	}
	return report.Skipped, nil
}

// EditsOutside lists what the submission added, changed or deleted outside the editable paths,
// compared with the starter. Cargo.lock, build output and what Symposium and the runner themselves
// put there are known and left out.
func EditsOutside(starter, submission string, editable, known []string) ([]string, error) {
	within := func(rel string, roots []string) bool {
		return slices.ContainsFunc(roots, func(root string) bool { return root == "." || rel == root || strings.HasPrefix(rel, root+"/") })
	}
	diff, err := treecopy.Diff(starter, submission, treecopy.Options{Untrusted: true, Ignore: func(rel string) bool {
		return rel == buildFolder || within(rel, known)
	}})
	if err != nil {
		return nil, fmt.Errorf("compare the submission with the starter: %w", err)
	}
	out := []string{}
	for kind, paths := range map[string][]string{"added": diff.Added, "changed": diff.Changed, "deleted": diff.Deleted} {
		for _, p := range paths {
			if !within(p, editable) {
				out = append(out, kind+" "+p)
			}
		}
	}
	slices.Sort(out)
	return out, nil
}
