package setup

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// packageManagers and the words that install packages with them, in the order
// they are looked for.
var packageManagers = []struct{ program, install string }{
	{"apt-get", "apt-get install -y"},
	{"dnf", "dnf install -y"},
	{"pacman", "pacman -S --needed"},
	{"zypper", "zypper install"},
	{"apk", "apk add"},
}

// packageFix is the command that installs system packages here. Where set-up
// does it itself (root, apt) that is the answer.
func (in *installation) packageFix(need Need, packages ...string) string {
	names := strings.Join(packages, " ")
	for _, m := range packageManagers {
		if _, ok := in.lookPath(m.program); !ok {
			continue
		}
		if m.program == "apt-get" && in.euid == 0 && (need == NeedSandbox || need == NeedBrowser) {
			return fmt.Sprintf("%s %s", in.command, need)
		}
		return in.sudo() + m.install + " " + names
	}
	return "install with your system's package manager: " + names
}

// missingOf returns the system packages that the need lacks.
func (h *host) missingOf(need Need) []string {
	switch need {
	case NeedSandbox:
		return h.missingPackages()
	case NeedBrowser:
		return h.missingBrowser()
	}
	return nil
}

// systemPackages installs what of the need's packages is missing, where
// Proctor may: as root, on a system with apt.
func (in *installation) systemPackages(ctx context.Context, need Need) error {
	apt, ok := in.lookPath("apt-get")
	if !ok || in.euid != 0 || in.goos != "linux" || len(in.missingOf(need)) == 0 {
		return nil
	}
	unlock, err := in.lock(ctx, "apt")
	if err != nil {
		return err
	}
	defer unlock()
	missing := in.missingOf(need) // again: another set-up may have installed them
	if len(missing) == 0 {
		return nil
	}

	names := strings.Join(missing, ", ")
	fmt.Fprintf(in.out, "%s: installing with apt-get\n", names)
	stop := in.out.every(in.tick, func(gone time.Duration) string {
		return fmt.Sprintf("%s: still installing, %s", names, gone)
	})
	defer stop()
	env := in.withEnv("DEBIAN_FRONTEND=noninteractive")
	// Another apt may hold dpkg's lock for a while, on a machine just started above all.
	options := []string{"-o", "DPkg::Lock::Timeout=120"}
	update := func() error { return in.stream(ctx, "/", env, nil, apt, append(options, "update")...) }
	install := func() error {
		args := append(options, "install", "-y", "--no-install-recommends")
		return in.stream(ctx, "/", env, nil, apt, append(args, missing...)...)
	}

	updated := false
	if !in.aptKnows(ctx, missing) {
		if err := update(); err != nil {
			return fmt.Errorf("installing %s: %w", names, err)
		}
		updated = true
	}
	err = install()
	if err != nil && !updated && ctx.Err() == nil {
		// The package lists may be older than what the mirror still has.
		if update() == nil {
			err = install()
		}
	}
	if err != nil {
		return fmt.Errorf("installing %s: %w", names, err)
	}
	return nil
}

// aptKnows reports whether apt's lists have all packages; in a fresh container
// they are empty.
func (h *host) aptKnows(ctx context.Context, packages []string) bool {
	cache, ok := h.lookPath("apt-cache")
	if !ok {
		return false
	}
	for _, p := range packages {
		if _, err := h.probe(ctx, cache, "show", "--no-all-versions", p); err != nil {
			return false
		}
	}
	return true
}
