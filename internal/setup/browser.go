package setup

import (
	"context"
	"fmt"
	"path/filepath"
)

// browsers are the programs that will do, in the order they are looked for.
var browsers = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// browserPackage is Chromium's package in Debian, Fedora, Arch, openSUSE and Alpine. Ubuntu has a snap
// of the name; a browser that is there under another name is taken first.
const browserPackage = "chromium"

// browserTools finds the browser that the tests of the HTML report drive.
func (in *installation) browserTools(ctx context.Context, tools *Tools) []Problem {
	fix := in.packageFix(NeedBrowser, browserPackage)
	path, ok := in.browserPath()
	if !ok {
		return []Problem{{What: "no browser on PATH: Chromium or Chrome is needed to test the HTML report", Fix: fix}}
	}
	printed, err := in.probe(ctx, path, "--version")
	if err != nil {
		return []Problem{{What: fmt.Sprintf("%s does not run: %v", path, err), Fix: fix}}
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return []Problem{{What: fmt.Sprintf("%s: %v", path, err), Fix: fix}}
	}
	return in.add(ctx, tools, Browser, real, printed, "", fix)
}

func (h *host) browserPath() (string, bool) {
	for _, name := range browsers {
		if path, ok := h.lookPath(name); ok {
			return path, true
		}
	}
	return "", false
}

func (h *host) missingBrowser() []string {
	if _, ok := h.browserPath(); ok {
		return nil
	}
	return []string{browserPackage}
}
