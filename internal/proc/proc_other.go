//go:build !linux

package proc

import "context"

// Run is not available here.
func Run(ctx context.Context, c Command) (Result, error) { return Result{}, ErrUnsupported }

// Confinement is not available here.
func Confinement() ([]byte, error) { return nil, ErrUnsupported }
