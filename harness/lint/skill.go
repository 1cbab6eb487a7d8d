package lint

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/proctor-evals/proctor/harness/symposium"
)

// Limits of a SKILL.md, in characters: the Agent Skills specification
// (agentskills.io); listed is where Claude Code cuts what it lists of a skill.
const (
	maxSkillName     = 64
	maxDescription   = 1024
	maxCompatibility = 500
	maxListed        = 1536
)

var skillName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// skill is one SKILL.md of the task's plugins.
type skill struct {
	file   string // below the evals root
	plugin string
	name   string // "" when the file gives none
	text   string
}

// skills are all SKILL.md files of the task's plugins, whatever their manifests
// make of them.
func (l *linter) skills() []skill {
	var out []skill
	for _, plugin := range l.task.Plugins {
		dir := path.Join("plugins", plugin)
		for _, f := range l.files(dir) {
			if path.Base(f) != "SKILL.md" {
				continue
			}
			s := skill{file: path.Join(dir, f), plugin: plugin}
			s.text, _ = l.read(s.file)
			if head, err := symposium.ReadFrontMatter([]byte(s.text)); err == nil {
				s.name = head.Name
			}
			out = append(out, s)
		}
	}
	return out
}

// skill checks one SKILL.md and the folder it is in. Symposium reads less than the
// specification allows: every value must be a text.
func (l *linter) skill(s skill) {
	head, err := symposium.SplitFrontMatter([]byte(s.text))
	if err != nil {
		l.add(s.file, 1, 1, err.Error(), "Symposium skips a skill without it")
		return
	}
	// YAML also ends lines at characters that no editor does.
	inside := func(line int) int { return min(line, head.Line+bytes.Count(head.YAML, []byte("\n"))) }
	var doc yaml.Node
	if err := yaml.Unmarshal(head.YAML, &doc); err != nil {
		line, what := head.Line, strings.TrimPrefix(oneLine(err), "yaml: ")
		if m := yamlLine.FindStringSubmatch(what); m != nil {
			n, _ := strconv.Atoi(m[1])
			line, what = inside(line+n-1), m[2]
		}
		l.add(s.file, line, 0, "front matter: "+what, "correct the YAML; quote texts with a colon in them")
		return
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		l.add(s.file, head.Line, 0, "the front matter is no list of keys and values", "write `name:` and `description:` in it")
		return
	}
	values := map[string]*yaml.Node{}
	place := func(n *yaml.Node) (int, int) { return inside(head.Line + n.Line - 1), n.Column }
	for i := 0; i+1 < len(doc.Content[0].Content); i += 2 {
		key, value := doc.Content[0].Content[i], doc.Content[0].Content[i+1]
		line, col := place(key)
		if _, twice := values[key.Value]; twice {
			l.add(s.file, line, col, fmt.Sprintf("the key %q is given twice", key.Value), "remove one")
		}
		values[key.Value] = value
		if value.Kind != yaml.ScalarNode || value.ShortTag() != "!!str" {
			l.add(s.file, line, col, fmt.Sprintf("%s is not a text, and Symposium skips a skill with such a value", plain(key.Value)), "put the value in quotes, or leave the key out")
		}
	}
	text := func(key string) string {
		if v := values[key]; v != nil && v.Kind == yaml.ScalarNode {
			return v.Value
		}
		return ""
	}
	problem := func(key, message, fix string) {
		line, col := head.Line, 0
		if v := values[key]; v != nil {
			line, col = place(v)
		}
		l.add(s.file, line, col, message, fix)
	}
	name, folder := text("name"), path.Base(path.Dir(s.file))
	switch {
	case name == "":
		problem("name", "the skill has no name", "write `name: "+folder+"`")
	case utf8.RuneCountInString(name) > maxSkillName:
		problem("name", fmt.Sprintf("the name is %d characters long", utf8.RuneCountInString(name)), fmt.Sprintf("use at most %d", maxSkillName))
	case !skillName.MatchString(name):
		problem("name", fmt.Sprintf("the name %q has a form that is not allowed", name), "use a-z, 0-9 and single hyphens between them")
	case name != folder:
		problem("name", fmt.Sprintf("the name %q is not that of its folder, %q", name, folder), "rename one: clients go by the folder")
	}
	description := text("description")
	switch n := len(description); {
	case strings.TrimSpace(description) == "":
		problem("description", "the skill has no description, by which a model decides to load it", "say what it is for and when to read it")
	case n > maxDescription:
		problem("description", fmt.Sprintf("the description is %d bytes long", n), fmt.Sprintf("use at most %d: Symposium skips a longer one", maxDescription))
	}
	if n := utf8.RuneCountInString(description + text("when_to_use")); n > maxListed {
		problem("when_to_use", fmt.Sprintf("description and when_to_use are %d characters together", n), fmt.Sprintf("use at most %d: clients cut what they list, and triggers vanish", maxListed))
	}
	if n := utf8.RuneCountInString(text("compatibility")); n > maxCompatibility {
		problem("compatibility", fmt.Sprintf("compatibility is %d characters long", n), fmt.Sprintf("use at most %d", maxCompatibility))
	}
	for _, atom := range strings.Split(text("depends-on"), ",") {
		if atom = strings.TrimSpace(atom); atom != "" {
			if what := badAtom(atom); what != "" {
				problem("depends-on", what, atomForm)
			}
		}
	}
	if strings.TrimSpace(string(head.Body)) == "" {
		l.add(s.file, head.Line, 0, "the skill says nothing below its front matter", "write it")
	}
	l.skillFolder(s, string(head.Body), head.Line+strings.Count(string(head.YAML), "\n")+1)
}

var markdownLink = regexp.MustCompile(`\]\(([^()\s]+)\)`)

// skillFolder checks the files beside a SKILL.md. bodyLine is about where its text begins.
func (l *linter) skillFolder(s skill, body string, bodyLine int) {
	dir := path.Dir(s.file)
	files := l.files(dir)
	for _, name := range []string{".symposium", ".gitignore"} {
		if slices.Contains(files, name) {
			l.add(path.Join(dir, name), 0, 0, "Symposium writes a file of that name of its own, and skips or deletes a skill that has one", "remove it")
		}
	}
	for i, line := range strings.Split(body, "\n") {
		for _, m := range markdownLink.FindAllStringSubmatchIndex(line, -1) {
			target, _, _ := strings.Cut(line[m[2]:m[3]], "#")
			if target == "" || strings.Contains(target, ":") || path.IsAbs(target) {
				continue
			}
			clean := path.Clean(target)
			if slices.Contains(files, clean) || slices.ContainsFunc(files, func(f string) bool { return strings.HasPrefix(f, clean+"/") }) {
				continue
			}
			l.add(s.file, bodyLine+i, m[2]+1, fmt.Sprintf("the link leads to %q, which is not in the skill's folder", target), "only that folder is installed: put the file there, or remove the link")
		}
	}
}

var plainKey = regexp.MustCompile(`^[\w.-]+$`)

// plain is a key as messages show it: quoted when it holds anything odd.
func plain(key string) string {
	if plainKey.MatchString(key) {
		return key
	}
	return strconv.Quote(key)
}

// yamlLine is how the YAML library begins an error with a place.
var yamlLine = regexp.MustCompile(`^line (\d{1,6}): (.*)$`)

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
