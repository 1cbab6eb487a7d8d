package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/proctor-evals/proctor/harness/task"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// maxFile bounds an input file.
const maxFile = 4 << 20

const pyprojectFile = "pyproject.toml"

// pyproject is what a Python project says of its evals.
type pyproject struct {
	EvalsDir string
	// Hook is "module:function" of Python, which is not run.
	Hook   string
	HookAt task.Problem // where it stands
	exists bool
	named  bool // there is a table for us
}

// readPyproject reads the file of a folder; a folder without one is no error.
func readPyproject(dir string) (pyproject, task.Problems) {
	p := pyproject{EvalsDir: "evals"}
	data, truncated, err := treecopy.ReadSource(dir, pyprojectFile, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	p.exists = true
	if err == nil && truncated {
		err = fmt.Errorf("the file is larger than %d bytes", maxFile)
	}
	if err != nil {
		return p, task.Problems{{File: pyprojectFile, Message: err.Error()}}
	}
	var file struct {
		Tool map[string]toml.Primitive `toml:"tool"`
	}
	md, err := toml.Decode(string(data), &file)
	var syntax toml.ParseError
	switch {
	case errors.As(err, &syntax):
		return p, task.Problems{{File: pyprojectFile, Line: syntax.Position.Line, Col: syntax.Position.Col, Message: "this is no TOML: " + syntax.Message, Fix: "correct the syntax"}}
	case err != nil:
		return p, task.Problems{{File: pyprojectFile, Message: err.Error()}}
	}
	table, ok := file.Tool["agent-exam"]
	if !ok {
		return p, nil
	}
	p.named = true
	var ours struct {
		EvalsDir *string `toml:"evals_dir"`
		Hook     string  `toml:"pre_run_hook"`
	}
	at := task.PositionsIn(string(data))
	if err := md.PrimitiveDecode(table, &ours); err != nil {
		line, col := at.At("tool", "agent-exam")
		return p, task.Problems{{File: pyprojectFile, Line: line, Col: col, Message: "tool.agent-exam: evals_dir and pre_run_hook must be strings"}}
	}
	if ours.EvalsDir != nil {
		p.EvalsDir = *ours.EvalsDir
	}
	p.Hook = ours.Hook
	p.HookAt.File = pyprojectFile
	p.HookAt.Line, p.HookAt.Col = at.At("tool", "agent-exam", "pre_run_hook")
	return p, nil
}

func (p pyproject) evals(root string) string {
	if filepath.IsAbs(p.EvalsDir) {
		return filepath.Clean(p.EvalsDir)
	}
	return filepath.Join(root, filepath.FromSlash(p.EvalsDir))
}

// locate finds the project that dir is: a Python project with an evals folder, that evals folder
// itself, or an evals root. A root without suites has no suites.
func locate(dir string) (root, evals string, p pyproject, problems task.Problems) {
	p, problems = readPyproject(dir)
	if p.named || p.exists && !isDir(filepath.Join(dir, "suites")) && isDir(filepath.Join(p.evals(dir), "suites")) {
		return dir, p.evals(dir), p, problems
	}
	// The nearest project above may call this folder its evals; agent-exam takes no other.
	for up := filepath.Dir(dir); up != filepath.Dir(up); up = filepath.Dir(up) {
		above, wrong := readPyproject(up)
		if !above.exists {
			continue
		}
		if above.evals(up) == dir && isDir(filepath.Join(dir, "suites")) {
			return up, dir, above, wrong
		}
		break
	}
	return dir, dir, pyproject{}, problems
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// below is path as shown: with slashes, below the root when it is.
func below(root, path string) string {
	rel, err := filepath.Rel(root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return filepath.ToSlash(path)
	}
	return filepath.ToSlash(rel)
}
