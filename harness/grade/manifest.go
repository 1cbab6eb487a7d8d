package grade

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/proctor-evals/proctor/internal/treecopy"
)

// steers names the first thing in the build files of a submission that would decide what the grader
// runs in place of a hidden check, or with which program: "" when there is none. Only a task with
// editable_build lets a submission bring such files. One that cannot be read here is refused: Cargo may
// read it all the same.
func (g *grading) steers(project string) string {
	if !g.Task.EditableBuild {
		return ""
	}
	manifest, problem := readTOML(project, "Cargo.toml")
	if problem != "" {
		return problem
	}
	for _, name := range testTargets(manifest) {
		for _, check := range g.Task.Checks {
			if sameCrate(name, check.Name) {
				return fmt.Sprintf("the submission's Cargo.toml declares the test target %.80q, which is a hidden check's", name)
			}
		}
	}
	// Cargo would look for the check in another package than the one it lies in.
	if own, _ := readTOML(g.Task.Starter, "Cargo.toml"); manifest != nil && !reflect.DeepEqual(defaultMembers(manifest), defaultMembers(own)) {
		return "the submission's Cargo.toml changes the workspace's default-members, which decide what the grader runs"
	}
	for _, file := range []string{".cargo/config.toml", ".cargo/config"} {
		config, problem := readTOML(project, file)
		if problem != "" {
			return problem
		}
		if key := findKey("", config, decides); key != "" {
			return fmt.Sprintf("the submission's %s sets %.80q, which decides what the grader runs", file, key)
		}
	}
	return ""
}

// testTargets are the names of a manifest's test targets, in whatever form of array.
func testTargets(manifest map[string]any) []string {
	var names []string
	add := func(target map[string]any) {
		name, _ := target["name"].(string)
		names = append(names, name)
	}
	switch targets := manifest["test"].(type) {
	case []map[string]any:
		for _, target := range targets {
			add(target)
		}
	case []any: // test = [{ … }]
		for _, target := range targets {
			if table, ok := target.(map[string]any); ok {
				add(table)
			}
		}
	}
	return names
}

func defaultMembers(manifest map[string]any) any {
	workspace, _ := manifest["workspace"].(map[string]any)
	if _, ok := manifest["package"].(map[string]any); !ok && workspace != nil {
		return "all, since there is no package"
	}
	return workspace["default-members"]
}

// decides are the keys of Cargo's configuration that name a program to compile or run with, what it is
// told beyond plain compiler settings (flags can name a linker, or objects to link), or other
// configuration. Source: the Cargo book, "Configuration".
func decides(key string, value any) bool {
	parts := strings.Split(key, ".")
	last := parts[len(parts)-1]
	if last == "rustflags" || last == "rustdocflags" {
		return !plainFlags(value)
	}
	switch parts[0] {
	case "build":
		return len(parts) == 2 && slices.Contains([]string{"rustc", "rustc-wrapper", "rustc-workspace-wrapper", "rustdoc"}, last)
	case "target", "host":
		return slices.Contains([]string{"runner", "linker", "rustc-flags", "rustc-link-arg"}, last)
	case "env":
		return steeringVariable.MatchString(strings.TrimPrefix(key, "env."))
	}
	return key == "include"
}

// plainFlags reports whether compiler flags hold none but settings of code generation, lints and cfgs,
// which are the submission's own affair. Source: the rustc book, "Command-line Arguments", "Codegen Options".
func plainFlags(value any) bool {
	var flags []string
	switch value := value.(type) {
	case string:
		flags = strings.Fields(value)
	case []any:
		for _, v := range value {
			s, ok := v.(string)
			if !ok {
				return false
			}
			flags = append(flags, s)
		}
	default:
		return false
	}
	for i := 0; i < len(flags); i++ {
		name, rest := flags[i], ""
		switch {
		case name == "--cfg" || name == "-C" || name == "-W" || name == "-A" || name == "-D" || name == "-F":
			if i++; i == len(flags) {
				return false
			}
			rest = flags[i]
		case len(name) > 2 && strings.Contains("CWADF", name[1:2]) && name[0] == '-':
			name, rest = name[:2], name[2:]
		default:
			return false
		}
		if setting, _, _ := strings.Cut(rest, "="); name == "-C" && !slices.Contains(plainSettings, setting) {
			return false
		}
	}
	return true
}

