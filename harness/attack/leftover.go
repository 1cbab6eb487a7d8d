package attack

import (
	"bytes"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// lateReader is an input that is known only once the run directory is.
type lateReader struct{ io.Reader }

// watcher looks, while a trial runs, for a process whose command line names a mark: the control of
// the search made afterwards.
type watcher struct {
	done chan struct{}
	wg   sync.WaitGroup
	seen bool
}

func watchFor(mark string) *watcher {
	w := &watcher{done: make(chan struct{})}
	w.wg.Go(func() {
		for {
			if len(processesNaming(mark)) > 0 {
				w.seen = true
				return
			}
			select {
			case <-w.done:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	return w
}

// stop ends the watch and tells whether the process was seen.
func (w *watcher) stop() bool {
	close(w.done)
	w.wg.Wait()
	return w.seen
}

// processesNaming lists the processes of this machine whose command line holds mark.
func processesNaming(mark string) []string {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	var out []string
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err == nil && bytes.Contains(b, []byte(mark)) {
			out = append(out, f)
		}
	}
	return out
}

// endAll ends processes that processesNaming found.
func endAll(cmdlines []string) {
	for _, f := range cmdlines {
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f))); err == nil {
			if p, err := os.FindProcess(pid); err == nil {
				_ = p.Kill()
			}
		}
	}
}

// segments are the System V segments of this machine, by id, with their sizes. Format:
// proc_sysvipc(5), the second column is the id and the fourth the size in bytes.
func segments() (map[string]string, error) {
	b, err := os.ReadFile("/proc/sysvipc/shm")
	if err != nil {
		return nil, err
	}
	sizes := map[string]string{}
	for line := range strings.Lines(string(b)) {
		if fields := strings.Fields(line); len(fields) > 3 && fields[1] != "shmid" {
			sizes[fields[1]] = fields[3]
		}
	}
	return sizes, nil
}

// unusedSize is a size in bytes that no segment of this machine has: it tells the trial's from all
// others that are there already.
func unusedSize() string {
	sizes, _ := segments() // what cannot be listed is said when the trial's is looked for
	for {
		// Not of whole pages: programs ask for those.
		size := strconv.Itoa(4097 + 2*rand.IntN(1<<21))
		if !slices.Contains(slices.Collect(maps.Values(sizes)), size) {
			return size
		}
	}
}

// newSegments lists, by id, the segments of exactly so many bytes that were not there before. One of
// another program that is made meanwhile has another size.
func newSegments(before map[string]string, size string) ([]string, error) {
	now, err := segments()
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(now)) {
		if _, old := before[id]; !old && now[id] == size {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
