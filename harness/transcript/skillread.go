package transcript

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// SkillRoots are the absolute folders a client discovers skills in: a skill
// NAME is installed as ROOT/NAME/SKILL.md. "~" stands for an unknown home, and
// a root "*/x/skills" for that folder of an unknown project, wherever it lies.
type SkillRoots []string

// Skill returns the skill whose installed SKILL.md the absolute path names.
func (r SkillRoots) Skill(file string) (string, bool) {
	dir, ok := strings.CutSuffix(realPath(file), "/SKILL.md")
	if !ok {
		return "", false
	}
	parent, name := path.Split(dir)
	for _, root := range r {
		if anywhere, ok := strings.CutPrefix(root, "*/"); ok && name != "" && strings.HasSuffix(parent, "/"+anywhere+"/") {
			return name, true
		}
		if realPath(root)+"/" == parent && name != "" {
			return name, true
		}
	}
	return "", false
}

// realPath is p without the /private that macOS puts before /tmp and /var.
func realPath(p string) string {
	p = path.Clean(p)
	if strings.HasPrefix(p, "/private/tmp/") || strings.HasPrefix(p, "/private/var/") {
		return strings.TrimPrefix(p, "/private")
	}
	return p
}

// maxJudged is how much of a command's output is looked at, in bytes.
const maxJudged = 4 << 20

// ShellLoads judges a finished shell command: which skills did it load, or
// attempt to, or perhaps load? known are the skills the client listed,
// nil where it does not tell. The
// events have Skill, State and How; the rest is the caller's.
//
// Loaded needs content on the output: the file's own front matter, or a
// command whose success shows that the reader ran and did not fail. A command
// that names the file to a program nobody can interpret is unclear as long as
// it printed something.
func (r SkillRoots) ShellLoads(scan ShellScan, known []string, status Status, output string) []SkillLoad {
	if !slices.ContainsFunc(scan.Reads, func(read ShellRead) bool { return r.concerns(read) }) &&
		!slices.ContainsFunc(scan.Opaque, func(o OpaqueText) bool { return len(r.mentioned(o)) > 0 }) {
		return unnamed(scan, known, output) // most commands
	}
	output = output[:min(len(output), maxJudged)]
	seen := evidence{shown: frontMatter(output), failures: readFailures(output), missing: noReader.MatchString(output), silent: strings.TrimSpace(output) == ""}
	states := map[string]LoadState{}
	var order []string
	note := func(skill string, state LoadState) {
		old, seen := states[skill]
		if !seen {
			order = append(order, skill)
		}
		// The best evidence for a skill counts: loaded, then unclear, then attempted.
		if !seen || old != LoadLoaded && state == LoadLoaded || old == LoadAttempted {
			states[skill] = state
		}
	}
	globs := 0
	for _, read := range scan.Reads {
		if read.Glob {
			if globs++; globs > maxGlobReads {
				note("", LoadUnclear)
				break
			}
			for _, skill := range r.matching(read.Path, append(slices.Clone(known), seen.shown...)) {
				note(skill, seen.judge(scan, ShellRead{}, skill, status))
			}
			continue
		}
		if skill, ok := r.Skill(read.Path); ok {
			note(skill, seen.judge(scan, read, skill, status))
		}
	}
	for _, opaque := range scan.Opaque {
		for _, skill := range r.mentioned(opaque) {
			switch {
			case skill != "" && slices.Contains(seen.shown, skill):
				note(skill, LoadLoaded)
			case status == StatusDenied || status == StatusRejected:
				if skill != "" {
					note(skill, LoadAttempted)
				}
			case !seen.silent || status == StatusUnfinished || status == StatusAborted:
				note(skill, LoadUnclear)
			}
		}
	}
	loads := make([]SkillLoad, 0, len(order))
	for _, skill := range order {
		loads = append(loads, SkillLoad{Skill: skill, State: states[skill], How: "shell"})
	}
	return loads
}

// unnamed is what a command that names no skill's file may have read all the
// same, as "grep -r . .claude" and "find -type f | xargs cat" do: a listed
// skill's front matter, or any where the client lists none, stands in the output of something not interpreted.
func unnamed(scan ShellScan, known []string, output string) []SkillLoad {
	loads := []SkillLoad{}
	if len(scan.Opaque) == 0 || known != nil && len(known) == 0 {
		return loads
	}
	for _, skill := range frontMatter(output[:min(len(output), maxJudged)]) {
		if (known == nil || slices.Contains(known, skill)) && !slices.ContainsFunc(loads, func(l SkillLoad) bool { return l.Skill == skill }) {
			loads = append(loads, SkillLoad{Skill: skill, State: LoadUnclear, How: "shell"})
		}
	}
	return loads
}

// concerns tells whether a read may be of a skill's file.
func (r SkillRoots) concerns(read ShellRead) bool {
	_, ok := r.Skill(read.Path)
	return ok || read.Glob
}

// evidence is what a command's output shows.
type evidence struct {
	shown    []string // skills whose front matter stands there
	failures []string // what stands before SKILL.md in lines with a reader's error
	missing  bool     // the shell did not find a reader
	silent   bool
}

