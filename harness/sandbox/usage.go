package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"syscall"
	"time"

	"github.com/proctor-evals/proctor/internal/proc"
)

// Causes of a launch ended for what it left on the disk or took of the machine.
var (
	ErrDiskLimit    = errors.New("disk limit exceeded")
	ErrFileLimit    = errors.New("file limit exceeded")
	ErrProcessLimit = proc.ErrProcessLimit
	ErrMemoryLimit  = proc.ErrMemoryLimit
)

// Quota bounds what a launch may have on the disk in all its writable folders together, and what its
// processes may take. A zero field means its default.
type Quota struct {
	Bytes     int64 // allocated, not apparent, size; default 20 GiB
	Files     int64 // files and folders; default 1 000 000
	Processes int64 // processes and threads at once; default 4096
	Memory    int64 // bytes at once; default three quarters of the machine's
}

// The defaults: far above a Rust build, far below a disk or a machine.
const (
	defaultQuotaBytes     = 20 << 30
	defaultQuotaFiles     = 1_000_000
	defaultQuotaProcesses = 4096
)

// LimitCause is the short name of the limit a launch was ended for, or "". The output limit has a
// cause of its own.
func LimitCause(cause error) string {
	for name, limit := range map[string]error{"disk_limit": ErrDiskLimit, "file_limit": ErrFileLimit, "process_limit": ErrProcessLimit, "memory_limit": ErrMemoryLimit} {
		if errors.Is(cause, limit) {
			return name
		}
	}
	return ""
}

func (q Quota) processes() int {
	if q.Processes == 0 {
		return defaultQuotaProcesses
	}
	return int(min(q.Processes, math.MaxInt32))
}

// memory is the bound in bytes, or 0 where the machine does not say what it has.
func (q Quota) memory() int64 {
	if q.Memory == 0 {
		return machineMemory() / 4 * 3
	}
	return q.Memory
}

// quotaInterval is how often usage is looked at. A program can exceed its quota by what it writes
// in that time, so the quota protects the machine, not a byte count.
const quotaInterval = time.Second

// watch ends the launch through exceeded when the folders grow past q, until ctx ends.
func (q Quota) watch(ctx context.Context, folders []string, exceeded func(error)) {
	tick := time.NewTicker(quotaInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := q.check(ctx, folders); err != nil {
			exceeded(err)
			return
		}
	}
}

var errStop = errors.New("stop")

// atEnd is the cause a launch ends with, looked at once more when its last process is dead: what it
// left decides, not whether a look came in time.
func (q Quota) atEnd(cause error, folders []string) error {
	if cause != nil {
		return cause
	}
	return q.check(context.Background(), folders)
}

func (q Quota) check(ctx context.Context, folders []string) error {
	if q.Bytes == 0 {
		q.Bytes = defaultQuotaBytes
	}
	if q.Files == 0 {
		q.Files = defaultQuotaFiles
	}
	var bytes, files int64
	var over error
	for _, dir := range folders {
		_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
			if ctx.Err() != nil {
				return errStop
			}
			if errors.Is(err, syscall.ENAMETOOLONG) {
				// What lies deeper than a path can name could not be counted, and no honest program goes there.
				over = fmt.Errorf("%w: folders nested deeper than a path can name", ErrFileLimit)
				return errStop
			}
			if err != nil {
				return nil // it went away, or may not be entered: it is counted by what is seen
			}
			files++
			if info, err := d.Info(); err == nil {
				bytes += allocated(info)
			}
			switch {
			case bytes > q.Bytes:
				over = fmt.Errorf("%w: more than %d bytes in the folders it may write", ErrDiskLimit, q.Bytes)
			case files > q.Files:
				over = fmt.Errorf("%w: more than %d files and folders in the folders it may write", ErrFileLimit, q.Files)
			default:
				return nil
			}
			return errStop
		})
	}
	return over
}
