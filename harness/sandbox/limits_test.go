package sandbox

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLimitCause(t *testing.T) {
	for want, cause := range map[string]error{
		"disk_limit": ErrDiskLimit, "file_limit": ErrFileLimit, "process_limit": fmt.Errorf("%w: more than 3", ErrProcessLimit), "memory_limit": ErrMemoryLimit,
	} {
		assert.Equal(t, want, LimitCause(cause))
	}
	assert.Empty(t, LimitCause(nil))
	assert.Empty(t, LimitCause(ErrOutputLimit))
	assert.Empty(t, LimitCause(errors.New("other")))
}

func TestQuotaDefaults(t *testing.T) {
	assert.Equal(t, 4096, Quota{}.processes())
	assert.Equal(t, 7, Quota{Processes: 7}.processes())
	assert.Equal(t, math.MaxInt32, Quota{Processes: math.MaxInt64}.processes())
	assert.Equal(t, int64(9), Quota{Memory: 9}.memory())
	assert.Equal(t, machineMemory()/4*3, Quota{}.memory())
}
