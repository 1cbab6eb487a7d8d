package suite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Skill is a folder that is staged for the client.
type Skill struct {
	Name string // the folder's
	Dir  string
}

// ErrNoSkillsDirs says that the configuration has no skill folders at all.
var ErrNoSkillsDirs = errors.New("skills_dirs is not configured: name the folders in config.yaml, or put the skills into skills/")

// Skills finds the skills, by name: the folders in skills_dirs that hold a SKILL.md. Of one name the
// earlier folder's counts. Call it after the configuration's PreRun, which may build them.
func (p *Project) Skills() ([]Skill, error) {
	if p.Config.SkillsDirs == nil {
		return nil, ErrNoSkillsDirs
	}
	found := map[string]Skill{}
	for _, dir := range p.Config.SkillsDirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("list the skills of skills_dirs: %w", err)
		}
		for _, e := range entries {
			skill := Skill{e.Name(), filepath.Join(dir, e.Name())}
			info, err := os.Stat(filepath.Join(skill.Dir, "SKILL.md"))
			if _, earlier := found[skill.Name]; err == nil && info.Mode().IsRegular() && !earlier {
				found[skill.Name] = skill
			}
		}
	}
	var out []Skill
	for _, name := range sortedKeys(found) {
		out = append(out, found[name])
	}
	return out, nil
}

// SameSkill says whether two names mean one skill: they are equal, or are after one leading plugin
// name and colon are removed from either.
func SameSkill(a, b string) bool {
	if a == b {
		return true
	}
	_, shortA, qualifiedA := strings.Cut(a, ":")
	_, shortB, qualifiedB := strings.Cut(b, ":")
	return qualifiedA && shortA == b || qualifiedB && shortB == a
}

// EvaluatedSkills are the skills that the suites of these cases evaluate, sorted, each once.
func EvaluatedSkills(cases []Case) []string {
	var out []string
	for _, c := range cases {
		out = append(out, c.Task.Suite.EvaluatedSkills...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