// judge decides what the read of a skill's file amounts to.
func (e evidence) judge(scan ShellScan, read ShellRead, skill string, status Status) LoadState {
	alone := scan.Commands == 1 && read.Path != ""
	switch {
	case status == StatusDenied || status == StatusRejected:
		return LoadAttempted
	case slices.Contains(e.shown, skill):
		return LoadLoaded
	case status == StatusUnfinished || status == StatusAborted:
		return LoadUnclear
	case e.silent || e.failed(skill):
		return LoadAttempted
	case status == StatusOK && !e.missing && (read.Sure || alone):
		return LoadLoaded
	case status == StatusError && alone:
		return LoadAttempted
	}
	return LoadUnclear
}

// failed reports whether a reader's error names the skill's file.
func (e evidence) failed(skill string) bool {
	return slices.ContainsFunc(e.failures, func(before string) bool {
		return strings.HasSuffix(before, "/"+skill+"/") || strings.HasSuffix(before, " "+skill+"/") ||
			!strings.HasSuffix(before, "/") || strings.HasSuffix(before, "./")
	})
}

var readErrors = regexp.MustCompile(`(?i)no such file|permission denied|operation not permitted|cannot (open|read)|can't (open|read)|not a directory|is a directory|input/output error`)

// noReader is a shell's word that one of the readers which not every machine has is not there: what stands in the output
// is then another command's.
var noReader = regexp.MustCompile(`(?m)\b(?:bat|batcat|less|more|most|nl|tac|fmt|column|strings)\x60?: (?:command )?not found|command not found: (?:bat|batcat|less|more|most|nl|tac|fmt|column|strings)\b`)

// readFailures finds the lines with an error about a SKILL.md, at most 1000.
func readFailures(output string) []string {
	var found []string
	for line := range strings.SplitSeq(output, "\n") {
		at := strings.Index(line, "SKILL.md")
		if at >= 0 && len(line) < maxWordBytes && readErrors.MatchString(line) && len(found) < 1000 {
			found = append(found, line[:at])
		}
	}
	return found
}

// skillName finds the name in the front matter of a SKILL.md, also behind the
// line numbers of nl and cat -n.
var skillName = regexp.MustCompile(`(?m)^(?:\s*\d+[\t :]\s*)?---\s*\n(?:.*\n){0,8}?(?:\s*\d+[\t :]\s*)?name:\s*["']?([^\s"']+)["']?\s*$`)

// frontMatter is the names of the skills whose front matter the output shows.
func frontMatter(output string) []string {
	if !strings.Contains(output, "name:") {
		return nil
	}
	var names []string
	for _, m := range skillName.FindAllStringSubmatch(strings.ReplaceAll(output, "\r\n", "\n"), 1000) {
		names = append(names, m[1])
	}
	return names
}

// matching is the skills of names whose file a pattern matches.
func (r SkillRoots) matching(pattern string, names []string) []string {
	var found []string
	for _, p := range braces(pattern) {
		for _, name := range names {
			for _, root := range r {
				ok, err := path.Match(realPath(p), realPath(root)+"/"+name+"/SKILL.md")
				if err == nil && ok && !slices.Contains(found, name) {
					found = append(found, name)
				}
			}
		}
	}
	return found
}

// braces expands {a,b}, up to 64 patterns.
func braces(pattern string) []string {
	done, todo := []string{}, []string{pattern}
	for len(todo) > 0 && len(done)+len(todo) <= maxShellWords {
		p := todo[0]
		todo = todo[1:]
		shut := strings.IndexByte(p, '}')
		open := strings.LastIndexByte(p[:max(shut, 0)], '{')
		if shut < 0 || open < 0 {
			done = append(done, p)
			continue
		}
		for _, choice := range strings.Split(p[open+1:shut], ",") {
			todo = append(todo, p[:open]+choice+p[shut+1:])
		}
	}
	return append(done, todo...)
}

var skillFile = regexp.MustCompile(`([^/\s'"\x60=]+)/SKILL\.md`)

// mentioned is the skills whose file or folder an uninterpreted text names;
// "" stands for one that cannot be told.
func (r SkillRoots) mentioned(o OpaqueText) []string {
	text := o.Text[:min(len(o.Text), maxShellBytes)]
	inRoot := slices.ContainsFunc(r, func(root string) bool {
		root, cwd := realPath(root), realPath(o.Cwd)
		return o.Cwd != "" && (cwd == root || strings.HasPrefix(cwd, root+"/") || strings.HasPrefix(root, cwd+"/") && cwd != "/")
	})
	hasRoot := slices.ContainsFunc(r, func(root string) bool {
		// The last two elements (".claude/skills") stand in any spelling of the root.
		parent, last := path.Split(root)
		return strings.Contains(text, path.Base(parent)+"/"+last)
	})
	var found []string
	if !inRoot && !hasRoot && o.Cwd != "" {
		return nil
	}
	for _, m := range skillFile.FindAllStringSubmatch(text, 200) {
		name := m[1]
		if strings.ContainsAny(name, "*?[]{}$") || name == ".." || name == "." {
			name = ""
		}
		if !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	if len(found) == 0 && (strings.Contains(text, "SKILL.md") || hasRoot) {
		found = append(found, "")
		for _, root := range r {
			if dir, name := path.Split(realPath(o.Cwd)); dir == realPath(root)+"/" {
				found[0] = name
			}
		}
	}
	return found
}