var plainSettings = []string{"codegen-units", "debug-assertions", "debuginfo", "embed-bitcode", "force-frame-pointers", "lto", "opt-level", "overflow-checks", "strip", "target-cpu", "target-feature"}

// steeringVariable are names that the compiler, the linker, the loader of programs or Cargo obey; [env]
// sets them for rustc and for the check.
var steeringVariable = regexp.MustCompile(`^(PATH|CC|LD|AR|RUSTC.*|RUSTDOC.*|(CARGO_.*)?RUST(DOC)?FLAGS|CARGO_(BUILD|TARGET|HOST)_.*|LD_.*|DYLD_.*|GLIBC_TUNABLES|GCC_EXEC_PREFIX|COMPILER_PATH|LIBRARY_PATH)$`)

// findKey is the first key of a table that matches, in the order of their names.
func findKey(prefix string, table map[string]any, matches func(key string, value any) bool) string {
	var names []string
	for name := range table {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		key := strings.TrimPrefix(prefix+"."+name, ".")
		if matches(key, table[name]) {
			return key
		}
		if sub, ok := table[name].(map[string]any); ok {
			if found := findKey(key, sub, matches); found != "" {
				return found
			}
		}
	}
	return ""
}

// maxBuildFile caps a build file that is looked into, in bytes.
const maxBuildFile = 1 << 20

// readTOML reads a build file; nil when it is not there. problem says why it cannot be read.
func readTOML(project, rel string) (table map[string]any, problem string) {
	data, cut, err := treecopy.ReadFile(project, rel, maxBuildFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ""
	case cut:
		err = fmt.Errorf("it holds more than %d bytes", maxBuildFile)
	case err == nil:
		_, err = toml.Decode(string(data), &table)
	}
	if err != nil {
		return nil, fmt.Sprintf("the grader cannot tell what the submission's %s decides: %.200q", rel, err)
	}
	return table, ""
}

// sameCrate reports whether Cargo takes two target names for one.
func sameCrate(a, b string) bool {
	return strings.ReplaceAll(a, "-", "_") == strings.ReplaceAll(b, "-", "_")
}

// formatFiles are what rustfmt reads beside a source file or above it.
var formatFiles = []string{"rustfmt.toml", ".rustfmt.toml"}

// ownFormat gives a copy the starter's rustfmt configuration and no other: one in an editable folder
// would soften the check for what lies beside it.
func (g *grading) ownFormat(c *gradingCopy) error {
	found, err := formatConfigs(c.path("project"), treecopy.Options{Untrusted: true})
	if err != nil {
		return err
	}
	for _, rel := range found {
		if err := removeAny(c.path("project", rel)); err != nil {
			return err
		}
	}
	own, err := formatConfigs(g.Task.Starter, treecopy.Options{})
	if err != nil {
		return err
	}
	for _, rel := range own {
		data, err := os.ReadFile(filepath.Join(g.Task.Starter, filepath.FromSlash(rel)))
		if err != nil {
			return fmt.Errorf("starter: %w", err)
		}
		if err := os.WriteFile(c.path("project", filepath.FromSlash(rel)), data, 0o644); errors.Is(err, fs.ErrNotExist) {
			continue // its folder is gone, and with it what it was for
		} else if err != nil {
			return err
		}
	}
	return nil
}

// formatConfigs are the rustfmt configurations of a tree.
func formatConfigs(dir string, opts treecopy.Options) ([]string, error) {
	entries, err := treecopy.List(dir, opts)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if slices.Contains(formatFiles, e.Path[strings.LastIndex(e.Path, "/")+1:]) {
			out = append(out, e.Path)
		}
	}
	return out, nil
}
