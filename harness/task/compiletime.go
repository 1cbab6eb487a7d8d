package task

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/proctor-evals/proctor/internal/treecopy"
)

// compileTime reports code that an agent may change and that runs while a hidden check is compiled, where
// it could read the check: a build script, what one takes in, and a procedural macro's package.
func (l *loader) compileTime(rel string, f *folder, s *spec) {
	const fix = "move it, or set editable_build = true in task.toml"
	source := filepath.Join(l.root, filepath.FromSlash(rel))
	read := func(file string) string {
		data, _, err := treecopy.ReadSource(source, file, maxTaskFile)
		if err != nil {
			return "" // reported elsewhere, or Cargo will say
		}
		return strings.TrimPrefix(string(data), "\ufeff")
	}
	editable := func(file string) bool {
		for _, it := range s.editable {
			if within(file, it.text) {
				return true
			}
		}
		return false
	}
	for _, e := range f.entries {
		if path.Base(e.Path) != "Cargo.toml" || e.Kind != treecopy.File {
			continue
		}
		pkg, text := path.Dir(e.Path), read(e.Path)
		var m struct {
			Package struct{ Build any }
			Lib     struct {
				Path          string
				ProcMacro     bool `toml:"proc-macro"`
				ProcMacroLike bool `toml:"proc_macro"`
			}
		}
		if _, err := toml.Decode(text, &m); err != nil {
			continue
		}
		where := locate(text)
		line := func(keys ...string) int {
			n, _ := where.position(where.spans[pathOf(keys...)].key)
			return n
		}
		script := "build.rs"
		if named, ok := m.Package.Build.(string); ok {
			script = named
			if editable(path.Join(pkg, named)) {
				l.add(rel+"/"+e.Path, line("package", "build"), fmt.Sprintf("the build script %q is editable, and steers the build that grades the work", named), fix)
			}
		}
		script = path.Join(pkg, script)
		for i, text := range strings.Split(read(script), "\n") {
			for _, taken := range takenIn(text) {
				if file := path.Join(path.Dir(script), taken); editable(file) {
					l.add(rel+"/"+script, i+1, fmt.Sprintf("the build script takes in %q, which is editable, and runs it in the build that grades the work", file), fix)
				}
			}
		}
		if m.Lib.ProcMacro || m.Lib.ProcMacroLike {
			for _, it := range s.editable {
				if within(it.text, pkg) {
					l.at(s, it, fmt.Sprintf("editable path %q is code of a procedural macro, which runs in the build that grades the work", it.text), fix)
				}
			}
		}
	}
}

var (
	takesIn   = regexp.MustCompile(`\binclude!\s*[({\[][^";]*(?:"CARGO_MANIFEST_DIR"[^";]*)?"([^"]+)"|\bpath\s*=\s*"([^"]+)"`)
	takesPart = regexp.MustCompile(`^\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;`)
)

// takenIn are the files that a line of Rust takes in as code, beside its own file.
func takenIn(line string) []string {
	if strings.HasPrefix(strings.TrimSpace(line), "//") {
		return nil
	}
	var out []string
	for _, m := range takesIn.FindAllStringSubmatch(line, -1) {
		out = append(out, m[1]+m[2])
	}
	if m := takesPart.FindStringSubmatch(line); m != nil {
		out = append(out, m[1]+".rs", m[1]+"/mod.rs")
	}
	return out
}
