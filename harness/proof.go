package harness

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/proctor-evals/proctor/harness/grade"
	"github.com/proctor-evals/proctor/harness/result"
	"github.com/proctor-evals/proctor/harness/task"
	"github.com/proctor-evals/proctor/harness/workspace"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// Proof is one submission graded by a task check: the author's solution, which must pass, or one
// that must not.
type Proof struct {
	Submission string // its name, see submissions
	MustPass   bool
	Passed     bool
	// Reason is why it did not pass, for readers: the steps that failed. "" when it passed.
	Reason string
	// Infrastructure is what went wrong with the grading itself, or "": then nothing is proved.
	Infrastructure string
}

// Good reports whether the submission ended as it must.
func (p Proof) Good() bool { return p.Infrastructure == "" && p.Passed == p.MustPass }

// Problem is what a proof that is not good says about the task.
func (p Proof) Problem(t *task.Task) task.Problem {
	dir := "tasks/" + t.Name
	switch {
	case p.MustPass:
		return task.Problem{File: dir + "/solution", Message: "the solution does not pass: " + p.Reason, Fix: "correct it, or the check"}
	case p.Submission == untouched:
		return task.Problem{File: dir + "/checks", Message: "the untouched starter passes, so an agent who does nothing would succeed", Fix: "add a check for what the prompt asks for"}
	default:
		return task.Problem{File: dir + "/checks", Message: p.Submission + ": this passes", Fix: "have a check depend on what the project really does; docs/isolation.md names what no check can stop"}
	}
}

// submission is one project to grade.
type submission struct {
	name     string
	mustPass bool
	// make fills the empty folder dir.
	make func(t *task.Task, dir string) error
}

// submissions are what a task is tried with. All but the first are the starter, as an agent leaves it
// who does nothing, or nothing but tamper. They hold code of the author's and of this file alone.
func submissions(t *task.Task) []submission {
	all := []submission{
		{untouched, false, copyStarter},
		{"empty submission", false, func(*task.Task, string) error { return nil }},
		{"starter, tests and build settings replaced", false, replaceTests},
	}
	if t.Solution != "" {
		all = slices.Insert(all, 0, submission{"solution", true, copySolution})
	}
	if editableSource(t) != "" {
		all = append(all,
			submission{"starter that exits with 0", false, func(t *task.Task, dir string) error { return addConstructor(t, dir, "") }},
			submission{"starter that prints a passed test and exits with 0", false, func(t *task.Task, dir string) error { return addConstructor(t, dir, forgedOutput) }},
		)
	}
	return all
}

const untouched = "untouched starter"

func copyStarter(t *task.Task, dir string) error {
	_, err := treecopy.Copy(dir, t.Starter, treecopy.CopyOptions{Overwrite: true})
	return err
}

func copySolution(t *task.Task, dir string) error {
	if err := copyStarter(t, dir); err != nil {
		return err
	}
	_, err := treecopy.Copy(dir, t.Solution, treecopy.CopyOptions{Overwrite: true})
	return err
}

// replaceTests deletes the project's tests, puts tests that pass in the place of the hidden checks,
// and has cargo run no test at all, but say that it went well.
func replaceTests(t *task.Task, dir string) error {
	if err := copyStarter(t, dir); err != nil {
		return err
	}
	if err := treecopy.Remove(filepath.Join(dir, "tests")); err != nil {
		return err
	}
	files := map[string]string{
		".cargo/config.toml":  "[target.'cfg(all())']\nrunner = \"/bin/true\"\n",
		"rust-toolchain.toml": "[toolchain]\nchannel = \"1.0.0\"\n",
	}
	for _, c := range t.Checks {
		files["tests/"+c.Name+".rs"] = "#[test]\nfn passes() {}\n"
	}
	for rel, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(rel))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// forgedOutput is what libtest prints for one passed test.
const forgedOutput = "\nrunning 1 test\ntest passes ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n"

// editableSource is the Rust file that a tampering agent would add to: the library's root where it
// may be edited, else any that may; "" when there is none.
func editableSource(t *task.Task) string {
	root := "src/lib.rs"
	var manifest struct {
		Lib struct {
			Path string `toml:"path"`
		} `toml:"lib"`
	}
	if data, err := os.ReadFile(filepath.Join(t.Starter, "Cargo.toml")); err == nil && toml.Unmarshal(data, &manifest) == nil && manifest.Lib.Path != "" {
		root = filepath.ToSlash(filepath.Clean(filepath.FromSlash(manifest.Lib.Path)))
	}
	entries, err := treecopy.List(t.Starter, treecopy.Options{})
	if err != nil {
		return ""
	}
	found := ""
	for _, e := range entries {
		inside := slices.ContainsFunc(t.Editable, func(p string) bool {
			return p == "." || e.Path == p || strings.HasPrefix(e.Path, p+"/")
		})
		if e.Kind != treecopy.File || !strings.HasSuffix(e.Path, ".rs") || !inside {
			continue
		}
		if e.Path == root {
			return root
		}
		if found == "" {
			found = e.Path
		}
	}
	return found
}

