package suite

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/proctor-evals/proctor/harness/task"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// ImportOptions say what is imported, and to where.
type ImportOptions struct {
	File  string // evals.json, or a set of queries
	Evals string // evals root, or the project's root
	Suite string // name of the new suite; "" is the skill's
	Skill string // the skill under test; "" is the file's skill_name, or the folder the file belongs to
}

// Imported is what was written.
type Imported struct {
	Suite string   // the new suite's name
	Files []string // written, as slash paths below the evals folder
	Notes []string // what the file says and the suite does not, and what to look at
}

// maxImported bounds a file that goes into a fixture.
const maxImported = 64 << 20

// Import makes a suite of a file of agentskills: each eval an execute task whose assertions an agent
// judges, each set of queries a trigger task. Nothing is left behind when it fails, and nothing is
// overwritten. What is wrong with the file is a [task.Problems].
func Import(opts ImportOptions) (*Imported, error) {
	shown := filepath.ToSlash(opts.File)
	data, truncated, err := treecopy.ReadSource(filepath.Dir(opts.File), filepath.Base(opts.File), maxFile)
	if err == nil && truncated {
		err = fmt.Errorf("the file is larger than %d bytes", maxFile)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", shown, err)
	}
	v, problems := parseJSON(shown, data)
	if len(problems) > 0 {
		return nil, problems
	}
	var d decoder
	e := d.evalsFile(v)
	if len(d.problems) > 0 {
		return nil, d.problems.Sorted()
	}
	im := &importer{e: e, from: skillFolder(opts.File), out: &Imported{Notes: e.notes()}}
	if err := im.names(opts); err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(opts.Evals)
	if err != nil {
		return nil, err
	}
	_, im.evals, _, _ = locate(abs)
	return im.out, im.run()
}

type importer struct {
	e     *evalsJSON
	from  string // folder that the file's paths start from
	evals string
	skill string
	out   *Imported
	stage string // where all is written first
}

// skillFolder is the folder of the skill that a file belongs to: <skill>/evals/evals.json, or beside it.
func skillFolder(file string) string {
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return filepath.Dir(file)
	}
	if filepath.Base(dir) == "evals" {
		return filepath.Dir(dir)
	}
	return dir
}

func (im *importer) names(opts ImportOptions) error {
	im.skill = opts.Skill
	if im.skill == "" {
		im.skill = im.e.skill
	}
	if im.skill == "" {
		if _, err := os.Stat(filepath.Join(im.from, "SKILL.md")); err != nil {
			return errors.New("the file names no skill and stands beside none: name the skill with -skill")
		}
		im.skill = filepath.Base(im.from)
	}
	im.out.Suite = opts.Suite
	if im.out.Suite == "" {
		im.out.Suite = im.skill
	}
	if fault := badName(im.out.Suite); fault != "" || strings.HasPrefix(im.out.Suite, ".") {
		return fmt.Errorf("%q cannot name a suite: name another with -suite", im.out.Suite)
	}
	return nil
}

func (im *importer) run() (err error) {
	name := im.out.Suite
	for _, taken := range []string{"suites", "tasks"} {
		if _, err := os.Lstat(filepath.Join(im.evals, taken, name)); err == nil {
			return fmt.Errorf("%s/%s is there already: name another suite with -suite", taken, name)
		}
	}
	if im.stage, err = os.MkdirTemp(im.evals, ".import-"); err != nil {
		return fmt.Errorf("import: %w", err)
	}
	defer func() {
		err = errors.Join(err, os.RemoveAll(im.stage))
	}()
	if err := im.write(); err != nil {
		return err
	}
	// What was written must read back: a fault here is ours.
	if _, err := Load(im.stage); err != nil {
		return fmt.Errorf("the imported suite is not valid: %w", err)
	}
	return im.move()
}

// move puts the staged folders to their places, and takes them back when one fails.
func (im *importer) move() error {
	var moved []string
	for _, top := range []string{"fixtures", "suites"} {
		names, err := folders(filepath.Join(im.stage, top))
		for _, name := range names {
			to := filepath.Join(im.evals, top, name)
			if err == nil {
				err = os.MkdirAll(filepath.Dir(to), 0o755)
			}
			if _, there := os.Lstat(to); err == nil && there == nil {
				err = fmt.Errorf("%s/%s is there already: name another suite with -suite", top, name)
			}
			if err == nil {
				err = os.Rename(filepath.Join(im.stage, top, name), to)
			}
			if err == nil {
				moved = append(moved, to)
			}
		}
		if err != nil {
			for _, dir := range moved {
				err = errors.Join(err, os.RemoveAll(dir))
			}
			return fmt.Errorf("import: %w", err)
		}
	}
	return nil
}

