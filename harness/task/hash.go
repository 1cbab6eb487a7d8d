package task

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/proctor-evals/proctor/internal/treecopy"
)

// contentHash is the SHA-256, in lower-case hex, of these lines, each ended by LF:
//
//	proctor task content 1
//	task HASH
//	fixture NAME HASH        one for each fixture, sorted by name
//	plugin NAME HASH         one for each plugin, sorted by name
//
// where HASH is [treecopy.Hash] of the folder. The task's own name is not part of
// it; its model script, checks and solution are, since they lie in its folder.
func contentHash(t *Task) (string, error) {
	sum := sha256.New()
	hash, err := treecopy.Hash(t.Dir, treecopy.Options{})
	if err != nil {
		return "", err
	}
	fmt.Fprintf(sum, "proctor task content 1\ntask %s\n", hash)
	add := func(what string, names []string, dir func(string) string) error {
		for _, name := range slices.Sorted(slices.Values(names)) {
			hash, err := treecopy.Hash(dir(name), treecopy.Options{})
			if err != nil {
				return err
			}
			fmt.Fprintf(sum, "%s %s %s\n", what, name, hash)
		}
		return nil
	}
	if err := add("fixture", t.Fixtures, t.FixtureDir); err != nil {
		return "", err
	}
	if err := add("plugin", t.Plugins, t.PluginDir); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}

// ContentHash is [Task.ContentHash] of the task's files as they are now.
func ContentHash(t *Task) (string, error) { return contentHash(t) }
