package attack

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
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

// sharedMemory is the number of System V segments on this machine, -1 when it cannot be told.
func sharedMemory() int {
	b, err := os.ReadFile("/proc/sysvipc/shm")
	if err != nil {
		return -1
	}
	return bytes.Count(b, []byte("\n")) - 1
}
