package setup

import (
	"context"
	"fmt"
	"path/filepath"
)

// browsers are the programs that will do, in the order they are tried. Ubuntu's chromium-browser may be
// a stub that runs nothing; the next one is tried then.
var browsers = []string{"chromium", "google-chrome", "google-chrome-stable", "chromium-browser"}

// browserPackage is Chromium's package in Debian, Fedora, Arch, openSUSE and Alpine.
const browserPackage = "chromium"

// browserTools finds the browser that the tests of the HTML report drive.
func (in *installation) browserTools(ctx context.Context, tools *Tools) []Problem {
	fix := in.packageFix(NeedBrowser, browserPackage)
	var problems []Problem
	for _, name := range browsers {
		path, ok := in.lookPath(name)
		if !ok {
			continue
		}
		printed, err := in.probe(ctx, path, "--version")
		if err != nil {
			problems = append(problems, Problem{What: fmt.Sprintf("%s does not run: %v", path, err), Fix: fix})
			continue
		}
		if path, err = filepath.EvalSymlinks(path); err != nil {
			problems = append(problems, Problem{What: fmt.Sprintf("%s: %v", name, err), Fix: fix})
			continue
		}
		return in.add(ctx, tools, Browser, path, printed, "", fix)
	}
	if len(problems) == 0 {
		return []Problem{{What: "no browser on PATH: Chromium or Chrome is needed to test the HTML report", Fix: fix}}
	}
	return problems
}

// missingBrowser returns the package to install where there is no browser at all.
func (h *host) missingBrowser() []string {
	for _, name := range browsers {
		if _, ok := h.lookPath(name); ok {
			return nil
		}
	}
	return []string{browserPackage}
}
