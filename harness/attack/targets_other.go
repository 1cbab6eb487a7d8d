//go:build !linux

package attack

// plantInSystem has nothing to plant here.
func (t *targets) plantInSystem(string) error { return nil }
