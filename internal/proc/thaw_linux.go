package proc

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// thaw lets a process go on that stands still in a freezer of cgroup version 1, where a killed
// process does not die before it is thawed. (Version 2 lets the frozen die.) Groups that the runner
// itself is in are left alone: were they frozen, it would not get here. Without the right to, nothing
// happens.
//
// Formats: cgroups(7), "/proc files"; the kernel's cgroup-v1/freezer-subsystem.rst.
func thaw(pid int) {
	group, own := freezerGroup(strconv.Itoa(pid)), freezerGroup("self")
	if group == "" || own == "" {
		return
	}
	root := freezerRoot()
	for ; root != "" && group != "/" && group != own && !strings.HasPrefix(own, group+"/"); group = filepath.Dir(group) {
		_ = os.WriteFile(filepath.Join(root, group, "freezer.state"), []byte("THAWED"), 0)
	}
}

// freezerGroup is a process's place in the hierarchy of the freezer, or "".
func freezerGroup(pid string) string {
	b, err := os.ReadFile(filepath.Join("/proc", pid, "cgroup"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		// hierarchy-id:controllers:path
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) == 3 && slices.Contains(strings.Split(parts[1], ","), "freezer") {
			return filepath.Clean(parts[2])
		}
	}
	return ""
}

// freezerRoot is where that hierarchy is mounted, or "". Format: proc_pid_mountinfo(5).
func freezerRoot() string {
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		mount, rest, ok := strings.Cut(line, " - cgroup ")
		fields := strings.Fields(mount)
		options := strings.Fields(rest)
		// A part of the hierarchy (fields[3], its root) has other paths than /proc's.
		if ok && len(fields) > 4 && fields[3] == "/" && len(options) > 1 && slices.Contains(strings.Split(options[len(options)-1], ","), "freezer") {
			return fields[4]
		}
	}
	return ""
}
