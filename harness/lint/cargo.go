package lint

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// The rules about manifests are those of the Cargo Book, "The Manifest Format",
// "Specifying Dependencies" and "Workspaces".

// manifest is a Cargo.toml with the folder a trial sees it in: project/… or
// fixtures/<name>/….
type manifest struct {
	*tomlFile
	inRun string
}

// dependencyTables are the tables that hold dependencies, in both spellings.
var dependencyTables = []string{"dependencies", "dev-dependencies", "build-dependencies", "dev_dependencies", "build_dependencies"}

func (l *linter) project() {
	starter := path.Join("tasks", l.task.Name, "starter")
	files := l.files(starter)
	if root := l.toml(path.Join(starter, "Cargo.toml"), true); root != nil { // its syntax is package task's to report
		l.target(root, files)
		l.workspace(root, starter, files)
		l.lock(root, starter, files)
	}
	for _, m := range l.manifests() {
		l.dependencies(m)
		if m.table("package", "metadata", "symposium") != nil {
			l.problem(m.tomlFile, []string{"package", "metadata", "symposium"}, "the package brings Symposium metadata of its own into every trial", "remove it: only the task's plugins are offered")
		}
	}
	for _, name := range l.task.Fixtures {
		if m := l.toml(path.Join("fixtures", name, "Cargo.toml"), false); m != nil && m.table("package")["workspace"] != nil {
			l.problem(m, []string{"package", "workspace"}, "the fixture belongs to a workspace, and Symposium matches no plugin for a member", "remove package.workspace")
		}
	}
	l.checksInStarter(starter, files)
}

// manifests are all Cargo.toml files of the starter and the task's fixtures.
func (l *linter) manifests() []manifest {
	var out []manifest
	in := func(rel, inRun string) {
		for _, f := range l.files(rel) {
			if path.Base(f) != "Cargo.toml" {
				continue
			}
			if m := l.toml(path.Join(rel, f), true); m != nil {
				out = append(out, manifest{m, path.Join(inRun, path.Dir(f))})
			}
		}
	}
	in(path.Join("tasks", l.task.Name, "starter"), "project")
	for _, name := range l.task.Fixtures {
		in(path.Join("fixtures", name), path.Join("fixtures", name))
	}
	return out
}

// target checks that the starter has a library, which the hidden checks are
// linked with.
func (l *linter) target(root *tomlFile, files []string) {
	if root.table("package") == nil {
		l.problem(root, nil, "the manifest has no [package], so no hidden check can be put beside it", "make the starter's root a package with a library")
		return
	}
	lib := root.table("lib")
	source := "src/lib.rs"
	if p, ok := lib["path"].(string); ok {
		source = path.Clean(p)
	}
	if !slices.Contains(files, source) {
		l.problem(root, []string{"lib", "path"}, fmt.Sprintf("the starter has no library target: there is no %s", source), "hidden checks are linked with the library: write it, if only with todo!() in it")
	}
	for _, key := range []string{"test", "harness"} {
		if on, ok := lib[key].(bool); ok && !on {
			l.problem(root, []string{"lib", key}, fmt.Sprintf("lib.%s = false keeps `cargo test --lib` from running the library's tests", key), "remove it")
		}
	}
	if on, ok := lib["proc-macro"].(bool); ok && on {
		l.problem(root, []string{"lib", "proc-macro"}, "a hidden check cannot call the functions of a procedural macro's crate", "make the root package an ordinary library")
	}
	for _, test := range tables(root.values["test"]) {
		name, _ := test["name"].(string)
		for _, c := range l.task.Checks {
			if c.Name == name {
				l.problem(root, []string{"test"}, fmt.Sprintf("the manifest declares the test target %q, whose place the hidden check takes", name), "rename one")
			}
		}
	}
}

