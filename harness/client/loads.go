package client

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/proctor-evals/proctor/harness/transcript"
)

// loadWatch follows the calls of a session that may load a skill: skill tools,
// file tools that read an installed SKILL.md, and shell commands that print it.
type loadWatch struct {
	roots         transcript.SkillRoots
	home, project string // never empty: "~" and unknownProject stand for what is not known
	calls         map[string]*watched
	count         int
}

// unknownProject is where relative paths lie when nobody says where a session ran.
const unknownProject = "/(project)"

// watched is an open call and what it would mean.
type watched struct {
	number int // orders the calls
	id     string
	parent string
	skill  string // of a skill or file tool call
	how    string
	read   bool // the tool delivers content when it succeeds
	// scans are the command as seen from where it may have started: first the
	// likely folder, then others that cannot be ruled out.
	scans []transcript.ShellScan
}

// newLoadWatch watches the skills in folders of the home and of the project,
// either "" when unknown.
func newLoadWatch(home, project string, homeDirs, projectDirs []string) *loadWatch {
	w := &loadWatch{home: "~", project: unknownProject, calls: map[string]*watched{}}
	if path.IsAbs(home) {
		w.home = path.Clean(home)
	}
	if path.IsAbs(project) {
		w.project = path.Clean(project)
	}
	add := func(base, unknown string, dirs []string) {
		for _, dir := range dirs {
			w.root(path.Join(base, dir))
			if base == unknown {
				w.root("*/" + dir)
			}
		}
	}
	add(w.project, unknownProject, projectDirs)
	add(w.home, "~", homeDirs)
	return w
}

// root adds a folder skills are discovered in.
func (w *loadWatch) root(dir string) {
	if !slices.Contains(w.roots, dir) && len(w.roots) < 200 {
		w.roots = append(w.roots, dir)
	}
}

func (w *loadWatch) open(id, parent, how string) *watched {
	w.count++
	return &watched{number: w.count, id: transcript.Name(id), parent: transcript.Name(parent), how: how}
}

func (w *loadWatch) keep(p *watched) {
	if len(w.calls) < transcript.MaxOpenCalls {
		w.calls[p.id] = p
	}
}

// skill takes a call of a skill tool.
func (w *loadWatch) skill(id, parent, name string) {
	if name == "" {
		return
	}
	p := w.open(id, parent, "skill_tool")
	p.skill, p.read = name, true
	w.keep(p)
}

// file takes a call of a tool that reads one file.
func (w *loadWatch) file(id, parent, file string) {
	if skill, ok := w.roots.Skill(w.absolute(file, w.project)); ok {
		p := w.open(id, parent, "file_tool")
		p.skill, p.read = skill, true
		w.keep(p)
	}
}

// other takes a call of a tool nobody knows here, perhaps of a server: given a
// skill's file, it may have delivered it.
func (w *loadWatch) other(id, parent string, input json.RawMessage) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return
	}
	found := ""
	for _, raw := range fields {
		file, ok := text(raw)
		if !ok {
			continue
		}
		// The smallest name, so that the answer does not depend on the map's order.
		if skill, ok := w.roots.Skill(w.absolute(file, w.project)); ok && (found == "" || skill < found) {
			found = skill
		}
	}
	if found != "" {
		p := w.open(id, parent, "file_tool")
		p.skill = found
		w.keep(p)
	}
}

// shell takes a command; cwds are the folders it may have started in, the
// likely one first.
func (w *loadWatch) shell(id, parent, command string, cwds ...string) {
	p := w.open(id, parent, "shell")
	if !mayRead(command) {
		cwds = cwds[:1]
	}
	for _, cwd := range cwds {
		p.scans = append(p.scans, transcript.ScanShell(command, cwd, w.home))
	}
	w.keep(p)
}

// mayRead tells whether a command can name a SKILL.md at all: by its ending, or
// by what the shell puts in its place.
func mayRead(command string) bool {
	return strings.Contains(command, "md") || strings.ContainsAny(command, "*?[{$`")
}

func (w *loadWatch) absolute(file, base string) string {
	switch {
	case strings.HasPrefix(file, "file://"):
		return path.Clean(strings.TrimPrefix(file, "file://"))
	case strings.HasPrefix(file, "~/"):
		return path.Join(w.home, file[2:])
	case !path.IsAbs(file):
		return path.Join(base, file)
	}
	return path.Clean(file)
}

// result takes a call's outcome and returns what it says of skills. The output
// is what the tool printed, without notices of the client. For a shell command
// it also gives the folder the shell is left in, "" when there is none to tell.
func (w *loadWatch) result(id string, status transcript.Status, output string, known []string) (loads []transcript.SkillLoad, cwd string) {
	p, ok := w.calls[transcript.Name(id)]
	if !ok {
		return nil, ""
	}
	delete(w.calls, p.id)
	if p.scans != nil {
		if status == transcript.StatusOK {
			cwd = p.scans[0].Cwd
		}
		return p.finish(w.judge(p, status, output, known)), cwd
	}
	load := transcript.SkillLoad{Skill: p.skill, How: p.how, State: transcript.LoadAttempted}
	if status == transcript.StatusOK {
		load.State = transcript.LoadLoaded
		if !p.read {
			load.State = transcript.LoadUnclear
		}
	}
	return p.finish([]transcript.SkillLoad{load}), ""
}

// judge joins what a command means from the folders it may have started in.
func (w *loadWatch) judge(p *watched, status transcript.Status, output string, known []string) []transcript.SkillLoad {
	var loads []transcript.SkillLoad
	for i, scan := range p.scans {
		if i > 0 && slices.ContainsFunc(loads, func(l transcript.SkillLoad) bool { return l.State == transcript.LoadLoaded }) {
			break // read from the likely folder
		}
		found := w.roots.ShellLoads(scan, known, status, output)
		if i == 0 {
			loads = found
			continue
		}
		if len(found) == 0 {
			continue
		}
		// From a folder that is only possible, success proves nothing: the
		// skill's own front matter must be in the output.
		shown := map[string]bool{}
		for _, l := range w.roots.ShellLoads(scan, known, transcript.StatusError, output) {
			shown[l.Skill] = l.State == transcript.LoadLoaded
		}
		for _, l := range found {
			has := slices.ContainsFunc(loads, func(o transcript.SkillLoad) bool { return o.Skill == l.Skill })
			if has || l.State == transcript.LoadAttempted {
				continue
			}
			if !shown[l.Skill] {
				l.State = transcript.LoadUnclear
			}
			loads = append(loads, l)
		}
	}
	return loads
}

func (p *watched) finish(loads []transcript.SkillLoad) []transcript.SkillLoad {
	for i := range loads {
		loads[i].CallID, loads[i].ParentID = p.id, p.parent
	}
	return loads
}

// unfinished is what the calls without an outcome say: something was attempted.
func (w *loadWatch) unfinished(known []string) []transcript.SkillLoad {
	left := slices.SortedFunc(maps.Values(w.calls), func(a, b *watched) int { return a.number - b.number })
	var loads []transcript.SkillLoad
	for _, p := range left {
		if p.scans != nil {
			loads = append(loads, p.finish(w.judge(p, transcript.StatusUnfinished, "", known))...)
			continue
		}
		loads = append(loads, p.finish([]transcript.SkillLoad{{Skill: p.skill, State: transcript.LoadAttempted, How: p.how}})...)
	}
	clear(w.calls)
	return loads
}
