//go:build !linux

package proc

import "context"

// Run is not available here.
func Run(ctx context.Context, c Command) (Result, error) { return Result{}, ErrUnsupported }