// workspace checks that no fixture becomes a member: Symposium looks at the
// direct dependencies of members, and matches no plugin for a member itself.
func (l *linter) workspace(root *tomlFile, starter string, files []string) {
	ws := root.table("workspace")
	for _, key := range []string{"members", "default-members"} {
		list, _ := ws[key].([]any)
		for i, item := range list {
			member, _ := item.(string)
			if clean := path.Clean(member); path.IsAbs(member) || clean == ".." || strings.HasPrefix(clean, "../") {
				line, col := root.at.Item(i, "workspace", key)
				l.add(root.name, line, col, fmt.Sprintf("the workspace swallows %q: Symposium matches no plugin for a member", member), "take it out; a path dependency on ../fixtures/<name> is enough")
			}
		}
	}
	for _, f := range files {
		if path.Base(f) != "Cargo.toml" || f == "Cargo.toml" {
			continue
		}
		inner := l.toml(path.Join(starter, f), false)
		if inner == nil {
			continue
		}
		if name, _ := inner.table("package")["name"].(string); slices.Contains(l.task.Fixtures, name) {
			l.problem(inner, []string{"package", "name"}, fmt.Sprintf("the starter holds the fixture %q itself, where the agent can change it and a workspace swallows it", name), "keep it under fixtures/ and depend on ../fixtures/"+name)
		}
	}
}

// dependencies checks that everything comes from the project or its fixtures:
// there is no network and no registry in a trial.
func (l *linter) dependencies(m manifest) {
	check := func(keys []string, v any) {
		deps, _ := v.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(deps)) {
			l.dependency(m, append(slices.Clone(keys), name), name, deps[name])
		}
	}
	for _, key := range dependencyTables {
		check([]string{key}, m.values[key])
		for _, cfg := range slices.Sorted(maps.Keys(m.table("target"))) {
			check([]string{"target", cfg, key}, m.table("target", cfg)[key])
		}
	}
	check([]string{"workspace", "dependencies"}, m.table("workspace")["dependencies"])
	for _, source := range slices.Sorted(maps.Keys(m.table("patch"))) {
		check([]string{"patch", source}, m.table("patch")[source])
	}
	check([]string{"replace"}, m.values["replace"])
}

