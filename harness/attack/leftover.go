package attack

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
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

// segmentsOf lists the System V segments of exactly so many bytes on this machine, by id. Format:
// proc_sysvipc(5), the second column is the id and the fourth the size.
func segmentsOf(size string) ([]string, error) {
	b, err := os.ReadFile("/proc/sysvipc/shm")
	if err != nil {
		return nil, err
	}
	var ids []string
	for line := range strings.Lines(string(b)) {
		if fields := strings.Fields(line); len(fields) > 3 && fields[3] == size {
			ids = append(ids, fields[1])
		}
	}
	return ids, nil
}