// addConstructor has the starter's library print something and end every process that loads it,
// before main and so before any test.
func addConstructor(t *task.Task, dir, print string) error {
	if err := copyStarter(t, dir); err != nil {
		return err
	}
	file := filepath.Join(dir, filepath.FromSlash(editableSource(t)))
	source, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	section := ".init_array"
	code := fmt.Sprintf(`
#[used]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_os = "macos"), unsafe(link_section = %q))]
static TAMPER: extern "C" fn() = tamper;

extern "C" fn tamper() {
    use std::io::Write;
    let _ = std::io::stdout().write_all(b%q);
    let _ = std::io::stdout().flush();
    std::process::exit(0);
}
`, section, print)
	return os.WriteFile(file, append(source, code...), 0o644)
}

// proof grades one submission. One that must not pass is graded check by check until one fails,
// since one is enough.
func (b *Batch) proof(ctx context.Context, s submission) (Proof, error) {
	p := Proof{Submission: s.name, MustPass: s.mustPass}
	id, err := workspace.NewID()
	if err != nil {
		return p, err
	}
	dir := filepath.Join(b.space.Dir, "proof-"+id)
	defer func() { _ = treecopy.Remove(dir) }() // what stays goes with the batch
	project := filepath.Join(dir, "project")
	if err := os.MkdirAll(project, 0o755); err != nil {
		return p, err
	}
	if err := s.make(b.Task, project); err != nil {
		return p, fmt.Errorf("%s: %s: %w", b.Task.Name, s.name, err)
	}
	parts := []*task.Task{b.Task}
	if !s.mustPass {
		parts = nil
		for i := range b.Task.Checks {
			part := *b.Task
			part.Checks = b.Task.Checks[i : i+1]
			part.FmtCheck = b.Task.FmtCheck && i == len(b.Task.Checks)-1
			parts = append(parts, &part)
		}
	}
	for i, part := range parts {
		code := grade.Code(ctx, grade.Input{
			Task: part, Fixtures: b.fixtureDirs(), Submission: &workspace.Submission{Dir: project}, Batch: b.space, Sandbox: b.runtime,
			Denied: b.denied, Readable: b.readable, CargoBin: b.run.tools.Toolchain.Bin, Quota: b.run.engine.opts.quota(),
			Out:    filepath.Join(dir, fmt.Sprintf("grading-%d", i)),
			OnStep: func(step string) { b.run.engine.emit(b.Task.Name, "", s.name, StageGrading, step) },
		})
		if code.InfrastructureError != "" {
			p.Infrastructure = code.InfrastructureError
			return p, nil
		}
		if code.Overall != result.Pass {
			p.Reason = reason(code, filepath.Join(dir, fmt.Sprintf("grading-%d", i)))
			return p, nil
		}
	}
	p.Passed = true
	return p, nil
}

// reason says which steps a submission failed in, and what the first of them printed.
func reason(code *result.Code, out string) string {
	if len(code.InvalidSubmission) > 0 {
		return strings.Join(code.InvalidSubmission, ", ")
	}
	var failed []string
	for _, step := range slices.Sorted(maps.Keys(code.Reasons)) {
		failed = append(failed, step+": "+code.Reasons[step])
	}
	text := strings.Join(failed, "; ")
	for _, step := range slices.Sorted(maps.Keys(code.Reasons)) {
		if line := firstComplaint(out, step); line != "" {
			return text + " (" + line + ")"
		}
	}
	return text
}

// firstComplaint is the first line of a step's output that looks like an error.
func firstComplaint(out, step string) string {
	for _, stream := range []string{"stderr", "stdout"} {
		data, _, err := treecopy.ReadFile(out, step+"."+stream, 1<<20)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(data)) {
			line = strings.ToValidUTF8(strings.TrimSpace(line), "�")
			if strings.HasPrefix(line, "error") || strings.Contains(line, "panicked at") || strings.HasPrefix(line, "Diff in") {
				if r := []rune(line); len(r) > 200 {
					line = string(r[:200]) + "…"
				}
				return line
			}
		}
	}
	return ""
}
