// Package symposium knows cargo-agents from the outside: its configuration and
// init, the plugins it reads, and the evidence it leaves (hook trace, sync
// record, installed skills, logs). It starts nothing itself; the runner runs
// cargo-agents in the sandbox.
//
// Source of the formats: the crate symposium, releases 0.4.0 and 0.5.1.
package symposium

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/BurntSushi/toml"
	"go.yaml.in/yaml/v3"
)

// Skill is one skill of a plugin: the folder that holds its SKILL.md.
type Skill struct {
	Name        string // the front matter's name, which is also the installed folder's
	Description string
	Dir         string
}

// maxSkillFile bounds a SKILL.md, in bytes.
const maxSkillFile = 1 << 20

// Skills lists the skills of the plugin in dir: all folders with a SKILL.md below the paths its
// manifest names, or below dir itself when there is no manifest.
func Skills(dir string) ([]Skill, error) {
	roots, err := skillRoots(dir)
	if err != nil {
		return nil, err
	}
	var out []Skill
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() || d.Name() != "SKILL.md" {
				return nil
			}
			s, err := ReadSkill(path)
			if err != nil {
				return err
			}
			if i := slices.IndexFunc(out, func(o Skill) bool { return o.Name == s.Name }); i >= 0 && out[i].Dir != s.Dir {
				return fmt.Errorf("%s: the skill %q is also in %s; give one of them another name", path, s.Name, out[i].Dir)
			} else if i < 0 {
				out = append(out, s)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("plugin %s: %w", filepath.Base(dir), err)
		}
	}
	slices.SortFunc(out, func(a, b Skill) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	return out, nil
}

func skillRoots(dir string) ([]string, error) {
	manifest := filepath.Join(dir, "SYMPOSIUM.toml")
	var m struct {
		Skills []struct {
			Source struct {
				Path string `toml:"path"`
			} `toml:"source"`
		} `toml:"skills"`
	}
	data, err := os.ReadFile(manifest)
	if errors.Is(err, fs.ErrNotExist) {
		return []string{dir}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("plugin: %w", err)
	}
	if err := toml.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("%s: %w", manifest, err)
	}
	var roots []string
	for _, s := range m.Skills {
		if s.Source.Path == "" {
			continue // a git source cannot be offered in a trial without network
		}
		if !filepath.IsLocal(filepath.FromSlash(s.Source.Path)) {
			return nil, fmt.Errorf("%s: source.path %q leaves the plugin's folder", manifest, s.Source.Path)
		}
		roots = append(roots, filepath.Join(dir, filepath.FromSlash(s.Source.Path)))
	}
	return roots, nil
}

// ReadSkill reads a SKILL.md's front matter. CRLF line ends and a byte order mark are accepted.
func ReadSkill(path string) (Skill, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Skill{}, err
	}
	if info.Size() > maxSkillFile {
		return Skill{}, fmt.Errorf("%s is larger than %d bytes", path, maxSkillFile)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return Skill{}, err
	}
	head, err := ReadFrontMatter(data)
	if err != nil {
		return Skill{}, fmt.Errorf("%s: %w", path, err)
	}
	return Skill{Name: head.Name, Description: head.Description, Dir: filepath.Dir(path)}, nil
}

// FrontMatter is a SKILL.md in two parts.
type FrontMatter struct {
	YAML []byte // between the lines ---, with LF line ends
	Line int    // the line of the file that YAML begins in, from 1
	Body []byte // below the second line ---
}

var errNoFrontMatter = errors.New("no front matter: begin the file with a line ---, then `name:` and `description:`, then a line ---")

// SplitFrontMatter takes a SKILL.md apart. CRLF line ends, a byte order mark and blank lines before
// the first --- are accepted.
func SplitFrontMatter(data []byte) (FrontMatter, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	text := bytes.TrimSpace(data)
	blank := bytes.Count(data[:len(data)-len(bytes.TrimLeftFunc(data, unicode.IsSpace))], []byte("\n"))
	rest, ok := bytes.CutPrefix(text, []byte("---\n"))
	if !ok {
		return FrontMatter{}, errNoFrontMatter
	}
	head, body, found := bytes.Cut(append([]byte("\n"), rest...), []byte("\n---"))
	if !found {
		return FrontMatter{}, errNoFrontMatter
	}
	_, body, _ = bytes.Cut(body, []byte("\n"))
	return FrontMatter{YAML: bytes.TrimPrefix(head, []byte("\n")), Line: blank + 2, Body: body}, nil
}

// Head is what every client reads of a SKILL.md's front matter.
type Head struct{ Name, Description string }

// ReadFrontMatter reads the name and description of a SKILL.md's text, which both must have.
func ReadFrontMatter(data []byte) (Head, error) {
	split, err := SplitFrontMatter(data)
	if err != nil {
		return Head{}, err
	}
	var fm struct {
		Name        string `yaml:"name"`
		Description string `yaml:"description"`
	}
	if err := yaml.Unmarshal(split.YAML, &fm); err != nil {
		return Head{}, fmt.Errorf("front matter: %w", err)
	}
	if fm.Name == "" || fm.Description == "" {
		return Head{}, errors.New("front matter: name and description are required")
	}
	if fm.Name != filepath.Base(fm.Name) || fm.Name == "." || fm.Name == ".." || strings.ContainsAny(fm.Name, "/\\\x00") {
		return Head{}, fmt.Errorf("front matter: the name %q is not a folder name", fm.Name)
	}
	return Head{fm.Name, fm.Description}, nil
}