func (im *importer) write() error {
	dir := "suites/" + im.out.Suite
	if err := im.yaml(dir+"/suite.yml", mapping("evaluated_skills", sequence(text(im.skill)))); err != nil {
		return err
	}
	var problems task.Problems
	for _, one := range im.e.evals {
		fixture := ""
		if len(one.files) > 0 {
			fixture = im.out.Suite + "-" + one.name
			problems = append(problems, im.fixture(fixture, one)...)
		}
		if err := im.yaml(dir+"/tasks/"+one.name+".yaml", im.task(one, fixture)); err != nil {
			return err
		}
		if one.expected == "" && len(one.checks) == 0 && one.skill == nil {
			im.out.Notes = append(im.out.Notes, fmt.Sprintf("%s asserts nothing: it passes whatever the agent does", one.name))
		}
	}
	if len(problems) > 0 {
		return problems.Sorted()
	}
	if len(im.e.positive)+len(im.e.negative) == 0 {
		return nil
	}
	name := "trigger"
	for _, one := range im.e.evals {
		if one.name == name {
			name = "trigger-queries"
		}
	}
	n := mapping("kind", text("trigger"), "skill", text(im.skill))
	for _, list := range []struct {
		key     string
		prompts []string
	}{{"positive", im.e.positive}, {"negative", im.e.negative}} {
		if len(list.prompts) > 0 {
			n.Content = append(n.Content, mapping(list.key, sequence(texts(list.prompts)...)).Content...)
		}
	}
	return im.yaml(dir+"/tasks/"+name+".yaml", n)
}

func (im *importer) task(one anEval, fixture string) *yaml.Node {
	n := mapping()
	add := func(pairs ...any) { n.Content = append(n.Content, mapping(pairs...).Content...) }
	if one.expected != "" {
		add("description", text(one.expected))
	}
	add("prompt", text(one.prompt))
	if fixture != "" {
		add("setup", mapping("fixture", text(fixture)))
	}
	checks := one.checks
	if len(checks) == 0 && one.expected != "" {
		checks = []string{"The result is what is expected: " + one.expected}
	}
	list := sequence()
	for _, c := range checks {
		list.Content = append(list.Content, mapping("judge_agent", text(c)))
	}
	switch {
	case one.skill == nil:
	case *one.skill == "":
		list.Content = append(list.Content, mapping("skill_not_invoked", text(im.skill)))
	default:
		list.Content = append(list.Content, mapping("skill_invoked", text(*one.skill)))
	}
	if len(list.Content) > 0 {
		add("assertions", list)
	}
	return n
}

// fixture copies an eval's files, without the folders that evals keep them in.
func (im *importer) fixture(name string, one anEval) task.Problems {
	var problems task.Problems
	for _, file := range one.files {
		rel := path.Clean(file)
		to := rel
		for _, prefix := range []string{"evals/files/", "evals/", "files/"} {
			if cut, ok := strings.CutPrefix(rel, prefix); ok {
				to = cut
				break
			}
		}
		data, truncated, err := treecopy.ReadSource(im.from, rel, maxImported)
		if errors.Is(err, fs.ErrNotExist) {
			data, truncated, err = treecopy.ReadSource(filepath.Join(im.from, "evals"), rel, maxImported)
		}
		if err == nil && truncated {
			err = fmt.Errorf("the file is larger than %d bytes", maxImported)
		}
		if err == nil {
			err = im.file("fixtures/"+name+"/"+to, data)
		}
		if err != nil {
			problems = append(problems, one.at.problem(fmt.Sprintf("files: %s: %s", quoted(file), err), "paths start at the skill's folder "+filepath.ToSlash(im.from)))
		}
	}
	return problems
}

func (im *importer) yaml(rel string, n *yaml.Node) error {
	var b bytes.Buffer
	b.WriteString("# Written by proctor import.\n")
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(n), enc.Close()); err != nil {
		return fmt.Errorf("import: %w", err)
	}
	return im.file(rel, b.Bytes())
}

// file writes a new file below the stage.
func (im *importer) file(rel string, data []byte) error {
	p := filepath.Join(im.stage, filepath.FromSlash(rel))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(p, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s would be written twice", rel)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	im.out.Files = append(im.out.Files, rel)
	return errors.Join(err, f.Close())
}

// text is a string as every version of YAML reads it.
func text(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Style: yaml.DoubleQuotedStyle}
	if v, err := scalar(s); err == nil && v == any(s) && !strings.ContainsAny(s, "\r\n") {
		n.Style = 0 // quoted by the library where YAML itself asks for it
	}
	if strings.Contains(s, "\n") && !strings.ContainsAny(s, "\r\u0085\u2028\u2029") && strings.TrimSpace(s) == strings.TrimRight(s, "\n") && !strings.Contains(s, " \n") {
		n.Style = yaml.LiteralStyle
	}
	return n
}

func texts(list []string) []*yaml.Node {
	var out []*yaml.Node
	for _, s := range list {
		out = append(out, text(s))
	}
	return out
}

func sequence(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: items}
}

// mapping is made of keys, which are strings, and nodes.
func mapping(pairs ...any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i := 0; i+1 < len(pairs); i += 2 {
		n.Content = append(n.Content, text(pairs[i].(string)), pairs[i+1].(*yaml.Node))
	}
	return n
}
