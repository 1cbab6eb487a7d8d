package setup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// namespaceProbe is what srt asks of bubblewrap, in short: a user namespace with
// capabilities (--unshare-net configures loopback in it, which is where Ubuntu's
// AppArmor restriction shows) and a fresh /proc (which an unprivileged container
// refuses). Read in srt's linux-sandbox-utils.js.
var namespaceProbe = []string{
	"--die-with-parent", "--unshare-user", "--unshare-pid", "--unshare-net",
	"--dev-bind", "/", "/", "--proc", "/proc", "true",
}

// namespaces runs the probe and, if it fails, says which setting forbids it.
func (h *host) namespaces(ctx context.Context, bwrap string) []Problem {
	_, err := h.probe(ctx, bwrap, namespaceProbe...)
	if err == nil || ctx.Err() != nil {
		return nil
	}
	why, fix := h.whyForbidden(bwrap)
	return []Problem{{
		What: fmt.Sprintf("bubblewrap cannot make the namespaces a sandbox needs: %s\n     (%v)", why, err),
		Fix:  fix,
	}}
}

// whyForbidden explains a failed probe from the kernel's settings.
//
// Sources: user_namespaces(7) for user.max_user_namespaces; Debian's kernel
// patch for kernel.unprivileged_userns_clone; srt's README and Ubuntu 24.04's
// release notes for kernel.apparmor_restrict_unprivileged_userns.
func (h *host) whyForbidden(bwrap string) (why, fix string) {
	persistent := func(setting string) string {
		return fmt.Sprintf("echo '%s' | %stee /etc/sysctl.d/60-proctor.conf && %ssysctl -p /etc/sysctl.d/60-proctor.conf", setting, h.sudo(), h.sudo())
	}
	restricted := h.sysctl("kernel.apparmor_restrict_unprivileged_userns") == "1"
	switch {
	case h.sysctl("user.max_user_namespaces") == "0":
		return "user.max_user_namespaces is 0", persistent("user.max_user_namespaces=15000")
	case h.sysctl("kernel.unprivileged_userns_clone") == "0" && h.euid != 0:
		return "kernel.unprivileged_userns_clone is 0", persistent("kernel.unprivileged_userns_clone=1")
	case h.inContainer():
		why, fix = "this is a container without the right to make them",
			"start it with: docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined ..."
		if restricted {
			why += ", and kernel.apparmor_restrict_unprivileged_userns is 1 on its host"
			fix += "\nand, if that is not enough, on the host: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
		}
		return why, fix
	case restricted:
		const file = "/etc/apparmor.d/proctor-bwrap"
		profile := fmt.Sprintf(`abi <abi/4.0>,\ninclude <tunables/global>\nprofile proctor-bwrap %s flags=(unconfined) {\n  userns,\n}\n`, bwrap)
		return "kernel.apparmor_restrict_unprivileged_userns is 1 (Ubuntu 24.04 and later)",
			persistent("kernel.apparmor_restrict_unprivileged_userns=0") +
				"\nor, for bubblewrap alone: " +
				fmt.Sprintf("printf '%s' | %stee %s && %sapparmor_parser -r %s", profile, h.sudo(), file, h.sudo(), file)
	case h.euid == 0:
		return "this root user probably lacks CAP_SETFCAP or CAP_SYS_ADMIN",
			"run as a user other than root, or give this process the capabilities (see: capsh --print)"
	}
	return "the kernel refuses, for a reason its settings do not show",
		"run it by hand to see more: " + bwrap + " " + strings.Join(namespaceProbe, " ")
}

// inContainer looks for the marks Docker and Podman leave.
func (h *host) inContainer() bool {
	for _, mark := range []string{".dockerenv", "run/.containerenv"} {
		if _, err := os.Stat(filepath.Join(h.root, mark)); err == nil {
			return true
		}
	}
	return false
}
