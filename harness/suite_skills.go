package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/proctor-evals/proctor/harness/plan"
	"github.com/proctor-evals/proctor/harness/suite"
	"github.com/proctor-evals/proctor/internal/treecopy"
)

// skillFolders are where the clients look for a project's skills, and what is left out of the archive.
var skillFolders = []string{".claude/skills", ".agents/skills", ".github/skills", ".opencode/skills"}

func skillNames(skills []suite.Skill) []string {
	out := []string{}
	for _, s := range skills {
		out = append(out, s.Name)
	}
	return out
}

// excludedSkills are the skills a configuration takes away. evaluated are those under test.
func excludedSkills(configuration string, skills []suite.Skill, evaluated []string) []string {
	var out []string
	switch configuration {
	case plan.WithoutSkill:
		out = slices.Clone(evaluated)
	case plan.NoSkills:
		// The evaluated ones too, where they are in no folder: the reality check's assertions turn on them.
		out = append(skillNames(skills), evaluated...)
	}
	slices.Sort(out)
	return append([]string{}, slices.Compact(out)...)
}

// stageSkillsOf copies the skills that are not excluded into the client's skill folder of a fresh
// project, and takes the excluded ones out of every skill folder a fixture brings: else the reality
// check would have what it is to be without. The project is still trusted.
func stageSkillsOf(project, skillDir, configuration string, skills []suite.Skill, excluded []string) (staged []string, err error) {
	staged = []string{}
	gone := func(name string) bool {
		return slices.ContainsFunc(excluded, func(e string) bool { return suite.SameSkill(e, name) })
	}
	for _, folder := range skillFolders {
		dir := filepath.Join(project, filepath.FromSlash(folder))
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("skills: %w", err)
		}
		for _, e := range entries {
			if configuration == plan.NoSkills || gone(e.Name()) {
				if err := treecopy.Remove(filepath.Join(dir, e.Name())); err != nil {
					return nil, fmt.Errorf("skills: %w", err)
				}
			}
		}
	}
	if configuration == plan.NoSkills {
		return staged, nil
	}
	for _, s := range skills {
		if gone(s.Name) {
			continue
		}
		dst := filepath.Join(project, filepath.FromSlash(skillDir), s.Name)
		if _, err := treecopy.Copy(dst, s.Dir, treecopy.CopyOptions{Overwrite: true}); err != nil {
			return nil, fmt.Errorf("stage skill %s: %w", s.Name, err)
		}
		staged = append(staged, s.Name)
	}
	return staged, nil
}

// removeKeepers removes the files named .gitkeep, which only keep a folder in a repository.
func removeKeepers(project string) error {
	return filepath.WalkDir(project, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Base(filepath.ToSlash(p)) != ".gitkeep" {
			return err
		}
		return os.Remove(p)
	})
}
