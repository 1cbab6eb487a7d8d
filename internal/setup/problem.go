package setup

import (
	"fmt"
	"strings"
)

// A Problem is one thing that keeps a need from being met.
type Problem struct {
	Need Need   // what was asked for
	What string // what is wrong, and where
	Fix  string // the command to type, or what else to do
}

// A MissingError lists every problem [Locate] or [Install] found, in the order
// of the needs asked for. Problems is never empty.
type MissingError struct {
	Problems []Problem
}

// Error gives a numbered list, each problem followed by its fix. A fix that
// repairs several problems is given once, after the last of them.
func (e *MissingError) Error() string {
	var b strings.Builder
	switch n := len(e.Problems); n {
	case 1:
		b.WriteString("1 thing to fix before this can run:")
	default:
		fmt.Fprintf(&b, "%d things to fix before this can run:", n)
	}
	for i, p := range e.Problems {
		fmt.Fprintf(&b, "\n  %d. %s (needed for %s)", i+1, p.What, p.Need)
		if i+1 < len(e.Problems) && e.Problems[i+1].Fix == p.Fix {
			continue
		}
		fmt.Fprintf(&b, "\n     fix: %s", strings.ReplaceAll(p.Fix, "\n", "\n          "))
	}
	return b.String()
}