func (l *linter) dependency(m manifest, keys []string, name string, v any) {
	const offline = "a trial has no network: make it a fixture and depend on its path, or do without"
	table, _ := v.(map[string]any)
	where, _ := table["path"].(string)
	inherited, _ := table["workspace"].(bool)
	switch {
	case inherited:
		return // looked at in [workspace.dependencies]
	case table["git"] != nil:
		l.problem(m.tomlFile, keys, fmt.Sprintf("the dependency %q is fetched with git", name), offline)
		return
	case where == "":
		l.problem(m.tomlFile, keys, fmt.Sprintf("the dependency %q comes from a registry", name), offline)
		return
	case path.IsAbs(where) || strings.Contains(where, `\`):
		l.problem(m.tomlFile, keys, fmt.Sprintf("the path of the dependency %q is absolute or has a backslash", name), "write it relative to the manifest, such as ../fixtures/"+name)
		return
	}
	target := path.Join(m.inRun, where)
	parts := strings.Split(target, "/")
	inFixtures := parts[0] == "fixtures" && len(parts) > 1
	switch {
	case parts[0] == "project" && m.inRun == "project" && target == "project":
	case parts[0] == "project" && strings.HasPrefix(m.inRun, "project"):
		manifest := path.Join(append([]string{"tasks", l.task.Name, "starter"}, append(parts[1:], "Cargo.toml")...)...)
		if _, ok := l.read(manifest); !ok {
			l.problem(m.tomlFile, keys, fmt.Sprintf("the dependency %q leads to %s, which is no package of the starter", name, path.Join(parts[1:]...)), "correct the path")
		}
	case inFixtures && !slices.Contains(l.task.Fixtures, parts[1]):
		l.problem(m.tomlFile, keys, fmt.Sprintf("the dependency %q is the fixture %q, which the task does not name", name, parts[1]), fmt.Sprintf("add %q to fixtures in task.toml", parts[1]))
	case inFixtures:
		if _, ok := l.read(target + "/Cargo.toml"); !ok {
			l.problem(m.tomlFile, keys, fmt.Sprintf("the dependency %q leads to %s, which is no package", name, target), "correct the path")
		}
	default:
		l.problem(m.tomlFile, keys, fmt.Sprintf("the dependency %q leads out of the project and its fixtures", name), "a trial holds project/ and fixtures/ side by side: depend on ../fixtures/"+name)
	}
}

var (
	lockName    = regexp.MustCompile(`^name = "(.*)"$`)
	lockVersion = regexp.MustCompile(`^version = "(.*)"$`)
	lockSource  = regexp.MustCompile(`^source = "(registry|sparse|git)\+`)
)

// lock checks the starter's Cargo.lock. Without one cargo writes it, in some
// trials before and in others after the agent looks.
func (l *linter) lock(root *tomlFile, starter string, files []string) {
	name := path.Join(starter, "Cargo.lock")
	if !slices.Contains(files, "Cargo.lock") {
		l.add(name, 0, 0, "the file is missing, so that cargo adds it to the project in the middle of a trial", "run cargo generate-lockfile --offline beside a copy of the fixtures, and keep the file")
		return
	}
	text, ok := l.read(name)
	if !ok {
		l.add(name, 0, 0, "the file is not a readable text of at most 1 MiB", "make it anew with cargo generate-lockfile --offline")
		return
	}
	locked := map[string]string{} // package → version
	last := ""
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if m := lockName.FindStringSubmatch(line); m != nil {
			last = m[1]
			locked[last] = ""
		}
		if m := lockVersion.FindStringSubmatch(line); m != nil {
			locked[last] = m[1]
		}
		if m := lockSource.FindStringSubmatch(line); m != nil {
			l.add(name, i+1, 1, fmt.Sprintf("the package %q comes from a %s", last, map[string]string{"registry": "registry", "sparse": "registry", "git": "git repository"}[m[1]]), "a trial has no network: make it a fixture, or do without")
		}
	}
	want := []string{}
	if own, ok := root.table("package")["name"].(string); ok {
		want = append(want, own)
	}
	for _, key := range dependencyTables {
		deps, _ := root.values[key].(map[string]any)
		for dep, v := range deps {
			t, _ := v.(map[string]any)
			if t["path"] == nil {
				continue // reported as such
			}
			want = append(want, packageOf(dep, t))
		}
	}
	slices.Sort(want)
	const anew = "make it anew with cargo generate-lockfile --offline"
	for _, dep := range slices.Compact(want) {
		if _, ok := locked[dep]; !ok {
			l.add(name, 1, 1, fmt.Sprintf("the file does not list %q, so that cargo changes it in the middle of a trial", dep), anew)
		}
	}
	for _, m := range l.manifests() {
		pkg, _ := m.table("package")["name"].(string)
		version, _ := m.table("package")["version"].(string)
		if in := locked[pkg]; in != "" && version != "" && in != version {
			l.add(name, 1, 1, fmt.Sprintf("the file lists %q %s, whose manifest says %s", pkg, in, version), anew)
		}
	}
}

// checksInStarter finds hidden checks that are not hidden.
func (l *linter) checksInStarter(starter string, files []string) {
	for _, c := range l.task.Checks {
		check := path.Join("tasks", l.task.Name, "checks", c.Name+".rs")
		want, ok := l.read(check)
		if !ok || strings.TrimSpace(want) == "" {
			continue
		}
		in := func(folder string, files []string) {
			for _, f := range files {
				if got, ok := l.read(path.Join(folder, f)); ok && strings.Contains(got, strings.TrimSpace(want)) {
					l.add(path.Join(folder, f), 0, 0, "the file holds the hidden check "+c.Name, "remove it: every trial's agent would read it")
				}
			}
		}
		in(starter, files)
		for _, name := range l.task.Fixtures {
			in(path.Join("fixtures", name), l.files(path.Join("fixtures", name)))
		}
	}
}

// directDependencies are the crates the starter's packages depend on: what
// Symposium matches plugins against.
func (l *linter) directDependencies() []string {
	var out []string
	for _, m := range l.manifests() {
		if !strings.HasPrefix(m.inRun, "project") {
			continue
		}
		for _, key := range dependencyTables {
			deps, _ := m.values[key].(map[string]any)
			for dep, v := range deps {
				t, _ := v.(map[string]any)
				out = append(out, packageOf(dep, t))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// packageOf is the name of the package a dependency is, which may be renamed.
func packageOf(key string, dependency map[string]any) string {
	if name, ok := dependency["package"].(string); ok {
		return name
	}
	return key
}
