package proc

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// watchInterval is how often a tree's processes and memory are counted.
const watchInterval = 250 * time.Millisecond

// watch ends the tree through exceeded when it grows past a bound, until ctx ends.
func (ns namespace) watch(ctx context.Context, processes int, memory int64, exceeded func(error)) {
	if ns.Init == 0 || processes == 0 && memory == 0 {
		return
	}
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		tree := descendants(ns.Init)
		threads := 0
		for _, p := range tree {
			threads += p.threads
		}
		switch {
		case processes > 0 && threads > processes:
			exceeded(fmt.Errorf("%w: more than %d processes and threads", ErrProcessLimit, processes))
			return
		case memory > 0 && memoryOf(tree, memory) > memory:
			exceeded(fmt.Errorf("%w: more than %d bytes", ErrMemoryLimit, memory))
			return
		}
	}
}

type process struct{ pid, threads int }

// descendants are a process and all below it, the dead that still hold a process id too. Orphans go
// to the first process of their namespace, so that nothing of a tree is outside.
func descendants(root int) []process {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	children, threads := map[int][]int{}, map[int]int{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		b, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue
		}
		// proc_pid_stat(5): after the name in parentheses come the state, the parent and, as the 20th
		// field of the line, the number of threads.
		f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		if len(f) < 18 {
			continue
		}
		parent, _ := strconv.Atoi(f[1])
		children[parent] = append(children[parent], pid)
		n, _ := strconv.Atoi(f[17])
		threads[pid] = max(1, n)
	}
	if threads[root] == 0 {
		return nil
	}
	found := []process{{root, threads[root]}}
	for i := 0; i < len(found); i++ {
		for _, pid := range children[found[i].pid] {
			found = append(found, process{pid, threads[pid]})
		}
	}
	return found
}

// memoryOf is what a tree takes of the machine's memory, in bytes: the pages of its processes that
// are no file's, and what the memory file systems it sees hold. Pages that processes share count for
// each, unless that exceeds the limit: then each process bears its part, which is slower to tell.
func memoryOf(tree []process, limit int64) int64 {
	var pages int64
	for _, p := range tree {
		pages += kilobytes(p.pid, "status", "RssAnon:", "RssShmem:")
	}
	files := memoryFiles(tree)
	if pages+files <= limit {
		return pages + files
	}
	pages = 0
	for _, p := range tree {
		part := kilobytes(p.pid, "smaps_rollup", "Pss_Anon:", "Pss_Shmem:")
		if part == 0 { // not to be read, or gone
			part = kilobytes(p.pid, "status", "RssAnon:", "RssShmem:")
		}
		pages += part
	}
	return pages + files
}

// kilobytes adds up fields of a file of /proc/<pid>, which gives them in KiB, in bytes. Formats:
// proc_pid_status(5), proc_pid_smaps(5).
func kilobytes(pid int, file string, names ...string) int64 {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), file))
	if err != nil {
		return 0
	}
	var sum int64
	for line := range strings.Lines(string(b)) {
		for _, name := range names {
			if rest, ok := strings.CutPrefix(line, name); ok {
				n, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
				sum += n << 10
			}
		}
	}
	return sum
}

// memoryFiles is what the memory file systems of the tree's own hold, in bytes. A tree's processes
// cannot make mounts, so those its last process sees are all. One that the runner sees too is the
// machine's.
func memoryFiles(tree []process) int64 {
	if len(tree) == 0 {
		return 0
	}
	seen := map[uint64]bool{}
	if own, err := os.ReadFile("/proc/self/mountinfo"); err == nil {
		for _, dir := range memoryMounts(own) {
			var st unix.Stat_t
			if unix.Stat(dir, &st) == nil {
				seen[uint64(st.Dev)] = true
			}
		}
	}
	at := filepath.Join("/proc", strconv.Itoa(tree[len(tree)-1].pid))
	mounts, err := os.ReadFile(filepath.Join(at, "mountinfo"))
	if err != nil {
		return 0
	}
	var sum int64
	for _, dir := range memoryMounts(mounts) {
		// The folder is the tree's, and a link in its way would be followed outside: the device tells.
		path := filepath.Join(at, "root", dir)
		var st unix.Stat_t
		var fs unix.Statfs_t
		if unix.Stat(path, &st) != nil || seen[uint64(st.Dev)] || unix.Statfs(path, &fs) != nil || fs.Type != unix.TMPFS_MAGIC {
			continue
		}
		seen[uint64(st.Dev)] = true
		sum += int64(fs.Blocks-fs.Bfree) * int64(fs.Bsize)
	}
	return sum
}

// memoryMounts are the mount points of type tmpfs. Format: proc_pid_mountinfo(5); names with odd
// bytes, which are escaped there, are left out.
func memoryMounts(mountinfo []byte) []string {
	var out []string
	for line := range strings.Lines(string(mountinfo)) {
		mount, rest, _ := strings.Cut(line, " - ")
		fields := strings.Fields(mount)
		if strings.HasPrefix(rest, "tmpfs ") && len(fields) > 4 && !strings.Contains(fields[4], `\`) {
			out = append(out, fields[4])
		}
	}
	return out
}
