package setup

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

//go:embed npm/*/package.json npm/*/package-lock.json
var npmFiles embed.FS

var npmManifests = []string{"package.json", "package-lock.json"}

// npmRecipe completes a recipe for the pinned packages in npm/<name>. platform
// is "" for packages that are the same everywhere.
func npmRecipe(name, version, platform string, r recipe) *recipe {
	r.name, r.version, r.with = name, version, "npm ci"
	r.folder = filepath.Join("npm", name+"-"+version)
	if platform != "" {
		r.folder += "-" + platform
	}
	sum := sha256.New()
	for _, file := range npmManifests {
		sum.Write(npmFile(name, file))
	}
	r.source = "npm lock sha256:" + hex.EncodeToString(sum.Sum(nil))
	r.tools = func(ctx context.Context, in *installation, need Need) []Problem {
		problems := in.node(ctx, newTools())
		if _, ok := in.lookPath("npm"); !ok && len(problems) == 0 {
			problems = append(problems, Problem{What: "npm is not on PATH", Fix: in.packageFix(need, "npm")})
		}
		for i := range problems {
			problems[i].Need = need
		}
		return problems
	}
	r.build = func(ctx context.Context, in *installation, root, _ string) (string, error) {
		return "", in.npmCI(ctx, name, version, root)
	}
	return &r
}

// npmFile returns an embedded manifest. Names come from this package alone.
func npmFile(name, file string) []byte {
	b, err := npmFiles.ReadFile("npm/" + name + "/" + file)
	if err != nil {
		panic("setup: " + err.Error()) // a build without its own files
	}
	return b
}

// npmCI installs exactly what the lock file lists, checked by its integrity
// hashes, from the registry the user's npm is configured for.
func (in *installation) npmCI(ctx context.Context, name, version, root string) error {
	npm, ok := in.lookPath("npm")
	if !ok {
		return fmt.Errorf("npm is not on PATH")
	}
	for _, file := range npmManifests {
		if err := os.WriteFile(filepath.Join(root, file), npmFile(name, file), 0o644); err != nil {
			return err
		}
	}
	stop := in.out.every(in.tick, func(gone time.Duration) string {
		return fmt.Sprintf("%s %s: still installing, %s", name, version, gone)
	})
	defer stop()
	// The flags pin what a user's npm configuration could change in the result.
	err := in.stream(ctx, root, in.env, nil, npm, "ci", "--ignore-scripts", "--include=optional", "--omit=dev",
		"--install-strategy=hoisted", "--bin-links", "--no-audit", "--no-fund", "--no-update-notifier")
	if err != nil {
		return err
	}
	// npm's own note of where each package came from: it differs between
	// mirrors, and the tree's hash must not.
	err = os.Remove(filepath.Join(root, "node_modules", ".package-lock.json"))
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}
